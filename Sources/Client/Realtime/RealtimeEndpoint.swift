import Foundation
import Logging
import NIOCore

/// Runs the ``EndpointMachine`` on real connections and dispatches its deliveries to the app's calls and presences.
actor RealtimeEndpoint {
    let address: ServerAddress
    let options: SwitchboardOptions
    let group: any EventLoopGroup
    let credentials: Credentials
    /// For what is uploaded.
    let rest: RESTClient
    let clock = ContinuousClock()
    let origin = ContinuousClock.now

    var machine: EndpointMachine
    var book = CallBook()
    var user: UserID?

    var connection: (number: Int, socket: WebSocketConnection?, task: Task<Void, Never>)?
    var lastConnection = 0
    var timer: (deadline: Int64, task: Task<Void, Never>)?

    var lastKey: EndpointMachine.Key = 0
    var continuations: [EndpointMachine.Key: CheckedContinuation<[UInt8], any Error>] = [:]
    var liveCalls: [CallID: LiveCall] = [:]
    let incoming = Broadcast<LiveCall>(limit: 64)
    let profiles = Broadcast<Me>(limit: 1)
    let friendUpdates = Broadcast<[Friend]>(limit: 1)
    var friendBook = FriendBook()
    let connections = Broadcast<Bool>(limit: 8)
    var isConnected = false
    var presences: [UserID: Broadcast<Presence>] = [:]
    /// By their streams.
    var captionTranslations: [String: Broadcast<CaptionTranslation>] = [:]
    /// By their streams.
    var answers: [String: OpenAnswer] = [:]
    var lastPresence: [UserID: Presence] = [:]
    var messaging = MessagingState()
    /// Calls that are being answered by their ids.
    var answerings: [Int: OpenAnswering] = [:]
    var lastAnswering = 0
    var answered = AnsweredCalls()
    /// Calls that were accepted for nobody, and are being left.
    var leavings: [CallID: (number: Int, task: Task<Void, Never>)] = [:]
    var lastLeaving = 0
    /// Whose access token the connection was opened with.
    var tokenSubject: TokenSubject?

    /// The endpoint that joins calls.
    nonisolated let identity: Endpoint

    init(
        _ address: ServerAddress, options: SwitchboardOptions, group: any EventLoopGroup, credentials: Credentials,
        rest: RESTClient
    ) {
        self.address = address
        self.options = options
        self.group = group
        self.credentials = credentials
        self.rest = rest
        identity = options.endpoint ?? .make()
        var limits = EndpointMachine.Limits()
        limits.pendingRequests = options.pendingRequests
        limits.requestTimeout = max(1, options.requestTimeout.milliseconds)
        machine = EndpointMachine(
            endpoint: identity.id, secret: identity.secret, seed: .random(in: 0...UInt64.max), limits: limits)
    }
}

// Requests of the app.
extension RealtimeEndpoint {
    /// Sends a request over the connection, which is opened if there is none, and decodes its result.
    func request<Result: Decodable>(_ name: String, _ params: some Encodable & Sendable) async throws -> Result {
        let text = try JSON.encode(params)
        let frame = try await submit(name, params: text)
        return try JSON.decode(ResultMember<Result>.self, from: frame).result
    }

    /// Sends a request whose result is a call, and adds the document to the book.
    func requestCall(_ name: String, _ params: some Encodable & Sendable) async throws -> LiveCall {
        let response: CallMember = try await request(name, params)
        return liveCall(for: response.call)
    }

    /// Opens the connection if there is none.
    func start() {
        act { $0.start(at: now, into: &$1) }
    }

    /// Stops everything; pending requests fail with `error`.
    func stop(_ error: SwitchboardError) {
        act { machine, actions in machine.stop(error, into: &actions) }
    }

    /// Clears the state of the user before another one signs in. The sequences that outlive that stay open.
    func changeUser() {
        stop(.signedOut)
        book = CallBook()
        answered = AnsweredCalls()
        friendBook = FriendBook()
        user = nil
        lastPresence = [:]
        closeStore()
    }

    /// Connects for the user who has just signed in if anybody reads what only a connection provides.
    func userChanged() async {
        openStore(of: await credentials.anyToken())
        if !(incoming.hasNoListeners && profiles.hasNoListeners && friendUpdates.hasNoListeners
            && connections.hasNoListeners && messaging.inboxUpdates.hasNoListeners)
        {
            start()
        }
    }

    func incomingCalls() -> AsyncStream<LiveCall> {
        start()
        let ringing = book.live.values.filter { call in
            guard let user, call.caller != user, let state = call.participant(user)?.state else { return false }
            return state == .invited || state == .ringing
        }
        return incoming.subscribe(first: ringing.sorted { $0.createdAt < $1.createdAt }.map { liveCall(for: $0) })
    }

