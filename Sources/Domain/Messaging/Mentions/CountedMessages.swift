package import Model

/// The newest messages of a conversation that count as unread for those who did not write them. With them, the counts
/// of all members of a large group are found by two binary searches each; the store would read each message again for
/// each member.
package struct CountedMessages: Sendable {
    /// Ascending.
    private var numbers: [Int64] = []
    private var byAuthor: [UserID: [Int64]] = [:]
    /// Whether the conversation has none before these.
    private let isComplete: Bool
    /// When the first of them disappears. Later counts would be wrong.
    package private(set) var expiresAt: Timestamp?

    /// A message that counts.
    package struct Entry: Sendable {
        let number: Int64
        let author: UserID
        let expiresAt: Timestamp?

        package init(number: Int64, author: UserID, expiresAt: Timestamp?) {
            self.number = number
            self.author = author
            self.expiresAt = expiresAt
        }
    }

    /// - Parameter newest: the newest first.
    package init(newest: [Entry], isComplete: Bool) {
        self.isComplete = isComplete
        for entry in newest.reversed() {
            numbers.append(entry.number)
            byAuthor[entry.author, default: []].append(entry.number)
            guard let time = entry.expiresAt else { continue }
            expiresAt = expiresAt.map { min($0, time) } ?? time
        }
    }

    package var count: Int { numbers.count }

    /// How many messages of others there are after a number, at most `limit`; nil if that cannot be said from those
    /// that are held.
    ///
    /// - Parameter authors: the users whose messages do not count: the reader, and those whom the reader has blocked.
    package func count(after number: Int64, notBy authors: Set<UserID>, limit: Int) -> Int? {
        var others = Self.count(in: numbers, after: number)
        for author in authors { others -= Self.count(in: byAuthor[author] ?? [], after: number) }
        if others >= limit { return limit }
        let reachesBack = isComplete || numbers.first.map { $0 <= number } ?? false
        return reachesBack ? others : nil
    }

    private static func count(in numbers: [Int64], after number: Int64) -> Int {
        var (low, high) = (0, numbers.count)
        while low < high {
            let middle = (low + high) / 2
            if numbers[middle] > number { high = middle } else { low = middle + 1 }
        }
        return numbers.count - low
    }
}
