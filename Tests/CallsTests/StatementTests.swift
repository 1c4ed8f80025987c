import Calls
import Model
import Storage
import Testing

@Suite struct StatementTests {
    /// The life cycle that the benchmark measures: most of its cost is statements, so their number is held down here,
    /// where no clock is needed to see it grow. Savepoints of the bench are not counted.
    @Test func aLifeCycleTakesFewStatements() async throws {
        try await Backing.database { sql in
            let counter = CountingTransaction(sql)
            let world = World(DatabaseBench(counter, now: World.start))
            let anna = try world.person("Anna"), ben = try world.person("Ben")
            var steps: [(String, Int)] = []
            func step<T>(_ name: String, _ body: () throws -> T) rethrows -> T {
                let before = counter.count
                defer { steps.append((name, counter.count - before - 2)) }
                return try body()
            }
            let id = try step("create") { try world.create(by: anna, to: [ben], offer: "offer").call.id }
            try step("ringing") { _ = try world.ringing(id, by: ben) }
            try step("accept") { _ = try world.accept(id, by: ben) }
            try step("answer") { _ = try world.signal(id, from: ben, .answer, generation: 1) }
            for client in [anna, anna, ben, ben] {
                try step("candidates") {
                    _ = try world.signal(id, from: client, .candidates, generation: 1, candidates: 5)
                }
            }
            try step("connected") { _ = try world.connected(id, by: anna) }
            try step("connected") { _ = try world.connected(id, by: ben) }
            try step("end") { _ = try world.hangUp(id, by: anna) }
            let total = steps.reduce(0) { $0 + $1.1 }
            #expect(total <= 74, "\(steps)")
        }
    }

    /// An endpoint that left and came back finds what came since, though its stream goes on where it was.
    @Test func aMailboxShowsWhatCameSinceItWasOpened() async throws {
        try await Backing.database { sql in
            let world = World(DatabaseBench(sql, now: World.start))
            let anna = try world.person("Anna"), ben = try world.person("Ben"), cleo = try world.person("Cleo")
            let id = try world.talk(anna, [ben, cleo])
            let transaction = StoreTransaction(sql, now: World.start)
            try world.signal(id, from: anna, to: ben, .offer, generation: 0)
            try world.hangUp(id, by: ben)
            #expect(try transaction.mailboxJSON(of: ben.endpoint, in: id) == #"{"signals":[]}"#)
            try world.accept(id, by: ben)
            try world.signal(id, from: anna, to: ben, .offer, generation: 0)
            let mail = try transaction.mailboxJSON(of: ben.endpoint, in: id)
            #expect(mail.hasPrefix(#"{"signals":[{"seq":2,"type":"offer","data":{"from":{"user":""#))
            #expect(mail.hasSuffix(#""payload":{"sdp":"v=0 offer on 0"}}}]}"#))
        }
    }
}
