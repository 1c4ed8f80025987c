import Model
import NIOCore

/// One realtime session as a value: frames, answers, changes and moments come in, actions go out.
///
/// It has no door to the world. The host that owns it performs the actions in their order and brings back what they
/// lead to; the time is an argument. A session awaits its hello, verifies it, reads the streams that the client resumes,
/// and is then live until somebody ends it:
///
///     awaitingHello --hello--> authenticating --authenticated--> resuming --opened (all)--> live --…--> over
struct SessionMachine: ~Copyable {
    enum Phase {
        case awaitingHello(until: NIODeadline)
        case authenticating(id: Int64, resume: [Hello.Resumption])
        indirect case resuming(Resuming)
        case live
        case over
    }

    /// The hello was good; the streams that it resumes are being read.
    struct Resuming {
        var id: Int64
        var newSecret: String?
        var wanted: [StreamName]
        var openings: [StreamName: Result<StreamOpening, Problem>] = [:]
        /// Streams that others attached meanwhile: their snapshots come after the hello's answer.
        var attached: [StreamName] = []
        /// Streams that the client lost the access to meanwhile.
        var dropped: Set<StreamName> = []
    }

    /// A result that waits for changes it caused.
    struct WaitingAnswer {
        var frame: OutboundFrame
        var needs: [(stream: StreamName, position: Position)]
        var since: NIODeadline
    }

    let session: SessionID
    let rules: SessionRules
    var phase: Phase
    /// Who this is, from the hello on; with the endpoint.
    var principal: Principal?
    var listens: [StreamName: Listening] = [:]
    /// Frames that came between the hello and its answer.
    var early: [ClientFrame] = []
    var waiting: [WaitingAnswer] = []
    var requestsInFlight = 0
    /// Readings of the store under way.
    var readings = 0
    var tickets: UInt32 = 0
    var queue = SendQueue()
    var clock: SessionClock
    /// Whether the transport takes frames now; what it does not take is queued.
    var isTransportWritable = true
    /// Bytes given to the transport since the start.
    var handedOver = 0
    var faults = 0

    var limits: RealtimeLimits { rules.limits }

    init(session: SessionID, rules: SessionRules, at now: NIODeadline) {
        self.session = session
        self.rules = rules
        phase = .awaitingHello(until: now + rules.limits.helloTimeout)
        clock = SessionClock(at: now)
    }
}

/// What all sessions share.
final class SessionRules: Sendable {
    let limits: RealtimeLimits

    init(limits: RealtimeLimits) {
        self.limits = limits
    }
}

/// What a machine asks of its host.
enum SessionAction {
    /// Give the frame to the transport.
    case send(OutboundFrame)
    /// Verify the token, then the endpoint; answer with `authenticated`.
    case authenticate(Hello)
    /// Verify a newer token; answer with `verified`.
    case verify(id: Int64, token: String)
    /// Route what is published on the stream to this session from now on.
    case subscribe(StreamName)
    case unsubscribe(StreamName)
    /// Read the stream; answer with `opened`.
    case open(StreamName, after: Position?, ticket: UInt32)
    /// Run the request; answer with `answered`.
    case perform(id: Int64, name: String, params: [UInt8])
    /// Enter the session under its user and endpoint, so that others can find it.
    case enter
    /// The session is live: tell whoever watches.
    case becomeLive
    /// Tell whoever watches that the client is there.
    case reportHeard
    /// Count events that a slow client does not get.
    case dropped(Int)
    /// Say bye and close.
    case end(Bye)
}

// What comes from the client.
extension SessionMachine {
    /// Counts a frame of the client, message or not, before it is looked at. Returns false when there were too many
    /// within a second: the session then ends.
    mutating func admitFrame(at now: NIODeadline, into actions: inout [SessionAction]) -> Bool {
        hear(at: now, into: &actions)
        guard clock.countInbound(at: now) > limits.inboundPerSecond else { return true }
        end(.rateLimited, into: &actions)
        return false
    }

    /// The client sent a frame, which was admitted.
    mutating func receive(_ frame: ClientFrame, at now: NIODeadline, into actions: inout [SessionAction]) {
        hear(at: now, into: &actions)
        switch (phase, frame) {
        case (.over, _), (_, .heartbeat):
            return
        case (.awaitingHello, .hello(let id, let hello)):
            phase = .authenticating(id: id, resume: hello.resume)
            actions.append(.authenticate(hello))
        case (.awaitingHello, _):
            refuse(frame.id, Problem(.unauthenticated, "Say hello first."), into: &actions)
        case (_, .hello(let id, _)):
            refuse(id, .invalid("hello", "This session has said hello already."), into: &actions)
        case (.authenticating, _), (.resuming, _):
            guard early.count < limits.requestsInFlight else {
                return refuse(frame.id, .tooManyRequests(limits), into: &actions)
            }
            early.append(frame)
        case (.live, _):
            perform(frame, into: &actions)
        }
    }

