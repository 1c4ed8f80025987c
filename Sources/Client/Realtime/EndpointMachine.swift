/// What an endpoint does on its realtime connections, as a value without doors: frames and moments come in, actions
/// come out. It outlives connections, and what it promises holds however often and wherever they are cut:
///
/// - Every change of every stream is delivered once and in order. Streams are resumed from where they were; what the
///   server cannot resume is delivered as a whole (a snapshot). What was seen is dropped, and a gap is fetched.
/// - Every request is answered once. One whose answer was lost with its connection is sent again as it was, with the
///   same client id, and the server answers it as it did the first time.
///
/// Moments are milliseconds of a monotonic clock; the only chance is the seed's. The host performs the actions in
/// order, calls ``advance(to:into:)`` at the ``deadline``, and tells of the connection with ``opened(token:lifetime:at:into:)``
/// and ``lost(at:into:)``.
struct EndpointMachine: Sendable {
    /// Names a request, or the wish to listen, to who made it. Keys only grow.
    typealias Key = UInt64

    /// What the host is to do.
    enum Action: Sendable {
        /// Open a connection with an access token; a fresh one, where the last was refused.
        case connect(freshToken: Bool)
        case send(ClientFrame)
        case disconnect
        /// Get a new access token and hand it to ``renew(token:lifetime:at:into:)``.
        case refreshToken
        case greeted(Greeting)
        case deliver(stream: String, Delivery)
        case answer(Key, Result<[UInt8], SwitchboardError>)
        /// Nothing works any more until ``start(at:into:)``.
        case stopped(SwitchboardError)
    }

    /// What comes out of a stream.
    enum Delivery: Sendable {
        case snapshot(StreamDocument, StreamPosition)
        case changes([StreamChange])
        case presence(Presence)
        case caption(Caption)
        /// Nothing more will come.
        case closed(SwitchboardError)
    }

    /// The bounds; times in milliseconds.
    struct Limits: Sendable {
        /// The server's bound for requests that it has not answered.
        var requestsInFlight = 64
        var pendingRequests = 1_024
        var requestTimeout: Int64 = 30_000
        var greetingTimeout: Int64 = 10_000
        /// A connection that was silent for so long is dead.
        var silence: Int64 = 45_000
        /// How long a snapshot that the server sends unasked may take before it is asked for.
        var patience: Int64 = 1_500
        /// How long an ended call's last changes may take.
        var afterlife: Int64 = 10_000
    }

    enum Link: Equatable, Sendable {
        case idle
        case waiting(until: Int64)
        case connecting
        case greeting(id: Int, until: Int64)
        case live
        case stopped(SwitchboardError)
    }

    /// What an id on the wire stands for.
    enum Purpose: Sendable {
        case listen(stream: String)
        case unlisten
        case token
        case request(Key)
    }

    let endpoint: EndpointID
    let secret: String
    var limits: Limits

    var link = Link.idle
    var streams: [String: Listening] = [:]
    var requests: [Key: PendingRequest] = [:]
    /// Requests that are not on the wire, in the order in which they were made.
    var unsent: [Key] = []
    /// What the current connection still owes an answer for.
    var purposes: [Int: Purpose] = [:]
    var inFlight = 0
    private var lastID = 0
    private var lastHeard: Int64 = 0
    private var refreshAt: Int64?
    /// Whether the token of this attempt was made because the last one was refused.
    private var tokenIsFresh = false
    private var needsFreshToken = false
    private var told: (code: Int, reason: String, retryAfter: Int64?)?
    private var backoff: Backoff

    init(endpoint: EndpointID, secret: String, seed: UInt64, limits: Limits = Limits()) {
        self.endpoint = endpoint
        self.secret = secret
        self.limits = limits
        backoff = Backoff(seed: seed)
    }

    /// When ``advance(to:into:)`` has something to do next.
    var deadline: Int64? {
        var moments: [Int64] = requests.values.map(\.deadline) + streams.values.compactMap(\.deadline)
        switch link {
        case .idle, .connecting, .stopped: break
        case .waiting(let until), .greeting(_, let until): moments.append(until)
        case .live:
            moments.append(lastHeard + limits.silence)
            if let refreshAt { moments.append(refreshAt) }
        }
        return moments.min()
    }

    /// Wants a connection from now on.
    mutating func start(at now: Int64, into actions: inout [Action]) {
        switch link {
        case .idle, .stopped:
            backoff.reset()
            connect(into: &actions)
        case .waiting, .connecting, .greeting, .live: break
        }
    }

    /// Gives everything up.
    mutating func stop(_ error: SwitchboardError, into actions: inout [Action]) {
        if case .stopped = link { return }
        let wasOpen = isOpen
        link = .stopped(error)
        forgetConnection()
        if wasOpen { actions.append(.disconnect) }
        for key in requests.keys.sorted() { actions.append(.answer(key, .failure(error))) }
        requests = [:]
        unsent = []
        for name in streams.keys.sorted() { close(name, error, into: &actions) }
        actions.append(.stopped(error))
    }

    /// A connection is open, and this is the token to greet with; `lifetime` is what is left of it in milliseconds.
    mutating func opened(token: String, lifetime: Int64?, at now: Int64, into actions: inout [Action]) {
        guard case .connecting = link else { return actions.append(.disconnect) }
        let id = makeID()
        link = .greeting(id: id, until: now + limits.greetingTimeout)
        lastHeard = now
        planRefresh(lifetime, at: now)
        let resume = streams.compactMapValues { StreamName.isDurable($0.name) ? $0.position : nil }
        actions.append(.send(.hello(id: id, token: token, endpoint: endpoint, secret: secret, resume: resume)))
    }

