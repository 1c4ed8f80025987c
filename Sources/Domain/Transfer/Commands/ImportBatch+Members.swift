import Accounts
import Messaging
import Model

// Members and what is theirs alone.
extension ImportBatch {
    func run(_ record: TransferMember, _ source: String, _ digest: [UInt8]) throws -> ImportOutcome {
        let key = key("member", "\(record.user) of \(record.conversation)", source)
        let target = try target(record.conversation, source)
        if let known = try store.importedRecord(key) { return try self.known(known, digest, "this member") }
        guard !target.record.isDone else {
            throw ImportRefusal("This conversation is imported completely: add people in the app.")
        }
        let user = try user(record.user, source, "user")
        let conversation = target.conversation
        if conversation.kind != .group {
            let waiting = try store.waitingMembers(of: conversation.id, after: nil, limit: 2)
            guard waiting.contains(where: { $0.user == user.id }) else {
                throw ImportRefusal("user: \(record.user) is not among the members of the conversation's line.")
            }
            guard record.role == .member else { throw ImportRefusal("role: only groups have roles.") }
        } else if record.state == .invited {
            throw ImportRefusal("state: only a direct conversation has an invited member, whose request waits.")
        }
        // All that may be refused comes before all that is written.
        let hasSpans = record.spans != nil || record.state == .left
        let spans = hasSpans ? try self.spans(of: record, source, conversation) : nil
        let marks = try record.read.map { try self.marks(of: user.id, $0, source, conversation) }
        try store.save(
            WaitingMember(
                user: user.id, role: record.state == .member ? record.role : .member, state: record.state,
                joinedAt: record.joinedAt ?? conversation.createdAt, isUnread: record.isUnread), of: conversation.id)
        if let spans { try store.save(MembershipSpans(spans), of: user.id, in: conversation.id) }
        if let marks { try store.save(marks, in: conversation.id) }
        try store.save(
            ImportedRecord(
                key: key, kind: "member", entity: conversation.id.text, user: user.id, digest: digest))
        return .new
    }

    private func spans(
        of record: TransferMember, _ source: String, _ conversation: Conversation
    ) throws -> [MembershipSpans.Span] {
        let items = record.spans ?? []
        var spans: [MembershipSpans.Span] = []
        for (index, item) in items.enumerated() {
            func number(_ id: String, _ name: String) throws -> Int64 {
                guard let number = try self.number(id, source, in: conversation.id) else {
                    throw ImportRefusal("spans[\(index)].\(name): the message \(id) is not in this conversation.")
                }
                return number
            }
            let from = try item.after.map { try number($0, "after") } ?? 0
            let until = try item.until.map { try number($0, "until") }
            guard from >= spans.last.map({ $0.until ?? .max }) ?? 0, until.map({ $0 > from }) ?? true else {
                throw ImportRefusal(
                    "spans[\(index)]: spans are in order and apart, and each has an end after its beginning.")
            }
            let isLast = index == items.count - 1
            guard until != nil || isLast else {
                throw ImportRefusal("spans[\(index)]: only the last one has no until.")
            }
            guard !isLast || record.state == .left || until == nil else {
                throw ImportRefusal("spans[\(index)]: who is in the conversation has a last span without until.")
            }
            spans.append(.init(from: from, until: until, untilSequence: until.map { _ in conversation.sequence }))
        }
        return spans
    }

    private func marks(
        of user: UserID, _ read: String, _ source: String, _ conversation: Conversation
    ) throws -> MemberMarks {
        guard let number = try number(read, source, in: conversation.id) else {
            throw ImportRefusal("read: the message \(read) is not in this conversation.")
        }
        var marks = ReadMarks()
        marks.raise(read: number, delivered: number, newest: number, showsReceipts: true)
        return MemberMarks(user: user, marks: marks, counter: try store.nextCounter())
    }

    func run(_ record: TransferOwn, _ source: String, _ digest: [UInt8]) throws -> ImportOutcome {
        let key = key("own", "\(record.user) of \(record.message)", source)
        let target = try target(record.conversation, source)
        if let known = try store.importedRecord(key) { return try self.known(known, digest, "this line of type own") }
        let user = try user(record.user, source, "user")
        guard let number = try number(record.message, source, in: target.conversation.id) else {
            throw ImportRefusal("message: \(record.message) is not in this conversation.")
        }
        guard user.deletedAt == nil else { throw ImportRefusal("user: \(record.user) is deleted here.") }
        let row = OwnRow(
            conversation: target.conversation.id, number: number, starredAt: record.starredAt,
            isHidden: record.isHidden, listenedAt: record.listenedAt, counter: try store.nextCounter())
        try store.save(row, of: user.id)
        try store.save(
            ImportedRecord(
                key: key, kind: "own", entity: target.conversation.id.text, user: user.id, digest: digest))
        return .new
    }
}
