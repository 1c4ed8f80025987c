import Calls
import Messaging
import Model
import TestSupport
import Testing
import Wire

@testable import Storage

/// The calls of two people in an older database become messages.
@Suite struct OlderCallsTests {
    private static let now = Timestamp(milliseconds: 1_800_000_000_000)

    private func migrated<Value: Sendable>(
        _ people: [UserID], _ seed: UInt64, _ make: @escaping @Sendable (inout OlderDatabase) throws -> Value
    ) async throws -> (store: Store, made: Value) {
        try await OlderDatabase.migrated(to: 45, people, seed, now: Self.now, make)
    }

    private func people(_ count: Int) -> [UserID] { (0..<count).map { .make(at: Timestamp(milliseconds: Int64($0))) } }

    /// What a page says in short.
    private static func shown(
        _ id: ConversationID, _ user: UserID, _ store: StoreTransaction
    ) throws -> [String] {
        try ConversationCommands().page(.newest, of: id, limit: 100, by: user, in: store).messages.map {
            "\($0.number) \($0.sentAt.milliseconds) \($0.call.map { "\($0.state) \($0.duration ?? -1)" } ?? $0.text ?? "")"
        }
    }

    @Test func callsStandAmongTheMessagesByTime() async throws {
        let (people, seed) = (people(2), freshSeed())
        let (store, made) = try await migrated(people, seed) { older in
            let id = try older.conversation(of: [0, 1], at: [100_000, 200_000, 300_000])
            let calls = try [50_000, 150_000, 160_000, 400_000].enumerated().map { index, at in
                try older.call(index == 1 ? [1, 0] : [0, 1], at: Int64(at), answered: index != 2)
            }
            for table in ["own", "mentions"] {
                let columns = table == "own" ? ", hidden, counter, starred_at" : ""
                try older.sql.execute(
                    """
                    INSERT INTO \(table) (user_id, conversation_id, number\(columns))
                    VALUES (?1, ?2, 2\(table == "own" ? ", 0, 1, 9" : ""))
                    """, [.id(people[0]), .id(id)])
            }
            try older.sql.execute(
                """
                INSERT INTO marks (conversation_id, user_id, read, delivered, shown, counter)
                VALUES (?1, ?2, 2, 3, '[{"from":0,"to":2}]', 1)
                """, [.id(id), .id(people[0])])
            return (id, calls)
        }
        try await store.read { store in
            let commands = ConversationCommands()
            let expected = [
                "1 50000 ended 2", "2 100000 message 1", "3 150000 ended 2", "4 160000 ended -1", "5 200000 message 2",
                "6 300000 message 3", "7 400000 ended 2",
            ]
            for user in people { #expect(try Self.shown(made.0, user, store) == expected, "seed \(seed)") }
            let found = try commands.get(made.0, by: people[0], in: store)
            #expect(found.conversation.lastNumber == 7 && found.pins == [5] && found.conversation.memberCount == 2)
            let page = try commands.page(.newest, of: made.0, limit: 100, by: people[0], in: store).messages
            #expect(page.map(\.replyTo) == [nil, nil, nil, nil, 2, 5, nil])
            #expect(page[2].author == people[1] && page[2].call?.endedBy == people[1])
            #expect(page.map(\.call?.id).compactMap { $0 } == made.1)
            #expect(try commands.starred(by: people[0], after: nil, limit: 9, in: store).messages.map(\.number) == [5])
            let marks = try store.marks(of: people[0], in: made.0)?.marks
            #expect(marks?.read == 5 && marks?.delivered == 7)
            #expect(marks?.shown == [.init(from: 0, to: 5)])
            // Messages alone are unread: the older calls are not.
            let unread = try commands.unread(of: people[1], in: [made.0], store: store)[made.0]
            #expect(unread?.messages == 2)
            // Who comes back with a position of before reads anew.
            #expect(try store.inboxPosition().epoch != "e")
            #expect(try store.lastNumber(of: made.0, at: 3) <= 5)
            // The history of calls says the same.
            #expect(
                try store.calls(of: people[0], before: nil, limit: 9).map(\.conversation)
                    == Array(repeating: made.0, count: 4))
        }
        // A new message has the next number.
        let sent = try await store.write { store in
            try ConversationCommands().send(
                OutgoingMessage(clientID: .make(at: store.now), text: try MessageText("new"), digest: []), to: made.0,
                by: people[1], in: store
            ).message.number
        }.value
        #expect(sent == 8)
    }

