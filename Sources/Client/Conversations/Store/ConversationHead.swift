/// The stored part of a conversation without its messages and members.
struct ConversationHead: Codable, Hashable, Sendable {
    var conversation: Conversation?
    var membership: Membership?
    var epoch: String?
    var sequence: Int64?
    /// The newest range, which is as new as the position.
    var newest: [Int]?
    var start: Int?
    var newestStart: Int?
    var hasMoreMembers = false
    /// Every range of which all messages are stored, however old.
    var stored: [[Int]] = []

    init() {}

    /// The documents and the position, without members, people, messages and ranges.
    func documents(of id: ConversationID) -> ConversationState {
        var state = ConversationState(id: id)
        (state.conversation, state.membership) = (conversation, membership)
        (state.start, state.newestStart) = (start, newestStart)
        state.hasMoreMembers = hasMoreMembers
        if let epoch, let sequence { state.position = StreamPosition(epoch: epoch, sequence: sequence) }
        return state
    }

    /// The newest range, and the sequence as of which it is.
    var newestRange: (numbers: ClosedRange<Int>, asOf: Int)? {
        if let newest = range(newest) { return (newest, Int(sequence ?? 0)) }
        return stored.compactMap { range($0) }.max { $0.upperBound < $1.upperBound }.map { ($0, 0) }
    }

    /// Takes over what a state holds; other stored values stay.
    mutating func update(from state: ConversationState) {
        conversation = state.conversation
        membership = state.membership
        epoch = state.position?.epoch
        sequence = state.position?.sequence
        newest = state.ranges.last.flatMap { range in
            state.position.flatMap { range.asOf >= Int($0.sequence) ? [range.first, range.last] : nil }
        }
        start = state.start
        newestStart = state.newestStart
        hasMoreMembers = state.hasMoreMembers
        for range in state.ranges.all { store(range.first, range.last) }
    }

    /// Adds a range to those that are stored, joined with its neighbours.
    private mutating func store(_ first: Int, _ last: Int) {
        var (first, last) = (first, last)
        stored.removeAll { range in
            guard range.count == 2, range[0] <= last + 1, range[1] >= first - 1 else { return range.count != 2 }
            (first, last) = (min(first, range[0]), max(last, range[1]))
            return true
        }
        stored.append([first, last])
    }

    /// The stored range that contains a number.
    func stored(at number: Int) -> ClosedRange<Int>? {
        stored.lazy.compactMap { SwitchboardClient.range($0) }.first { $0.contains(number) }
    }

    /// Forgets stored ranges below a number.
    mutating func remove(below number: Int) {
        stored = stored.compactMap { range in
            guard let held = SwitchboardClient.range(range), held.upperBound >= number else { return nil }
            return [max(held.lowerBound, number), held.upperBound]
        }
        guard let newest, newest.count == 2 else { return }
        self.newest = newest[1] >= number ? [max(newest[0], number), newest[1]] : nil
    }
}

/// The stored part of the inbox without its rows.
struct InboxHead: Codable, Hashable, Sendable {
    var epoch: String?
    var sequence: Int64?
    var boundary: InboxState.SortKey?
    var nextCursor: String?
    var unreadBelow = 0
}
