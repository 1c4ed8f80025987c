import Model
import NIOCore

/// One realtime connection: a `SessionMachine` that decides, and the code that executes its actions. Belongs to one
/// event loop.
///
/// The machine runs first, then its actions are executed in order. Asynchronous operations run in a task of their own
/// and return to the loop with the result: an idle session has no task and no timer.
final class Session {
    typealias AdmittedHello = (principal: Principal, expiresAt: Timestamp, grant: EndpointGrant)

    let id: SessionID
    let number: UInt64
    let hub: RealtimeHub
    let shard: SessionShard
    private let pulse = SessionPulse()
    private let services: RealtimeServices
    private let transport: any SessionTransport
    private var machine: SessionMachine
    private var showsPresence = false
    /// Whether somebody is at the client.
    private var isActive = true
    /// The hello, if it was admitted before the session was opened: over server-sent events.
    private var admitted: AdmittedHello?
    private var isRegistered = false
    private var isLive = false
    /// When to give up on a transport that was asked to close.
    private var closeDeadline: NIODeadline?
    private var isExecuting = false
    private var mustFlush = false
    /// Pending reads, by their tickets.
    private var reads: [UInt32: Task<Void, Never>] = [:]

    init(
        id: SessionID, number: UInt64, hub: RealtimeHub, shard: SessionShard, transport: any SessionTransport,
        services: RealtimeServices
    ) {
        self.id = id
        self.number = number
        self.hub = hub
        self.shard = shard
        self.services = services
        self.transport = transport
        machine = SessionMachine(
            session: id, rules: hub.rules, at: shard.loop.now, admitListen: services.admitListen,
            isPage: services.isPage)
        hub.counters.sessions.add(1)
    }

    var principal: Principal? { machine.principal }
    var queuedBytes: Int { machine.queue.bytes }
    var laggingStreams: Int { machine.laggingStreams }
    private var now: NIODeadline { shard.loop.now }
}

// Input from the transport.
extension Session {
    /// A whole message of the client.
    func receive(_ text: [UInt8]) {
        hub.counters.framesIn.add(1)
        // Before the parsing, which is the cost of a flood.
        guard admitsFrame() else { return }
        pulse.beat(at: now)
        do {
            receive(try ClientFrame.parse(text, resumptions: hub.limits.listens))
        } catch {
            run { machine, actions in machine.receive(error, at: now, into: &actions) }
        }
    }

    /// The hello of a client that was admitted already.
    func receive(_ hello: Hello, admitted: AdmittedHello) {
        self.admitted = admitted
        receive(.hello(0, hello))
    }

    func receive(_ frame: ClientFrame) {
        run { machine, actions in machine.receive(frame, at: now, into: &actions) }
    }

    /// A control frame of the transport: it shows that the client is alive, and counts like a message.
    func receiveControlFrame() {
        _ = admitsFrame()
    }

    private func admitsFrame() -> Bool {
        var isAdmitted = false
        run { machine, actions in isAdmitted = machine.admitFrame(at: now, into: &actions) }
        return isAdmitted
    }

    func end(_ bye: Bye) {
        run { machine, actions in machine.end(bye, into: &actions) }
    }

    /// The transport's writability has changed.
    func transportChanged() {
        guard !isExecuting else { return }
        run { machine, actions in machine.setTransportWritable(transport.isWritable, at: now, into: &actions) }
    }

    /// The transport fails with a close code of its own; it gets some time to close.
    func fail() {
        run { machine, actions in machine.close(into: &actions) }
        closeDeadline = now + hub.limits.closeTimeout
        unregister()
    }

    func transportClosed() {
        run { machine, actions in machine.close(into: &actions) }
        unregister()
        shard.sessions.remove(self)
    }
}

// Input from the hub.
extension Session {
    func receiveChanges(_ batch: StreamBatch) {
        run { machine, actions in machine.receiveChanges(batch, at: now, into: &actions) }
    }

    func receiveEvent(_ event: StreamEvent) {
        run { machine, actions in machine.receiveEvent(event, into: &actions) }
    }

    func receiveNotice(_ notice: InboxNotice) {
        run { machine, actions in machine.receiveNotice(notice, at: now, into: &actions) }
    }

