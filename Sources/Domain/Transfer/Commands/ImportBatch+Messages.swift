import Accounts
import Languages
import Messaging
import Model
import Voice

// Messages.
extension ImportBatch {
    /// The client id of an imported message: a UUID of version 8 (RFC 9562 section 5.8), made of a digest of its source and
    /// id there.
    func clientID(_ id: String, _ source: String) throws -> ClientID {
        var bytes = Array(key("message", id, source).prefix(16))
        guard bytes.count == 16 else { throw ImportRefusal("A digest has too few bytes.") }
        bytes[6] = bytes[6] & 0x0F | 0x80
        bytes[8] = bytes[8] & 0x3F | 0x80
        var text = ""
        for (index, byte) in bytes.enumerated() {
            if [4, 6, 8, 10].contains(index) { text += "-" }
            let digits = String(byte, radix: 16)
            text += digits.utf8.count == 1 ? "0" + digits : digits
        }
        guard let id = ClientID(text) else { throw ImportRefusal("A digest is no UUID.") }
        return id
    }

    /// The number of an imported message of the conversation.
    func number(_ id: String, _ source: String, in conversation: ConversationID) throws -> Int64? {
        guard let found = try store.importedMessage(clientID(id, source)), found.message.conversation == conversation
        else { return nil }
        return found.message.number
    }

    func run(
        _ record: TransferMessage, _ source: String, _ digest: [UInt8], _ sound: ImportedAudio?
    ) throws -> ImportOutcome {
        let clientID = try clientID(record.id, source)
        var target = try target(record.conversation, source)
        if let known = try store.importedMessage(clientID) {
            // The digest of one whose author was deleted is empty.
            guard known.digest.isEmpty || known.digest == digest else {
                throw ImportRefusal("Conflict: the message \(record.id) was imported before with another content.")
            }
            return .same
        }
        try checkNotWritten(target)
        var conversation = target.conversation
        guard conversation.lastNumber == 0 || record.sentAt >= conversation.lastSentAt else {
            throw ImportRefusal(
                "sentAt: the message is older than the last one that was imported into its conversation. Messages are "
                    + "numbered in the order of their times, and numbers do not change.")
        }
        let author = try user(record.author, source, "author")
        try checkAuthor(author.id, record.author, of: target)
        guard try store.message(sentWith: clientID, by: author.id) == nil else {
            throw ImportRefusal("Conflict: the author has sent a message with the client id of this one.")
        }
        var notes: [String] = []
        var message = try content(of: record, source, clientID, author, &conversation, &notes)
        conversation.addMessage(by: message.author, isWithheld: message.isWithheld, at: message.sentAt)
        if let voice = record.voice, message.deletedAt == nil { message.voice = VoiceRecord(voice, sound, &notes) }
        try insert(&message, record, source, digest, &conversation, &notes)
        if let sound { try insert(sound, of: message, record.voice) }
        if record.isPinned { try pin(message, in: &conversation, &notes) }
        try store.update(conversation)
        if target.record.isDone {
            target.record.lastNumber = conversation.lastNumber
            try store.save(target.record)
            try store.announceImported(conversation.id)
        }
        return notes.isEmpty ? .new : .newWithout(notes.joined(separator: "; "))
    }

    /// In a conversation of two people nobody else has written.
    private func checkAuthor(_ user: UserID, _ name: String, of target: Target) throws {
        let id = target.conversation.id
        guard target.conversation.kind != .group else { return }
        if pairs[id] == nil {
            pairs[id] =
                target.record.isDone
                ? try store.members(of: id, after: nil, limit: 2).map(\.user)
                : try store.waitingMembers(of: id, after: nil, limit: 2).map(\.user)
        }
        guard pairs[id]?.contains(user) ?? false else {
            throw ImportRefusal("author: \(name) is not among the members of the conversation.")
        }
    }

    private func content(
        of record: TransferMessage, _ source: String, _ clientID: ClientID, _ author: UserRecord,
        _ conversation: inout Conversation, _ notes: inout [String]
    ) throws -> Message {
        // Nothing is stored that somebody wrote who is deleted here.
        let isDeleted = author.deletedAt != nil
        if isDeleted, record.deletedAt == nil { notes.append("its author is deleted here: without its text") }
        // Nor of what has disappeared on the way.
        let isExpired = !isDeleted && record.deletedAt == nil && record.expiresAt.map { $0 <= store.now } ?? false
        if isExpired { notes.append("it has disappeared meanwhile: without its text") }
        let text = isDeleted || isExpired ? nil : record.text.map { translated($0, source) }
        let firstVersion = conversation.change()
        var message = Message(
            conversation: conversation.id, number: conversation.lastNumber + 1, clientID: clientID, author: author.id,
            sentAt: record.sentAt, kind: record.kind, text: text,
            ranges: text.map { RangeFinder.ranges(in: $0).ranges } ?? [], version: firstVersion,
            textVersion: firstVersion, editedAt: isDeleted ? nil : record.editedAt,
            deletedAt: record.deletedAt ?? (isExpired ? record.expiresAt : isDeleted ? store.now : nil),
            isWithheld: record.isWithheld)
        message.expiresAt = record.expiresAt
        if text != nil { message.language = record.language.map { MessageLanguage(code: $0, confidence: .high) } }
        message.isTextWithheld = record.isTextWithheld && text != nil
        if let call = record.call, !isDeleted {
            message.call = self.call(call, record.sentAt, source, &notes)
        }
        if let notice = record.notice, !isDeleted, !isExpired {
            message.notice = try self.notice(notice, source, conversation.id, &notes)
        }
        if let id = record.replyTo {
            message.replyTo = try number(id, source, in: conversation.id)
            if message.replyTo == nil { notes.append("replyTo: \(id) is not before it in its conversation") }
        }
        if let id = record.thread {
            message.thread = try number(id, source, in: conversation.id)
            if message.thread == nil { notes.append("thread: \(id) is not before it in its conversation") }
        }
        if let id = record.forwardedFrom, !isDeleted, !isExpired {
            message.forwardedFrom = try? user(id, source, "forwardedFrom").id
            if message.forwardedFrom == nil { notes.append("forwardedFrom: \(id) was not imported") }
        }
        return message
    }

