import STUN
import TURN
import Testing
import Wire

/// Random clients, packets and times against what must always hold. A failure prints its seed.
@Suite("The engine under random messages")
struct EngineProperties {
    @Test("keeps its invariants", arguments: (1...60).map { UInt64($0) })
    func invariants(seed: UInt64) throws {
        let run = try RandomRun(seed: seed)
        for step in 0..<400 {
            run.step()
            let broken = run.broken
            #expect(broken == nil, "seed \(seed), step \(step)")
            if broken != nil { return }
        }
        run.finish()
        #expect(run.harness.liveAllocations == 0, "seed \(seed)")
        #expect(run.harness.relays.count == 0, "seed \(seed)")
        #expect(run.harness.engine.allocationCount == 0, "seed \(seed)")
        #expect(run.harness.charged.values.allSatisfy { $0 == 0 }, "seed \(seed)")
    }
}

/// What the random runs are worth: they reach what the invariants are about.
@Suite("Random messages reach")
struct EngineReach {
    @Test("moves, limits, errors and everything else")
    func reach() throws {
        var sum = TURNCounters()
        for seed in 1...20 as ClosedRange<UInt64> {
            let run = try RandomRun(seed: seed)
            for _ in 0..<400 { run.step() }
            let counters = run.harness.engine.counters
            sum.moved += counters.moved
            sum.limitedPackets += counters.limitedPackets
            sum.peerErrors += counters.peerErrors
            sum.allocationsMade += counters.allocationsMade
            sum.expired += counters.expired
        }
        #expect(sum.moved > 20)
        #expect(sum.limitedPackets >= 10)
        #expect(sum.peerErrors >= 5)
        #expect(sum.allocationsMade > 100)
        #expect(sum.expired > 20)
    }
}

/// A harness with eight clients, of whom three know no password, and a simple model of what they may do.
private final class RandomRun {
    let harness: RelayHarness
    private var random: SeededRandom
    private var clients: [TestClient]
    private(set) var broken: String?
    /// Until when the flows of one allocation may reach each address, as granted by signed requests: never less than
    /// the truth. Flows between which an allocation moved have one number.
    private var granted: [Int: [IPAddress: Instant]] = [:]
    private var numbers: [Flow: Int] = [:]
    private var everAllocated: Set<Flow> = []
    /// The last ticket that each client was given.
    private var tickets: [(text: [UInt8], flow: Flow)] = []
    private var nextPort: UInt16 = 2000
    /// What passed in each direction of each relay, against the limits.
    private var passed: [RelayID: (toPeer: Int, toClient: Int, since: Instant)] = [:]
    private static let packetsPerSecond: UInt64 = 20

    private static let peers = [
        RelayHarness.peer, TransportAddress(IPAddress(ipv4: 0x0101_0101), port: 5),
        TransportAddress(IPAddress(ipv4: 0x7F00_0001), port: 5),
        TransportAddress(RelayHarness.external, port: 8080), TransportAddress(RelayHarness.serverIPv4, port: 50_001),
        TransportAddress(IPAddress(ipv6High: 0x2A00 << 48, low: 9), port: 5),
    ]

    init(seed: UInt64) throws {
        random = SeededRandom(seed: seed)
        harness = try RelayHarness()
        harness.quota = 2
        let key = Array("ticket key".utf8)
        harness.engine.tickets = TicketCodec(key: Digest(key.span.bytes), worker: 0)
        harness.engine.limits = AllocationLimits(packetsPerSecond: Self.packetsPerSecond, newPeersPerSecond: 1)
        clients = (0..<8).map { index in
            switch index {
            case 0..<3: TestClient(port: UInt16(1000 + index))
            case 3..<5: TestClient(port: UInt16(1000 + index), username: "bob", password: "builder")
            default: TestClient(port: UInt16(1000 + index), password: "guessed")
            }
        }
    }

    private func knowsPassword(_ index: Int) -> Bool { index < 5 }

