import Model
import NIOCore

/// One realtime connection: the machine that decides, and the hands that do what it says. Belongs to one event loop.
///
/// The machine is asked first and let go of, then its actions are performed in order. What takes time runs in a task that
/// lives as long as the question, and comes back to the loop with the answer: an idle session has no task and no timer.
final class Session {
    typealias AdmittedHello = (principal: Principal, expiresAt: Timestamp, grant: EndpointGrant)

    let id: SessionID
    let number: UInt64
    let hub: RealtimeHub
    let shard: SessionShard
    private let services: RealtimeServices
    private let transport: any SessionTransport
    private var machine: SessionMachine
    private var showsPresence = false
    /// The hello was admitted before the session was opened: over server-sent events.
    private var admitted: AdmittedHello?
    private var isEntered = false
    private var isLive = false
    /// When to give up on a transport that was asked to close.
    private var farewellEnds: NIODeadline?
    private var isPerforming = false
    private var mustFlush = false

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
        machine = SessionMachine(session: id, rules: hub.rules, at: shard.loop.now)
        hub.counters.sessions.add(1)
    }

    var principal: Principal? { machine.principal }
    var queuedBytes: Int { machine.queue.bytes }
    var laggingStreams: Int { machine.laggingStreams }
    private var now: NIODeadline { shard.loop.now }
}

// What the door brings.
extension Session {
    /// A whole message of the client.
    func receive(_ text: [UInt8]) {
        hub.counters.framesIn.add(1)
        // Before the parsing, which is what a flood would cost.
        guard admitsFrame() else { return }
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

    /// A frame of the transport that is no message: a sign of life, which counts like a message all the same.
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

    /// The transport takes frames again, or no longer.
    func transportChanged() {
        guard !isPerforming else { return }
        run { machine, actions in machine.setTransportWritable(transport.isWritable, at: now, into: &actions) }
    }

    /// The transport fails and says why by itself; it is given a little time.
    func fail() {
        run { machine, actions in machine.close(into: &actions) }
        farewellEnds = now + hub.limits.farewell
        leave()
    }

    func transportClosed() {
        run { machine, actions in machine.close(into: &actions) }
        leave()
        shard.sessions.remove(self)
    }
}

// What the hub brings.
extension Session {
    func changed(_ batch: StreamBatch) {
        run { machine, actions in machine.changed(batch, at: now, into: &actions) }
    }

    func happened(_ event: StreamEvent) {
        run { machine, actions in machine.happened(event, into: &actions) }
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

    func conclude(_ event: StreamEvent) {
        run { machine, actions in machine.conclude(event, into: &actions) }
    }

    /// The loop did not run for so long: what clients sent meanwhile is read from now on.
    func extend(by stall: TimeAmount, at now: NIODeadline) { machine.extend(by: stall, at: now) }

    /// Does what is due. The heartbeat is the same for all sessions of a sweep.
    func sweep(at now: NIODeadline, heartbeat: () -> OutboundFrame) {
        if let farewellEnds {
            if now >= farewellEnds { transport.abort() }
            return
        }
        guard now >= machine.clock.nextCheck else { return }
        let unsent = machine.isTransportWritable ? 0 : transport.unsentBytes
        run { machine, actions in
            machine.advance(to: now, unsent: unsent, heartbeat: heartbeat(), into: &actions)
        }
    }
}

// Deciding and doing.
extension Session {
    private func run(_ body: (inout SessionMachine, inout [SessionAction]) -> Void) {
        var actions = shard.sessions.takeScratch()
        body(&machine, &actions)
        perform(actions)
        shard.sessions.giveBack(&actions)
    }

    private func perform(_ actions: [SessionAction]) {
        guard !actions.isEmpty else { return }
        isPerforming = true
        for action in actions { perform(action) }
        isPerforming = false
        // What is written fills the transport before it is flushed: from here on the machine must queue.
        if machine.isTransportWritable, !transport.isWritable { transportChanged() }
        if mustFlush { shard.sessions.flushSoon(self) }
    }

    /// Lets what was sent go out; then goes on with the queue for as long as the transport takes frames.
    func flush() {
        guard mustFlush else { return }
        mustFlush = false
        isPerforming = true
        transport.flush()
        isPerforming = false
        let isWritable = transport.isWritable
        if isWritable != machine.isTransportWritable || (isWritable && machine.hasBacklog) { transportChanged() }
    }

    private func perform(_ action: SessionAction) {
        switch action {
        case .send(let frame): send(frame)
        case .authenticate(let hello): authenticate(hello)
        case .verify(let id, let token): verify(id, token)
        case .subscribe(let stream): shard.subscribe(number, to: stream)
        case .unsubscribe(let stream): shard.unsubscribe(number, from: stream)
        case .open(let stream, let after, let ticket): open(stream, after: after, ticket: ticket)
        case .perform(let id, let name, let params): request(id, name, params)
        case .enter: enter()
        case .becomeLive: becomeLive()
        case .reportHeard: report { $0.heard(endpoint: $1, user: $2, session: $3) }
        case .dropped(let count): hub.counters.eventsDropped.add(count)
        case .end(let bye): sayBye(bye)
        }
    }

    private func send(_ frame: OutboundFrame) {
        hub.counters.framesOut.add(1)
        hub.counters.bytesOut.add(frame.count)
        transport.send(frame)
        mustFlush = true
    }