    private func notice(
        _ notice: TransferNotice, _ source: String, _ conversation: ConversationID, _ notes: inout [String]
    ) throws -> Notice {
        var users: [UserID] = []
        for id in notice.users {
            if let found = try? user(id, source, "users").id {
                users.append(found)
            } else {
                notes.append("notice: the user \(id) was not imported")
            }
        }
        var imported = Notice(notice.kind, users: users, count: notice.userCount)
        imported.name = notice.name
        imported.settings = notice.settings
        imported.role = notice.role
        imported.disappearAfter = notice.disappearAfter
        if let id = notice.message {
            imported.number = try number(id, source, in: conversation)
            if imported.number == nil { notes.append("notice: \(id) is not before it in its conversation") }
        }
        imported.via = notice.via
        imported.isByServer = notice.isByServer
        return imported
    }

    /// A call here is one of the messages alone: the history of calls has those that were made here.
    private func call(
        _ call: TransferCall, _ startedAt: Timestamp, _ source: String, _ notes: inout [String]
    ) -> CallRecord {
        var record = CallRecord(
            id: .make(at: startedAt), kind: call.kind, state: .ended, startedAt: startedAt,
            answeredAt: call.answeredAt, endedAt: call.endedAt, reason: call.reason)
        record.endedBy = call.endedBy.flatMap { try? user($0, source, "endedBy").id }
        for participant in call.participants {
            guard let found = try? user(participant.user, source, "user") else {
                notes.append("call: the user \(participant.user) was not imported")
                continue
            }
            record.participants.append(CallRecord.Participant(user: found.id, state: participant.state))
        }
        return record
    }

    private func insert(
        _ message: inout Message, _ record: TransferMessage, _ source: String, _ digest: [UInt8],
        _ conversation: inout Conversation, _ notes: inout [String]
    ) throws {
        if message.deletedAt == nil {
            for edit in record.edits {
                let text = translated(edit.text, source)
                try store.insert(
                    MessageEdit(
                        textVersion: message.textVersion, text: text,
                        ranges: RangeFinder.ranges(in: text).ranges, writtenAt: edit.writtenAt,
                        isWithheld: edit.isWithheld), of: message.number, in: message.conversation)
                message.textVersion = conversation.change()
                message.version = message.textVersion
            }
            for reaction in record.reactions {
                guard let reactor = try? user(reaction.user, source, "user"), reactor.deletedAt == nil else {
                    notes.append("reactions: the user \(reaction.user) was not imported")
                    continue
                }
                message.version = conversation.change()
                try store.insert(
                    Reaction(
                        conversation: message.conversation, number: message.number, user: reactor.id,
                        emoji: reaction.emoji, at: reaction.at ?? message.sentAt, sequence: message.version,
                        isWithheld: reaction.isWithheld))
                if !reaction.isWithheld { message.reactions.add(reactor.id, emoji: reaction.emoji) }
            }
        }
        message.shownVersion = message.version
        try store.insert(message, digest: message.deletedAt != nil && record.deletedAt == nil ? [] : digest)
        try noteMentions(of: message)
        try countReply(message, in: &conversation)
    }

    private func noteMentions(of message: Message) throws {
        guard !message.isWithheld, message.forwardedFrom == nil, message.deletedAt == nil else { return }
        let found = FoundRanges(ranges: message.ranges)
        let users = found.mentionedUsers.filter { $0 != message.author }.prefix(ConversationLimits().mentions)
        guard !users.isEmpty || found.mentionsAll else { return }
        try store.insertMentions(
            of: Array(users), all: found.mentionsAll, by: message.number, in: message.conversation)
    }

    private func countReply(_ reply: Message, in conversation: inout Conversation) throws {
        guard let number = reply.thread, reply.deletedAt == nil, !reply.isWithheld,
            var root = try store.message(number, in: conversation.id)
        else { return }
        root.replies += 1
        root.version = conversation.change()
        root.shownVersion = root.version
        try store.update(root)
    }

    private func pin(_ message: Message, in conversation: inout Conversation, _ notes: inout [String]) throws {
        guard message.deletedAt == nil else { return }
        guard conversation.pins.count < ConversationLimits().pins else {
            notes.append("pinned: a conversation has at most \(ConversationLimits().pins) pinned messages")
            return
        }
        conversation.pins.insert(PinnedMessage(message.number), at: 0)
    }

    /// The text with `<@id>` of users of the source as those here.
    private func translated(_ text: String, _ source: String) -> String {
        guard text.contains("<@") else { return text }
        var result = ""
        var rest = text[...]
        while let start = rest.firstRange(of: "<@") {
            result += rest[..<start.upperBound]
            rest = rest[start.upperBound...]
            // An id that is longer is none.
            guard let end = rest.prefix(TransferFormat.maxID + 1).firstIndex(of: ">") else { continue }
            let id = String(rest[..<end])
            if id != "all", let user = try? user(id, source, "text") {
                result += user.id.text
                rest = rest[end...]
            }
        }
        return result + rest
    }
}
