import FuzzInput
import OpenSSLCrypto
import STUN
import TURN
import Wire

/// One worker: its engine, and its two queues of messages from the other one.
final class Worker {
    let number: UInt8
    var engine: TURNEngine
    var commands: [Command] = []
    var forwarded: [(sent: Sent, flow: Flow, isOccupied: Bool)] = []
    /// The allocation of each flow: what the model knows of `TURNEngine.flows`, and never less.
    var owners: [Flow: AllocationKey] = [:]
    /// Flows that the other worker forwards to this one.
    var ingresses: Set<Flow> = []

    /// A message of the other worker about a flow.
    enum Command {
        case keep(Flow, Claim)
        case forget(Flow, Claim)
        case evict(Flow, Claim)
    }

    func holds(_ flow: Flow) -> Bool { engine.audit.flows.contains(flow) }

    init(_ number: UInt8, _ engine: consuming TURNEngine) {
        self.number = number
        self.engine = engine
    }
}

/// The host of two engines, made of arrays, and the model of what they may do.
final class TURNHarness {
    static let server = IPAddress(ipv4: 0x0A00_0001)
    static let server6 = IPAddress(ipv6High: 0x2600 << 48, low: 1)
    static let external = IPAddress(ipv4: 0x2D00_0001)
    static let quota = 3

    let openSSL: OpenSSLAuthentication
    private(set) var workers: [Worker] = []
    let relays = Relays()
    private(set) var now = Instant(nanoseconds: 1_000_000_000)
    var policy = ModelPolicy()
    var allocations: [AllocationKey: ModelAllocation] = [:]
    var connections: [PeerConnectionID: ModelConnection] = [:]
    var charges: [String: Int] = [:]
    /// Allocations that wait for their relay, and whether the next ones do.
    var opening: [AllocationKey] = []
    var isLate = false
    var reservations: [UInt64: (port: UInt16, claimant: String, expiry: Instant)] = [:]
    var lastToken: UInt64 = 0
    var nextPort: UInt16 = 50_000
    /// A relay that was given back.
    var formerRelay: (worker: UInt8, id: RelayID)?
    /// The worker that a connection has moved to.
    private var currentWorkers: [Flow: UInt8] = [:]
    var passwordGeneration: UInt8 = 1
    /// Names of which nothing more may be made.
    var void: Set<String> = []
    var nonces: [Flow: [UInt8]] = [:]
    var tickets: [(text: [UInt8], key: AllocationKey)] = []
    private(set) var last: (sent: Sent, flow: Flow)?

    init?(_ openSSL: OpenSSLAuthentication) {
        self.openSSL = openSSL
        let key = Array("key".utf8)
        guard let discovery = NATDiscovery(Self.server, IPAddress(ipv4: 0x0A00_0002), port: 3478, otherPort: 3479)
        else { return nil }
        for number: UInt8 in 0...1 {
            var engine = TURNEngine(
                credentials: credentials(), policy: policy.policy(relays),
                nonces: NonceGenerator(key: Digest(key.span.bytes)),
                limiter: ResponseLimiter(perSecond: 0, burst: 0, seed: 1), authentication: openSSL)
            engine.decryption = OpenSSLDecryption()
            engine.tickets = TicketCodec(key: Digest(key.span.bytes), worker: number)
            engine.discoveries = [discovery]
            engine.alternates = [TransportAddress(IPAddress(ipv4: 0x0505_0505), port: 3478)]
            engine.worker = number
            engine.setWallClock(unixMilliseconds: unixSeconds * 1000, at: now)
            workers.append(Worker(number, engine))
        }
    }

    static func local(of address: TransportAddress) -> TransportAddress {
        address.address == external ? TransportAddress(server, port: address.port) : address
    }

    var unixSeconds: Int64 { Int64(clamping: now.nanoseconds / 1_000_000_000) }

    /// Relays that are open, in an order that does not change from run to run.
    var sortedRelays: [(key: AllocationKey, family: IPAddress.Family, value: TransportAddress)] {
        allocations.flatMap { key, allocation in allocation.relays.map { (key, $0.key, $0.value) } }
            .sorted { ($0.2.port, $0.1.rawValue) < ($1.2.port, $1.1.rawValue) }
    }

