import Model
import NIOCore

/// A client with a valid token and endpoint.
struct Admission: Sendable {
    /// With the endpoint.
    var principal: Principal
    var grant: EndpointGrant
    /// When the token expires.
    var expires: NIODeadline
}

// From the hello to its result.
extension SessionMachine {
    /// Completes `authenticate`.
    mutating func authenticated(
        _ result: Result<Admission, Problem>, at now: NIODeadline, wallClock: Timestamp,
        into actions: inout [SessionAction]
    ) {
        guard case .authenticating(let id, let resume) = phase else { return }
        switch result {
        case .failure(let problem):
            rejectHello(id, problem, at: now, into: &actions)
        case .success(let admission):
            principal = admission.principal
            principal?.endpoint = admission.grant.endpoint
            clock.tokenExpires = admission.expires
            phase = .resuming(
                Resuming(id: id, newSecret: admission.grant.newSecret, requested: resume.map(\.stream)))
            actions.append(.register)
            for resumption in resume {
                actions.append(.subscribe(resumption.stream))
                listens[resumption.stream] = StreamSubscription(state: .lagging(resumption.after))
                read(resumption.stream, after: resumption.after, into: &actions)
            }
            sendHelloResultIfResumed(at: now, wallClock: wallClock, into: &actions)
        }
    }

    /// A client may correct an invalid hello within the hello timeout. Without a valid token or endpoint the session
    /// ends.
    private mutating func rejectHello(
        _ id: Int64, _ problem: Problem, at now: NIODeadline, into actions: inout [SessionAction]
    ) {
        switch problem.kind {
        case .unauthenticated, .forbidden:
            reject(id, problem, into: &actions)
            end(.unauthenticated, into: &actions)
        case .rateLimited:
            reject(id, problem, into: &actions)
            end(.rateLimited, into: &actions)
        case .invalidRequest:
            phase = .awaitingHello(until: clock.opened + limits.helloTimeout)
            deferredFrames = []
            reject(id, problem, into: &actions)
        default:
            reject(id, problem, into: &actions)
            end(.internalError, into: &actions)
        }
    }

    /// Keeps the reading of a resumed stream until all are complete. False when the session is not resuming it.
    mutating func collect(
        _ stream: StreamName, _ result: Result<StreamOpening, Problem>, at now: NIODeadline, wallClock: Timestamp,
        into actions: inout [SessionAction]
    ) -> Bool {
        guard case .resuming(var resuming) = phase, resuming.requested.contains(stream) else { return false }
        resuming.openings[stream] = resuming.dropped.contains(stream) ? .failure(.notFound("stream")) : result
        phase = .resuming(resuming)
        sendHelloResultIfResumed(at: now, wallClock: wallClock, into: &actions)
        return true
    }

    /// Sends the hello's result once every resumed stream was read, and then what the client missed of each.
    private mutating func sendHelloResultIfResumed(
        at now: NIODeadline, wallClock: Timestamp, into actions: inout [SessionAction]
    ) {
        guard case .resuming(let resuming) = phase, resuming.openings.count == resuming.requested.count,
            let principal, let endpoint = principal.endpoint
        else { return }
        phase = .live
        let helloResult = HelloResult(
            session: session, user: principal.user, endpoint: endpoint, newSecret: resuming.newSecret,
            heartbeat: limits.heartbeat, serverTime: wallClock, serverVersion: rules.serverVersion,
            clientBuild: rules.clientBuild,
            resumed: resuming.requested.map { ($0, resuming.openings[$0]?.isContinued ?? false) })
        send(.hello(resuming.id, helloResult), into: &actions)
        actions.append(.becomeLive)
        clock.becameLive(at: now, limits)
        for stream in resuming.requested {
            guard let result = resuming.openings[stream] else { continue }
            if case .success(.presence) = result { send(.reset(stream, .gap), into: &actions) }
            finishReading(stream, result.resetUnlessContinued, at: now, into: &actions)
        }
        for stream in resuming.attached { attach(stream, into: &actions) }
        let frames = deferredFrames
        deferredFrames = []
        for frame in frames { dispatch(frame, into: &actions) }
    }
}

extension Result<StreamOpening, Problem> {
    /// Whether a resumed stream continues at its listener's position.
    fileprivate var isContinued: Bool {
        switch self {
        case .success(.changes): true
        case .success(.state(let state)): state.reset == nil && !state.isSnapshot
        default: false
        }
    }

    /// A resumed stream for which the store has only a snapshot is reset: the listener requested the changes.
    fileprivate var resetUnlessContinued: Self {
        switch self {
        case .success(.snapshot(let json, let position)): return .success(.reset(.gap, json, position))
        case .success(.state(var state)) where state.isSnapshot && state.reset == nil:
            state.reset = .gap
            return .success(.state(state))
        default: return self
        }
    }
}

extension StateOpening {
    fileprivate var isSnapshot: Bool { if case .snapshot = content { true } else { false } }
}