    func rereadInboxes() {
        run { machine, actions in machine.rereadInboxes(into: &actions) }
    }

    func rereadAll(_ pattern: StreamPattern) {
        run { machine, actions in machine.rereadAll(pattern, into: &actions) }
    }

    func reread(_ stream: StreamName) {
        run { machine, actions in machine.reread(stream, into: &actions) }
    }

    func attach(_ stream: StreamName) {
        run { machine, actions in machine.attach(stream, into: &actions) }
    }

    func detach(_ stream: StreamName) {
        run { machine, actions in machine.detach(stream, into: &actions) }
    }

    func drop(_ stream: StreamName) {
        run { machine, actions in machine.drop(stream, into: &actions) }
    }

    func rereadPresence(about user: UserID) {
        run { machine, actions in machine.rereadPresence(about: user, into: &actions) }
    }

    /// Extends the client's deadlines by the time that the loop did not run, since nothing was read meanwhile.
    func extend(by stall: TimeAmount, at now: NIODeadline) { machine.extend(by: stall, at: now) }

    /// Handles due deadlines. The heartbeat frame is shared by all sessions of a sweep.
    func sweep(at now: NIODeadline, heartbeat: () -> OutboundFrame) {
        if let closeDeadline {
            if now >= closeDeadline { transport.abort() }
            return
        }
        guard now >= machine.clock.nextCheck else { return }
        let unsent = machine.isTransportWritable ? 0 : transport.unsentBytes
        run { machine, actions in
            machine.advance(to: now, unsent: unsent, heartbeat: heartbeat(), into: &actions)
        }
    }
}

// Running the machine and executing its actions.
extension Session {
    private func run(_ body: (inout SessionMachine, inout [SessionAction]) -> Void) {
        var actions = shard.sessions.takeScratch()
        body(&machine, &actions)
        execute(actions)
        shard.sessions.returnScratch(&actions)
    }

    private func execute(_ actions: [SessionAction]) {
        guard !actions.isEmpty else { return }
        isExecuting = true
        for action in actions { execute(action) }
        isExecuting = false
        // Writes may fill the transport before it is flushed: the machine then has to queue.
        if machine.isTransportWritable, !transport.isWritable { transportChanged() }
        if mustFlush { shard.sessions.scheduleFlush(self) }
    }

    /// Flushes the transport; then continues with the queue while the transport is writable.
    func flush() {
        guard mustFlush else { return }
        mustFlush = false
        isExecuting = true
        transport.flush()
        isExecuting = false
        let isWritable = transport.isWritable
        if isWritable != machine.isTransportWritable || (isWritable && machine.hasQueuedFrames) { transportChanged() }
    }

    private func execute(_ action: SessionAction) {
        switch action {
        case .send(let frame): send(frame)
        case .authenticate(let hello): authenticate(hello)
        case .verify(let id, let token): verify(id, token)
        case .subscribe(let stream): shard.subscribe(number, to: stream)
        case .unsubscribe(let stream): shard.unsubscribe(number, from: stream)
        case .open(let stream, let after, let ticket): open(stream, after: after, ticket: ticket)
        case .readMoved(let notice, let after, let ticket): readMoved(notice, after: after, ticket: ticket)
        case .cancelRead(let ticket): reads[ticket]?.cancel()
        case .wait(let stream, let ticket, let time): wait(stream, ticket, time)
        case .handle(let id, let name, let params): request(id, name, params)
        case .register: register()
        case .becomeLive: becomeLive()
        case .reportAlive: report { $0.alive(endpoint: $1, user: $2, session: $3) }
        case .dropped(let count): hub.counters.eventsDropped.add(count)
        case .end(let bye): sendBye(bye)
        }
    }

    private func send(_ frame: OutboundFrame) {
        hub.counters.framesOut.add(1)
        hub.counters.bytesOut.add(frame.count)
        transport.send(frame)
        mustFlush = true
    }

