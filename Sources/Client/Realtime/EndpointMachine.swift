/// The realtime client as a state machine without I/O: frames and times go in, actions come out. It outlives
/// connections and guarantees, however often they break:
///
/// - Every change of every stream is delivered once and in order. Streams are resumed from their positions; if the
///   server cannot resume one, its snapshot is delivered. Duplicates are dropped, and gaps are fetched.
/// - Every request is completed once. A request whose result was lost with its connection is sent again unchanged, with
///   the same client id, and the server returns the same result.
///
/// Times are milliseconds of a monotonic clock; randomness comes only from the seed. The host executes the actions in
/// order, calls ``advance(to:into:)`` at the ``deadline``, and reports connections with
/// ``opened(token:lifetime:at:into:)`` and ``lost(at:into:)``.
struct EndpointMachine: Sendable {
    /// Identifies a request of the host. Keys only increase.
    typealias Key = UInt64

    /// An action for the host to execute.
    enum Action: Sendable {
        /// Open a connection with an access token; a fresh one if the last one was rejected.
        case connect(freshToken: Bool)
        case send(ClientFrame)
        case disconnect
        /// Get a new access token and pass it to ``renew(token:lifetime:at:into:)``.
        case refreshToken
        case greeted(Greeting)
        case deliver(stream: String, Delivery)
        case complete(Key, Result<[UInt8], SwitchboardError>)
        /// Nothing works any more until ``start(at:into:)``; after ``SwitchboardError/closed`` never.
        case stopped(SwitchboardError)
    }

    /// A delivery of a stream.
    enum Delivery: Sendable {
        case snapshot(StreamDocument, StreamPosition)
        case changes([StreamChange])
        /// Of keyed state: what holds the rows decides whether they are news.
        case rows(StreamRows)
        /// Of keyed state: the stream was resumed, or its snapshot delivered. Every change follows from now on.
        case listening
        case presence(Presence)
        case caption(Caption)
        case captionTranslation(CaptionTranslation)
        case typing(TypingEvent)
        /// Of an answer of the assistant.
        case run(RunEvent)
        /// The stream has closed.
        case closed(SwitchboardError)
    }

    /// The limits; times in milliseconds.
    struct Limits: Sendable {
        /// The server's limit of unanswered requests.
        var requestsInFlight = 64
        var pendingRequests = 1_024
        var requestTimeout: Int64 = 30_000
        var greetingTimeout: Int64 = 10_000
        /// A connection without any frame for this time is considered dead.
        var silenceTimeout: Int64 = 45_000
        /// How long to wait for a snapshot that the server should send by itself, before a `listen`.
        var snapshotTimeout: Int64 = 1_500
        /// How long the streams of an ended call stay open for its last changes.
        var closeDelay: Int64 = 10_000
    }

    enum ConnectionState: Equatable, Sendable {
        case idle
        case waiting(until: Int64)
        case connecting
        case greeting(id: Int, until: Int64)
        case live
        case stopped(SwitchboardError)
    }

    /// What a frame id was used for.
    enum Purpose: Sendable {
        case listen(stream: String)
        case unlisten
        case token
        case request(Key)
    }

    let endpoint: EndpointID
    let secret: String
    var limits: Limits

    var connectionState = ConnectionState.idle
    var streams: [String: ListenedStream] = [:]
    var requests: [Key: PendingRequest] = [:]
    /// Requests that are not sent yet, in order.
    var unsent: [Key] = []
    /// The ids on the current connection that have no result yet.
    var purposes: [Int: Purpose] = [:]
    var inFlight = 0
    private var lastID = 0
    private var lastReceivedAt: Int64 = 0
    private var refreshAt: Int64?
    /// Whether this attempt uses a new token because the last one was rejected.
    private var tokenIsFresh = false
    private var needsFreshToken = false
    private var bye: (code: Int, reason: String, retryAfter: Int64?)?
    private var backoff: Backoff

    init(endpoint: EndpointID, secret: String, seed: UInt64, limits: Limits = Limits()) {
        self.endpoint = endpoint
        self.secret = secret
        self.limits = limits
        backoff = Backoff(seed: seed)
    }

