import Accounts
import Messaging
import Model

// Conversations, until their members are in them.
extension ImportBatch {
    /// A conversation that can be added to.
    struct Target {
        var record: ImportedRecord
        var conversation: Conversation
    }

    /// - Throws: `ImportRefusal` if the conversation was not imported, or has messages of its own.
    func target(_ id: String, _ source: String) throws -> Target {
        guard let record = try store.importedRecord(key("conversation", id, source)),
            let here = ConversationID(record.entity), let conversation = try store.conversation(here)
        else { throw ImportRefusal("conversation: \(id) was not imported.") }
        return Target(record: record, conversation: conversation)
    }

    func checkNotWritten(_ target: Target) throws {
        guard !target.record.isDone || target.conversation.lastNumber == target.record.lastNumber else {
            throw ImportRefusal("This conversation has messages of its own: nothing can be imported before them.")
        }
    }

    func run(
        _ conversation: TransferConversation, _ source: String, _ digest: [UInt8]
    ) throws -> ImportOutcome {
        let key = key("conversation", conversation.id, source)
        if let record = try store.importedRecord(key) {
            return try known(record, digest, "the conversation \(conversation.id)")
        }
        let members = try conversation.members.enumerated().map { try user($1, source, "members[\($0)]") }
        let createdAt = conversation.createdAt ?? store.now
        var new = Conversation(
            id: .make(at: store.now), kind: conversation.kind, name: conversation.name, createdAt: createdAt,
            settings: conversation.settings)
        new.disappearAfter = conversation.disappearAfter
        if let pair = Self.pair(of: members.map(\.id)) {
            try checkEmpty(pair)
        } else if conversation.kind != .group {
            throw ImportRefusal("members: both are the same user here.")
        }
        try store.insert(new, pair: nil)
        for member in members {
            try store.save(
                WaitingMember(user: member.id, role: .member, state: .member, joinedAt: createdAt, isUnread: false),
                of: new.id)
        }
        try store.save(
            ImportedRecord(key: key, kind: "conversation", entity: new.id.text, digest: digest, isDone: false))
        return .new
    }

    private static func pair(of users: [UserID]) -> ConversationPair? {
        guard let first = users.first, let last = users.last, Set(users).count == users.count else { return nil }
        return ConversationPair(first, last)
    }

    /// Who wrote to each other here has a conversation already.
    @discardableResult
    private func checkEmpty(_ pair: ConversationPair) throws -> Conversation? {
        let existing = try store.conversation(of: pair)
        guard existing?.lastNumber ?? 0 == 0 else {
            throw ImportRefusal("The conversation of these members here has messages of its own.")
        }
        return existing
    }

    /// Lets the members in. It is a step without effect for one that is done.
    func finish(_ id: String, _ source: String) throws -> ImportOutcome {
        var target = try target(id, source)
        guard !target.record.isDone else { return .same }
        var conversation = target.conversation
        if conversation.kind == .group { try store.removeDeletedWaiting(of: conversation.id) }
        let counts = try store.waitingCounts(of: conversation.id)
        let most = ConversationLimits().members
        guard counts.members <= most else {
            throw ImportRefusal("A group has at most \(most) members: this one has \(counts.members).")
        }
        if conversation.kind == .group {
            guard counts.owners <= 1 else {
                throw ImportRefusal("A group has one owner: this one has \(counts.owners).")
            }
            try appointOwner(of: conversation)
        } else {
            try takePair(of: conversation)
        }
        conversation.memberCount = counts.members
        conversation.version = conversation.change()
        try store.update(conversation)
        try closeFormer(in: conversation)
        try store.admitWaiting(to: conversation, marksCounter: store.nextCounter())
        try store.announceImported(conversation.id)
        target.record.isDone = true
        target.record.lastNumber = conversation.lastNumber
        try store.save(target.record)
        return .new
    }

    private func appointOwner(of conversation: Conversation) throws {
        guard var owner = try store.nextWaitingOwner(of: conversation.id) else {
            throw ImportRefusal("The group has no members: it needs lines of type member.")
        }
        owner.role = .owner
        try store.save(owner, of: conversation.id)
    }

    /// Of a direct conversation or notes. One that was begun here and has no messages gives way: nobody loses anything.
    private func takePair(of conversation: Conversation) throws {
        let users = try store.waitingMembers(of: conversation.id, after: nil, limit: 2).map(\.user)
        guard let pair = Self.pair(of: users) else { return }
        if let empty = try checkEmpty(pair) { try retire(empty) }
        try store.setPair(pair, of: conversation.id)
    }

    private func retire(_ empty: Conversation) throws {
        var empty = empty
        try store.setPair(nil, of: empty.id)
        try store.announceRetired(empty.id) {
            empty.version = empty.change()
            for var member in try store.members(of: empty.id, after: nil, limit: 2) {
                (member.state, member.invitedBy) = (.left, nil)
                member.version = empty.version
                try store.save(member, of: empty.id)
                try store.save(MembershipSpans(), of: member.user, in: empty.id)
            }
            empty.memberCount = 0
            try store.update(empty)
        }
    }

    /// Who has left has the conversation as it was at the end of the import.
    private func closeFormer(in conversation: Conversation) throws {
        var last: UserID?
        repeat {
            let page = try store.waitingMembers(of: conversation.id, after: last, limit: 100)
            for member in page where member.state == .left {
                let spans = try store.spans(of: member.user, in: conversation.id)
                guard spans.isOpen else { continue }
                var closed = spans
                closed.leave(after: conversation.lastNumber, sequence: conversation.sequence)
                try store.save(closed, of: member.user, in: conversation.id)
            }
            last = page.last?.user
        } while last != nil
    }
}