    func other(_ worker: Worker) -> Worker { workers[Int(worker.number ^ 1)] }

    /// The worker to which the kernel brings what comes on a flow.
    func worker(of flow: Flow) -> Worker { workers[Int(currentWorkers[flow] ?? UInt8(flow.remote.port & 1))] }

    private func binding(on flow: Flow) -> PeerConnectionID? {
        connections.first { $0.value.stage == .bound(flow) }?.key
    }

    // MARK: Clients

    func send(_ sent: Sent, on flow: Flow) {
        // Bytes for the peer.
        guard binding(on: flow) == nil else { return }
        let here = worker(of: flow)
        if flow.transport.isStream, let number = PeerConnectionID.claimed(by: sent.bytes.span.bytes)?.worker,
            number <= 1, !here.holds(flow)
        {
            currentWorkers[flow] = number
        }
        if let number = here.engine.workerOfTicket(in: sent.bytes.span.bytes, on: flow, at: now), number <= 1 {
            currentWorkers[flow] = number
        }
        last = (sent, flow)
        receive(sent, on: flow, at: worker(of: flow), isForwarded: false)
    }

    func receive(_ sent: Sent, on flow: Flow, at worker: Worker, isForwarded: Bool, isOccupied: Bool = false) {
        var recorder = Recorder()
        let moved = worker.engine.counters.moved
        let forward =
            isForwarded
            ? worker.engine.receiveForwarded(
                sent.bytes.span.bytes, on: flow, from: worker.number ^ 1, isOccupied: isOccupied, at: now,
                into: &recorder)
            : worker.engine.receive(sent.bytes.span.bytes, on: flow, at: now, into: &recorder)
        if sent.username == nil, recorder.changedState { fatalError("not authenticated") }
        for (bytes, isOccupied) in recorder.forwarded {
            if isForwarded || bytes != sent.bytes { fatalError("forwarded twice, or changed on the way") }
            other(worker).forwarded.append((sent, flow, isOccupied))
        }
        if let forward { check(forward, of: sent, on: flow, at: worker) }
        let success = recorder.responses.first {
            $0.type.messageClass == .success && $0.transaction == sent.transaction && $0.type.method == sent.method
        }
        settle(&recorder, at: worker, sent, on: flow)
        if let success { handled(sent, success, on: flow, at: worker, hasMoved: worker.engine.counters.moved != moved) }
        checkCounts()
    }

    /// A client sends one unsigned request, to get a nonce.
    func fetchNonce(on flow: Flow) {
        guard nonces[flow] == nil else { return }
        var writer = MessageWriter()
        writer.begin(MessageType(.request, .allocate), TransactionID(3, 3))
        send(Sent(writer.bytes), on: flow)
    }

    func closed(_ flow: Flow) {
        guard flow.transport != .udp else { return }
        let worker = worker(of: flow)
        if let id = binding(on: flow) { peerClosed(id) }
        var recorder = Recorder()
        worker.engine.flowClosed(flow, into: &recorder)
        settle(&recorder, at: worker)
        worker.owners[flow] = nil
        currentWorkers[flow] = nil
        nonces[flow] = nil
        if worker.holds(flow) { fatalError("a closed connection that holds an allocation") }
        checkCounts()
    }

    // MARK: Time

    func pass(_ nanoseconds: UInt64) {
        now = now.adding(nanoseconds: nanoseconds)
        for worker in workers {
            var recorder = Recorder()
            worker.engine.advance(to: now, into: &recorder)
            settle(&recorder, at: worker)
        }
        checkCounts()
    }

    // MARK: Between the workers

    func deliver(_ input: inout FuzzInput) {
        let choice = input.byte()
        let worker = workers[Int(choice & 1)]
        if choice & 2 == 0 { deliverCommand(to: worker) } else { deliverMessage(to: worker) }
    }