    /// When to call ``advance(to:into:)`` next.
    var deadline: Int64? {
        var moments: [Int64] = requests.values.map(\.deadline) + streams.values.compactMap(\.deadline)
        switch connectionState {
        case .idle, .connecting, .stopped: break
        case .waiting(let until), .greeting(_, let until): moments.append(until)
        case .live:
            moments.append(lastReceivedAt + limits.silenceTimeout)
            if let refreshAt { moments.append(refreshAt) }
        }
        return moments.min()
    }

    /// Connects, and keeps connected from now on. Does nothing once it was stopped with ``SwitchboardError/closed``.
    mutating func start(at now: Int64, into actions: inout [Action]) {
        switch connectionState {
        case .stopped(.closed): break
        case .idle, .stopped:
            backoff.reset()
            connect(into: &actions)
        case .waiting, .connecting, .greeting, .live: break
        }
    }

    /// Disconnects, fails all requests and closes all streams. A stopped machine can still be closed for good.
    mutating func stop(_ error: SwitchboardError, into actions: inout [Action]) {
        if case .stopped(let earlier) = connectionState, earlier == .closed || error != .closed { return }
        let wasOpen = isOpen
        connectionState = .stopped(error)
        resetConnection()
        if wasOpen { actions.append(.disconnect) }
        for key in requests.keys.sorted() { actions.append(.complete(key, .failure(error))) }
        requests = [:]
        unsent = []
        for name in streams.keys.sorted() { close(name, error, into: &actions) }
        actions.append(.stopped(error))
    }

    /// A connection is open: sends the `hello` with `token`, whose remaining `lifetime` is in milliseconds.
    mutating func opened(token: String, lifetime: Int64?, at now: Int64, into actions: inout [Action]) {
        guard case .connecting = connectionState else { return actions.append(.disconnect) }
        let id = makeID()
        connectionState = .greeting(id: id, until: now + limits.greetingTimeout)
        lastReceivedAt = now
        scheduleRefresh(lifetime, at: now)
        // Keyed state is resumed by `listen`, whose result tells where the rows of the resumption end.
        let resume = streams.compactMapValues {
            StreamName.isDurable($0.name) && !StreamName.isKeyed($0.name) ? $0.position : nil
        }
        actions.append(.send(.hello(id: id, token: token, endpoint: endpoint, secret: secret, resume: resume)))
    }

    /// The connection broke, or could not be opened.
    mutating func lost(at now: Int64, into actions: inout [Action]) {
        switch connectionState {
        case .idle, .waiting, .stopped: return
        case .connecting, .greeting, .live: break
        }
        let bye = bye
        resetConnection()
        guard let bye else { return wait(backoff.next(), at: now) }
        if let retryAfter = bye.retryAfter { return wait(backoff.jittered(retryAfter), at: now) }
        switch bye.code {
        case 4001 where !tokenIsFresh:
            needsFreshToken = true
            connect(into: &actions)
        case 4001: stop(.signedOut, into: &actions)
        case 4000, 4002, 4008, 4009, 4029: wait(backoff.next(), at: now)
        case let code: stop(.disconnected(code: code, reason: bye.reason), into: &actions)
        }
    }

    /// Sends a new access token on the current connection.
    mutating func renew(token: String, lifetime: Int64?, at now: Int64, into actions: inout [Action]) {
        guard case .live = connectionState else { return }
        scheduleRefresh(lifetime, at: now)
        let id = makeID()
        purposes[id] = .token
        actions.append(.send(.token(id: id, token)))
    }