    func step() {
        let index = Int.random(in: 0..<clients.count, using: &random)
        let peer = Self.peers[Int.random(in: 0..<Self.peers.count, using: &random)]
        switch Int.random(in: 0..<15, using: &random) {
        case 0: refreshNonce(index)
        case 1, 2:
            request(index, .allocate) { writer in
                writer.append(.requestedTransport, integer: UInt32(17) << 24)
                if Bool.random(using: &self.random) { writer.append(.mobilityTicket, bytes: []) }
                if Bool.random(using: &self.random) { writer.append(.evenPort, integer: UInt8(0x80)) }
                if Int.random(in: 0..<4, using: &self.random) == 0 {
                    writer.append(.requestedAddressFamily, integer: UInt32(2) << 24)
                }
            }
        case 3:
            request(index, .refresh) { writer in
                writer.append(.lifetime, integer: [0, 600, 3600].randomElement(using: &self.random) ?? 0 as UInt32)
            }
        case 4, 5: request(index, .createPermission, granting: peer) { $0.append(.xorPeerAddress, xor: peer) }
        case 6, 7:
            let number = UInt32.random(in: 0x4000...0x4003, using: &random)
            request(index, .channelBind, granting: peer) { writer in
                writer.append(.channelNumber, integer: number << 16)
                writer.append(.xorPeerAddress, xor: peer)
            }
        case 8: check(clients[index].send(harness, [1, 2, 3], to: peer), from: clients[index].flow)
        case 9:
            let number = UInt16.random(in: 0x4000...0x4003, using: &random)
            check(clients[index].sendChannel(harness, number, [1, 2, 3]), from: clients[index].flow)
        case 10: fromPeer(peer)
        case 11: move(index)
        case 12: fail(peer)
        case 13:
            for _ in 0..<60 { check(clients[index].send(harness, [1], to: peer), from: clients[index].flow) }
            fail(peer)
        default: harness.advance(seconds: UInt32.random(in: 0...200, using: &random))
        }
        checkCounts()
    }

    func finish() {
        for _ in 0..<5 { harness.advance(seconds: 3600) }
    }

    private func refreshNonce(_ index: Int) {
        let outcome = harness.receive(
            clients[index].request(.allocate, harness, signed: false), on: clients[index].flow)
        if let nonce = (try? Response(outcome))?.nonce { clients[index].nonce = nonce }
    }

    private func request(
        _ index: Int, _ method: STUN.Method, granting peer: TransportAddress? = nil,
        _ extra: (inout MessageWriter) -> Void
    ) {
        var bytes = clients[index].request(method, harness, extra: extra)
        let isDamaged = Int.random(in: 0..<8, using: &random) == 0
        if isDamaged {
            bytes[Int.random(in: 0..<bytes.count, using: &random)] ^= 1 << UInt8.random(in: 0..<8, using: &random)
        }
        let before = harness.liveAllocations
        let outcome = harness.receive(bytes, on: clients[index].flow)
        if !knowsPassword(index) || isDamaged, harness.liveAllocations != before {
            broken = "an allocation changed without authentication"
        }
        guard let message = outcome.messages.first, let response = try? Message(message.bytes.span.bytes),
            response.type.messageClass == .success
        else { return }
        if !knowsPassword(index) || isDamaged, method != .binding { broken = "success without authentication" }
        if let ticket = response.attribute(.mobilityTicket) {
            tickets.append((ticket.copyToArray(), clients[index].flow))
            if tickets.count > 4 { tickets.removeFirst() }
        }
        if method == .allocate { everAllocated.insert(clients[index].flow) }
        if let peer {
            granted[number(clients[index].flow), default: [:]][localForm(peer.address)] = harness.now.adding(
                seconds: 300)
        }
    }

