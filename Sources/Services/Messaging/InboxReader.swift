package import Messaging
package import Model
package import Storage

/// Reads a user's inbox: the conversations as they see them, the most recently active first.
package struct InboxReader: Sendable {
    /// Rows of a snapshot, and the most of a page.
    package static let window = 50
    /// A client that resumes gets at most this many changed rows; if there are more, it gets a snapshot.
    static let maxChanges = 200

    private let commands: ConversationCommands
    private let counted: CountedMessageCache

    package init(commands: ConversationCommands, counted: CountedMessageCache = CountedMessageCache()) {
        self.commands = commands
        self.counted = counted
    }

    /// A page of the inbox.
    package struct Page: Sendable {
        /// JSON texts.
        package var rows: [String]
        package var next: String?
        /// The conversations of the list with unread messages, or marked as unread, and those with mentions.
        package var unread: Int
        package var mentions: Int
    }

    /// - Parameters:
    ///   - isArchive: whether the archived ones are read, or the others.
    ///   - cursor: the `next` of the page before.
    package func page(
        of user: UserID, isArchive: Bool = false, after cursor: String?, limit: Int, in store: StoreTransaction
    ) throws -> Page {
        let after = try cursor.map { try Cursor($0) }
        let all = try store.inboxEntries(of: user)
        let entries = try all.filter { entry in
            // Of those that were left, only what can still be read: others are not found.
            try entry.isArchived == isArchive
                && (entry.state != .left || !store.spans(of: user, in: entry.conversation).spans.isEmpty)
                && isListed(entry, of: user, in: store)
        }.sorted { Cursor($0) > Cursor($1) }
        let left = after.map { after in entries.drop { Cursor($0) >= after } } ?? entries[...]
        let shown = left.prefix(limit)
        let totals = try store.unreadConversations(of: user, isArchive: isArchive)
        return Page(
            rows: try shown.map { try row($0, of: user, in: store) },
            next: left.count > limit ? shown.last.map { Cursor($0).text } : nil,
            unread: totals.messages, mentions: totals.mentions)
    }

    /// Whether there is something new in a conversation that the user took off the list.
    private func isListed(_ entry: InboxEntry, of user: UserID, in store: StoreTransaction) throws -> Bool {
        guard let number = entry.removedAfter else { return true }
        guard entry.lastNumber > number else { return false }
        return try !commands.page(.after(number), of: entry.conversation, limit: 1, by: user, in: store).messages
            .isEmpty
    }

    /// The rows that have moved after a counter; nil if there are too many.
    func changes(of user: UserID, after counter: Int64, in store: StoreTransaction) throws -> [String]? {
        let changed = try store.inboxEntries(of: user, after: counter)
        guard changed.count <= Self.maxChanges else { return nil }
        return try changed.sorted { $0.counter < $1.counter }.map { try row($0, of: user, in: store) }
    }

    func rows(
        _ conversations: Set<ConversationID>, of user: UserID, in store: StoreTransaction
    ) throws -> [String] {
        try conversations.compactMap { id in
            try store.inboxEntry(of: user, for: id).map { try row($0, of: user, in: store) }
        }
    }

    private func row(_ entry: InboxEntry, of user: UserID, in store: StoreTransaction) throws -> String {
        let found: MemberConversation
        do { found = try commands.get(entry.conversation, by: user, in: store) } catch let problem as Problem
            where problem.kind == .notFound
        { return Self.gone(entry) }
        let own = try commands.ownPart(of: user, in: entry.conversation, store: store)
        guard try isListed(entry, of: user, in: store) else {
            return Self.gone(entry) { found.writeMembership(own, to: &$0) }
        }
        let other = try person(of: found, for: user, in: store)
        let last = try commands.page(.newest, of: entry.conversation, limit: 1, by: user, in: store).messages.last
        let counted = try counted.messages(of: found.conversation, commands, in: store)
        let unread = try commands.unread(
            of: user, in: [entry.conversation], counted: counted.map { [entry.conversation: $0] } ?? [:], store: store
        )[entry.conversation]
        var writer = JSONWriter(capacity: 1024)
        writer.object { writer in
            writer.member("id", entry.conversation)
            writer.name("conversation")
            found.write(to: &writer)
            writer.name("membership")
            found.writeMembership(own, to: &writer)
            if let other {
                writer.name("person")
                writer.write(json: other)
            }
            if let last {
                writer.name("lastMessage")
                last.write(to: &writer, textBytes: 1024)
            }
            writer.member("unread", Int64(unread?.messages ?? 0))
            writer.member("mentions", Int64(unread?.mentions ?? 0))
            writer.member("counter", entry.counter)
            writer.member("activity", entry.activity)
        }
        return writer.text
    }

    /// If a user has deleted a conversation and may still read it, the membership tells their clients which messages
    /// they no longer see.
    private static func gone(_ entry: InboxEntry, membership: ((inout JSONWriter) -> Void)? = nil) -> String {
        var writer = JSONWriter(capacity: 256)
        writer.object { writer in
            writer.member("id", entry.conversation)
            if let membership {
                writer.name("membership")
                membership(&writer)
            }
            writer.member("gone", true)
            writer.member("counter", entry.counter)
        }
        return writer.text
    }

    /// The other one of two people.
    private func person(
        of found: MemberConversation, for user: UserID, in store: StoreTransaction
    ) throws -> String? {
        guard found.conversation.kind == .direct else { return nil }
        let other = try store.members(of: found.conversation.id, after: nil, limit: 2).first { $0.user != user }
        return try other.flatMap { try store.people([$0.user]).first }
    }

    /// The position of a row in the order: the pinned first, then by activity and id.
    private struct Cursor: Comparable {
        var isPinned: Bool
        var activity: Int64
        var conversation: String

        init(_ entry: InboxEntry) {
            isPinned = entry.isPinned
            activity = entry.activity
            conversation = entry.conversation.text
        }

        init(_ text: String) throws {
            let parts = text.split(separator: ".").map(String.init)
            guard parts.count == 3, parts[0] == "p" || parts[0] == "a", let activity = Int64(parts[1]),
                let id = ConversationID(parts[2])
            else { throw Problem.invalid("cursor", "cursor must be the nextCursor of a page.") }
            isPinned = parts[0] == "p"
            self.activity = activity
            conversation = id.text
        }

        var text: String { "\(isPinned ? "p" : "a").\(activity).\(conversation)" }

        static func < (left: Self, right: Self) -> Bool {
            (left.isPinned ? 1 : 0, left.activity, left.conversation)
                < (right.isPinned ? 1 : 0, right.activity, right.conversation)
        }
    }
}
