/// Which calls were answered on this endpoint, as a value without I/O.
///
/// A call's document names the endpoint only while that is in the call. Of a call that is over, or was left, only this
/// remembers whether it was answered here or on another device of the user.
struct AnsweredCalls: Sendable {
    private struct Entry: Sendable {
        let call: CallID
        /// Of the document that was applied last.
        var version: Int
    }

    /// How many calls are remembered.
    static let limit = 64

    /// The oldest first.
    private var entries: [Entry] = []

    /// Whether the call was answered on this endpoint, as far as is known, and on no other one since.
    func contains(_ call: CallID) -> Bool { entries.contains { $0.call == call } }

    /// Somebody was given a call.
    mutating func give(_ call: Call, to user: UserID, at endpoint: EndpointID) {
        apply(call, for: user, at: endpoint)
        if !contains(call.id) { insert(Entry(call: call.id, version: call.version)) }
    }

    /// Applies a document of a call.
    mutating func apply(_ call: Call, for user: UserID, at endpoint: EndpointID) {
        guard let participant = call.participant(user) else { return }
        let index = index(of: call.id)
        if let index {
            // A snapshot may be older than a response that came before it.
            guard call.version >= entries[index].version else { return }
            entries[index].version = call.version
        }
        switch participant.state {
        case .joined where participant.endpoint == endpoint:
            if index == nil { insert(Entry(call: call.id, version: call.version)) }
        case .joined, .invited, .ringing, .declined, .missed, .busy, .unreachable:
            if let index { entries.remove(at: index) }
        default: break
        }
    }

    private func index(of call: CallID) -> Int? { entries.firstIndex { $0.call == call } }

    private mutating func insert(_ entry: Entry) {
        if entries.count >= Self.limit { entries.removeFirst() }
        entries.append(entry)
    }
}
