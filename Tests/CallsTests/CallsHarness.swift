import Calls
import Model
import Testing
import Wire

/// One running client of one person.
struct Client: Hashable {
    var user: UserID
    var endpoint: EndpointID
    var signIn: SignInID?

    var principal: Principal { Principal(user: user, signIn: signIn, endpoint: endpoint) }
}

/// Calls in a simulated environment: a store, a manual clock, timers and leases as in the server, and ids from a seed.
final class CallsHarness {
    static let start = Timestamp(milliseconds: 1_790_000_000_000)

    let backend: any StoreHarness
    private(set) var commands: CallCommands
    var now = CallsHarness.start
    var random: SeededRandom
    private(set) var timers: [CallDeadline.Key: CallDeadline] = [:]
    private(set) var leases = CallLeases()
    /// The recordings in progress.
    private(set) var recorded: [CallID: RecordingID] = [:]
    /// The calls with captions in progress.
    private(set) var captioned: Set<CallID> = []

    init(_ backend: any StoreHarness, rules: CallRules = CallRules(), seed: UInt64 = 1) {
        self.backend = backend
        commands = CallCommands(rules: rules)
        random = SeededRandom(seed: seed)
    }

    /// Restarts the server with other rules: rows stay, state in memory is lost.
    func restart(with rules: CallRules) {
        commands = CallCommands(rules: rules)
        captioned = []
    }

    func id<Entity>(_: Entity.Type = Entity.self) -> Identifier<Entity> { .make(at: now, using: &random) }

    func person(_ name: String, callWaiting: Bool = false) throws -> Client {
        let client = Client(user: id(), endpoint: id())
        try backend.add(client.user, name: name, callWaiting: callWaiting)
        return client
    }

    /// Another endpoint of the same person.
    func another(_ client: Client) -> Client { Client(user: client.user, endpoint: id()) }

    /// A client of a user without an account.
    func unknownUser() -> Client { Client(user: id(), endpoint: id()) }

    func unknownUsers(_ count: Int) -> [Client] { (0..<count).map { _ in unknownUser() } }

    func block(_ blocked: Client, by blocker: Client) throws { try backend.block(blocked.user, by: blocker.user) }
}

// Commands and their effects.
extension CallsHarness {
    @discardableResult
    func run(
        _ command: (CallCommands, Timestamp, any CallStore) throws -> CallOutcome
    ) throws -> CallOutcome {
        let outcome = try backend.transact { try command(commands, now, backend.store) }
        carryOut(outcome.effects)
        return outcome
    }

    @discardableResult
    func create(
        by caller: Client, to callees: [Client], kind: Call.Kind = .audio, mode: RequestedMode? = nil,
        offer: String? = nil,
        clientID: ClientID? = nil, ringSeconds: Int64? = nil, other: OtherCalls? = nil
    ) throws -> CallOutcome {
        // Most tests of groups do not depend on the media path.
        let requestedMode = mode ?? (commands.rules.gatewayEpoch == nil && callees.count > 1 ? .direct : nil)
        let request = CreateCall(
            clientID: clientID ?? id(), callees: callees.map(\.user), kind: kind, mode: requestedMode,
            offer: offer.map { SessionDescriptionInit(sdp: $0) }, ringSeconds: ringSeconds, other: other)
        let callID: CallID = id()
        return try run { try $0.create(request, by: caller.principal, id: callID, at: $1, in: $2) }
    }

    func createWithoutEndpoint(by caller: Client, to callee: Client) throws -> CallOutcome {
        let request = CreateCall(clientID: id(), callees: [callee.user], kind: .audio)
        let callID: CallID = id()
        return try run { try $0.create(request, by: Principal(user: caller.user), id: callID, at: $1, in: $2) }
    }

    @discardableResult
    func signal(
        _ call: CallID, from client: Client, to: Client? = nil, _ kind: Signal.Kind, generation: Int64,
        candidates: Int = 1, clientID: ClientID? = nil
    ) throws -> SignalOutcome {
        let payload: Signal.Payload =
            kind == .candidates
            ? .candidates((0..<candidates).map { CandidateInit(candidate: "candidate:\($0)") }, isLast: false)
            : .description(SessionDescriptionInit(sdp: "v=0 \(kind.rawValue) on \(generation)"))
        let request = SendSignal(
            clientID: clientID ?? id(), to: to?.endpoint, kind: kind, generation: generation, payload: payload)
        return try backend.transact {
            try commands.send(request, in: call, by: client.principal, at: now, store: backend.store)
        }
    }

    private func carryOut(_ effects: [CallEffect]) {
        for effect in effects {
            switch effect {
            case .schedule(let deadline): timers[deadline.key] = deadline
            case .unschedule(let key): timers[key] = nil
            case .leaseStarted(let call, let user, let endpoint):
                leases.start(.init(call: call, user: user, endpoint: endpoint), at: nanoseconds)
            case .leaseRenewed(let call, let user): leases.renew(call, user, at: nanoseconds)
            case .leaseEnded(let call, let user): leases.end(call, user)
            case .recordingBegan(let call, let recording): recorded[call] = recording
            case .recordingEnded(let call, let recording):
                #expect(recorded.removeValue(forKey: call) == recording)
            case .captionsBegan(let call): captioned.insert(call)
            case .captionsEnded(let call): captioned.remove(call)
            case .attachUser, .attachEndpoint, .dropEndpoint, .dropUser, .detach, .ringPush, .legEnded, .relayEnded,
                .caption,
                .ended:
                break
            }
        }
    }

    private var nanoseconds: Int64 { now.milliseconds * 1_000_000 }
}

