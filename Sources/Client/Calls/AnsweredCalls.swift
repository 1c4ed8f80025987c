/// Which calls were answered on this endpoint, and which of them somebody here has, as a value without I/O.
///
/// A call's document names the endpoint only while that is in the call. Of a call that is over, or was left, only this
/// remembers whether it was answered here or on another device of the user.
///
/// Several may answer the same call: taps, and screens that accept its ``LiveCall``. One that has given up must not leave a
/// call that another one was given, or may yet be given. So each is an attempt, from the start until it has its outcome.
struct AnsweredCalls: Sendable {
    private struct Entry: Sendable {
        let call: CallID
        /// Of the document that was applied last.
        var version: Int
        /// Whether this endpoint is in the call, and somebody was given it.
        var isWanted = false
    }

    /// How many calls are remembered.
    static let limit = 64

    /// The oldest first.
    private var entries: [Entry] = []
    private var attempts: [CallID: Int] = [:]
    /// Calls that were accepted for nobody, while others were answering them.
    private var unwanted: Set<CallID> = []

    /// Whether the call was answered on this endpoint, as far as is known, and on no other one since.
    func contains(_ call: CallID) -> Bool { entries.contains { $0.call == call } }

    /// Whether the call is being answered here.
    func isAnswering(_ call: CallID) -> Bool { attempts[call] != nil }

    /// Somebody begins to answer a call.
    mutating func begin(_ call: CallID) { attempts[call, default: 0] += 1 }

    /// An attempt has its outcome.
    ///
    /// - Parameter document: the call, if somebody was given it.
    /// - Returns: Whether to leave the call, which was accepted for nobody.
    mutating func end(_ call: CallID, given document: Call?, to user: UserID?, at endpoint: EndpointID) -> Bool {
        if let count = attempts[call] { attempts[call] = count > 1 ? count - 1 : nil }
        if let document, let user { give(document, to: user, at: endpoint) }
        guard !isAnswering(call), unwanted.remove(call) != nil else { return false }
        return !isWanted(call)
    }

    /// Somebody was given a call.
    mutating func give(_ call: Call, to user: UserID, at endpoint: EndpointID) {
        apply(call, for: user, at: endpoint)
        guard let index = index(of: call.id) else { return insert(Entry(call: call.id, version: call.version)) }
        let isJoined = RingState(call, for: user, at: endpoint, wasAnsweredHere: true) == .joined
        if isJoined, call.version >= entries[index].version { entries[index].isWanted = true }
    }

    /// A call was accepted for somebody who has given up.
    ///
    /// - Returns: Whether to leave it now.
    mutating func acceptedForNobody(_ call: CallID) -> Bool {
        if isWanted(call) { return false }
        guard isAnswering(call) else { return true }
        unwanted.insert(call)
        return false
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
        case .left: if let index { entries[index].isWanted = false }
        case .joined, .invited, .ringing, .declined, .missed, .busy, .unreachable:
            if let index { entries.remove(at: index) }
        default: break
        }
    }

    private func index(of call: CallID) -> Int? { entries.firstIndex { $0.call == call } }

    private func isWanted(_ call: CallID) -> Bool { index(of: call).map { entries[$0].isWanted } ?? false }

    private mutating func insert(_ entry: Entry) {
        if entries.count >= Self.limit { entries.remove(at: entries.firstIndex { !$0.isWanted } ?? 0) }
        entries.append(entry)
    }
}