    /// The client has a new address, and says so with whatever ticket it has: its own, another's or a broken one.
    private func move(_ index: Int) {
        guard let (text, source) = tickets.randomElement(using: &random) else { return }
        var ticket = text
        let isDamaged = Int.random(in: 0..<4, using: &random) == 0
        if isDamaged { ticket[Int.random(in: 0..<ticket.count, using: &random)] ^= 1 }
        let old = clients[index]
        clients[index] = TestClient(port: nextPort, username: old.username, password: old.password)
        nextPort += 1
        refreshNonce(index)
        let before = harness.engine.counters.moved
        request(index, .refresh) { $0.append(.mobilityTicket, bytes: ticket) }
        guard harness.engine.counters.moved != before else { return }
        if isDamaged || !knowsPassword(index) { broken = "moved without a ticket or a password" }
        join(clients[index].flow, source)
        everAllocated.insert(clients[index].flow)
    }

    private func number(_ flow: Flow) -> Int {
        if let number = numbers[flow] { return number }
        numbers[flow] = numbers.count
        return numbers.count - 1
    }

    private func join(_ flow: Flow, _ source: Flow) {
        let (from, to) = (number(flow), number(source))
        for (key, value) in numbers where value == from { numbers[key] = to }
        for (address, expiry) in granted.removeValue(forKey: from) ?? [:] {
            granted[to, default: [:]][address] = max(granted[to]?[address] ?? expiry, expiry)
        }
    }

    private func isGranted(_ address: IPAddress, on flow: Flow) -> Bool {
        (granted[number(flow)]?[address] ?? Instant(nanoseconds: 0)) > harness.now
    }

    private func fail(_ peer: TransportAddress) {
        guard let (id, _) = harness.bound.sorted(by: { $0.value.port < $1.value.port }).randomElement(using: &random)
        else { return }
        let outcome = harness.fail(PeerError(type: 3, code: 3, mtu: 0), on: id, from: peer)
        guard let flow = outcome.messages.first?.flow else { return }
        if !isGranted(localForm(peer.address), on: flow) {
            broken = "an error of a peer without permission"
        }
    }

    private func count(_ relay: RelayID, toPeer: Bool) {
        var sum = passed[relay] ?? (0, 0, harness.now)
        if toPeer { sum.toPeer += 1 } else { sum.toClient += 1 }
        passed[relay] = sum
        // Two bursts at most, and what time brought since.
        let allowed =
            Self.packetsPerSecond * 2 + Self.packetsPerSecond * UInt64(harness.now.seconds(since: sum.since) + 1)
        if UInt64(max(sum.toPeer, sum.toClient)) > allowed { broken = "more packets than the limit" }
    }

    private func check(_ forward: ToPeer?, from flow: Flow) {
        guard let forward else { return }
        count(forward.relay, toPeer: true)
        if !everAllocated.contains(flow) { broken = "a packet from a client that never allocated" }
        if !isGranted(forward.destination.address, on: flow) {
            broken = "a packet to a peer without permission"
        }
        if harness.bound[forward.relay] == nil { broken = "a packet through a relay that is not open" }
        if forward.destination.address == RelayHarness.serverIPv4, harness.relays.local(of: forward.destination) == nil
        {
            broken = "a packet to a port of the server that is no relay"
        }
        if forward.destination.address.isLoopback { broken = "a packet to loopback" }
    }

    private func fromPeer(_ peer: TransportAddress) {
        guard let (id, _) = harness.bound.sorted(by: { $0.value.port < $1.value.port }).randomElement(using: &random),
            let forward = harness.engine.receiveFromPeer(on: id, from: peer, byteCount: 100, at: harness.now)
        else { return }
        count(id, toPeer: false)
        if !isGranted(localForm(peer.address), on: forward.flow) {
            broken = "a packet from a peer without permission"
        }
    }

    private func checkCounts() {
        if harness.charged.values.contains(where: { $0 < 0 || $0 > harness.quota }) {
            broken = "the quota is not exact"
        }
        if harness.liveAllocations != harness.engine.allocationCount { broken = "allocations and charges differ" }
        if harness.bound.count != harness.liveAllocations { broken = "ports and allocations differ" }
    }

    private func localForm(_ address: IPAddress) -> IPAddress {
        address == RelayHarness.external ? RelayHarness.serverIPv4 : address
    }
}
