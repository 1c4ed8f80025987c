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
        #expect(run.lab.liveAllocations == 0, "seed \(seed)")
        #expect(run.lab.relays.count == 0, "seed \(seed)")
        #expect(run.lab.engine.allocationCount == 0, "seed \(seed)")
        #expect(run.lab.charged.values.allSatisfy { $0 == 0 }, "seed \(seed)")
    }
}

/// What the random runs are worth: they reach what the invariants are about.
@Suite("Random messages reach")
struct EngineReach {
    @Test("moves, limits, errors and everything else")
    func reach() throws {
        var sum = TURNTally()
        for seed in 1...20 as ClosedRange<UInt64> {
            let run = try RandomRun(seed: seed)
            for _ in 0..<400 { run.step() }
            let tally = run.lab.engine.tally
            sum.moved += tally.moved
            sum.limitedPackets += tally.limitedPackets
            sum.peerErrors += tally.peerErrors
            sum.allocationsMade += tally.allocationsMade
            sum.expired += tally.expired
        }
        #expect(sum.moved > 20)
        #expect(sum.limitedPackets >= 10)
        #expect(sum.peerErrors >= 5)
        #expect(sum.allocationsMade > 100)
        #expect(sum.expired > 20)
    }
}

/// A laboratory with eight clients, of whom three know no password, and a simple model of what they may do.
private final class RandomRun {
    let lab: Lab
    private var chance: SeededRandom
    private var clients: [LabClient]
    private(set) var broken: String?
    /// Until when the flows of one allocation may reach each address, as granted by signed requests: never less than the
    /// truth. Flows between which an allocation moved have one number.
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
        Lab.peer, TransportAddress(IPAddress(ipv4: 0x0101_0101), port: 5),
        TransportAddress(IPAddress(ipv4: 0x7F00_0001), port: 5),
        TransportAddress(Lab.external, port: 8080), TransportAddress(Lab.serverIPv4, port: 50_001),
        TransportAddress(IPAddress(ipv6High: 0x2A00 << 48, low: 9), port: 5),
    ]

    init(seed: UInt64) throws {
        chance = SeededRandom(seed: seed)
        lab = try Lab()
        lab.quota = 2
        let key = Array("ticket key".utf8)
        lab.engine.tickets = TicketMint(key: Digest(key.span.bytes), worker: 0)
        lab.engine.limits = AllocationLimits(packetsPerSecond: Self.packetsPerSecond, newPeersPerSecond: 1)
        clients = (0..<8).map { index in
            switch index {
            case 0..<3: LabClient(port: UInt16(1000 + index))
            case 3..<5: LabClient(port: UInt16(1000 + index), username: "bob", password: "builder")
            default: LabClient(port: UInt16(1000 + index), password: "guessed")
            }
        }
    }

    private func knowsPassword(_ index: Int) -> Bool { index < 5 }

    func step() {
        let index = Int.random(in: 0..<clients.count, using: &chance)
        let peer = Self.peers[Int.random(in: 0..<Self.peers.count, using: &chance)]
        switch Int.random(in: 0..<15, using: &chance) {
        case 0: refreshNonce(index)
        case 1, 2:
            request(index, .allocate) { writer in
                writer.append(.requestedTransport, integer: UInt32(17) << 24)
                if Bool.random(using: &self.chance) { writer.append(.mobilityTicket, bytes: []) }
                if Bool.random(using: &self.chance) { writer.append(.evenPort, integer: UInt8(0x80)) }
                if Int.random(in: 0..<4, using: &self.chance) == 0 {
                    writer.append(.requestedAddressFamily, integer: UInt32(2) << 24)
                }
            }
        case 3:
            request(index, .refresh) { writer in
                writer.append(.lifetime, integer: [0, 600, 3600].randomElement(using: &self.chance) ?? 0 as UInt32)
            }
        case 4, 5: request(index, .createPermission, granting: peer) { $0.append(.xorPeerAddress, xor: peer) }
        case 6, 7:
            let number = UInt32.random(in: 0x4000...0x4003, using: &chance)
            request(index, .channelBind, granting: peer) { writer in
                writer.append(.channelNumber, integer: number << 16)
                writer.append(.xorPeerAddress, xor: peer)
            }
        case 8: check(clients[index].send(lab, [1, 2, 3], to: peer), from: clients[index].flow)
        case 9:
            let number = UInt16.random(in: 0x4000...0x4003, using: &chance)
            check(clients[index].sendChannel(lab, number, [1, 2, 3]), from: clients[index].flow)
        case 10: fromPeer(peer)
        case 11: move(index)
        case 12: fail(peer)
        case 13:
            for _ in 0..<60 { check(clients[index].send(lab, [1], to: peer), from: clients[index].flow) }
            fail(peer)
        default: lab.advance(seconds: UInt32.random(in: 0...200, using: &chance))
        }
        checkCounts()
    }

    func finish() {
        for _ in 0..<5 { lab.advance(seconds: 3600) }
    }

    private func refreshNonce(_ index: Int) {
        let outcome = lab.receive(clients[index].request(.allocate, lab, signed: false), on: clients[index].flow)
        if let nonce = (try? Answer(outcome))?.nonce { clients[index].nonce = nonce }
    }

    private func request(
        _ index: Int, _ method: STUN.Method, granting peer: TransportAddress? = nil,
        _ extra: (inout MessageWriter) -> Void
    ) {
        var bytes = clients[index].request(method, lab, extra: extra)
        let isDamaged = Int.random(in: 0..<8, using: &chance) == 0
        if isDamaged {
            bytes[Int.random(in: 0..<bytes.count, using: &chance)] ^= 1 << UInt8.random(in: 0..<8, using: &chance)
        }
        let before = lab.liveAllocations
        let outcome = lab.receive(bytes, on: clients[index].flow)
        if !knowsPassword(index) || isDamaged, lab.liveAllocations != before {
            broken = "an allocation changed without authentication"
        }
        guard let message = outcome.messages.first, let answer = try? Message(message.bytes.span.bytes),
            answer.type.messageClass == .success
        else { return }
        if !knowsPassword(index) || isDamaged, method != .binding { broken = "success without authentication" }
        if let ticket = answer.attribute(.mobilityTicket) {
            tickets.append((ticket.copyToArray(), clients[index].flow))
            if tickets.count > 4 { tickets.removeFirst() }
        }
        if method == .allocate { everAllocated.insert(clients[index].flow) }
        if let peer {
            granted[number(clients[index].flow), default: [:]][localForm(peer.address)] = lab.now.adding(seconds: 300)
        }
    }

    /// The client has a new address, and says so with whatever ticket it has: its own, another's or a broken one.
    private func move(_ index: Int) {
        guard let (text, source) = tickets.randomElement(using: &chance) else { return }
        var ticket = text
        let isDamaged = Int.random(in: 0..<4, using: &chance) == 0
        if isDamaged { ticket[Int.random(in: 0..<ticket.count, using: &chance)] ^= 1 }
        let old = clients[index]
        clients[index] = LabClient(port: nextPort, username: old.username, password: old.password)
        nextPort += 1
        refreshNonce(index)
        let before = lab.engine.tally.moved
        request(index, .refresh) { $0.append(.mobilityTicket, bytes: ticket) }
        guard lab.engine.tally.moved != before else { return }
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
        (granted[number(flow)]?[address] ?? Instant(nanoseconds: 0)) > lab.now
    }

    private func fail(_ peer: TransportAddress) {
        guard let (id, _) = lab.bound.sorted(by: { $0.value.port < $1.value.port }).randomElement(using: &chance)
        else { return }
        let outcome = lab.fail(PeerError(type: 3, code: 3, mtu: 0), on: id, from: peer)
        guard let flow = outcome.messages.first?.flow else { return }
        if !isGranted(localForm(peer.address), on: flow) {
            broken = "an error of a peer without permission"
        }
    }

    private func count(_ relay: RelayID, toPeer: Bool) {
        var sum = passed[relay] ?? (0, 0, lab.now)
        if toPeer { sum.toPeer += 1 } else { sum.toClient += 1 }
        passed[relay] = sum
        // Two bursts at most, and what time brought since.
        let allowed = Self.packetsPerSecond * 2 + Self.packetsPerSecond * UInt64(lab.now.seconds(since: sum.since) + 1)
        if UInt64(max(sum.toPeer, sum.toClient)) > allowed { broken = "more packets than the limit" }
    }

    private func check(_ forward: ToPeer?, from flow: Flow) {
        guard let forward else { return }
        count(forward.relay, toPeer: true)
        if !everAllocated.contains(flow) { broken = "a packet from a client that never allocated" }
        if !isGranted(forward.destination.address, on: flow) {
            broken = "a packet to a peer without permission"
        }
        if lab.bound[forward.relay] == nil { broken = "a packet through a relay that is not open" }
        if forward.destination.address == Lab.serverIPv4, lab.relays.local(of: forward.destination) == nil {
            broken = "a packet to a port of the server that is no relay"
        }
        if forward.destination.address.isLoopback { broken = "a packet to loopback" }
    }

    private func fromPeer(_ peer: TransportAddress) {
        guard let (id, _) = lab.bound.sorted(by: { $0.value.port < $1.value.port }).randomElement(using: &chance),
            let forward = lab.engine.receiveFromPeer(on: id, from: peer, byteCount: 100, at: lab.now)
        else { return }
        count(id, toPeer: false)
        if !isGranted(localForm(peer.address), on: forward.flow) {
            broken = "a packet from a peer without permission"
        }
    }

    private func checkCounts() {
        if lab.charged.values.contains(where: { $0 < 0 || $0 > lab.quota }) { broken = "the quota is not exact" }
        if lab.liveAllocations != lab.engine.allocationCount { broken = "allocations and charges differ" }
        if lab.bound.count != lab.liveAllocations { broken = "ports and allocations differ" }
    }

    private func localForm(_ address: IPAddress) -> IPAddress {
        address == Lab.external ? Lab.serverIPv4 : address
    }
}
