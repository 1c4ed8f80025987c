import Accounts
import Languages
import Model
import TestSupport
import Testing

@testable import Messaging
@testable import Storage

/// What a repair finds wrong with the stored vectors of a conversation, and that it leaves alone what is right.
@Suite("Repair of vectors") struct VectorRepairTests {
    /// Of a message with several pieces.
    private static let long: Int64 = 12
    private static let count: Int64 = 25

    private let store: Store
    private let clock = ManualClock<Timestamp>()
    private let commands: ConversationCommands
    private let ann = UserID.make(at: Timestamp.systemClock())
    private let ben = UserID.make(at: Timestamp.systemClock())
    private let id: ConversationID
    private let model: VectorModel

    init() async throws {
        // Without notices, so that the first message has the number 1.
        var limits = ConversationLimits()
        limits.notices = 0
        let (commands, clock, ann, ben) = (ConversationCommands(limits: limits), clock, ann, ben)
        self.commands = commands
        store = Store(
            database: try SQLiteDatabase(path: try ScratchDirectory().database), clock: { clock.now },
            publish: { _ in })
        try await store.prepare()
        (id, model) = try await store.write { store in
            for user in [ann, ben] {
                _ = try store.insert(
                    UserRecord(id: user, displayName: "x", reach: .everybody, createdAt: store.now))
            }
            let id = try commands.createGroup(name: nil, members: [ben], id: .make(at: store.now), by: ann, in: store)
                .conversation.id
            return (id, try store.vectorModel(named: "scripted"))
        }.value
        try await send(Int(Self.count))
        try await embed()
    }

    private func send(_ count: Int) async throws {
        let (commands, ann, id) = (commands, ann, id)
        _ = try await store.write { store in
            for index in 1...count {
                let words = Int64(index) == Self.long ? 300 : 1
                let text = try MessageText((0..<words).map { "text \($0) of \(index)." }.joined(separator: " "))
                let outgoing = OutgoingMessage(clientID: .make(at: store.now), text: text, digest: [])
                _ = try commands.send(outgoing, to: id, by: ann, in: store)
            }
        }
    }

    /// Makes the vectors that are missing.
    private func embed() async throws {
        let (commands, id, model) = (commands, id, model)
        var hasMore = true
        while hasMore {
            hasMore = try await store.write { store in
                guard let batch = try commands.embeddingBatch(of: id, by: model, in: store) else { return false }
                var vectors: [Int64: [EmbeddingVector]] = [:]
                for passage in batch.passages {
                    vectors[passage.number] = passage.texts.compactMap(Self.vector)
                }
                return try commands.write(vectors, of: batch, by: model, in: store)
            }.value
        }
    }

    private static func vector(_ text: String) -> EmbeddingVector? {
        var values = [Float](repeating: 1, count: 16)
        for (index, byte) in text.utf8.enumerated() { values[index % values.count] += Float(byte) }
        return EmbeddingVector(values)
    }

    private func execute(_ statement: String) async throws {
        _ = try await store.write { _ = try $0.sql.execute(statement) }
    }

    private func numbers(_ query: String) async throws -> [Int64] {
        try await store.read { try $0.sql.query(query).map { try $0.integer(0) } }
    }

    /// Each vector, by its message and piece.
    private func rows() async throws -> [String: [UInt8]] {
        try await store.read { store in
            let rows = try store.sql.query(
                "SELECT conversation_id, number, chunk, model, of_version, bytes FROM vectors")
            return try Dictionary(
                uniqueKeysWithValues: rows.map { row in
                    let key = try (1..<5).map { "\(try row.integer($0))" }.joined(separator: " ")
                    return (try row.text(0) + " " + key, try row.blob(5))
                })
        }
    }

    private struct Result: Hashable {
        var removed = 0
        var missing = 0
        var hasOthers = false
        var steps = 0
    }