    /// Handles a frame.
    mutating func receive(_ frame: ServerFrame, at now: Int64, into actions: inout [Action]) {
        guard isOpen else { return }
        lastReceivedAt = now
        switch frame {
        case .heartbeat: actions.append(.send(.heartbeat))
        case .bye(let code, let reason, let retryAfter): bye = (code, reason, retryAfter)
        case .result(let id, let result):
            if case .greeting(id, _) = connectionState {
                guard let greeting = result.greeting else { return dropConnection(at: now, into: &actions) }
                receiveGreeting(greeting, at: now, into: &actions)
            } else {
                receiveResult(id, .success(result), at: now, into: &actions)
            }
        case .failure(let id, let problem):
            if case .greeting(id, _) = connectionState {
                helloRejected(problem, at: now, into: &actions)
            } else {
                receiveResult(id, .failure(problem), at: now, into: &actions)
            }
        case .snapshot(let stream, let document, let position):
            receive(document, position, of: stream, at: now, into: &actions)
        case .changes(let stream, let changes): receive(changes, of: stream, at: now, into: &actions)
        case .rows(let stream, let rows):
            if streams[stream] != nil { actions.append(.deliver(stream: stream, .rows(rows))) }
        case .presence(let stream, let presence):
            if streams[stream] != nil { actions.append(.deliver(stream: stream, .presence(presence))) }
        case .caption(let stream, let caption):
            if streams[stream] != nil { actions.append(.deliver(stream: stream, .caption(caption))) }
        case .captionTranslation(let stream, let translation):
            if streams[stream] != nil { actions.append(.deliver(stream: stream, .captionTranslation(translation))) }
        case .typing(let stream, let event):
            if streams[stream] != nil { actions.append(.deliver(stream: stream, .typing(event))) }
        case .run(let stream, let event):
            if streams[stream] != nil { actions.append(.deliver(stream: stream, .run(event))) }
        case .reset(let stream, let reason): receiveReset(stream, reason: reason, at: now, into: &actions)
        case .unknown: break
        }
    }

    /// Handles expired timers.
    mutating func advance(to now: Int64, into actions: inout [Action]) {
        expireRequests(at: now, into: &actions)
        switch connectionState {
        case .idle, .connecting, .stopped: break
        case .waiting(let until): if now >= until { connect(into: &actions) }
        case .greeting(_, let until): if now >= until { dropConnection(at: now, into: &actions) }
        case .live:
            if now - lastReceivedAt >= limits.silenceTimeout { return dropConnection(at: now, into: &actions) }
            if let refreshAt, now >= refreshAt {
                self.refreshAt = nil
                actions.append(.refreshToken)
            }
        }
        advanceStreams(to: now, into: &actions)
    }
}

extension EndpointMachine {
    var isOpen: Bool {
        switch connectionState {
        case .greeting, .live: true
        case .idle, .waiting, .connecting, .stopped: false
        }
    }

    var isLive: Bool {
        if case .live = connectionState { true } else { false }
    }

    mutating func makeID() -> Int {
        lastID += 1
        return lastID
    }

    private mutating func connect(into actions: inout [Action]) {
        connectionState = .connecting
        tokenIsFresh = needsFreshToken
        actions.append(.connect(freshToken: needsFreshToken))
        needsFreshToken = false
    }

    private mutating func wait(_ milliseconds: Int64, at now: Int64) {
        connectionState = .waiting(until: now + milliseconds)
    }

    /// Closes the connection and schedules a new one.
    private mutating func dropConnection(at now: Int64, into actions: inout [Action]) {
        actions.append(.disconnect)
        lost(at: now, into: &actions)
    }

    private mutating func receiveGreeting(_ greeting: Greeting, at now: Int64, into actions: inout [Action]) {
        connectionState = .live
        backoff.succeeded()
        tokenIsFresh = false
        actions.append(.greeted(greeting))
        resumed(greeting, at: now, into: &actions)
        sendRequests(into: &actions)
    }

    private mutating func helloRejected(_ problem: Problem, at now: Int64, into actions: inout [Action]) {
        if problem.kind == .unauthenticated, !tokenIsFresh {
            bye = (4001, problem.detail, nil)
            dropConnection(at: now, into: &actions)
        } else if problem.status == 429 || problem.status >= 500 {
            let milliseconds = problem.retryAfter.map { $0.components.seconds * 1_000 }
            bye = (4029, problem.detail, milliseconds)
            dropConnection(at: now, into: &actions)
        } else {
            stop(problem.kind == .unauthenticated ? .signedOut : .refused(problem), into: &actions)
        }
    }

    /// Resets the state of the connection; unanswered requests will be sent again.
    private mutating func resetConnection() {
        bye = nil
        refreshAt = nil
        purposes = [:]
        inFlight = 0
        unsent = requests.keys.sorted()
        for name in streams.keys { streams[name]?.phase = .inactive }
    }

    /// Schedules the token's renewal when a fifth of its lifetime is left, or a minute before its expiry if that is
    /// earlier.
    private mutating func scheduleRefresh(_ lifetime: Int64?, at now: Int64) {
        refreshAt = lifetime.map { now + max(1_000, min($0 / 5 * 4, $0 - 60_000)) }
    }
}
