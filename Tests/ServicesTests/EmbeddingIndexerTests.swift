import Accounts
import Languages
import Logging
import Messaging
import Model
import Storage
import TestSupport
import Testing

@testable import Services

/// The vectors of messages: who makes them, and when they are compared with their messages.
@Suite("Index by meaning", .timeLimit(.minutes(2))) struct EmbeddingIndexerTests {
    /// 2027-01-15T00:00:00Z.
    private static let midnight = Timestamp(milliseconds: 1_799_971_200_000)

    private let store: Store
    private let clock = ManualClock<Timestamp>(Self.midnight)
    /// By which pauses last.
    private let uptime = ManualClock<Timestamp>(Self.midnight)
    private let ann = UserID.make(at: Timestamp.systemClock())
    private let commands: ConversationCommands
    private let engine = ScriptedEmbeddingEngine()
    private let index: VectorIndex
    private let logged = Shared<[String]>([])

    init() async throws {
        // Without notices, so that the first message has the number 1.
        var limits = ConversationLimits()
        limits.notices = 0
        commands = ConversationCommands(limits: limits)
        store = Store(database: try SQLiteDatabase(path: try ScratchDirectory().database), publish: { _ in })
        try await store.prepare()
        index = VectorIndex(store: store, maxBytes: 1 << 20)
        let ann = ann
        _ = try await store.write { store in
            _ = try store.insert(UserRecord(id: ann, displayName: "Ann", reach: .everybody, createdAt: store.now))
            // Each comparison of the one conversation is counted.
            try store.sql.execute("CREATE TABLE nights (night BIGINT NOT NULL)")
            try store.sql.execute(
                "CREATE TRIGGER compared AFTER INSERT ON vector_checks BEGIN INSERT INTO nights VALUES (0); END")
        }
    }

    private func group() async throws -> ConversationID {
        let (commands, ann) = (commands, ann)
        return try await store.write { store in
            try commands.createGroup(name: nil, members: [], id: .make(at: store.now), by: ann, in: store)
                .conversation.id
        }.value
    }

    @discardableResult
    private func send(_ text: String, to id: ConversationID) async throws -> Int64 {
        let (commands, ann) = (commands, ann)
        return try await store.write { store in
            let outgoing = OutgoingMessage(clientID: .make(at: store.now), text: try MessageText(text), digest: [])
            return try commands.send(outgoing, to: id, by: ann, in: store).message.number
        }.value
    }

    private func execute(_ statement: String) async throws {
        _ = try await store.write { _ = try $0.sql.execute(statement) }
    }

    private func numbers(_ query: String) async throws -> [Int64] {
        try await store.read { try $0.sql.query(query).map { try $0.integer(0) } }
    }

    private func vectors(of id: ConversationID) async throws -> [Int64] {
        try await store.read { store in
            try store.sql.query("SELECT number FROM vectors WHERE conversation_id = ?1 ORDER BY number", [.id(id)])
                .map { try $0.integer(0) }
        }
    }

    private func nights() async throws -> Int { try await numbers("SELECT 1 FROM nights").count }

    /// Nothing is left to compare.
    private func isIdle() async throws -> Bool { try await store.read { try $0.vectorChecksLeft() } == 0 }

    private func indexer() -> EmbeddingIndexer {
        var limits = EmbeddingIndexer.Limits()
        (limits.delay, limits.firstRetry, limits.lastRetry) = (.zero, .milliseconds(1), .milliseconds(1))
        limits.compared = 10
        let (clock, uptime) = (clock, uptime)
        let time = NightlyClock(now: { clock.now }) { pause in
            try await uptime.sleep(until: uptime.now.adding(milliseconds: Int64(pause / .milliseconds(1))))
        }
        let logged = logged
        return EmbeddingIndexer(
            store: store, commands: commands, engine: engine, index: index, limits: limits, clock: time,
            logger: Logger(label: "test") { _ in RecordingLogHandler(lines: logged) })
    }

    private func running(_ body: () async throws -> Void) async throws {
        let indexer = indexer()
        let task = Task { await indexer.run() }
        do {
            // Until it sleeps, moving the clock moves nothing.
            try await asleep()
            try await body()
        } catch {
            task.cancel()
            throw error
        }
        task.cancel()
        await task.value
    }

    private func asleep() async throws { try await eventually { uptime.deadlines.count == 1 } }

    /// Moves the time, and waits until whoever slept so long has looked at it.
    private func advance(
        days: Int64 = 0, hours: Int64 = 0, minutes: Int64 = 0, seconds: Int64 = 0, lag: Int64 = 0
    ) async throws {
        let (before, change) = (uptime.deadlines, ((days * 24 + hours) * 60 + minutes) * 60 + seconds)
        clock.advance(seconds: change - lag)
        uptime.advance(seconds: change)
        if let deadline = before.first, uptime.now >= deadline {
            try await eventually { uptime.deadlines.count == 1 && uptime.deadlines != before }
        }
        try await eventually { try await isIdle() }
    }

    @Test("vectors are compared at two o'clock in UTC, once a day")
    func nightly() async throws {
        let id = try await group()
        try await send("one", to: id)
        try await running {
            try await eventually { try await vectors(of: id) == [1] }
            try await advance(hours: 1, minutes: 59, seconds: 59)
            #expect(try await nights() == 0)
            try await advance(seconds: 1)
            #expect(try await nights() == 1)
            for _ in 0..<23 { try await advance(hours: 1) }
            #expect(try await nights() == 1)
            try await advance(minutes: 59)
            #expect(try await nights() == 1)
            try await advance(minutes: 1)
            #expect(try await nights() == 2)
        }
    }

    @Test(
        "a start just before two o'clock is followed by a comparison at once, one just after by one the next day",
        arguments: [Int64(119), 120, 121, 1_439])
    func starts(minute: Int64) async throws {
        try await send("one", to: group())
        clock.advance(seconds: minute * 60)
        let left = minute < 120 ? 120 - minute : 1_560 - minute
        try await running {
            try await eventually { try await !numbers("SELECT 1 FROM vectors").isEmpty }
            try await advance(minutes: left - 1)
            #expect(try await nights() == 0)
            try await advance(minutes: 1)
            #expect(try await nights() == 1)
        }
    }

    @Test("nights that passed while the machine was suspended are one, and the next one is at its hour")
    func suspended() async throws {
        try await send("one", to: group())
        try await running {
            try await eventually { try await !numbers("SELECT 1 FROM vectors").isEmpty }
            clock.advance(seconds: (5 * 24 + 6) * 3_600)
            try await advance(hours: 1)
            #expect(try await nights() == 1)
            try await advance(hours: 18, minutes: 59)
            #expect(try await nights() == 1)
            try await advance(minutes: 1)
            #expect(try await nights() == 2)
        }
    }

    @Test("a pause that ends early, and a clock that was set back a little, bring no second comparison")
    func setBack() async throws {
        try await send("one", to: group())
        try await running {
            try await eventually { try await !numbers("SELECT 1 FROM vectors").isEmpty }
            try await advance(hours: 1)
            try await advance(hours: 1, lag: 1)
            #expect(try await nights() == 0)
            try await advance(seconds: 1)
            #expect(try await nights() == 1)
            try await advance(hours: 1, lag: 2 * 3_600)
            try await advance(hours: 2)
            #expect(try await nights() == 1)
            try await advance(hours: 23)
            #expect(try await nights() == 2)
        }
    }

    @Test("a clock that was set back by years does not end the nights")
    func setBackFar() async throws {
        try await send("one", to: group())
        try await running {
            try await eventually { try await !numbers("SELECT 1 FROM vectors").isEmpty }
            clock.advance(seconds: -1_000 * 86_400)
            try await advance(hours: 1)
            #expect(try await nights() == 0)
            try await advance(hours: 1)
            #expect(try await nights() == 1)
        }
    }

    @Test("a comparison that cannot be begun is logged, and begun the next night; meanwhile messages get vectors")
    func failing() async throws {
        let id = try await group()
        try await send("one", to: id)
        try await execute(
            "CREATE TRIGGER failing BEFORE INSERT ON vector_checks BEGIN SELECT RAISE(ABORT, 'no night'); END")
        try await running {
            try await eventually { try await vectors(of: id) == [1] }
            try await advance(hours: 2)
            #expect(logged.value.count { $0.contains("no sooner than next night") && $0.contains("no night") } == 1)
            try await send("two", to: id)
            try await eventually { try await vectors(of: id) == [1, 2] }
            try await execute("DROP TRIGGER failing")
            try await advance(hours: 23)
            #expect(try await nights() == 0)
            try await advance(hours: 1)
            #expect(try await nights() == 1)
        }
    }

    @Test("a stop ends the wait for the night")
    func stopping() async throws {
        try await running {}
        #expect(uptime.deadlines.isEmpty)
        clock.advance(seconds: 3 * 86_400)
        uptime.advance(seconds: 3 * 86_400)
        #expect(try await nights() == 0)
    }

    @Test("what is found wrong at night is made anew")
    func mending() async throws {
        let id = try await group()
        for number in 1...25 { try await send("text \(number)", to: id) }
        try await running {
            try await eventually { try await vectors(of: id) == Array(1...25) }
            let texts = engine.texts.count
            try await execute("DELETE FROM vectors WHERE number IN (3, 21)")
            try await execute("UPDATE vectors SET bytes = x'00' WHERE number = 11")
            try await execute("UPDATE vectors SET of_version = of_version + 1 WHERE number = 12")
            try await advance(hours: 2)
            try await eventually { try await vectors(of: id) == Array(1...25) }
            #expect(Set(engine.texts.dropFirst(texts)) == ["text 3", "text 11", "text 12", "text 21"])
        }
    }

    @Test("a damaged row keeps no other conversation from its vectors, nor from being compared with them")
    func damagedRow() async throws {
        let ids = [try await group(), try await group(), try await group()].sorted { $0.text < $1.text }
        for id in ids { try await send("one", to: id) }
        try await running {
            for id in ids { try await eventually { try await vectors(of: id) == [1] } }
            try await execute("DELETE FROM vectors WHERE number = 1")
            try await execute("UPDATE messages SET kind = '-' || kind WHERE conversation_id = '\(ids[1].text)'")
            try await advance(hours: 2)
            for id in [ids[0], ids[2]] { try await eventually { try await vectors(of: id) == [1] } }
            #expect(logged.value.contains { $0.contains("cannot be compared") && $0.contains(ids[1].text) })
            for id in ids { try await send("two", to: id) }
            for id in ids { try await eventually { try await vectors(of: id).contains(2) } }
        }
        for id in ids { try await send("three", to: id) }
        try await execute(
            "UPDATE messages SET kind = '-' || kind WHERE conversation_id = '\(ids[1].text)' AND number = 3")
        try await running {
            for id in [ids[0], ids[2]] { try await eventually { try await vectors(of: id) == [1, 2, 3] } }
            try await eventually {
                logged.value.contains { $0.contains("cannot be embedded") && $0.contains(ids[1].text) }
            }
            try await send("four", to: ids[0])
            try await eventually { try await vectors(of: ids[0]) == [1, 2, 3, 4] }
            #expect(try await vectors(of: ids[1]) == [2])
            // When the row is right again, the next night finds what is missing.
            try await execute("UPDATE messages SET kind = SUBSTR(kind, 2) WHERE kind LIKE '-%'")
            try await advance(hours: 24)
            try await eventually { try await vectors(of: ids[1]) == [1, 2, 3] }
        }
    }

    @Test("vectors by another model go with a comparison, where the one in use has made its own")
    func otherModel() async throws {
        let id = try await group()
        for number in 1...3 { try await send("text \(number)", to: id) }
        try await running {
            try await eventually { try await vectors(of: id) == [1, 2, 3] }
            try await execute("UPDATE vectors SET model = 99 WHERE number = 2")
            try await advance(hours: 2)
            try await eventually {
                try await numbers("SELECT number FROM vectors WHERE model <> 99 ORDER BY number") == [1, 2, 3]
            }
            try await eventually { try await numbers("SELECT number FROM vectors WHERE model = 99").isEmpty }
        }
    }

    @Test("while all vectors are made anew the old ones are found, and kept by a comparison")
    func reindexing() async throws {
        let id = try await group()
        for number in 1...3 { try await send("text \(number)", to: id) }
        try await running {
            try await eventually { try await vectors(of: id) == [1, 2, 3] }
        }
        _ = try await store.write { store in
            try store.restartEmbedding()
            try store.checkAllVectors()
        }
        engine.isAway = true
        try await running {
            try await eventually { try await isIdle() }
            #expect(try await vectors(of: id) == [1, 2, 3])
            #expect(try await found("text 2").first == 2)
            let texts = engine.texts.count
            engine.isAway = false
            try await eventually { Set(engine.texts.dropFirst(texts)).isSuperset(of: ["text 1", "text 2", "text 3"]) }
            try await eventually { try await numbers("SELECT embedded_to FROM embedded") == [3] }
        }
    }

    @Test("vectors with as many dimensions as the engine has now are found, also if it had others before")
    func otherDimensions() async throws {
        let id = try await group()
        for number in 1...3 { try await send("text \(number)", to: id) }
        try await running {
            try await eventually { try await vectors(of: id) == [1, 2, 3] }
            #expect(try await found("text 2").first == 2)
            engine.dimensions = 24
            _ = try await store.write { try $0.restartEmbedding() }
        }
        try await running {
            try await eventually { try await numbers("SELECT embedded_to FROM embedded") == [3] }
            #expect(try await found("text 2").first == 2)
        }
    }

    /// The numbers of the messages that are found by their meaning, the most similar first.
    private func found(_ query: String) async throws -> [Int64] {
        let searcher = MeaningSearcher(
            store: store, commands: commands, engine: engine, index: index,
            logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
        let request = try SearchRequest(query: SearchQuery(query))
        return try await searcher.search(request, mode: .meaning, by: ann) { response, _ in
            response.page.results.map(\.message.number)
        }
    }
}
