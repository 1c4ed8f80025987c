import STUN
import TURN
import Testing
import Wire

/// Laboratories as the workers of one host, and the mail between them: the kernel brings a flow's datagrams to the worker
/// that its port says.
final class Crew {
    let labs: [Lab]
    /// Messages that reached clients, and packets that reached relays.
    private(set) var sent: [(bytes: [UInt8], flow: Flow)] = []
    private(set) var toPeers: [(worker: Int, forward: ToPeer)] = []
    /// What a worker may not do.
    private(set) var violations: [String] = []
    /// Posts since the test set it to 0.
    var mailCount = 0
    /// From worker to worker, in two lanes as hosts have them: commands, and datagrams.
    private var mail: [Lane: [Post]] = [:]

    struct Lane: Hashable, Comparable {
        let from: Int
        let to: Int
        let isDatagrams: Bool

        static func < (one: Lane, other: Lane) -> Bool {
            (one.from, one.to, one.isDatagrams ? 1 : 0) < (other.from, other.to, other.isDatagrams ? 1 : 0)
        }
    }

    init(_ count: Int) throws {
        labs = try (0..<count).map { index in
            let lab = try Lab()
            let key = Array("ticket key".utf8)
            lab.engine.tickets = TicketMint(key: Digest(key.span.bytes), worker: UInt8(index))
            return lab
        }
    }

    func home(_ flow: Flow) -> Int { Int(flow.remote.port) % labs.count }

    /// A port whose flows arrive at this worker.
    func port(_ number: Int, at worker: Int) -> UInt16 { UInt16(1000 * labs.count + number * labs.count + worker) }

    // MARK: Mail

    private func absorb(_ outcome: Lab.Outcome, of worker: Int) {
        for message in outcome.messages {
            if message.flow.transport == .dtls, home(message.flow) != worker {
                violations.append("a worker sent to a client whose session it does not have")
            }
            sent.append(message)
        }
        if let forward = outcome.toPeer { toPeers.append((worker, forward)) }
        for (to, post) in outcome.posts {
            mailCount += 1
            mail[Lane(from: worker, to: Int(to), isDatagrams: post.isDatagram), default: []].append(post)
        }
    }

    var lanes: [Lane] { mail.keys.sorted() }

