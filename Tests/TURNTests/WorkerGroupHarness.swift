import STUN
import TURN
import Testing
import Wire

/// Harnesses as the workers of one host, and the messages between them: the kernel brings a flow's datagrams to the
/// worker that its port says.
final class WorkerGroupHarness {
    let workers: [RelayHarness]
    /// Messages that reached clients, and packets that reached relays.
    private(set) var sent: [(bytes: [UInt8], flow: Flow)] = []
    private(set) var toPeers: [(worker: Int, forward: ToPeer)] = []
    /// What a worker may not do.
    private(set) var violations: [String] = []
    /// Posts since the test set it to 0.
    var postCount = 0
    /// From worker to worker, in two lanes as hosts have them: commands, and datagrams.
    private var queues: [Lane: [Post]] = [:]

    struct Lane: Hashable, Comparable {
        let from: Int
        let to: Int
        let isDatagrams: Bool

        static func < (one: Lane, other: Lane) -> Bool {
            (one.from, one.to, one.isDatagrams ? 1 : 0) < (other.from, other.to, other.isDatagrams ? 1 : 0)
        }
    }

    init(_ count: Int) throws {
        workers = try (0..<count).map { index in
            let harness = try RelayHarness()
            let key = Array("ticket key".utf8)
            harness.engine.tickets = TicketCodec(key: Digest(key.span.bytes), worker: UInt8(index))
            return harness
        }
    }

    func home(_ flow: Flow) -> Int { Int(flow.remote.port) % workers.count }

    /// A port whose flows arrive at this worker.
    func port(_ number: Int, at worker: Int) -> UInt16 {
        UInt16(1000 * workers.count + number * workers.count + worker)
    }

    // MARK: Messages between workers

    private func absorb(_ outcome: RelayHarness.Outcome, of worker: Int) {
        for message in outcome.messages {
            if message.flow.transport == .dtls, home(message.flow) != worker {
                violations.append("a worker sent to a client whose session it does not have")
            }
            sent.append(message)
        }
        if let forward = outcome.toPeer { toPeers.append((worker, forward)) }
        for (to, post) in outcome.posts {
            postCount += 1
            queues[Lane(from: worker, to: Int(to), isDatagrams: post.isDatagram), default: []].append(post)
        }
    }

    var lanes: [Lane] { queues.keys.sorted() }

    func deliverOne(_ lane: Lane) {
        guard var posts = queues[lane], !posts.isEmpty else { return }
        let post = posts.removeFirst()
        queues[lane] = posts.isEmpty ? nil : posts
        absorb(workers[lane.to].receive(post, from: UInt8(lane.from)), of: lane.to)
    }

    /// Delivers everything that is on its way, and what comes of it.
    func settle() {
        for _ in 0..<10_000 {
            guard let lane = lanes.first else { return }
            deliverOne(lane)
        }
        violations.append("the workers never stop writing to each other")
    }

    // MARK: Clients

    /// A datagram of a client, without delivering the messages that it causes.
    func receive(_ bytes: [UInt8], on flow: Flow) {
        absorb(workers[home(flow)].receive(bytes, on: flow), of: home(flow))
    }

    func close(_ flow: Flow) { absorb(workers[home(flow)].close(flow), of: home(flow)) }

    func advance(seconds: UInt32) {
        for index in workers.indices { absorb(workers[index].advance(seconds: seconds), of: index) }
    }

    /// A request and its one response.
    func ask(_ bytes: [UInt8], on flow: Flow) throws -> Response {
        sent = []
        receive(bytes, on: flow)
        settle()
        let messages = sent
        #expect(messages.allSatisfy { $0.flow == flow })
        return try Response(RelayHarness.Outcome(messages: messages))
    }

    func takeSent() -> [(bytes: [UInt8], flow: Flow)] {
        defer { sent = [] }
        return sent
    }

    /// Which messages have been sent since.
    func takeTypes() -> [MessageType] {
        takeSent().compactMap { message in (try? Message(message.bytes.span.bytes))?.type }
    }

    func fetchNonce(_ client: inout TestClient) throws {
        let response = try ask(client.request(.allocate, workers[0], signed: false), on: client.flow)
        client.nonce = try #require(response.nonce)
    }

    /// A client at another port, with a nonce.
    func client(
        _ port: UInt16, _ transport: Flow.Transport, username: String = "alice", password: String = "wonderland"
    ) throws -> TestClient {
        var client = TestClient(port: port, username: username, password: password, transport: transport)
        try fetchNonce(&client)
        return client
    }

