import DequeModule
import Model
import NIOCore

/// One realtime session as a value: its input is frames, results, changes and the time, its output is actions.
///
/// It does no input or output itself. The host that owns it executes the actions in order and reports their results;
/// the time is an argument. A session awaits its hello, verifies it, reads the streams that the client resumes, and is
/// then live until it ends:
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

    /// The hello was accepted; the streams that it resumes are being read.
    struct Resuming {
        var id: Int64
        var newSecret: String?
        var requested: [StreamName]
        var openings: [StreamName: Result<StreamOpening, Problem>] = [:]
        /// Streams that the server attached meanwhile: their snapshots follow the hello's result.
        var attached: [StreamName] = []
        /// Streams to which the client has lost access meanwhile.
        var dropped: Set<StreamName> = []
    }

    /// A result that waits for the changes that it caused.
    struct PendingResult {
        var frame: OutboundFrame
        var needs: [(stream: StreamName, position: Position)]
        var since: NIODeadline
    }

    /// A request that is in flight and waits for its turn.
    struct PageRequest {
        var id: Int64
        var name: String
        var params: [UInt8]
    }

    let session: SessionID
    let rules: SessionRules
    /// Counts a `listen` or `unlisten` as a request of the user; the problem if there were too many.
    let admitListen: @Sendable (Principal) -> Problem?
    /// `RequestHandler.isPage`.
    let isPage: @Sendable (String) -> Bool
    var phase: Phase
    /// The user and the endpoint, from the hello on.
    var principal: Principal?
    var listens: [StreamName: StreamSubscription] = [:]
    /// Frames that were received between the hello and its result.
    var deferredFrames: [ClientFrame] = []
    var pendingResults: [PendingResult] = []
    /// With those that wait.
    var requestsInFlight = 0
    /// Requests for pages, in their order, that are not handled yet.
    var waitingPages: Deque<PageRequest> = []
    /// Of those that are being handled.
    var pageIDs: [Int64] = []
    /// Pending reads from the store, with those of streams that the client has stopped listening to meanwhile.
    var readings = 0
    var tickets: UInt32 = 0
    var queue = SendQueue()
    var clock: SessionClock
    /// Whether the transport is writable now; otherwise frames are queued.
    var isTransportWritable = true
    /// Bytes given to the transport since the start.
    var handedOver = 0
    var invalidFrames = 0

    var limits: RealtimeLimits { rules.limits }

    init(
        session: SessionID, rules: SessionRules, at now: NIODeadline,
        admitListen: @escaping @Sendable (Principal) -> Problem? = { _ in nil },
        isPage: @escaping @Sendable (String) -> Bool = { _ in false }
    ) {
        self.session = session
        self.rules = rules
        self.admitListen = admitListen
        self.isPage = isPage
        phase = .awaitingHello(until: now + rules.limits.helloTimeout)
        clock = SessionClock(at: now)
    }
}

/// What all sessions share.
final class SessionRules: Sendable {
    let limits: RealtimeLimits
    /// The version of the server, for the results of hellos. Nil if it is not told.
    let serverVersion: String?
    /// The build of the web client that the server serves, told with the version. Nil for another client.
    let clientBuild: String?
    /// Makes the id of a request that the session rejects itself.
    let makeRequestID: @Sendable () -> RequestID

    init(
        limits: RealtimeLimits, serverVersion: String? = nil, clientBuild: String? = nil,
        makeRequestID: @escaping @Sendable () -> RequestID = { .make() }
    ) {
        self.limits = limits
        self.serverVersion = serverVersion
        self.clientBuild = clientBuild
        self.makeRequestID = makeRequestID
    }
}

/// An action that the machine's host has to execute.
enum SessionAction {
    /// Pass the frame to the transport.
    case send(OutboundFrame)
    /// Verify the token, then the endpoint; complete with `authenticated`.
    case authenticate(Hello)
    /// Verify a newer token; complete with `verified`.
    case verify(id: Int64, token: String)
    /// Route what is published on the stream to this session from now on.
    case subscribe(StreamName)
    case unsubscribe(StreamName)
    /// Read the stream; complete with `opened`.
    case open(StreamName, after: Position?, ticket: UInt32)
    /// Read rows of the user's inbox; complete with `opened`.
    case readMoved(InboxNotice, after: Int64, ticket: UInt32)
    /// Nobody needs what is read any more. It is completed nevertheless.
    case cancelRead(ticket: UInt32)
    /// Call `waited` after the time.
    case wait(StreamName, ticket: UInt32, TimeAmount)
    /// Handle the request; complete with `handled`.
    case handle(id: Int64, name: String, params: [UInt8])
    /// Register the session under its user and endpoint.
    case register
    /// Notify the observer that the session is live.
    case becomeLive
    /// Notify the observer that the client is alive.
    case reportAlive
    /// Count events that were dropped for a slow client.
    case dropped(Int)
    /// Send bye and close.
    case end(Bye)
}

// Input from the client.
extension SessionMachine {
    /// Counts a frame of the client, message or not, before it is parsed. Returns false when there were too many within
    /// a second: the session then ends.
    mutating func admitFrame(at now: NIODeadline, into actions: inout [SessionAction]) -> Bool {
        noteActivity(at: now, into: &actions)
        guard clock.countInbound(at: now) > limits.inboundPerSecond else { return true }
        end(.rateLimited, into: &actions)
        return false
    }