// Time.
extension CallsHarness {
    /// Advances the clock from one deadline to the next; the endpoints in `alive` give signs of life meanwhile.
    func advance(seconds: Int64, renewing alive: [Client] = []) throws {
        let end = now.adding(seconds: seconds)
        while now < end {
            var next = min(end, timers.values.map(\.at).min() ?? end)
            if alive.isEmpty {
                next = min(next, Timestamp(milliseconds: (leases.deadline ?? .max) / 1_000_000))
            } else {
                next = min(next, now.adding(seconds: 10))
            }
            now = max(now, next)
            for client in alive { leases.renew(client.endpoint, at: nanoseconds) }
            try fire()
        }
    }

    /// Fires every timer and lease that is due now.
    func fire() throws {
        while let due = timers.values.filter({ $0.at <= now }).min(by: { $0.at < $1.at }) {
            timers[due.key] = nil
            try runIfAny { try commands.expire(due, at: now, in: backend.store) }
        }
        for holder in leases.lapsed(at: nanoseconds) {
            try runIfAny { try commands.leaseLapsed(holder.call, holder.user, at: now, in: backend.store) }
        }
    }

    /// Restarts the server after a kill: state in memory is lost, the store is kept.
    func restart() throws {
        timers = [:]
        leases = CallLeases()
        for deadline in try commands.deadlines(in: backend.store) { timers[deadline.key] = deadline }
        for holder in try commands.leases(in: backend.store) { leases.start(holder, at: nanoseconds) }
    }

    func detach(_ client: Client) throws {
        try runAll { try commands.detached(client.endpoint, of: client.user, at: now, in: backend.store) }
    }

    func attach(_ client: Client) throws {
        leases.renew(client.endpoint, at: nanoseconds)
        try runAll { try commands.attached(client.endpoint, of: client.user, at: now, in: backend.store) }
    }

    func withdraw(_ client: Client) throws {
        try backend.disable(client.user)
        try runAll { try commands.withdraw(client.user, at: now, in: backend.store) }
    }

    private func runIfAny(_ command: () throws -> CallOutcome?) throws {
        carryOut(try backend.transact(command)?.effects ?? [])
    }

    private func runAll(_ command: () throws -> [CallOutcome]) throws {
        for outcome in try backend.transact(command) { carryOut(outcome.effects) }
    }
}

// Queries.
extension CallsHarness {
    func mailbox(of client: Client, in call: CallID) throws -> [StreamEntry] {
        try entries(.signals(call, client.endpoint))
    }

    func entries(_ stream: StreamName) throws -> [StreamEntry] { try backend.entries(of: stream) }

    func call(_ id: CallID) throws -> Call { try #require(try backend.store.call(id)) }

    func state(of client: Client, in call: CallID) throws -> String {
        try #require(try self.call(call).participant(client.user)).state.name
    }

    func calls(of client: Client) throws -> [Call] {
        try commands.list(limit: 100, by: client.principal, in: backend.store).calls
    }

    func liveCalls(of client: Client) throws -> [Call] {
        try commands.liveCalls(of: client.user, in: backend.store)
    }
}

// Shorthands for common commands.
extension CallsHarness {
    @discardableResult
    func ringing(_ call: CallID, by client: Client) throws -> CallOutcome {
        try run { try $0.ringing(call, by: client.principal, at: $1, in: $2) }
    }

    @discardableResult
    func accept(
        _ call: CallID, by client: Client, other: OtherCalls? = nil, media: MediaState.Change? = nil
    ) throws -> CallOutcome {
        let request = AcceptCall(other: other, media: media)
        return try run { try $0.accept(call, request, by: client.principal, at: $1, in: $2) }
    }

    @discardableResult
    func decline(_ call: CallID, by client: Client) throws -> CallOutcome {
        try run { try $0.decline(call, by: client.principal, at: $1, in: $2) }
    }

    @discardableResult
    func record(_ call: CallID, by client: Client) throws -> CallOutcome {
        let recording: RecordingID = id()
        return try run { try $0.record(call, as: recording, by: client.principal, at: $1, in: $2) }
    }

    @discardableResult
    func stopRecording(_ call: CallID, by client: Client) throws -> CallOutcome {
        try run { try $0.stopRecording(call, by: client.principal, at: $1, in: $2) }
    }

    @discardableResult
    func caption(_ call: CallID, by client: Client) throws -> CallOutcome {
        try run { try $0.caption(call, by: client.principal, at: $1, in: $2) }
    }

    @discardableResult
    func stopCaptions(_ call: CallID, by client: Client) throws -> CallOutcome {
        try run { try $0.stopCaptions(call, by: client.principal, at: $1, in: $2) }
    }

    @discardableResult
    func hangUp(_ call: CallID, _ request: Call.HangUp = .leave, by client: Client) throws -> CallOutcome {
        try run { try $0.hangUp(call, request, by: client.principal, at: $1, in: $2) }
    }

    @discardableResult
    func connected(_ call: CallID, by client: Client) throws -> CallOutcome {
        try run { try $0.connected(call, by: client.principal, at: $1, in: $2) }
    }

    @discardableResult
    func invite(_ users: [Client], to call: CallID, by client: Client) throws -> CallOutcome {
        let request = InviteToCall(clientID: id(), users: users.map(\.user))
        return try run { try $0.invite(call, request, by: client.principal, at: $1, in: $2) }
    }

    /// A call that has been accepted and whose media flows.
    func talk(_ caller: Client, _ callees: [Client]) throws -> CallID {
        let call = try create(by: caller, to: callees).call.id
        for callee in callees { try accept(call, by: callee) }
        for client in [caller] + callees { try connected(call, by: client) }
        return call
    }
}