    func profileChanges() -> AsyncStream<Me> {
        start()
        return profiles.subscribe()
    }

    /// The friends and requests: now, if they are known, then whenever they change.
    func friendLists() -> AsyncStream<[Friend]> {
        start()
        return friendUpdates.subscribe(first: friendBook.isKnown ? [friendBook.all] : [])
    }

    /// Whether there is a connection: now, then whenever it changes.
    func connectionChanges() -> AsyncStream<Bool> {
        start()
        return connections.subscribe(first: [isConnected]).withoutRepeats()
    }

    func presence(of user: UserID) -> AsyncStream<Presence> {
        start()
        let broadcast = presences[user] ?? Broadcast<Presence>(limit: 1)
        if presences[user] == nil {
            presences[user] = broadcast
            broadcast.onNoListeners { [weak self] in
                Task { [weak self] in await self?.forgetPresence(of: user) }
            }
            act { $0.listen(StreamName.presence(user), into: &$1) }
        }
        return broadcast.subscribe(first: lastPresence[user].map { [$0] } ?? [])
    }

    func forgetPresence(of user: UserID) {
        guard presences[user]?.hasNoListeners == true else { return }
        presences[user] = nil
        lastPresence[user] = nil
        act { $0.unlisten(StreamName.presence(user), into: &$1) }
    }

    func captionTranslations(of call: CallID, into language: String) -> AsyncStream<CaptionTranslation> {
        start()
        let stream = StreamName.captions(call, into: language)
        let broadcast = captionTranslations[stream] ?? Broadcast<CaptionTranslation>(limit: LiveCall.captionLimit)
        if captionTranslations[stream] == nil {
            captionTranslations[stream] = broadcast
            broadcast.onNoListeners { [weak self] in
                Task { [weak self] in await self?.forgetCaptionTranslations(of: stream) }
            }
            act { $0.listen(stream, into: &$1) }
        }
        return broadcast.subscribe()
    }

    func forgetCaptionTranslations(of stream: String) {
        guard captionTranslations[stream]?.hasNoListeners == true else { return }
        captionTranslations[stream] = nil
        act { $0.unlisten(stream, into: &$1) }
    }

    func submit(_ name: String, params: [UInt8]) async throws -> [UInt8] {
        start()
        lastKey += 1
        let key = lastKey
        return try await withTaskCancellationHandler {
            try Task.checkCancellation()
            return try await withCheckedThrowingContinuation { continuation in
                continuations[key] = continuation
                act { $0.submit(name, params: params, for: key, at: now, into: &$1) }
            }
        } onCancel: {
            Task { await self.withdraw(key) }
        }
    }

    func withdraw(_ key: EndpointMachine.Key) {
        guard let continuation = continuations.removeValue(forKey: key) else { return }
        machine.withdraw(key)
        continuation.resume(throwing: CancellationError())
    }
}

// Actions of the machine.
extension RealtimeEndpoint {
    var now: Int64 { (clock.now - origin).milliseconds }

    /// Runs the machine and executes its actions.
    func act(_ decide: (inout EndpointMachine, inout [EndpointMachine.Action]) -> Void) {
        var actions: [EndpointMachine.Action] = []
        decide(&machine, &actions)
        for action in actions { execute(action) }
        setTimer()
    }

    func execute(_ action: EndpointMachine.Action) {
        switch action {
        case .connect(let freshToken): connect(freshToken: freshToken)
        case .send(let frame): send(frame)
        case .disconnect: disconnect()
        case .refreshToken: refreshToken()
        case .greeted(let greeting):
            user = greeting.user
            options.logger?.debug("connected", metadata: ["session": "\(greeting.session)"])
            setConnected(true)
            connectedMessaging(for: greeting.user)
            connectedAnswerings()
        case .deliver(let stream, let delivery): deliver(delivery, of: stream)
        case .complete(let key, let result):
            continuations.removeValue(forKey: key)?.resume(with: result.mapError { $0 as any Error })
        case .stopped(let error): stopped(error)
        }
    }

    func setConnected(_ connected: Bool) {
        guard connected != isConnected else { return }
        isConnected = connected
        connections.send(connected)
        if !connected {
            disconnectedMessaging()
            disconnectedAnswerings()
        }
    }

    func send(_ frame: ClientFrame) {
        guard let socket = connection?.socket else { return }
        do {
            socket.send(try frame.text())
        } catch {
            options.logger?.warning("a frame could not be encoded", metadata: ["error": "\(error)"])
        }
    }
}

/// The result frame of a request.
private struct ResultMember<Result: Decodable>: Decodable { var result: Result }

/// The result of a request about a call.
struct CallMember: Decodable { var call: Call }
