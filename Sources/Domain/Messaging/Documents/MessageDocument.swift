import Languages
package import Model

extension SeenMessage {
    /// Writes the document for users who may see the message. It does not tell whether the message is withheld.
    ///
    /// A message is named by its conversation and number.
    ///
    /// - Parameter textBytes: the most of the text or transcript; a longer one is cut, and `isCut` says so.
    package func write(to writer: inout JSONWriter, textBytes: Int = .max) {
        message.write(to: &writer, textBytes: textBytes)
    }
}

extension Message {
    fileprivate func write(to writer: inout JSONWriter, textBytes: Int) {
        let text = text.map { $0.prefix(bytes: textBytes) }
        writer.object { writer in
            writer.member("conversation", conversation)
            writer.member("number", number)
            writer.member("version", version)
            writer.member("clientID", clientID)
            writer.member("author", author)
            writer.member("sentAt", sentAt)
            writer.member("kind", kind.rawValue)
            writer.member("text", text)
            call?.write(to: &writer)
            notice?.write(to: &writer)
            let isVoiceCut = voice?.write(to: &writer, textBytes: textBytes) ?? false
            let isCut = text?.utf8.count != self.text?.utf8.count || isVoiceCut
            if isCut { writer.member("isCut", true) }
            if deletedAt == nil {
                writer.name("ranges")
                let length = text?.utf16.count ?? 0
                writer.array(isCut ? ranges.filter { $0.end <= length } : ranges) { $1.write(to: &$0) }
            }
            if let language { language.write(to: &writer) }
            writer.member("textVersion", textVersion)
            writer.member("replyTo", replyTo)
            writer.member("thread", thread)
            if replies > 0 { writer.member("replies", Int64(replies)) }
            writer.member("forwardedFrom", forwardedFrom)
            if deletedAt == nil { writeReactions(to: &writer) }
            writer.member("editedAt", editedAt)
            writer.member("deletedAt", deletedAt)
            writer.member("expiresAt", expiresAt)
        }
    }
}

extension Message {
    private func writeReactions(to writer: inout JSONWriter) {
        writer.name("reactions")
        writer.object { writer in
            for reaction in reactions {
                writer.name(escaping: reaction.emoji)
                writer.object { writer in
                    writer.member("count", Int64(reaction.count))
                    writer.name("users")
                    writer.array(reaction.users) { $0.write($1) }
                }
            }
        }
    }
}

extension CallRecord {
    fileprivate func write(to writer: inout JSONWriter) {
        writer.name("call")
        writer.object { writer in
            writer.member("id", id)
            writer.member("kind", kind)
            writer.member("state", state.rawValue)
            writer.member("startedAt", startedAt)
            writer.member("answeredAt", answeredAt)
            writer.member("endedAt", endedAt)
            writer.member("duration", duration)
            writer.member("reason", reason)
            writer.member("endedBy", endedBy)
            writer.name("participants")
            writer.array(participants) { writer, participant in
                writer.object { writer in
                    writer.member("user", participant.user)
                    writer.member("state", participant.state)
                }
            }
        }
    }
}

extension Notice {
    fileprivate func write(to writer: inout JSONWriter) {
        writer.name("notice")
        writer.object { writer in
            writer.member("kind", kind.rawValue)
            if !users.isEmpty {
                writer.name("users")
                writer.array(users) { $0.write($1) }
                writer.member("userCount", Int64(userCount))
            }
            writer.member("name", name)
            if let settings {
                writer.name("settings")
                settings.write(to: &writer)
            }
            writer.member("role", role?.rawValue)
            writer.member("disappearAfter", disappearAfter)
            writer.member("number", number)
            writer.member("via", via?.rawValue)
            if isByServer { writer.member("server", true) }
        }
    }
}

extension MessageLanguage {
    /// Writes the member `language` of an object.
    func write(to writer: inout JSONWriter) {
        writer.name("language")
        writer.object { writer in
            writer.member("code", code.string)
            writer.member("confidence", confidence.rawValue)
        }
    }
}

extension TextRange {
    func write(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.member("kind", kind.rawValue)
            writer.member("start", Int64(start))
            writer.member("length", Int64(length))
            writer.member("user", user)
        }
    }
}

extension MessageEdit {
    package func write(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.member("textVersion", textVersion)
            writer.member("text", text)
            language?.write(to: &writer)
            writer.name("ranges")
            writer.array(ranges) { $1.write(to: &$0) }
            writer.member("writtenAt", writtenAt)
        }
    }
}

extension MessagePage {
    /// Writes the page, with the position from which the conversation's stream goes on.
    package func write(to writer: inout JSONWriter, own: [OwnMessage]?, epoch: String) {
        writer.object { writer in
            writeMembers(to: &writer, own: own)
            writer.member("hasLater", hasLater)
            writer.name("position")
            writer.write(json: "[\"\(epoch)\",\(sequence)]")
        }
    }

    /// Writes the members of a window.
    package func writeMembers(to writer: inout JSONWriter, own: [OwnMessage]?) {
        writer.name("messages")
        writer.array(messages) { $1.write(to: &$0) }
        if let own {
            writer.name("own")
            writer.array(own) { $1.write(to: &$0) }
        }
        if let range {
            writer.name("range")
            writer.array([range.lowerBound, range.upperBound]) { $0.write($1) }
        }
        writer.member("hasEarlier", hasEarlier)
    }
}