    /// Handles an admitted frame of the client.
    mutating func receive(_ frame: ClientFrame, at now: NIODeadline, into actions: inout [SessionAction]) {
        noteActivity(at: now, into: &actions)
        switch (phase, frame) {
        case (.over, _), (_, .heartbeat):
            return
        case (.awaitingHello, .hello(let id, let hello)):
            phase = .authenticating(id: id, resume: hello.resume)
            actions.append(.authenticate(hello))
        case (.awaitingHello, _):
            reject(frame.id, Problem(.unauthenticated, "The first frame must be a hello."), into: &actions)
        case (_, .hello(let id, _)):
            reject(id, .invalid("hello", "The session has received a hello already."), into: &actions)
        case (.authenticating, _), (.resuming, _):
            guard deferredFrames.count < limits.requestsInFlight else {
                return reject(frame.id, .tooManyRequests(limits), into: &actions)
            }
            deferredFrames.append(frame)
        case (.live, _):
            dispatch(frame, into: &actions)
        }
    }

    /// Handles an invalid message of the client.
    mutating func receive(_ error: FrameError, at now: NIODeadline, into actions: inout [SessionAction]) {
        noteActivity(at: now, into: &actions)
        if case .over = phase { return }
        invalidFrames += 1
        reject(error.id, error.problem, into: &actions)
        if invalidFrames > limits.invalidFrames { end(.protocolError, into: &actions) }
    }

    private mutating func noteActivity(at now: NIODeadline, into actions: inout [SessionAction]) {
        let mayReport = if case .live = phase { true } else { false }
        if clock.noteActivity(at: now), mayReport { actions.append(.reportAlive) }
    }

    /// Dispatches a frame of a live session by its kind.
    mutating func dispatch(_ frame: ClientFrame, into actions: inout [SessionAction]) {
        switch frame {
        case .listen(let id, let stream, let after):
            if let problem = principal.flatMap(admitListen) { return reject(id, problem, into: &actions) }
            listen(id, to: stream, after: after, into: &actions)
        case .unlisten(let id, let stream):
            // It costs, and saves more: so it counts, and is always done.
            _ = principal.flatMap(admitListen)
            unlisten(id, from: stream, into: &actions)
        case .request(let id, let name, let params):
            guard admitRequest(id, into: &actions) else { return }
            guard isPage(name) else { return actions.append(.handle(id: id, name: name, params: params)) }
            waitingPages.append(PageRequest(id: id, name: name, params: params))
            readPages(into: &actions)
        case .token(let id, let token):
            guard admitRequest(id, into: &actions) else { return }
            actions.append(.verify(id: id, token: token))
        case .hello, .heartbeat: break
        }
    }

    private mutating func admitRequest(_ id: Int64, into actions: inout [SessionAction]) -> Bool {
        guard requestsInFlight < limits.requestsInFlight else {
            reject(id, .tooManyRequests(limits), into: &actions)
            return false
        }
        requestsInFlight += 1
        return true
    }
}

// Output to the client.
extension SessionMachine {
    /// Sends a frame, or queues it; ends the session when too much is queued.
    mutating func send(_ frame: OutboundFrame, into actions: inout [SessionAction]) {
        if case .over = phase { return }
        if isTransportWritable, queue.isEmpty {
            handOver(frame, into: &actions)
        } else {
            queue.append(frame)
            clock.scheduleCheck()
            // Of pages there are few: `readPages`.
            if queue.bytes - queue.pageBytes > limits.hardQueueBytes { end(.slow, into: &actions) }
        }
    }

    /// Sends an event, or queues it: it replaces the older one of its stream, or follows those that wait.
    mutating func sendEvent(
        _ frame: OutboundFrame, of stream: StreamName, about subject: UserID? = nil,
        into actions: inout [SessionAction]
    ) {
        if isTransportWritable, queue.isEmpty { return send(frame, into: &actions) }
        if stream.kind == .orderedEvents {
            let dropped = queue.append(
                frame, of: stream, atMost: limits.orderedEvents, bytes: limits.softQueueBytes)
            if dropped > 0 { actions.append(.dropped(dropped)) }
        } else {
            queue.replace(frame, of: stream, about: subject)
        }
        clock.scheduleCheck()
    }

    /// Sends an error, with the id of the request that caused it or with a new one.
    mutating func reject(_ id: Int64?, _ problem: Problem, into actions: inout [SessionAction]) {
        var problem = problem
        problem.request = problem.request ?? rules.makeRequestID()
        send(.error(id, problem), into: &actions)
    }

    /// The transport is writable, or no longer. When it is, part of the queue is sent: the host calls again while the
    /// transport stays writable and `hasQueuedFrames`.
    mutating func setTransportWritable(_ isWritable: Bool, at now: NIODeadline, into actions: inout [SessionAction]) {
        let wasWritable = isTransportWritable
        isTransportWritable = isWritable
        guard isWritable else { return clock.blocked(at: now) }
        if !wasWritable { clock.resumeReading(at: now) }
        var sent = 0
        while sent < limits.softQueueBytes, let frame = queue.next() {
            sent += frame.count
            handOver(frame, into: &actions)
        }
        catchUp(into: &actions)
        readPages(into: &actions)
    }

    var hasQueuedFrames: Bool { !queue.isEmpty }

    /// Whether so much is queued that streams lag instead.
    var isCongested: Bool { queue.bytes >= limits.softQueueBytes }

    /// Ends the session. Queued frames are dropped: the client gets them when it resumes.
    mutating func end(_ bye: Bye, into actions: inout [SessionAction]) {
        if case .over = phase { return }
        close(into: &actions)
        actions.append(.end(bye))
    }

    /// The transport is closed, or about to be.
    mutating func close(into actions: inout [SessionAction]) {
        if case .over = phase { return }
        phase = .over
        for (stream, listening) in listens {
            if case .reading(let reading) = listening.state { actions.append(.cancelRead(ticket: reading.ticket)) }
            actions.append(.unsubscribe(stream))
        }
        listens = [:]
        queue.removeAll()
        deferredFrames = []
        pendingResults = []
        waitingPages = []
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
