import Model
import NIOCore

/// A client whose token and endpoint are good.
struct Admission: Sendable {
    /// With the endpoint.
    var principal: Principal
    var grant: EndpointGrant
    /// When the token expires.
    var expires: NIODeadline
}

// From the hello to its answer.
extension SessionMachine {
    /// Answers `authenticate`.
    mutating func authenticated(
        _ result: Result<Admission, Problem>, at now: NIODeadline, wallClock: Timestamp,
        into actions: inout [SessionAction]
    ) {
        guard case .authenticating(let id, let resume) = phase else { return }
        switch result {
        case .failure(let problem):
            refuseHello(id, problem, at: now, into: &actions)
        case .success(let admission):
            principal = admission.principal
            principal?.endpoint = admission.grant.endpoint
            clock.tokenExpires = admission.expires
            phase = .resuming(
                Resuming(id: id, newSecret: admission.grant.newSecret, wanted: resume.map(\.stream)))
            actions.append(.enter)
            for resumption in resume {
                actions.append(.subscribe(resumption.stream))
                listens[resumption.stream] = Listening(state: .lagging(resumption.after))
                read(resumption.stream, after: resumption.after, into: &actions)
            }
            welcomeIfResumed(at: now, wallClock: wallClock, into: &actions)
        }
    }

    /// A client may mend its hello within the time for it; without a good token or endpoint there is nothing to mend.
    private mutating func refuseHello(
        _ id: Int64, _ problem: Problem, at now: NIODeadline, into actions: inout [SessionAction]
    ) {
        switch problem.kind {
        case .unauthenticated, .forbidden:
            refuse(id, problem, into: &actions)
            end(.unauthenticated, into: &actions)
        case .rateLimited:
            refuse(id, problem, into: &actions)
            end(.rateLimited, into: &actions)
        case .invalidRequest:
            phase = .awaitingHello(until: clock.opened + limits.helloTimeout)
            early = []
            refuse(id, problem, into: &actions)
        default:
            refuse(id, problem, into: &actions)
            end(.internalError, into: &actions)
        }
    }

    /// Keeps the reading of a resumed stream until all are there. Returns false when the session is not resuming it.
    mutating func collect(
        _ stream: StreamName, _ result: Result<StreamOpening, Problem>, at now: NIODeadline, wallClock: Timestamp,
        into actions: inout [SessionAction]
    ) -> Bool {
        guard case .resuming(var resuming) = phase, resuming.wanted.contains(stream) else { return false }
        resuming.openings[stream] = resuming.dropped.contains(stream) ? .failure(.notFound("stream")) : result
        phase = .resuming(resuming)
        welcomeIfResumed(at: now, wallClock: wallClock, into: &actions)
        return true
    }

    /// Answers the hello once every resumed stream was read, and then sends what each of them missed.
    private mutating func welcomeIfResumed(
        at now: NIODeadline, wallClock: Timestamp, into actions: inout [SessionAction]
    ) {
        guard case .resuming(let resuming) = phase, resuming.openings.count == resuming.wanted.count,
            let principal, let endpoint = principal.endpoint
        else { return }
        phase = .live
        let welcome = Welcome(
            session: session, user: principal.user, endpoint: endpoint, newSecret: resuming.newSecret,
            heartbeat: limits.heartbeat, serverTime: wallClock,
            resumed: resuming.wanted.map { ($0, resuming.openings[$0]?.isWhole ?? false) })
        send(.hello(resuming.id, welcome), into: &actions)
        actions.append(.becomeLive)
        clock.becameLive(at: now, limits)
        for stream in resuming.wanted {
            guard let result = resuming.openings[stream] else { continue }
            if case .success(.onlySnapshot) = result { send(.reset(stream, .gap), into: &actions) }
            finishReading(stream, result.resetUnlessWhole, at: now, into: &actions)
        }
        for stream in resuming.attached { attach(stream, into: &actions) }
        let frames = early
        early = []
        for frame in frames { perform(frame, into: &actions) }
    }
}

extension Result<StreamOpening, Problem> {
    /// Whether a resumed stream goes on where its listener was.
    fileprivate var isWhole: Bool {
        if case .success(.changes) = self { true } else { false }
    }

    /// A resumed stream that comes as a snapshot is a reset: the listener had asked for what it missed.
    fileprivate var resetUnlessWhole: Self {
        if case .success(.snapshot(let json, let position)) = self {
            .success(.reset(.gap, json, position))
        } else {
            self
        }
    }
}
