import Messaging
import Model

/// What hangs on messages and members, in memory.
struct InMemoryMessageParts {
    var reactions: [Reaction] = []
    var counter: Int64 = 0
    var own: [(user: UserID, row: OwnRow)] = []
    var memberships: [UserID: [ConversationID: Membership]] = [:]
    /// Nil for everybody.
    var mentions: [(conversation: ConversationID, number: Int64, user: UserID?)] = []
    var withoutReceipts: Set<UserID> = []
    var marks: [ConversationID: [UserID: MemberMarks]] = [:]
    var missed: [ConversationID: [Int64: Set<UserID>]] = [:]
    var rises: [(conversation: ConversationID, rise: MarkRise)] = []
}

extension InMemoryMessagingStore {
    func reactions(of user: UserID, to numbers: ClosedRange<Int64>, in conversation: ConversationID) -> [Reaction] {
        parts.reactions.filter {
            $0.user == user && $0.conversation == conversation && numbers.contains($0.number)
        }.sorted { ($0.number, $0.sequence) < ($1.number, $1.sequence) }
    }
    func reactions(
        to number: Int64, in conversation: ConversationID, emoji: String?, after sequence: Int64,
        visibleTo reader: UserID?, limit: Int
    ) -> [Reaction] {
        let found = parts.reactions.filter {
            $0.number == number && $0.conversation == conversation && $0.sequence > sequence
                && (!$0.isWithheld || $0.user == reader) && (emoji == nil || emoji == $0.emoji)
        }
        return Array(found.sorted { $0.sequence < $1.sequence }.prefix(limit))
    }
    func reactions(by user: UserID, limit: Int) -> [Reaction] {
        let found = parts.reactions.filter { $0.user == user }
            .sorted { ($0.conversation.text, $0.number, $0.emoji) < ($1.conversation.text, $1.number, $1.emoji) }
        return Array(found.prefix(limit))
    }
    func insert(_ reaction: Reaction) { parts.reactions.append(reaction) }
    func remove(_ reaction: Reaction) { parts.reactions.removeAll { $0 == reaction } }
    func removeReactions(to number: Int64, in conversation: ConversationID) {
        parts.reactions.removeAll { $0.number == number && $0.conversation == conversation }
    }

    func nextCounter() -> Int64 {
        parts.counter += 1
        return parts.counter
    }
    func ownRows(of user: UserID, in conversation: ConversationID, _ numbers: ClosedRange<Int64>) -> [OwnRow] {
        parts.own.filter { $0.user == user && $0.row.conversation == conversation && numbers.contains($0.row.number) }
            .map(\.row).sorted { $0.number < $1.number }
    }
    func ownRows(
        of user: UserID, in conversation: ConversationID, changedAfter counter: Int64, limit: Int
    ) -> [OwnRow] {
        let changed = ownRows(of: user, in: conversation, 1...Int64.max).filter { $0.counter > counter }
        return Array(changed.sorted { $0.counter < $1.counter }.prefix(limit))
    }
    func hiddenNumbers(of user: UserID, in conversation: ConversationID, _ numbers: ClosedRange<Int64>, limit: Int)
        -> [Int64]
    {
        let hidden = ownRows(of: user, in: conversation, numbers).filter(\.isHidden).map(\.number)
        return Array(hidden.reversed().prefix(limit))
    }
    func hidden(of numbers: [Int64], by user: UserID, in conversation: ConversationID) -> [Int64] {
        hiddenNumbers(of: user, in: conversation, 1...Int64.max, limit: .max).filter(numbers.contains)
    }
    func save(_ row: OwnRow, of user: UserID) {
        parts.own.removeAll {
            $0.user == user && $0.row.conversation == row.conversation && $0.row.number == row.number
        }
        parts.own.append((user, row))
    }
    func starred(of user: UserID, after position: StarredPosition?, limit: Int) -> [OwnRow] {
        func key(_ time: Timestamp, _ conversation: ConversationID, _ number: Int64) -> (Int64, String, Int64) {
            (time.milliseconds, conversation.text, number)
        }
        let found = parts.own.filter { $0.user == user }.compactMap { entry in
            entry.row.starredAt.map { (key($0, entry.row.conversation, entry.row.number), entry.row) }
        }.filter { entry in
            position.map { entry.0 < key($0.starredAt, $0.conversation, $0.number) } ?? true
        }
        return Array(found.sorted { $0.0 > $1.0 }.map(\.1).prefix(limit))
    }
    func membership(of user: UserID, in conversation: ConversationID) -> Membership {
        parts.memberships[user]?[conversation] ?? Membership()
    }
    func save(_ membership: Membership, of user: UserID, in conversation: ConversationID) {
        parts.memberships[user, default: [:]][conversation] = membership
    }
    func pinnedConversationCount(of user: UserID) -> Int {
        parts.memberships[user]?.values.count(where: \.isPinned) ?? 0
    }

    func sendsReceipts(_ user: UserID) -> Bool { !parts.withoutReceipts.contains(user) }
    func marks(of user: UserID, in conversation: ConversationID) -> MemberMarks? { parts.marks[conversation]?[user] }
    func marks(in conversation: ConversationID, after user: UserID?, limit: Int) -> [MemberMarks] {
        let found = (parts.marks[conversation]?.values.sorted { $0.user.text < $1.user.text } ?? [])
        return Array(found.filter { $0.user.text > user?.text ?? "" }.prefix(limit))
    }
    func marksOfMembers(of conversation: ConversationID, limit: Int) throws -> [MemberMarks] {
        let found = try marks(in: conversation, after: nil, limit: .max).filter {
            try member($0.user, of: conversation)?.state == .member
        }
        return Array(found.prefix(limit))
    }
    func save(_ marks: MemberMarks, in conversation: ConversationID) {
        parts.marks[conversation, default: [:]][marks.user] = marks
    }
    func insert(_ rise: MarkRise, in conversation: ConversationID) { parts.rises.append((conversation, rise)) }
    func rise(
        _ kind: MarkRise.Kind, of user: UserID, over number: Int64, in conversation: ConversationID
    ) -> MarkRise? {
        parts.rises.map { $0.conversation == conversation ? $0.rise : nil }.compactMap { $0 }.first {
            $0.user == user && $0.kind == kind && $0.from < number && $0.to >= number
        }
    }
    func removeRises(of user: UserID, upTo number: Int64, in conversation: ConversationID) {
        parts.rises.removeAll { $0.conversation == conversation && $0.rise.user == user && $0.rise.to <= number }
    }