    func deliverOne(_ lane: Lane) {
        guard var posts = mail[lane], !posts.isEmpty else { return }
        let post = posts.removeFirst()
        mail[lane] = posts.isEmpty ? nil : posts
        absorb(labs[lane.to].receive(post, from: UInt8(lane.from)), of: lane.to)
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

    /// A datagram of a client, without the mail that it causes.
    func receive(_ bytes: [UInt8], on flow: Flow) {
        absorb(labs[home(flow)].receive(bytes, on: flow), of: home(flow))
    }

    func close(_ flow: Flow) { absorb(labs[home(flow)].close(flow), of: home(flow)) }

    func advance(seconds: UInt32) {
        for index in labs.indices { absorb(labs[index].advance(seconds: seconds), of: index) }
    }

    /// A request and its one answer.
    func ask(_ bytes: [UInt8], on flow: Flow) throws -> Answer {
        sent = []
        receive(bytes, on: flow)
        settle()
        let messages = sent
        #expect(messages.allSatisfy { $0.flow == flow })
        return try Answer(Lab.Outcome(messages: messages))
    }

    func takeSent() -> [(bytes: [UInt8], flow: Flow)] {
        defer { sent = [] }
        return sent
    }

    /// Which messages have been sent since.
    func takeTypes() -> [MessageType] {
        takeSent().compactMap { message in (try? Message(message.bytes.span.bytes))?.type }
    }

    func learnNonce(_ client: inout LabClient) throws {
        let answer = try ask(client.request(.allocate, labs[0], signed: false), on: client.flow)
        client.nonce = try #require(answer.nonce)
    }

    /// A client at another port, with a nonce.
    func client(
        _ port: UInt16, _ transport: Flow.Transport, username: String = "alice", password: String = "wonderland"
    ) throws -> LabClient {
        var client = LabClient(port: port, username: username, password: password, transport: transport)
        try learnNonce(&client)
        return client
    }

    /// The relay, on its worker, that a packet on the channel reaches from here.
    func channel(_ client: LabClient, _ number: UInt16 = 0x4000) -> Relay? {
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
        let forward = labs[relay.worker].engine.receiveFromPeer(
            on: relay.id, from: Lab.peer, byteCount: 1, at: labs[relay.worker].now)
        if let forward, forward.flow.transport == .dtls,
            forward.worker.map({ Int($0) }) ?? relay.worker != home(forward.flow)
        {
            violations.append("a packet leaves where its session is not")
        }
        return forward?.flow
    }

    func refresh(_ client: LabClient, lifetime: UInt32) throws -> Answer {
        try ask(client.request(.refresh, labs[0]) { $0.append(.lifetime, integer: lifetime) }, on: client.flow)
    }

    func permit(_ client: LabClient) throws -> Answer {
        try ask(
            client.request(.createPermission, labs[0]) { $0.append(.xorPeerAddress, xor: Lab.peer) }, on: client.flow)
    }

    var liveAllocations: Int { labs.reduce(0) { $0 + $1.liveAllocations } }

    /// What is wrong, once the mail has arrived, with what the workers remember: each flow belongs to one allocation, and
    /// both its workers know.
    var contradictions: [String] {
        var found = violations
        let audits = labs.map { $0.engine.audit }
        for (index, audit) in audits.enumerated() {
            found += audit.contradictions
            for (flow, owner) in audit.strangers where audits[Int(owner)].guests[flow] != UInt8(index) {
                found.append("worker \(index) remembers \(flow) for worker \(owner), which has no such guest")
            }
            for (flow, host) in audit.guests where audits[Int(host)].strangers[flow] != UInt8(index) {
                found.append("worker \(index) has \(flow) as a guest of worker \(host), which does not know")
            }
            for flow in audit.flows where home(flow) != index && audit.guests[flow] == nil {
                found.append("worker \(index) has \(flow), which does not arrive there")
            }
        }
        return found
    }
}

/// A client with an allocation that can move: its channel 0x4000 leads to a peer.
struct Mover {
    var client: LabClient
    var ticket: [UInt8]
    let relay: Crew.Relay

    init(_ crew: Crew, port: UInt16, _ transport: Flow.Transport = .udp) throws {
        client = try crew.client(port, transport)
        let request = client.request(.allocate, crew.labs[0]) { writer in
            writer.append(.requestedTransport, integer: UInt32(17) << 24)
            writer.append(.mobilityTicket, bytes: [])
        }
        let answer = try crew.ask(request, on: client.flow)
        ticket = try #require(try Mover.ticket(in: answer))
        let bind = client.request(.channelBind, crew.labs[0]) { writer in
            writer.append(.channelNumber, integer: UInt32(0x4000) << 16)
            writer.append(.xorPeerAddress, xor: Lab.peer)
        }
        #expect(try crew.ask(bind, on: client.flow).isSuccess)
        relay = try #require(crew.channel(client))
    }

    static func ticket(in answer: Answer) throws -> [UInt8]? {
        try Message(answer.bytes.span.bytes).attribute(.mobilityTicket)?.copyToArray()
    }

    static func request(
        _ client: LabClient, _ crew: Crew, _ ticket: [UInt8], lifetime: UInt32? = nil,
        transaction: TransactionID = LabClient.nextTransaction()
    ) -> [UInt8] {
        client.request(.refresh, crew.labs[0], transaction: transaction) { writer in
            writer.append(.mobilityTicket, bytes: ticket)
            if let lifetime { writer.append(.lifetime, integer: lifetime) }
        }
    }

    /// Goes on from another port, and keeps the new ticket.
    mutating func move(_ crew: Crew, to port: UInt16, _ transport: Flow.Transport = .udp) throws -> Answer {
        client = try crew.client(port, transport)
        let answer = try crew.ask(Self.request(client, crew, ticket), on: client.flow)
        if let next = try Self.ticket(in: answer) { ticket = next }
        return answer
    }
}
