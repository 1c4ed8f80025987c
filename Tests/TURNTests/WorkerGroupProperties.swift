import STUN
import TURN
import Testing
import Wire

/// Several clients that allocate, move, end and vanish over few ports of several workers, whose mail arrives when it
/// likes. A failure prints its seed.
@Suite("Workers under random moves")
struct CrewProperties {
    @Test("remember the same of every flow, and nothing of those that are gone", arguments: (1...80).map { UInt64($0) })
    func invariants(seed: UInt64) throws {
        let run = try RandomMoves(seed: seed)
        for step in 0..<300 {
            try run.step()
            if step % 30 == 29 {
                run.crew.settle()
                run.crew.advance(seconds: 1)
                run.crew.settle()
                #expect(run.crew.contradictions == [], "seed \(seed), step \(step)")
            }
        }
        for _ in 0..<4 { run.crew.advance(seconds: 3600) }
        run.crew.settle()
        #expect(run.crew.contradictions == [], "seed \(seed)")
        #expect(run.crew.liveAllocations == 0, "seed \(seed)")
        for lab in run.crew.labs {
            let audit = lab.engine.audit
            #expect(audit.flows.isEmpty && audit.strangers.isEmpty && audit.guests.isEmpty, "seed \(seed)")
        }
    }

    @Test("meet on the same flows")
    func reach() throws {
        var moved: UInt64 = 0
        var shared = 0
        for seed in 1...20 as ClosedRange<UInt64> {
            let run = try RandomMoves(seed: seed)
            for _ in 0..<300 {
                try run.step()
                shared = max(shared, run.crew.labs.reduce(0) { $0 + $1.engine.audit.strangers.count })
            }
            moved += run.crew.labs.reduce(0) { $0 + $1.engine.tally.moved }
        }
        #expect(moved > 300)
        #expect(shared > 3)
    }
}

private final class RandomMoves {
    let crew: Crew
    private var chance: SeededRandom
    private var clients: [LabClient]
    private var tickets: [[UInt8]] = []

    init(seed: UInt64) throws {
        var chance = SeededRandom(seed: seed)
        let crew = try Crew(Int.random(in: 1...4, using: &chance))
        // Eight flows for all.
        clients = try (0..<8).map { index in
            var client = LabClient(
                port: UInt16(1000 + index / 2), username: index == 7 ? "bob" : "alice",
                password: index == 7 ? "builder" : "wonderland", transport: index % 2 == 0 ? .udp : .dtls)
            try crew.learnNonce(&client)
            return client
        }
        self.crew = crew
        self.chance = chance
    }

    func step() throws {
        let client = clients[Int.random(in: 0..<clients.count, using: &chance)]
        switch Int.random(in: 0..<16, using: &chance) {
        case 0, 1: crew.receive(allocate(client, isMobile: Int.random(in: 0..<4, using: &chance) > 0), on: client.flow)
        case 2: crew.receive(refresh(client, 0), on: client.flow)
        case 3: crew.receive(refresh(client, 600), on: client.flow)
        case 4: crew.receive([0x40, 0, 0, 1, 7], on: client.flow)
        case 5 where client.flow.transport == .dtls: crew.close(client.flow)
        case 6: crew.advance(seconds: UInt32.random(in: 0...300, using: &chance))
        case 7...11:
            guard let ticket = tickets.randomElement(using: &chance) else { break }
            let bytes = Mover.request(client, crew, ticket, lifetime: Bool.random(using: &chance) ? nil : 600)
            crew.receive(bytes, on: client.flow)
            if Bool.random(using: &chance) { crew.receive(bytes, on: client.flow) }
        default:
            for _ in 0..<4 {
                if let lane = crew.lanes.randomElement(using: &chance) { crew.deliverOne(lane) }
            }
        }
        for message in crew.takeSent() {
            guard let answer = try? Message(message.bytes.span.bytes) else { continue }
            if let ticket = answer.attribute(.mobilityTicket) {
                tickets.append(ticket.copyToArray())
                if tickets.count > 8 { tickets.removeFirst() }
            }
            if let nonce = answer.attribute(.nonce) {
                for index in clients.indices where clients[index].flow == message.flow {
                    clients[index].nonce = nonce.copyToArray()
                }
            }
        }
    }

    private func allocate(_ client: LabClient, isMobile: Bool) -> [UInt8] {
        client.request(.allocate, crew.labs[0]) { writer in
            writer.append(.requestedTransport, integer: UInt32(17) << 24)
            if isMobile { writer.append(.mobilityTicket, bytes: []) }
        }
    }

    private func refresh(_ client: LabClient, _ lifetime: UInt32) -> [UInt8] {
        client.request(.refresh, crew.labs[0]) { $0.append(.lifetime, integer: lifetime) }
    }
}