    /// All steps of a repair.
    private func repair(limit: Int = 10) async throws -> Result {
        let (commands, id, model) = (commands, id, model)
        var (result, after) = (Result(), Int64?.some(0))
        while let number = after {
            let step = try await store.write {
                try commands.repairVectors(of: id, by: model, after: number, limit: limit, in: $0)
            }.value
            #expect(step.removed <= limit && step.missing <= limit, "one step has too much")
            result.removed += step.removed
            result.missing += step.missing
            result.hasOthers = result.hasOthers || step.hasOthers
            result.steps += 1
            after = step.next
        }
        return result
    }

    /// How vectors are damaged, and what a repair does with them.
    struct Damage: CustomTestStringConvertible {
        var testDescription: String
        var statement: String
        var removed: Set<Int64> = []
        var missing: Set<Int64> = []

        init(_ description: String, _ statement: String, removed: Set<Int64> = [], missing: Set<Int64> = []) {
            (testDescription, self.statement) = (description, statement)
            (self.removed, self.missing) = (removed, missing)
        }

        /// What goes and is made again.
        static func wrong(_ description: String, _ number: Int64, _ change: String, chunk: Int64 = 0) -> Damage {
            Damage(
                description, "UPDATE vectors SET \(change) WHERE number = \(number) AND chunk = \(chunk)",
                removed: [number], missing: [number])
        }

        static func copy(_ columns: String, from number: Int64) -> String {
            "INSERT INTO vectors SELECT conversation_id, \(columns), seq, bytes FROM vectors WHERE number = \(number)"
        }
    }

    private static func scale(_ digits: String) -> String { "bytes = CAST(x'\(digits)' || SUBSTR(bytes, 5) AS BLOB)" }

    static let damages: [Damage] = [
        .wrong("of an older text", 7, "of_version = of_version - 1"),
        .wrong("one piece of a newer text", long, "of_version = of_version + 1", chunk: 1),
        .wrong("no bytes", 7, "bytes = x''"),
        .wrong("a byte", 7, "bytes = x'01'"),
        .wrong("half of its bytes", 7, "bytes = SUBSTR(bytes, 1, 12)"),
        .wrong("more bytes than others", 7, "bytes = CAST(bytes || x'01' AS BLOB)"),
        .wrong("a scale that is no number", 7, scale("0000C07F")),
        .wrong("an infinite scale", 7, scale("0000807F")),
        .wrong("the scale zero", 7, scale("00000000")),
        .wrong("a negative scale", 7, scale("000080BF")),
        .wrong("a huge scale", 7, scale("0000807E")),
        .wrong("the vector zero", 7, "bytes = CAST(SUBSTR(bytes, 1, 4) || ZEROBLOB(16) AS BLOB)"),
        .wrong("a piece with another number", long, "chunk = 7", chunk: 1),
        Damage(
            "a piece is gone", "DELETE FROM vectors WHERE number = \(long) AND chunk = 1", removed: [long],
            missing: [long]),
        Damage(
            "a piece too many", Damage.copy("number, 3, model, of_version", from: 7), removed: [7], missing: [7]),
        Damage("none", "DELETE FROM vectors WHERE number IN (1, 9, 10, 25)", missing: [1, 9, 10, 25]),
        Damage("by another model alone", "UPDATE vectors SET model = 99 WHERE number = 7", missing: [7]),
        Damage(
            "by another model, of an older text",
            "UPDATE vectors SET model = 99, of_version = of_version - 1 WHERE number = 7", removed: [7], missing: [7]),
        Damage("the message is gone", "DELETE FROM messages WHERE number = 7", removed: [7]),
        Damage("the message has expired", "UPDATE messages SET expires_at = 1 WHERE number = 7", removed: [7]),
        Damage(
            "the message is deleted", "UPDATE messages SET deleted_at = 1, text = NULL WHERE number = 7", removed: [7]),
        Damage("the message is withheld", "UPDATE messages SET withheld = 1 WHERE number = 7", removed: [7]),
        Damage(
            "beyond the last message", Damage.copy("number + 1000, 0, model, of_version", from: 7), removed: [1_007]),
    ]