    /// The client sent something that is no frame.
    mutating func receive(_ fault: FrameFault, at now: NIODeadline, into actions: inout [SessionAction]) {
        hear(at: now, into: &actions)
        if case .over = phase { return }
        faults += 1
        refuse(fault.id, fault.problem, into: &actions)
        if faults > limits.faults { end(.protocolError, into: &actions) }
    }

    private mutating func hear(at now: NIODeadline, into actions: inout [SessionAction]) {
        let mayReport = if case .live = phase { true } else { false }
        if clock.hear(at: now), mayReport { actions.append(.reportHeard) }
    }

    mutating func perform(_ frame: ClientFrame, into actions: inout [SessionAction]) {
        switch frame {
        case .listen(let id, let stream, let after): listen(id, to: stream, after: after, into: &actions)
        case .unlisten(let id, let stream): unlisten(id, from: stream, into: &actions)
        case .request(let id, let name, let params):
            guard admitRequest(id, into: &actions) else { return }
            actions.append(.perform(id: id, name: name, params: params))
        case .token(let id, let token):
            guard admitRequest(id, into: &actions) else { return }
            actions.append(.verify(id: id, token: token))
        case .hello, .heartbeat: break
        }
    }

    private mutating func admitRequest(_ id: Int64, into actions: inout [SessionAction]) -> Bool {
        guard requestsInFlight < limits.requestsInFlight else {
            refuse(id, .tooManyRequests(limits), into: &actions)
            return false
        }
        requestsInFlight += 1
        return true
    }
}

// What goes to the client.
extension SessionMachine {
    /// Sends a frame, or queues it behind others; a client that leaves too much unread is let go.
    mutating func send(_ frame: OutboundFrame, into actions: inout [SessionAction]) {
        if case .over = phase { return }
        if isTransportWritable, queue.isEmpty {
            handOver(frame, into: &actions)
        } else {
            queue.append(frame)
            clock.mustAdvance()
            if queue.bytes > limits.hardQueueBytes { end(.slow, into: &actions) }
        }
    }

    /// Sends an event, or lets it wait: in the place of an older one of its stream, or behind those that wait.
    mutating func sendEvent(_ frame: OutboundFrame, of stream: StreamName, into actions: inout [SessionAction]) {
        if isTransportWritable, queue.isEmpty { return send(frame, into: &actions) }
        if stream.kind == .orderedEvents {
            let dropped = queue.append(
                frame, of: stream, atMost: limits.orderedEvents, bytes: limits.softQueueBytes)
            if dropped > 0 { actions.append(.dropped(dropped)) }
        } else {
            queue.replace(frame, of: stream)
        }
        clock.mustAdvance()
    }

    mutating func refuse(_ id: Int64?, _ problem: Problem, into actions: inout [SessionAction]) {
        send(.error(id, problem), into: &actions)
    }

    /// The transport takes frames, or no longer. When it does, the queue is emptied piece by piece: the host calls again
    /// as long as the transport goes on taking and `hasBacklog`.
    mutating func setTransportWritable(_ isWritable: Bool, at now: NIODeadline, into actions: inout [SessionAction]) {
        let wasWritable = isTransportWritable
        isTransportWritable = isWritable
        guard isWritable else { return clock.blocked(at: now) }
        if !wasWritable { clock.readAgain(at: now) }
        var sent = 0
        while sent < limits.softQueueBytes, let frame = queue.next() {
            sent += frame.count
            handOver(frame, into: &actions)
        }
        catchUp(into: &actions)
    }

    var hasBacklog: Bool { !queue.isEmpty }

    /// Whether so much is queued that streams lag instead.
    var isCongested: Bool { queue.bytes >= limits.softQueueBytes }

    /// Ends the session. What is queued is not sent any more: the client resumes and gets it then.
    mutating func end(_ bye: Bye, into actions: inout [SessionAction]) {
        if case .over = phase { return }
        close(into: &actions)
        actions.append(.end(bye))
    }

    /// The transport is gone, or is about to be.
    mutating func close(into actions: inout [SessionAction]) {
        if case .over = phase { return }
        phase = .over
        for stream in listens.keys { actions.append(.unsubscribe(stream)) }
        listens = [:]
        queue.removeAll()
        early = []
        waiting = []
    }

    private mutating func handOver(_ frame: OutboundFrame, into actions: inout [SessionAction]) {
        handedOver &+= frame.count
        actions.append(.send(frame))
    }
}

extension ClientFrame {
    var id: Int64? {
        switch self {
        case .hello(let id, _), .listen(let id, _, _), .unlisten(let id, _), .request(let id, _, _), .token(let id, _):
            id
        case .heartbeat: nil
        }
    }
}

extension Problem {
    static func tooManyRequests(_ limits: RealtimeLimits) -> Self {
        Problem(.rateLimited, "At most \(limits.requestsInFlight) requests may be in flight.", retryAfter: 1000)
    }
}