    private func sayBye(_ bye: Bye) {
        hub.counters.count(bye)
        let retryAfter = bye.retryWithin.map { Int64.random(in: $0) }
        send(.bye(bye, retryAfter: retryAfter))
        mustFlush = false
        farewellEnds = now + hub.limits.farewell
        leave()
        transport.close(bye)
    }
}

// Coming and going.
extension Session {
    private var address: SessionAddress { SessionAddress(shard: shard.index, number: number) }

    private func enter() {
        guard let principal = machine.principal, let endpoint = principal.endpoint else { return }
        isEntered = true
        guard
            let older = hub.directory.enter(
                address, user: principal.user, endpoint: endpoint, signIn: principal.signIn)
        else { return }
        hub.shards[older.shard].post(.end(.session(older.number), .replaced))
    }

    private func becomeLive() {
        guard let user = machine.principal?.user else { return }
        isLive = true
        hub.presenceArrived(user, isShown: showsPresence)
        report { $0.attached(endpoint: $1, user: $2, session: $3) }
    }

    /// Nobody finds the session any more.
    private func leave() {
        guard let principal = machine.principal, let endpoint = principal.endpoint else { return }
        if isEntered { hub.directory.leave(address, user: principal.user, endpoint: endpoint) }
        isEntered = false
        guard isLive else { return }
        isLive = false
        hub.presenceLeft(principal.user, at: now)
        report { $0.detached(endpoint: $1, user: $2, session: $3) }
    }

    private func report(_ tell: (any SessionObserver, EndpointID, UserID, SessionID) -> Void) {
        guard let principal = machine.principal, let endpoint = principal.endpoint else { return }
        tell(services.observer, endpoint, principal.user, id)
    }
}

// Questions to the rest of the server.
extension Session {
    private func authenticate(_ hello: Hello) {
        let services = services
        let origin = transport.origin
        let admitted = exchange(&admitted, with: nil)
        ask {
            await Problem.catching {
                if let admitted { return admitted }
                try services.authenticator.admit(from: origin)
                return try await services.authenticator.admit(
                    token: hello.token, endpoint: hello.endpoint, secret: hello.secret)
            }
        } answer: { session, result in
            let result = result.flatMap { session.checkSessionCount($0) }
            let admission = result.flatMap { principal, expiresAt, grant in
                services.notRevoked(principal).map {
                    Admission(principal: $0, grant: grant, expires: session.deadline(of: expiresAt))
                }
            }
            if case .success(let admission) = admission { session.showsPresence = admission.grant.showsPresence }
            session.run { machine, actions in
                machine.authenticated(admission, at: session.now, wallClock: session.hub.clock(), into: &actions)
            }
        }
    }

    /// Refuses one session too many of a user; one that takes the place of its endpoint's older one is not more.
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
        ask {
            await Problem.catching { try await services.authenticator.authenticate(token: token) }
        } answer: { session, result in
            let verified = result.flatMap { principal, expiresAt in
                services.notRevoked(principal).map { (principal: $0, expires: session.deadline(of: expiresAt)) }
            }
            session.run { machine, actions in machine.verified(id, verified, at: session.now, into: &actions) }
            if session.isEntered { session.hub.directory.note(session.principal?.signIn, of: session.address) }
        }
    }

    private func open(_ stream: StreamName, after: Position?, ticket: UInt32) {
        guard let principal = machine.principal else { return }
        let services = services
        ask {
            await Problem.catching { try await services.source.open(stream, after: after, for: principal) }
        } answer: { session, result in
            session.run { machine, actions in
                machine.opened(
                    stream, ticket: ticket, result, at: session.now, wallClock: session.hub.clock(), into: &actions)
            }
        }
    }

    private func request(_ id: Int64, _ name: String, _ params: [UInt8]) {
        guard let principal = machine.principal else { return }
        let services = services
        let origin = transport.origin
        ask {
            await services.handler.handle(name, params: params, principal: principal, from: origin)
        } answer: { session, answer in
            session.run { machine, actions in machine.answered(id, answer, at: session.now, into: &actions) }
        }
    }

    /// Runs a question in a task of its own, on the loop between its other work, and brings the answer back.
    private func ask<Answer: Sendable>(
        _ question: @escaping @Sendable () async -> Answer, answer: @escaping @Sendable (Session, Answer) -> Void
    ) {
        let loop = shard.loop
        let session = NIOLoopBound(self, eventLoop: loop)
        Task(executorPreference: shard.executor) {
            let found = await question()
            // Not at once, though this is the loop: what the question led to stands in the loop's queue already.
            loop.execute { answer(session.value, found) }
        }
    }

    /// Wall time as a moment of the loop's clock.
    private func deadline(of timestamp: Timestamp) -> NIODeadline {
        now + .milliseconds(timestamp.milliseconds(since: hub.clock()))
    }
}

extension RealtimeServices {
    /// The principal, unless it was revoked since it was authenticated. To be asked on the session's loop in the same
    /// turn that gives the session the principal: a revocation that comes later then finds the session.
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

    /// Errors that are no problems are the server's own fault; their text is not for clients.
    fileprivate static func wrapping(_ error: any Error) -> Problem {
        error as? Problem ?? Problem(.internalError, "The server could not do this; it may work later.")
    }
}
