import DequeModule
import Model

/// Conversations with messages that are not indexed, each once, in the order of their turns. A conversation that has
/// more after its turn goes to the end, so that a very active one does not delay the others.
struct WaitingConversations: Sendable {
    /// A conversation that waits, with the first commit that is not indexed.
    struct Entry: Sendable {
        let id: ConversationID
        var since: ContinuousClock.Instant
    }

    private var order: Deque<ConversationID> = []
    private var instants: [ConversationID: ContinuousClock.Instant] = [:]

    var isEmpty: Bool { order.isEmpty }
    var count: Int { order.count }
    /// Whose turn is next.
    var first: Entry? {
        order.first.flatMap { id in instants[id].map { Entry(id: id, since: $0) } }
    }
    /// The first commit of them all.
    var oldest: ContinuousClock.Instant? { instants.values.min() }

    /// To the end, unless it waits already.
    mutating func append(_ entry: Entry) {
        if let since = instants[entry.id] {
            instants[entry.id] = min(since, entry.since)
        } else {
            instants[entry.id] = entry.since
            order.append(entry.id)
        }
    }

    /// Back to the front, in this order: their turn has not come.
    mutating func putBack(_ entries: [Entry]) {
        // Those that have changed meanwhile are at the end.
        let moved = Set(entries.map(\.id).filter { instants[$0] != nil })
        if !moved.isEmpty { order.removeAll { moved.contains($0) } }
        for entry in entries { instants[entry.id] = entry.since }
        order.prepend(contentsOf: entries.map(\.id))
    }

    /// Takes the first of them out.
    mutating func take(_ limit: Int) -> [Entry] {
        let taken = order.prefix(limit)
        order.removeFirst(taken.count)
        return taken.compactMap { id in
            instants.removeValue(forKey: id).map { Entry(id: id, since: $0) }
        }
    }
}