    @Test("is found and made anew, and all else is left alone", arguments: damages)
    func damaged(_ damage: Damage) async throws {
        let before = try await rows()
        try await execute(damage.statement)
        let damaged = try await rows()
        #expect(damaged != before || damage.missing.isEmpty, "nothing was damaged")
        let result = try await repair()
        #expect(result.removed == damage.removed.count && result.missing == damage.missing.count)
        #expect(try await Set(numbers("SELECT number FROM reembed")) == damage.missing)
        let kept = damaged.filter { row in
            let number = row.key.split(separator: " ")[1]
            return !damage.removed.contains { "\($0)" == number }
        }
        #expect(try await rows() == kept)

        try await embed()
        #expect(try await numbers("SELECT number FROM reembed").isEmpty)
        var again = try await repair()
        #expect(again.removed == 0 && again.missing == 0)
        // What another model has made goes later.
        let others = try await numbers("SELECT number FROM vectors WHERE model = 99")
        #expect(again.hasOthers != others.isEmpty)
        try await execute("DELETE FROM vectors WHERE model = 99")
        again = try await repair()
        #expect(!again.hasOthers)
        if !damage.missing.isEmpty { #expect(try await rows() == before) }
    }

    @Test("what is right is left alone, in steps of a few messages", arguments: [1, 2, 10, 24, 25, 26, 100])
    func right(limit: Int) async throws {
        let before = try await rows()
        #expect(before.count > Int(Self.count) + 2, "the long message has several pieces")
        let result = try await repair(limit: limit)
        #expect(result == Result(steps: Int(Self.count) / limit + 1))
        #expect(try await rows() == before)
        #expect(try await numbers("SELECT number FROM reembed").isEmpty)
    }

    @Test("many vectors of messages that are gone go in as many steps as there are, and no right one with them")
    func manyOrphans() async throws {
        try await execute(
            """
            WITH RECURSIVE n (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n WHERE n < 57)
            INSERT INTO vectors SELECT conversation_id, 1000 + n, 0, model, of_version, seq, bytes FROM vectors, n
            WHERE number = 7
            """)
        try await execute("DELETE FROM messages WHERE number BETWEEN 4 AND 18")
        let result = try await repair()
        #expect(result.removed == 57 + 15 && result.missing == 0 && result.steps >= 9)
        #expect(
            try await numbers("SELECT DISTINCT number FROM vectors ORDER BY number") == Array(1...3) + Array(19...25))
        #expect(try await repair().removed == 0)
    }

    @Test("of a conversation that is gone everything goes, also where only vectors are left", arguments: [true, false])
    func goneConversation(isProgressLeft: Bool) async throws {
        try await execute("INSERT INTO reembed SELECT conversation_id, 3 FROM embedded")
        try await execute("DELETE FROM conversations")
        if !isProgressLeft {
            try await execute("DELETE FROM embedded")
            try await execute("DELETE FROM reembed")
        }
        #expect(try await store.write { try $0.checkAllVectors() }.value == 1)
        let next = try await store.read { try $0.nextVectorCheck() }
        #expect(next?.conversation == id && next?.after == 0)
        #expect(try await repair().removed == Int(Self.count))
        for table in ["vectors", "embedded", "reembed"] {
            #expect(try await numbers("SELECT COUNT(*) FROM \(table)") == [0], "\(table)")
        }
        _ = try await store.write { [id] in try $0.setVectorCheck(of: id, after: nil) }
        #expect(try await store.write { try $0.checkAllVectors() }.value == 0)
    }

    @Test("what is above all that is embedded is not missing, and kept while all vectors are made anew")
    func reindexing() async throws {
        let before = try await rows()
        _ = try await store.write { try $0.restartEmbedding() }
        #expect(try await repair().removed == 0)
        #expect(try await rows() == before)
        try await execute("UPDATE vectors SET of_version = of_version - 1 WHERE number = 7")
        try await execute("DELETE FROM vectors WHERE number = 8")
        let result = try await repair()
        #expect(result.removed == 1 && result.missing == 0)
        try await embed()
        #expect(try await rows() == before)
    }