    private func sendBye(_ bye: Bye) {
        hub.counters.count(bye)
        let retryAfter = bye.retryWithin.map { Int64.random(in: $0) }
        send(.bye(bye, retryAfter: retryAfter))
        mustFlush = false
        closeDeadline = now + hub.limits.closeTimeout
        unregister()
        transport.close(bye)
    }
}

// Registration.
extension Session {
    private var address: SessionAddress { SessionAddress(shard: shard.index, number: number) }

    private func register() {
        guard let principal = machine.principal, let endpoint = principal.endpoint else { return }
        isRegistered = true
        guard
            let older = hub.directory.register(
                address, user: principal.user, endpoint: endpoint, signIn: principal.signIn, pulse: pulse)
        else { return }
        hub.shards[older.shard].post(.end(.session(older.number), .replaced))
    }

    private func becomeLive() {
        guard let user = machine.principal?.user else { return }
        isLive = true
        if isActive { hub.presenceArrived(user, isShown: showsPresence) }
        report { $0.attached(endpoint: $1, user: $2, session: $3) }
    }

    func setActive(_ isActive: Bool) {
        guard isActive != self.isActive else { return }
        self.isActive = isActive
        guard isLive, let user = machine.principal?.user else { return }
        if isActive { hub.presenceArrived(user, isShown: showsPresence) } else { hub.presenceLeft(user, at: now) }
    }

    /// Removes the session from the directory.
    private func unregister() {
        guard let principal = machine.principal, let endpoint = principal.endpoint else { return }
        if isRegistered { hub.directory.unregister(address, user: principal.user, endpoint: endpoint) }
        isRegistered = false
        guard isLive else { return }
        isLive = false
        if isActive { hub.presenceLeft(principal.user, at: now) }
        report { $0.detached(endpoint: $1, user: $2, session: $3) }
    }

    private func report(_ notify: (any SessionObserver, EndpointID, UserID, SessionID) -> Void) {
        guard let principal = machine.principal, let endpoint = principal.endpoint else { return }
        notify(services.observer, endpoint, principal.user, id)
    }
}

// Asynchronous calls to the server's services.
extension Session {
    private func authenticate(_ hello: Hello) {
        let services = services
        let origin = transport.origin
        let admitted = exchange(&admitted, with: nil)
        runTask {
            await Self.identified {
                if let admitted { return admitted }
                try services.authenticator.admit(from: origin)
                return try await services.authenticator.admit(hello)
            }
        } completion: { session, result in
            let result = result.flatMap { session.checkSessionCount($0) }
            let admission = result.flatMap { principal, expiresAt, grant in
                services.notRevoked(principal).map {
                    Admission(principal: $0, grant: grant, expires: session.deadline(of: expiresAt))
                }
            }
            if case .success(let admission) = admission {
                session.showsPresence = admission.grant.showsPresence
                session.hub.counters.count(hello.client)
            }
            session.run { machine, actions in
                machine.authenticated(admission, at: session.now, wallClock: session.hub.clock(), into: &actions)
            }
        }
    }

    /// Rejects a session over its user's limit; one that replaces its endpoint's older session does not count.
    private func checkSessionCount(_ hello: AdmittedHello) -> Result<AdmittedHello, Problem> {
        let limit = hub.limits.sessionsPerUser
        guard hub.directory.sessions(of: hello.principal.user).count >= limit,
            hub.directory.session(of: hello.grant.endpoint) == nil
        else { return .success(hello) }
        return .failure(
            Problem(.rateLimited, "A user has at most \(limit) sessions at a time; close one.", retryAfter: 5000))
    }

    private func verify(_ id: Int64, _ token: String) {
        let services = services
        runTask {
            await Self.identified { try await services.authenticator.authenticate(token: token) }
        } completion: { session, result in
            let verified = result.flatMap { principal, expiresAt in
                services.notRevoked(principal).map { (principal: $0, expires: session.deadline(of: expiresAt)) }
            }
            session.run { machine, actions in machine.verified(id, verified, at: session.now, into: &actions) }
            if session.isRegistered { session.hub.directory.setSignIn(session.principal?.signIn, of: session.address) }
        }
    }

