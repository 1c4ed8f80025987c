/// Answering a call by its id, which may begin before there is a connection, as a state machine without I/O.
///
/// ```
/// waiting ──connected──▶ accepting ──accepted──▶ over
///    │                       │
///    └──abandoned──▶ over    └──abandoned──▶ undoing ──accepted──▶ over, leaving the call
///                                               └──disconnected──▶ finding ──found──▶ over, leaving the call if it is joined
/// ```
/// The request is sent only once there is a connection, so that one that is given up before has no effect. After that the
/// server may have carried it out: then the call is left. If the connection breaks meanwhile, the request is not sent again,
/// since it might be carried out only then.
struct CallAnswering: Sendable {
    private enum State: Sendable {
        case waiting
        case accepting(isConnected: Bool)
        /// Nobody waits for the outcome any more; the response of the request is awaited.
        case undoing
        /// Nobody waits for the outcome any more; the call's document is awaited.
        case finding
        case over
    }

    enum Outcome: Hashable, Sendable {
        case answered(Call)
        case over(RingEnd)
        case failed(SwitchboardError)
        case cancelled
    }

    enum Action: Hashable, Sendable {
        case complete(Outcome)
        /// Send the request; its result is for ``accepted(_:for:at:)``.
        case accept
        /// Do not send the request again.
        case withdraw
        /// Get the call's document, for ``found(_:for:at:)``.
        case find
        case leave
    }

    private var state = State.waiting

    var isOver: Bool {
        if case .over = state { true } else { false }
    }

    mutating func connected() -> [Action] {
        switch state {
        case .waiting:
            state = .accepting(isConnected: true)
            return [.accept]
        case .accepting: state = .accepting(isConnected: true)
        case .undoing, .finding, .over: break
        }
        return []
    }

    mutating func disconnected() -> [Action] {
        switch state {
        case .accepting: state = .accepting(isConnected: false)
        case .undoing:
            state = .finding
            return [.withdraw, .find]
        case .waiting, .finding, .over: break
        }
        return []
    }

    /// Nobody waits for the outcome any more: the task was cancelled, or the time is over.
    mutating func abandon(_ outcome: Outcome) -> [Action] {
        switch state {
        case .waiting:
            state = .over
            return [.complete(outcome)]
        case .accepting(isConnected: true):
            state = .undoing
            return [.complete(outcome)]
        case .accepting(isConnected: false):
            state = .finding
            return [.complete(outcome), .withdraw, .find]
        case .undoing, .finding, .over: return []
        }
    }

    /// The client has stopped, such as by signing out.
    mutating func stopped(_ error: SwitchboardError) -> [Action] {
        defer { state = .over }
        switch state {
        case .waiting, .accepting: return [.complete(.failed(error))]
        case .undoing, .finding, .over: return []
        }
    }

    /// The result of the request.
    ///
    /// - Parameter wasAnsweredHere: as for ``RingState``.
    mutating func accepted(
        _ result: Result<Call, SwitchboardError>, for user: UserID?, at endpoint: EndpointID, wasAnsweredHere: Bool
    ) -> [Action] {
        switch (state, result) {
        case (.accepting, .success(let call)):
            state = .over
            return [.complete(.answered(call))]
        case (.accepting, .failure(.timedOut)):
            state = .finding
            return [.complete(.failed(.timedOut)), .find]
        case (.accepting, .failure(let error)):
            state = .over
            let outcome = Self.outcome(error, for: user, at: endpoint, wasAnsweredHere: wasAnsweredHere)
            return [.complete(outcome)]
        case (.undoing, .success), (.finding, .success):
            state = .over
            return [.leave]
        case (.undoing, .failure(.timedOut)):
            state = .finding
            return [.find]
        case (.undoing, .failure): state = .over
        case (.finding, .failure), (.waiting, _), (.over, _): break
        }
        return []
    }

    /// The call's document.
    mutating func found(
        _ result: Result<Call, SwitchboardError>, for user: UserID?, at endpoint: EndpointID
    ) -> [Action] {
        guard case .finding = state else { return [] }
        state = .over
        guard let user, case .success(let call) = result else { return [] }
        return RingState(call, for: user, at: endpoint, wasAnsweredHere: false) == .joined ? [.leave] : []
    }

    private static func outcome(
        _ error: SwitchboardError, for user: UserID?, at endpoint: EndpointID, wasAnsweredHere: Bool
    ) -> Outcome {
        switch error.problem?.kind {
        case .answeredElsewhere?: return .over(.answered)
        // Also a call that another account of this device may see.
        case .notFound?: return .over(.cancelled)
        case .callEnded?:
            guard let user, let call = error.problem?.call,
                case .over(let end) = RingState(call, for: user, at: endpoint, wasAnsweredHere: wasAnsweredHere)
            else { return .over(.cancelled) }
            return .over(end)
        default: return .failed(error)
        }
    }
}
