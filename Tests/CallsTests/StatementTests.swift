import Calls
import Model
import Storage
import Testing

@Suite struct StatementTests {
    /// The life cycle that the benchmark measures: most of its cost is statements, so their number is held down here,
    /// where no clock is needed to see it grow. Savepoints of the backend are not counted.
    @Test func aLifeCycleTakesFewStatements() async throws {
        try await Backing.database { sql in
            let counter = CountingTransaction(sql)
            let harness = CallsHarness(DatabaseStoreHarness(counter, now: CallsHarness.start))
            let anna = try harness.person("Anna"), ben = try harness.person("Ben")
            var steps: [(String, Int)] = []
            func step<T>(_ name: String, _ body: () throws -> T) rethrows -> T {
                let before = counter.count
                defer { steps.append((name, counter.count - before - 2)) }
                return try body()
            }
            let id = try step("create") { try harness.create(by: anna, to: [ben], offer: "offer").call.id }
            try step("ringing") { _ = try harness.ringing(id, by: ben) }
            try step("accept") { _ = try harness.accept(id, by: ben) }
            try step("answer") { _ = try harness.signal(id, from: ben, .answer, generation: 1) }
            for client in [anna, anna, ben, ben] {
                try step("candidates") {
                    _ = try harness.signal(id, from: client, .candidates, generation: 1, candidates: 5)
                }
            }
            try step("connected") { _ = try harness.connected(id, by: anna) }
            try step("connected") { _ = try harness.connected(id, by: ben) }
            try step("end") { _ = try harness.hangUp(id, by: anna) }
            let total = steps.reduce(0) { $0 + $1.1 }
            #expect(total <= 76, "\(steps)")
        }
    }

    /// An endpoint that left and came back finds what came since, though its stream goes on where it was.
    @Test func aMailboxShowsWhatCameSinceItWasOpened() async throws {
        try await Backing.database { sql in
            let harness = CallsHarness(DatabaseStoreHarness(sql, now: CallsHarness.start))
            let anna = try harness.person("Anna"), ben = try harness.person("Ben"), cleo = try harness.person("Cleo")
            let id = try harness.talk(anna, [ben, cleo])
            let transaction = StoreTransaction(sql, now: CallsHarness.start)
            try harness.signal(id, from: anna, to: ben, .offer, generation: 0)
            try harness.hangUp(id, by: ben)
            #expect(try transaction.mailboxJSON(of: ben.endpoint, in: id) == #"{"signals":[]}"#)
            try harness.accept(id, by: ben)
            try harness.signal(id, from: anna, to: ben, .offer, generation: 0)
            let mail = try transaction.mailboxJSON(of: ben.endpoint, in: id)
            #expect(mail.hasPrefix(#"{"signals":[{"seq":2,"type":"offer","data":{"from":{"user":""#))
            #expect(mail.hasSuffix(#""payload":{"sdp":"v=0 offer on 0"}}}]}"#))
        }
    }
}