    private func open(_ stream: StreamName, after: Position?, ticket: UInt32) {
        guard let principal = machine.principal else { return }
        let services = services
        reads[ticket] = runTask {
            await Self.identified { try await services.source.open(stream, after: after, for: principal) }
        } completion: { session, result in
            session.endRead(ticket)
            session.run { machine, actions in
                machine.opened(
                    stream, ticket: ticket, result, at: session.now, wallClock: session.hub.clock(), into: &actions)
            }
        }
    }

    private func readMoved(_ notice: InboxNotice, after sequence: Int64, ticket: UInt32) {
        let services = services
        reads[ticket] = runTask {
            await Self.identified {
                StreamOpening.state(
                    try await services.source.moved(
                        notice.conversations, in: notice.user, after: sequence, upTo: notice.position))
            }
        } completion: { session, result in
            session.endRead(ticket)
            session.run { machine, actions in
                machine.opened(
                    .inbox(notice.user), ticket: ticket, result, at: session.now, wallClock: session.hub.clock(),
                    into: &actions)
            }
        }
    }

    /// An idle session keeps no room for the reads that it had when it was resumed.
    private func endRead(_ ticket: UInt32) {
        reads[ticket] = nil
        if reads.isEmpty { reads = [:] }
    }

    private func wait(_ stream: StreamName, _ ticket: UInt32, _ time: TimeAmount) {
        let session = NIOLoopBound(self, eventLoop: shard.loop)
        shard.loop.scheduleTask(in: time) {
            let session = session.value
            session.run { machine, actions in
                machine.waited(stream, ticket: ticket, at: session.now, into: &actions)
            }
        }
    }

    private func request(_ id: Int64, _ name: String, _ params: [UInt8]) {
        guard let principal = machine.principal else { return }
        let services = services
        let origin = transport.origin
        let request = RequestID.make()
        runTask {
            let result = await RequestID.$current.withValue(request) {
                await services.handler.handle(name, params: params, principal: principal, from: origin)
            }
            guard case .problem(var problem) = result else { return result }
            problem.request = request
            return .problem(problem)
        } completion: { session, result in
            session.run { machine, actions in machine.handled(id, result, at: session.now, into: &actions) }
        }
    }

    /// Runs an operation with the id of a new request, which its log lines, its audit entries and its problem have.
    private static func identified<Value: Sendable>(
        _ operation: @Sendable () async throws -> Value
    ) async -> Result<Value, Problem> {
        let request = RequestID.make()
        return await RequestID.$current.withValue(request) { await Problem.catching(operation) }.mapError { problem in
            var problem = problem
            problem.request = request
            return problem
        }
    }

    /// Runs an operation in a task of its own, on the loop between its other work, and completes on the loop.
    @discardableResult
    private func runTask<Value: Sendable>(
        _ operation: @escaping @Sendable () async -> Value, completion: @escaping @Sendable (Session, Value) -> Void
    ) -> Task<Void, Never> {
        let loop = shard.loop
        let session = NIOLoopBound(self, eventLoop: loop)
        return Task(executorPreference: shard.executor) {
            let value = await operation()
            // Not directly, although this is the loop: effects of the operation are in the loop's queue already.
            loop.execute { completion(session.value, value) }
        }
    }

    /// Converts wall time to the loop's clock.
    private func deadline(of timestamp: Timestamp) -> NIODeadline {
        now + .milliseconds(timestamp.milliseconds(since: hub.clock()))
    }
}

extension RealtimeServices {
    /// The principal, unless it was revoked since it was authenticated. To be called on the session's loop in the same
    /// turn that sets the session's principal: a later revocation then finds the session.
    fileprivate func notRevoked(_ principal: Principal) -> Result<Principal, Problem> {
        Result {
            try authenticator.checkNotRevoked(principal)
            return principal
        }.mapError(Problem.wrapping)
    }
}

extension Problem {
    static func catching<Value>(_ body: () async throws -> Value) async -> Result<Value, Problem> {
        do {
            return .success(try await body())
        } catch {
            return .failure(wrapping(error))
        }
    }

    /// Other errors than problems are internal; their text is not for clients.
    fileprivate static func wrapping(_ error: any Error) -> Problem {
        error as? Problem ?? Problem(.internalError, "Internal server error; try again later.")
    }
}
