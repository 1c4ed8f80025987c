package import Model

/// A user as events name them.
package struct EventParty: Hashable, Sendable {
    package var user: UserID
    /// The app's own id, without `ext:`.
    package var externalID: String?
    package var displayName: String?

    package init(user: UserID, externalID: String? = nil, displayName: String? = nil) {
        self.user = user
        self.externalID = externalID
        self.displayName = displayName
    }

    /// Writes its members; `EventData.redacting` relies on their order.
    package func write(to writer: inout JSONWriter) {
        writer.member("user", user)
        writer.member("externalID", externalID)
        writer.member("displayName", displayName)
    }
}

/// A device on which the user of an event is signed in.
package struct EventDevice: Hashable, Sendable {
    package var id: DeviceID
    package var name: String
    package var platform: String
    /// Those of its endpoints that have a realtime session.
    package var endpoints: [EndpointID]

    package init(id: DeviceID, name: String, platform: String, endpoints: [EndpointID] = []) {
        self.id = id
        self.name = name
        self.platform = platform
        self.endpoints = endpoints
    }

    package func write(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.member("id", id)
            writer.member("name", name)
            writer.member("platform", platform)
            writer.member("isConnected", !endpoints.isEmpty)
            writer.name("endpoints")
            writer.array(endpoints) { $0.write($1) }
        }
    }
}

/// The `data` of events: ids, states and the caller's name. Nothing else that a person wrote, but the names of devices in
/// `call.ringing`, by which an app tells its own.
package enum EventData {
    /// Of a user's event. `identity` is the outside issuer's, by whose token the user was created.
    package static func user(_ party: EventParty, identity: (issuer: String, subject: String)? = nil) -> String {
        var writer = JSONWriter(capacity: 256)
        writer.object { writer in
            party.write(to: &writer)
            writer.member("issuer", identity?.issuer)
            writer.member("subject", identity?.subject)
        }
        return writer.text
    }

    /// Of an event about friends. `by` is who asked, accepted or ended the friendship.
    package static func friend(_ party: EventParty, by other: EventParty) -> String {
        var writer = JSONWriter(capacity: 256)
        writer.object { writer in
            party.write(to: &writer)
            writer.name("by")
            writer.object { other.write(to: &$0) }
        }
        return writer.text
    }

    /// Of an event about a conversation.
    package static func conversation(_ conversation: ConversationID, kind: String, version: Int64) -> String {
        var writer = JSONWriter(capacity: 256)
        writer.object { $0.write(conversation, kind: kind, version: version) }
        return writer.text
    }

    /// Of `conversation.member`, about one of the members.
    package static func member(
        _ party: EventParty, role: String, state: String, of conversation: ConversationID, kind: String, version: Int64
    ) -> String {
        var writer = JSONWriter(capacity: 256)
        writer.object { writer in
            party.write(to: &writer)
            writer.member("role", role)
            writer.member("state", state)
            writer.write(conversation, kind: kind, version: version)
        }
        return writer.text
    }

    /// Of an event about a message.
    ///
    /// - Parameters:
    ///   - author: who wrote it.
    ///   - recipient: the other one of two people, who has not to be asked whether the author may write.
    package static func message(
        _ number: Int64, of messageKind: String, call: CallID? = nil, by author: EventParty, to recipient: EventParty?,
        mentions: [UserID], sentAt: Timestamp,
        in conversation: ConversationID, kind: String, version: Int64
    ) -> String {
        var writer = JSONWriter(capacity: 384)
        writer.object { writer in
            author.write(to: &writer)
            writer.member("number", number)
            writer.member("messageKind", messageKind)
            writer.member("call", call)
            writer.member("sentAt", sentAt)
            writer.name("mentions")
            writer.array(mentions) { $0.write($1) }
            if let recipient {
                writer.name("to")
                writer.object { recipient.write(to: &$0) }
            }
            writer.write(conversation, kind: kind, version: version)
        }
        return writer.text
    }

    /// Of `transcript.ready` of a voice message.
    ///
    /// - Parameter author: who sent it, without a name.
    package static func transcript(
        of number: Int64, status: String, by author: EventParty, in conversation: ConversationID, kind: String,
        version: Int64
    ) -> String {
        var writer = JSONWriter(capacity: 256)
        writer.object { writer in
            author.write(to: &writer)
            writer.member("number", number)
            writer.member("status", status)
            writer.write(conversation, kind: kind, version: version)
        }
        return writer.text
    }

    /// Of `webhook.test`.
    package static func test(of webhook: WebhookID) -> String {
        var writer = JSONWriter()
        writer.object { $0.member("webhook", webhook) }
        return writer.text
    }
}

// Erasing a user.
extension EventData {
    /// Members that follow `user` and tell who it is.
    private static let personal = ["externalID", "displayName", "issuer", "subject"].map { Array(",\"\($0)\":\"".utf8) }
    private static let name = Array(",\"name\":\"".utf8)

    /// Removes what tells who a deleted user was: the members beside the user's id and, in events of the user's own, the
    /// names of devices. The id stays.
    ///
    /// - Parameter isOwn: whether it is the user's own event.
    package static func redacting(_ user: UserID, isOwn: Bool, in data: String) -> String {
        let bytes = Array(data.utf8)
        let marker = Array("\"user\":\"\(user.text)\"".utf8)
        var result: [UInt8] = []
        result.reserveCapacity(bytes.count)
        var position = 0
        while position < bytes.count {
            if has(marker, in: bytes, at: position) {
                result += marker
                position += marker.count
                while let member = personal.first(where: { has($0, in: bytes, at: position) }) {
                    position = end(ofTextIn: bytes, from: position + member.count)
                }
            } else if isOwn, has(name, in: bytes, at: position) {
                position = end(ofTextIn: bytes, from: position + name.count)
            } else {
                result.append(bytes[position])
                position += 1
            }
        }
        return result.count == bytes.count ? data : String(decoding: result, as: UTF8.self)
    }

    private static func has(_ marker: [UInt8], in bytes: [UInt8], at position: Int) -> Bool {
        position + marker.count <= bytes.count && bytes[position] == marker[0]
            && bytes[position..<(position + marker.count)].elementsEqual(marker)
    }

    /// The position after the closing quotation mark.
    private static func end(ofTextIn bytes: [UInt8], from start: Int) -> Int {
        var position = start
        while position < bytes.count {
            switch bytes[position] {
            case UInt8(ascii: "\\"): position += 2
            case UInt8(ascii: "\""): return position + 1
            default: position += 1
            }
        }
        return bytes.count
    }
}

extension JSONWriter {
    fileprivate mutating func write(_ conversation: ConversationID, kind: String, version: Int64) {
        member("conversation", conversation)
        member("kind", kind)
        member("version", version)
    }
}