    @Test func aPairWithoutAConversationGetsOne() async throws {
        let (people, seed) = (people(6), freshSeed())
        let (store, live) = try await migrated(people, seed) { older in
            try older.call([0, 1], at: 1_000)
            try older.call([1, 0], at: 2_000, answered: false)
            // Nobody answered a stranger, and one has blocked the other.
            try older.call([2, 3], at: 3_000, withheld: true, answered: false)
            // Of three: history.
            try older.call([0, 1, 2], at: 4_000)
            try older.sql.execute("UPDATE users SET disabled_at = 1 WHERE id = ?1", [.id(people[5])])
            try older.call([4, 5], at: 5_000, answered: false)
            return try older.call([0, 4], at: 6_000, live: true)
        }
        try await store.read { store in
            let commands = ConversationCommands()
            func conversation(_ one: Int, _ other: Int) throws -> ConversationID? {
                try store.conversation(of: ConversationPair(people[one], people[other]))?.id
            }
            let first = try #require(try conversation(0, 1))
            for user in people.prefix(2) {
                #expect(try Self.shown(first, user, store) == ["1 1000 ended 2", "2 2000 ended -1"])
                #expect(try commands.get(first, by: user, in: store).member.state == .member)
                #expect(try commands.unread(of: user, in: [first], store: store)[first]?.messages == 0)
            }
            let withheld = try #require(try conversation(2, 3))
            #expect(try Self.shown(withheld, people[2], store) == ["1 3000 ended -1"])
            #expect(try Self.shown(withheld, people[3], store) == [])
            #expect(try commands.get(withheld, by: people[3], in: store).member.state == .invited)
            #expect(try store.calls(of: people[3], before: nil, limit: 9).isEmpty)
            let disabled = try #require(try conversation(4, 5))
            #expect(try Self.shown(disabled, people[4], store).count == 1)
            #expect(try store.calls(of: people[2], before: nil, limit: 9).map(\.conversation) == [nil, withheld])
            let calling = try #require(try conversation(0, 4))
            #expect(try store.conversation(calling)?.liveCall?.id == live)
            #expect(try store.sql.query("SELECT conversation_id FROM members").count == 8)
        }
        // The live one goes on, and its message follows.
        _ = try await store.write { store in
            _ = try CallCommands().endForAll(live, at: store.now, in: store)
        }
        try await store.read { store in
            let id = try #require(try store.conversation(of: ConversationPair(people[0], people[4]))?.id)
            #expect(try store.conversation(id)?.liveCall == nil)
            let call = try store.message(1, in: id)?.call
            #expect(call?.state == .ended && call?.endedAt == Self.now)
        }
    }

    /// The process may end between two parts.
    @Test func whatWasInterruptedGoesOn() async throws {
        let database = try SQLiteDatabase(path: try ScratchDirectory().database)
        let number = Migration(
            1, "parts",
            ["CREATE TABLE parts (n BIGINT)", "INSERT INTO parts (n) VALUES (1), (2), (3)"],
            work: { transaction in
                guard let n = try transaction.first("SELECT MIN(n) FROM parts")?.integerIfPresent(0) else {
                    return false
                }
                if n == 2, try transaction.first("SELECT 1 FROM sqlite_master WHERE name = 'again'") == nil {
                    throw SQLError(.failed, "The process has ended.")
                }
                try transaction.execute("DELETE FROM parts WHERE n = ?1", [.integer(n)])
                return true
            })
        await #expect(throws: SQLError.self) { try await database.migrate([number], at: Self.now) }
        #expect(try await database.read { try $0.query("SELECT n FROM parts").count } == 2)
        try await database.submit { _ = try $0.execute("CREATE TABLE again (n BIGINT)") }
        #expect(try await database.migrate([number], at: Self.now).isEmpty)
        #expect(try await database.read { try $0.query("SELECT n FROM parts").count } == 0)
        #expect(try await database.read { try $0.query("SELECT number FROM unfinished_migrations").count } == 0)
    }

    /// Against a plain merge in memory.
    @Test func anyOrderIsTheOrderOfTime() async throws {
        let (people, seed) = (people(2), freshSeed())
        var random = SeededRandom(seed: seed)
        let times = (0..<40).map { _ in Int64.random(in: 10...1_000, using: &random) * 1000 }.sorted()
        let calls = (0..<60).map { _ in Int64.random(in: 10...1_000, using: &random) * 1000 + 500 }
        let (store, id) = try await migrated(people, seed) { older in
            let id = try older.conversation(of: [0, 1], at: times)
            for at in calls { try older.call([0, 1], at: at) }
            return id
        }
        try await store.read { store in
            let rows = try store.sql.query(
                "SELECT number, sent_at, born, reply_to FROM messages WHERE conversation_id = ?1 ORDER BY number",
                [.id(id)])
            #expect(try rows.map { try $0.integer(0) } == (1...100).map { Int64($0) }, "seed \(seed)")
            #expect(try rows.map { try $0.integer(1) } == (times + calls).sorted(), "seed \(seed)")
            let born = try rows.map { try $0.integer(2) }
            #expect(born == born.sorted(), "seed \(seed)")
        }
    }
}
