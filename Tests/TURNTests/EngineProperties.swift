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

/// A laboratory with eight clients, of whom three know no password, and a simple model of what they may do.
private final class RandomRun {
    let lab: Lab
    private var chance: SeededRandom
    private var clients: [LabClient]
    private(set) var broken: String?
    /// Until when each flow may reach each address, as granted by signed requests: never less than the truth.
    private var granted: [Flow: [IPAddress: Instant]] = [:]
    private var everAllocated: Set<Flow> = []

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
        switch Int.random(in: 0..<12, using: &chance) {
        case 0: refreshNonce(index)
        case 1, 2:
            request(index, .allocate) { writer in
                writer.append(.requestedTransport, integer: UInt32(17) << 24)
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
        if method == .allocate { everAllocated.insert(clients[index].flow) }
        if let peer {
            granted[clients[index].flow, default: [:]][localForm(peer.address)] = lab.now.adding(seconds: 300)
        }
    }

    private func check(_ forward: ToPeer?, from flow: Flow) {
        guard let forward else { return }
        if !everAllocated.contains(flow) { broken = "a packet from a client that never allocated" }
        if (granted[flow]?[forward.destination.address] ?? Instant(nanoseconds: 0)) <= lab.now {
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
        if (granted[forward.flow]?[localForm(peer.address)] ?? Instant(nanoseconds: 0)) <= lab.now {
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