    @Test("while another model makes its own the old ones stay, and what it has left out is missing")
    func changingModel() async throws {
        let other = try await store.write { try $0.vectorModel(named: "other") }.value
        try await execute("INSERT INTO embedded SELECT conversation_id, \(other.key), 5 FROM embedded")
        try await execute(
            """
            INSERT INTO vectors SELECT conversation_id, number, chunk, \(other.key), of_version, seq, bytes FROM vectors
            WHERE number IN (1, 2, 3, 5)
            """)
        let before = try await rows()
        let (commands, id) = (commands, id)
        let repair = try await store.write {
            try commands.repairVectors(of: id, by: other, after: 0, limit: 100, in: $0)
        }.value
        #expect(repair.removed == 0 && repair.missing == 1 && repair.hasOthers)
        #expect(try await numbers("SELECT number FROM reembed") == [4])
        #expect(try await rows() == before)
    }

    @Test("of a model whose dimensions have changed the newest vectors are right")
    func otherDimensions() async throws {
        _ = try await store.write { [id, model] store in
            for number in Int64(17)...25 {
                guard let message = try store.message(number, in: id),
                    let vector = EmbeddingVector((0..<24).map { Float($0) })
                else { continue }
                try store.setVectors(
                    [MessageVector(number: number, chunk: 0, of: message.textVersion, vector: vector)], of: number,
                    in: id, by: model)
            }
        }
        let result = try await repair()
        #expect(result.removed == 16 && result.missing == 16)
        #expect(try await numbers("SELECT number FROM vectors ORDER BY number") == Array(17...25))
    }

    @Test("what is demanded while a conversation is compared is compared once more when that has ended")
    func demandedAgain() async throws {
        let (ann, id) = (ann, id)
        for demand in 0..<3 {
            _ = try await store.write { store in
                try store.checkAllVectors()
                try store.setVectorCheck(of: id, after: 10)
            }
            #expect(try await store.read { try $0.nextVectorCheck()?.after } == 10)
            _ = try await store.write { store in
                switch demand {
                case 0: try store.checkAllVectors()
                case 1: try store.checkLevels(in: id)
                default: try store.checkLevels(of: ann)
                }
            }
            // It goes on, so that nobody keeps it from its end by demanding it again and again.
            #expect(try await store.read { try $0.nextVectorCheck()?.after } == 10, "demand \(demand)")
            _ = try await store.write { try $0.setVectorCheck(of: id, after: 20) }
            _ = try await store.write { try $0.setVectorCheck(of: id, after: nil) }
            #expect(try await store.read { try $0.nextVectorCheck()?.after } == 0, "demand \(demand)")
            _ = try await store.write { try $0.setVectorCheck(of: id, after: nil) }
            #expect(try await store.read { try $0.nextVectorCheck() } == nil, "demand \(demand)")
        }
    }

    @Test("statistics count vectors, and what waits")
    func statistics() async throws {
        let before = try await store.read { try $0.vectorStatistics() }
        let count = try await rows().count
        #expect(
            before.models == [.init(name: "scripted", vectors: count, bytes: count * 20, waiting: 0)]
                && before.again == 0 && before.checks == 0)
        try await execute("DELETE FROM vectors WHERE number IN (4, 5)")
        _ = try await store.write { try $0.checkAllVectors() }
        #expect(try await repair().missing == 2)
        try await send(3)
        let after = try await store.read { try $0.vectorStatistics() }
        #expect(after.models.map(\.vectors) == [count - 2] && after.models.map(\.waiting) == [3])
        #expect(after.again == 2 && after.checks == 1)
        _ = try await store.write { try $0.restartEmbedding() }
        let anew = try await store.read { try $0.vectorStatistics() }
        #expect(anew.models.map(\.waiting) == [Int(Self.count) + 3] && anew.again == 0)
    }
}