    func insertMentions(of users: [UserID], all: Bool, by number: Int64, in conversation: ConversationID) {
        for user in users { parts.mentions.append((conversation, number, user)) }
        if all { parts.mentions.append((conversation, number, nil)) }
    }
    func removeMentions(by number: Int64, in conversation: ConversationID) {
        parts.mentions.removeAll { $0.number == number && $0.conversation == conversation }
    }
    func unreadConversations(of user: UserID, isArchive: Bool) -> UnreadCount {
        var count = UnreadCount()
        for position in readPositions(of: user, in: Array(rows.keys))
        where (parts.memberships[user]?[position.conversation]?.isArchived ?? false) == isArchive {
            let (id, after) = (position.conversation, max(position.read, position.from))
            let hasUnread = unreadCount(of: user, in: id, after: after, limit: 1) > 0
            if hasUnread || parts.memberships[user]?[id]?.isMarkedUnread ?? false { count.messages += 1 }
            count.mentions += mentionCount(of: user, in: id, after: after, limit: 1)
        }
        return count
    }
    func readPositions(of user: UserID, in ids: [ConversationID]) -> [ReadPosition] {
        ids.filter { member(user, of: $0)?.state == .member }.map {
            ReadPosition(
                conversation: $0, read: marks(of: user, in: $0)?.marks.read ?? 0, from: spans(of: user, in: $0).from)
        }
    }
    private func unread(of user: UserID, in conversation: ConversationID, after number: Int64) -> [Message] {
        guard number < .max else { return [] }
        let blocked = blockedAuthors(of: user, in: conversation)
        return messages(
            in: conversation, (number + 1)...(.max), visibleTo: user, isNewestFirst: false, limit: .max
        ).filter { message in
            message.author != user && !blocked.contains(message.author) && message.deletedAt == nil
                && message.kind != .notice && !message.isExpired(at: now)
                && (message.kind != .call || parts.missed[conversation]?[message.number]?.contains(user) ?? false)
        }
    }
    func blockedAuthors(of user: UserID, in conversation: ConversationID) -> Set<UserID> {
        guard rows[conversation]?.conversation.kind == .group else { return [] }
        return Set(rows[conversation]?.members.keys.filter { isBlocked($0, by: user) } ?? [])
    }
    func setMissed(by users: Set<UserID>, _ number: Int64, in conversation: ConversationID) {
        parts.missed[conversation, default: [:]][number] = users
    }
    func unreadCount(of user: UserID, in conversation: ConversationID, after number: Int64, limit: Int) -> Int {
        min(limit, unread(of: user, in: conversation, after: number).count)
    }
    func missedCallCount(of user: UserID, in conversation: ConversationID, after number: Int64, limit: Int) -> Int {
        min(limit, unread(of: user, in: conversation, after: number).count { $0.kind == .call })
    }
    func countedMessages(in conversation: ConversationID, limit: Int) -> CountedMessages {
        let all = (rows[conversation]?.messages.values.map(\.message) ?? []).sorted { $0.number > $1.number }
        let counted = all.filter { message in
            guard !message.isWithheld, message.deletedAt == nil, !message.isExpired(at: now) else { return false }
            return message.kind != .notice && message.kind != .call
        }.prefix(limit)
        return CountedMessages(
            newest: counted.map {
                CountedMessages.Entry(number: $0.number, author: $0.author, expiresAt: $0.expiresAt)
            },
            isComplete: counted.count < limit)
    }
    func hasHidden(by user: UserID, in conversation: ConversationID, after number: Int64) -> Bool {
        parts.own.contains {
            $0.user == user && $0.row.conversation == conversation && $0.row.number > number && $0.row.isHidden
        }
    }
    func mentionCount(of user: UserID, in conversation: ConversationID, after number: Int64, limit: Int) -> Int {
        let mentioning = parts.mentions.filter { $0.conversation == conversation && ($0.user ?? user) == user }
        let numbers = Set(mentioning.map(\.number))
        return min(limit, unread(of: user, in: conversation, after: number).count { numbers.contains($0.number) })
    }

    func replies(
        to root: Int64, in conversation: ConversationID, _ numbers: ClosedRange<Int64>, visibleTo user: UserID,
        isNewestFirst: Bool, limit: Int
    ) -> [Message] {
        let all = messages(
            in: conversation, numbers, visibleTo: user, isNewestFirst: isNewestFirst, limit: .max)
        return Array(all.filter { $0.thread == root }.prefix(limit))
    }
    func withheldReplyCounts(
        by author: UserID, to roots: ClosedRange<Int64>, in conversation: ConversationID
    ) -> [Int64: Int] {
        let all = (rows[conversation]?.messages.values.map(\.message) ?? []).filter {
            $0.isWithheld && $0.author == author && $0.deletedAt == nil
        }
        return Dictionary(grouping: all.compactMap(\.thread).filter(roots.contains)) { $0 }.mapValues(\.count)
    }
}
