import STUN
import TURN
import Testing
import Wire

/// Several clients that allocate, move, end and vanish over few ports of several workers, whose messages arrive in
/// random order. A failure prints its seed.
@Suite("Workers under random handoffs")
struct WorkerGroupProperties {
    @Test("remember the same of every flow, and nothing of those that are gone", arguments: (1...80).map { UInt64($0) })
    func invariants(seed: UInt64) throws {
        let run = try RandomHandoffs(seed: seed)
        for step in 0..<300 {
            try run.step()
            if step % 30 == 29 {
                run.group.settle()
                run.group.advance(seconds: 1)
                run.group.settle()
                #expect(run.group.inconsistencies == [], "seed \(seed), step \(step)")
            }
        }
        for _ in 0..<4 { run.group.advance(seconds: 3600) }
        run.group.settle()
        #expect(run.group.inconsistencies == [], "seed \(seed)")
        #expect(run.group.liveAllocations == 0, "seed \(seed)")
        for harness in run.group.workers {
            let audit = harness.engine.audit
            #expect(audit.flows.isEmpty && audit.forwardedFlows.isEmpty && audit.ingresses.isEmpty, "seed \(seed)")
        }
    }

    @Test("meet on the same flows")
    func reach() throws {
        var moved: UInt64 = 0
        var shared = 0
        for seed in 1...20 as ClosedRange<UInt64> {
            let run = try RandomHandoffs(seed: seed)
            for _ in 0..<300 {
                try run.step()
                shared = max(shared, run.group.workers.reduce(0) { $0 + $1.engine.audit.forwardedFlows.count })
            }
            moved += run.group.workers.reduce(0) { $0 + $1.engine.counters.moved }
        }
        #expect(moved > 300)
        #expect(shared > 3)
    }
}

private final class RandomHandoffs {
    let group: WorkerGroupHarness
    private var random: SeededRandom
    private var clients: [TestClient]
    private var tickets: [[UInt8]] = []

    init(seed: UInt64) throws {
        var random = SeededRandom(seed: seed)
        let group = try WorkerGroupHarness(Int.random(in: 1...4, using: &random))
        // Eight flows for all.
        clients = try (0..<8).map { index in
            var client = TestClient(
                port: UInt16(1000 + index / 2), username: index == 7 ? "bob" : "alice",
                password: index == 7 ? "builder" : "wonderland", transport: index % 2 == 0 ? .udp : .dtls)
            try group.fetchNonce(&client)
            return client
        }
        self.group = group
        self.random = random
    }

    func step() throws {
        let client = clients[Int.random(in: 0..<clients.count, using: &random)]
        switch Int.random(in: 0..<16, using: &random) {
        case 0, 1: group.receive(allocate(client, isMobile: Int.random(in: 0..<4, using: &random) > 0), on: client.flow)
        case 2: group.receive(refresh(client, 0), on: client.flow)
        case 3: group.receive(refresh(client, 600), on: client.flow)
        case 4: group.receive([0x40, 0, 0, 1, 7], on: client.flow)
        case 5 where client.flow.transport == .dtls: group.close(client.flow)
        case 6: group.advance(seconds: UInt32.random(in: 0...300, using: &random))
        case 7...11:
            guard let ticket = tickets.randomElement(using: &random) else { break }
            let bytes = Mover.request(client, group, ticket, lifetime: Bool.random(using: &random) ? nil : 600)
            group.receive(bytes, on: client.flow)
            if Bool.random(using: &random) { group.receive(bytes, on: client.flow) }
        default:
            for _ in 0..<4 {
                if let lane = group.lanes.randomElement(using: &random) { group.deliverOne(lane) }
            }
        }
        for message in group.takeSent() {
            guard let response = try? Message(message.bytes.span.bytes) else { continue }
            if let ticket = response.attribute(.mobilityTicket) {
                tickets.append(ticket.copyToArray())
                if tickets.count > 8 { tickets.removeFirst() }
            }
            if let nonce = response.attribute(.nonce) {
                for index in clients.indices where clients[index].flow == message.flow {
                    clients[index].nonce = nonce.copyToArray()
                }
            }
        }
    }

    private func allocate(_ client: TestClient, isMobile: Bool) -> [UInt8] {
        client.request(.allocate, group.workers[0]) { writer in
            writer.append(.requestedTransport, integer: UInt32(17) << 24)
            if isMobile { writer.append(.mobilityTicket, bytes: []) }
        }
    }

    private func refresh(_ client: TestClient, _ lifetime: UInt32) -> [UInt8] {
        client.request(.refresh, group.workers[0]) { $0.append(.lifetime, integer: lifetime) }
    }
}