    /// The relay, on its worker, that a packet on the channel reaches from here.
    func channel(_ client: TestClient, _ number: UInt16 = 0x4000) -> Relay? {
        var bytes: [UInt8] = []
        bytes.append(bigEndian: number)
        bytes.append(bigEndian: UInt16(1))
        toPeers = []
        receive(bytes + [9], on: client.flow)
        settle()
        return toPeers.first.map { Relay(worker: $0.worker, id: $0.forward.relay) }
    }

    struct Relay: Hashable {
        let worker: Int
        let id: RelayID
    }

    /// Where a peer's packet goes.
    func toClient(_ relay: Relay) -> Flow? {
        let forward = workers[relay.worker].engine.receiveFromPeer(
            on: relay.id, from: RelayHarness.peer, byteCount: 1, at: workers[relay.worker].now)
        if let forward, forward.flow.transport == .dtls,
            forward.worker.map({ Int($0) }) ?? relay.worker != home(forward.flow)
        {
            violations.append("a packet leaves where its session is not")
        }
        return forward?.flow
    }

    func refresh(_ client: TestClient, lifetime: UInt32) throws -> Response {
        try ask(client.request(.refresh, workers[0]) { $0.append(.lifetime, integer: lifetime) }, on: client.flow)
    }

    func permit(_ client: TestClient) throws -> Response {
        try ask(
            client.request(.createPermission, workers[0]) { $0.append(.xorPeerAddress, xor: RelayHarness.peer) },
            on: client.flow)
    }

    var liveAllocations: Int { workers.reduce(0) { $0 + $1.liveAllocations } }

    /// The inconsistencies of the workers once all messages are delivered: each flow belongs to one allocation,
    /// known to both its workers.
    var inconsistencies: [String] {
        var found = violations
        let audits = workers.map { $0.engine.audit }
        for (index, audit) in audits.enumerated() {
            found += audit.inconsistencies
            for (flow, owner) in audit.forwardedFlows where audits[Int(owner)].ingresses[flow] != UInt8(index) {
                found.append("worker \(index) forwards \(flow) to worker \(owner), which has no such ingress")
            }
            for (flow, host) in audit.ingresses where audits[Int(host)].forwardedFlows[flow] != UInt8(index) {
                found.append("worker \(index) has \(flow) with ingress \(host), which does not forward it")
            }
            for flow in audit.flows where home(flow) != index && audit.ingresses[flow] == nil {
                found.append("worker \(index) has \(flow), which does not arrive there")
            }
        }
        return found
    }
}

/// A client with an allocation that can move: its channel 0x4000 leads to a peer.
struct Mover {
    var client: TestClient
    var ticket: [UInt8]
    let relay: WorkerGroupHarness.Relay

    init(_ group: WorkerGroupHarness, port: UInt16, _ transport: Flow.Transport = .udp) throws {
        client = try group.client(port, transport)
        let request = client.request(.allocate, group.workers[0]) { writer in
            writer.append(.requestedTransport, integer: UInt32(17) << 24)
            writer.append(.mobilityTicket, bytes: [])
        }
        let response = try group.ask(request, on: client.flow)
        ticket = try #require(try Mover.ticket(in: response))
        let bind = client.request(.channelBind, group.workers[0]) { writer in
            writer.append(.channelNumber, integer: UInt32(0x4000) << 16)
            writer.append(.xorPeerAddress, xor: RelayHarness.peer)
        }
        #expect(try group.ask(bind, on: client.flow).isSuccess)
        relay = try #require(group.channel(client))
    }

    static func ticket(in response: Response) throws -> [UInt8]? {
        try Message(response.bytes.span.bytes).attribute(.mobilityTicket)?.copyToArray()
    }

    static func request(
        _ client: TestClient, _ group: WorkerGroupHarness, _ ticket: [UInt8], lifetime: UInt32? = nil,
        transaction: TransactionID = TestClient.nextTransaction()
    ) -> [UInt8] {
        client.request(.refresh, group.workers[0], transaction: transaction) { writer in
            writer.append(.mobilityTicket, bytes: ticket)
            if let lifetime { writer.append(.lifetime, integer: lifetime) }
        }
    }

    /// Goes on from another port, and keeps the new ticket.
    mutating func move(_ group: WorkerGroupHarness, to port: UInt16, _ transport: Flow.Transport = .udp) throws
        -> Response
    {
        client = try group.client(port, transport)
        let response = try group.ask(Self.request(client, group, ticket), on: client.flow)
        if let next = try Self.ticket(in: response) { ticket = next }
        return response
    }
}