    private func deliverCommand(to worker: Worker) {
        guard !worker.commands.isEmpty else { return }
        var recorder = Recorder()
        switch worker.commands.removeFirst() {
        case .keep(let flow, let claim):
            let isKept = worker.engine.keepForwardedFlow(flow, of: worker.number ^ 1, claim, into: &recorder)
            if isKept == worker.holds(flow) { fatalError("a flow of two workers, or of none") }
        case .forget(let flow, let claim):
            worker.engine.forgetForwardedFlow(flow, of: worker.number ^ 1, claim)
        case .evict(let flow, let claim):
            worker.engine.removeIngress(flow, claim, into: &recorder)
            if worker.engine.audit.ingresses[flow] == nil { worker.ingresses.remove(flow) }
        }
        settle(&recorder, at: worker)
    }

    private func deliverMessage(to worker: Worker) {
        guard !worker.forwarded.isEmpty else { return }
        let (sent, flow, isOccupied) = worker.forwarded.removeFirst()
        receive(sent, on: flow, at: worker, isForwarded: true, isOccupied: isOccupied)
    }

    private func deliverAll() {
        for worker in workers {
            while !worker.forwarded.isEmpty { deliverMessage(to: worker) }
            while !worker.commands.isEmpty { deliverCommand(to: worker) }
        }
        for worker in workers where !worker.forwarded.isEmpty || !worker.commands.isEmpty { return deliverAll() }
    }

    /// Lets everything arrive that is on its way: then the workers agree, and nothing is overdue.
    func settleAll() {
        while !opening.isEmpty { open(opening.removeFirst()) }
        for _ in 0..<2 {
            pass(1_100_000_000)
            deliverAll()
        }
        for flow in Flow.clients where !flow.transport.isStream { checkAgreement(on: flow) }
        for worker in workers {
            if let wrong = worker.engine.audit.inconsistencies.first { fatalError(wrong) }
        }
        for connection in connections.values {
            if !connection.stage.isBound, connection.until <= now { fatalError("a connection that nobody gives up") }
            if policy.forbids(connection.peer, relays) { fatalError("a connection to a peer that is forbidden") }
        }
    }

    private func checkAgreement(on flow: Flow) {
        let (here, owner) = (worker(of: flow), other(worker(of: flow)))
        let isForwardedFlow = isForwardedFlow(flow, at: here)
        if isForwardedFlow, !owner.holds(flow) { fatalError("a forwarded flow without an owner") }
        if owner.holds(flow), !isForwardedFlow {
            fatalError("a flow whose datagrams are not forwarded to its owner")
        }
        if owner.ingresses.contains(flow), !owner.holds(flow) {
            fatalError("an ingress without an allocation")
        }
    }

    private func isForwardedFlow(_ flow: Flow, at worker: Worker) -> Bool {
        var writer = MessageWriter()
        writer.begin(MessageType(.indication, .binding), TransactionID(0, 0))
        let bytes = writer.bytes
        var recorder = Recorder()
        _ = worker.engine.receive(bytes.span.bytes, on: flow, at: now, into: &recorder)
        return !recorder.forwarded.isEmpty
    }

    // MARK: The end

    /// One worker stops, the other's allocations expire: nothing is left of either.
    func finish() {
        settleAll()
        var recorder = Recorder()
        workers[0].engine.endAll(into: &recorder)
        settle(&recorder, at: workers[0])
        pass(3_700_000_000_000)
        settleAll()
        if !allocations.isEmpty || !connections.isEmpty { fatalError("something was not given back") }
        if charges.values.contains(where: { $0 != 0 }) { fatalError("a charge that stays") }
        for worker in workers {
            if worker.engine.allocationCount != 0 { fatalError("an allocation that never ends") }
            if Flow.clients.contains(where: { worker.engine.hasAllocation(on: $0) }) { fatalError("a flow of nothing") }
            if Flow.clients.contains(where: { isForwardedFlow($0, at: worker) }) {
                fatalError("a forwarded flow that stays")
            }
        }
    }
}

extension ModelConnection.Stage {
    var isBound: Bool {
        if case .bound = self { true } else { false }
    }
}