    /// The connection broke, or could not be opened.
    mutating func lost(at now: Int64, into actions: inout [Action]) {
        switch link {
        case .idle, .waiting, .stopped: return
        case .connecting, .greeting, .live: break
        }
        let told = told
        forgetConnection()
        guard let told else { return wait(backoff.next(), at: now) }
        if let retryAfter = told.retryAfter { return wait(backoff.spread(retryAfter), at: now) }
        switch told.code {
        case 4001 where !tokenIsFresh:
            needsFreshToken = true
            connect(into: &actions)
        case 4001: stop(.signedOut, into: &actions)
        case 4000, 4002, 4008, 4009, 4029: wait(backoff.next(), at: now)
        case let code: stop(.disconnected(code: code, reason: told.reason), into: &actions)
        }
    }

    /// A new access token for the connection there is.
    mutating func renew(token: String, lifetime: Int64?, at now: Int64, into actions: inout [Action]) {
        guard case .live = link else { return }
        planRefresh(lifetime, at: now)
        let id = makeID()
        purposes[id] = .token
        actions.append(.send(.token(id: id, token)))
    }

    /// A frame came.
    mutating func receive(_ frame: ServerFrame, at now: Int64, into actions: inout [Action]) {
        guard isOpen else { return }
        lastHeard = now
        switch frame {
        case .heartbeat: actions.append(.send(.heartbeat))
        case .bye(let code, let reason, let retryAfter): told = (code, reason, retryAfter)
        case .result(let id, let answer):
            if case .greeting(id, _) = link {
                guard let greeting = answer.greeting else { return breakOff(at: now, into: &actions) }
                greeted(greeting, at: now, into: &actions)
            } else {
                answered(id, .success(answer), at: now, into: &actions)
            }
        case .failure(let id, let problem):
            if case .greeting(id, _) = link {
                refused(problem, at: now, into: &actions)
            } else {
                answered(id, .failure(problem), at: now, into: &actions)
            }
        case .snapshot(let stream, let document, let position):
            took(document, position, of: stream, at: now, into: &actions)
        case .changes(let stream, let changes): took(changes, of: stream, at: now, into: &actions)
        case .presence(let stream, let presence):
            if streams[stream] != nil { actions.append(.deliver(stream: stream, .presence(presence))) }
        case .caption(let stream, let caption):
            if streams[stream] != nil { actions.append(.deliver(stream: stream, .caption(caption))) }
        case .reset(let stream, let reason): wasReset(stream, reason: reason, at: now, into: &actions)
        case .unknown: break
        }
    }

    /// Time has passed.
    mutating func advance(to now: Int64, into actions: inout [Action]) {
        expireRequests(at: now, into: &actions)
        switch link {
        case .idle, .connecting, .stopped: break
        case .waiting(let until): if now >= until { connect(into: &actions) }
        case .greeting(_, let until): if now >= until { breakOff(at: now, into: &actions) }
        case .live:
            if now - lastHeard >= limits.silence { return breakOff(at: now, into: &actions) }
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
        switch link {
        case .greeting, .live: true
        case .idle, .waiting, .connecting, .stopped: false
        }
    }

    var isLive: Bool {
        if case .live = link { true } else { false }
    }

    mutating func makeID() -> Int {
        lastID += 1
        return lastID
    }

    private mutating func connect(into actions: inout [Action]) {
        link = .connecting
        tokenIsFresh = needsFreshToken
        actions.append(.connect(freshToken: needsFreshToken))
        needsFreshToken = false
    }

    private mutating func wait(_ milliseconds: Int64, at now: Int64) {
        link = .waiting(until: now + milliseconds)
    }

    /// Ends a connection from this side, to be opened again.
    private mutating func breakOff(at now: Int64, into actions: inout [Action]) {
        actions.append(.disconnect)
        lost(at: now, into: &actions)
    }

    private mutating func greeted(_ greeting: Greeting, at now: Int64, into actions: inout [Action]) {
        link = .live
        backoff.succeeded()
        tokenIsFresh = false
        actions.append(.greeted(greeting))
        resumed(greeting, at: now, into: &actions)
        sendRequests(into: &actions)
    }

    private mutating func refused(_ problem: Problem, at now: Int64, into actions: inout [Action]) {
        if problem.kind == .unauthenticated, !tokenIsFresh {
            told = (4001, problem.detail, nil)
            breakOff(at: now, into: &actions)
        } else if problem.status == 429 || problem.status >= 500 {
            let milliseconds = problem.retryAfter.map { $0.components.seconds * 1_000 }
            told = (4029, problem.detail, milliseconds)
            breakOff(at: now, into: &actions)
        } else {
            stop(problem.kind == .unauthenticated ? .signedOut : .refused(problem), into: &actions)
        }
    }

    /// What was sent and not answered goes back to where it came from.
    private mutating func forgetConnection() {
        told = nil
        refreshAt = nil
        purposes = [:]
        inFlight = 0
        unsent = requests.keys.sorted()
        for name in streams.keys { streams[name]?.phase = .unheard }
    }

    /// Renews a token when a fifth of its life is left, and a minute before its end where that is earlier.
    private mutating func planRefresh(_ lifetime: Int64?, at now: Int64) {
        refreshAt = lifetime.map { now + max(1_000, min($0 / 5 * 4, $0 - 60_000)) }
    }
}
