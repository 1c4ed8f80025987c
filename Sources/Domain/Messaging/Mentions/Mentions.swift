package import Model

/// What a user has not read of a conversation, each counted up to `ConversationLimits.unread`.
package struct UnreadCount: Hashable, Sendable {
    package var messages = 0
    package var mentions = 0

    package init(messages: Int = 0, mentions: Int = 0) {
        self.messages = messages
        self.mentions = mentions
    }
}

/// How far a member is in a conversation.
package struct ReadPosition: Hashable, Sendable {
    package let conversation: ConversationID
    /// The last message that was read.
    package let read: Int64
    /// The last message before the latest span.
    package let from: Int64

    package init(conversation: ConversationID, read: Int64, from: Int64) {
        self.conversation = conversation
        self.read = read
        self.from = from
    }
}

/// The storage of mentions and of the counts of unread messages.
package protocol MentionStore {
    /// - Parameter all: whether everybody is mentioned, which is one row.
    func insertMentions(of users: [UserID], all: Bool, by number: Int64, in conversation: ConversationID) throws
    func removeMentions(by number: Int64, in conversation: ConversationID) throws
    /// Of those conversations among `ids` that the user is a member of.
    func readPositions(of user: UserID, in ids: [ConversationID]) throws -> [ReadPosition]
    /// In how many conversations of the user, archived or others, there are unread messages, or are marked as unread,
    /// and in how many of those with unread messages the user or everybody is mentioned.
    func unreadConversations(of user: UserID, isArchive: Bool) throws -> UnreadCount
    /// The users whom this user has blocked, of all who are or were in a group: their messages there do not count.
    /// Empty for a conversation of two people, in which no message arrives then.
    func blockedAuthors(of user: UserID, in conversation: ConversationID) throws -> Set<UserID>
    /// The messages of others after a number that count as unread: not those that are deleted, withheld from the user,
    /// hidden by the user, of `blockedAuthors`, or notices, and of calls those that the user has missed. Counts to
    /// `limit`.
    func unreadCount(
        of user: UserID, in conversation: ConversationID, after number: Int64, limit: Int
    ) throws -> Int
    /// Those among them that mention the user or everybody.
    func mentionCount(
        of user: UserID, in conversation: ConversationID, after number: Int64, limit: Int
    ) throws -> Int
    /// Those among them that are calls.
    func missedCallCount(
        of user: UserID, in conversation: ConversationID, after number: Int64, limit: Int
    ) throws -> Int
    /// The newest messages that count as unread for everybody but their authors. Calls, and messages that a member has
    /// hidden, are not considered.
    func countedMessages(in conversation: ConversationID, limit: Int) throws -> CountedMessages
    func hasHidden(by user: UserID, in conversation: ConversationID, after number: Int64) throws -> Bool
}

extension ConversationCommands {
    /// What the user has not read of some conversations, as far as they are a member of them. A request counts when it
    /// is accepted.
    ///
    /// - Parameter counted: the newest messages of conversations where they are held.
    package func unread(
        of user: UserID, in ids: [ConversationID], counted: [ConversationID: CountedMessages] = [:],
        store: some MessagingStore
    ) throws -> [ConversationID: UnreadCount] {
        var counts: [ConversationID: UnreadCount] = [:]
        for position in try store.readPositions(of: user, in: Array(Set(ids))) {
            let (id, after) = (position.conversation, max(position.read, position.from))
            let messages = try unread(of: user, in: id, after: after, counted: counted[id], store: store)
            // Mentions are among them.
            let mentions =
                messages == 0 ? 0 : try store.mentionCount(of: user, in: id, after: after, limit: limits.unread)
            counts[id] = UnreadCount(messages: messages, mentions: mentions)
        }
        return counts
    }

    private func unread(
        of user: UserID, in id: ConversationID, after number: Int64, counted: CountedMessages?,
        store: some MessagingStore
    ) throws -> Int {
        let uncounted = try counted.map { _ in try store.blockedAuthors(of: user, in: id).union([user]) } ?? []
        guard let known = counted?.count(after: number, notBy: uncounted, limit: limits.unread),
            try !store.hasHidden(by: user, in: id, after: number)
        else { return try store.unreadCount(of: user, in: id, after: number, limit: limits.unread) }
        guard known < limits.unread else { return limits.unread }
        return known + (try store.missedCallCount(of: user, in: id, after: number, limit: limits.unread - known))
    }

    /// The newest messages of a conversation, as many as `unread` needs of them for nearly everybody.
    package func countedMessages(in id: ConversationID, store: some MessagingStore) throws -> CountedMessages {
        try store.countedMessages(in: id, limit: limits.unread + limits.unread / 4)
    }

    /// Notes whom a message mentions. Forwarded and withheld messages mention nobody.
    func noteMentions(of message: Message, in store: some MessagingStore) throws {
        guard !message.isWithheld, message.forwardedFrom == nil else { return }
        let found = FoundRanges(ranges: message.ranges)
        let users = try found.mentionedUsers.prefix(limits.mentions).filter { user in
            try user != message.author && store.member(user, of: message.conversation) != nil
        }
        guard !users.isEmpty || found.mentionsAll else { return }
        try store.insertMentions(
            of: users, all: found.mentionsAll, by: message.number, in: message.conversation)
    }
}
