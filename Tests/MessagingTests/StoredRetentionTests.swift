import Accounts
import Messaging
import Model
import Storage
import TestSupport
import Testing
import Wire

@Suite("Stored messages that are older than they may be", .timeLimit(.minutes(2)))
struct StoredRetentionTests {
    private static let start = Timestamp(milliseconds: 1_800_000_000_000)

    /// A store whose clock the test sets.
    private struct Scratch {
        let store: Store
        let now = Shared(StoredRetentionTests.start)
        let published = Shared<[ConversationUpdate]>([])

        init() async throws {
            let (now, published) = (now, published)
            store = Store(
                database: try SQLiteDatabase(path: try ScratchDirectory().database), clock: { now.value },
                publishUpdates: { new in published.update { $0 += new } }, publish: { _ in })
            try await store.prepare()
        }

        func pass(days: Int64) { now.update { $0 = $0.adding(seconds: days * 86_400) } }

        func write<Value: Sendable>(
            _ body: @escaping @Sendable (StoreTransaction, ConversationCommands) throws -> Value
        ) async throws -> Value {
            try await store.write { try body($0, ConversationCommands.quiet()) }.value
        }

        func user() async throws -> UserID {
            try await write { store, _ in
                let user = UserID.make(at: store.now)
                _ = try store.insert(UserRecord(id: user, displayName: "Ann", createdAt: store.now))
                return user
            }
        }

        func notes(of user: UserID) async throws -> ConversationID {
            try await write { store, commands in
                try commands.createNotes(id: .make(at: store.now), by: user, in: store).found.conversation.id
            }
        }

        func send(_ text: String, to id: ConversationID, by user: UserID) async throws {
            _ = try await write { store, commands in
                let outgoing = OutgoingMessage(
                    clientID: .make(at: store.now), text: try MessageText(text), digest: Array(text.utf8))
                return try commands.send(outgoing, to: id, by: user, in: store).message
            }
        }

        func edit(_ number: Int64, in id: ConversationID, _ text: String, by user: UserID) async throws {
            _ = try await write { store, commands in
                try commands.edit(number, in: id, text: MessageText(text), basedOn: nil, by: user, store: store)
            }
        }

        func erase(keepDays: Int, limit: Int = 4) async throws -> Int {
            var total = 0
            while true {
                let step = try await write { try $1.eraseOldMessages(keepDays: keepDays, limit: limit, in: $0) }
                total += step.erased
                if !step.hasMore { return total }
            }
        }

        func count(_ query: String, _ arguments: [SQLValue] = []) async throws -> Int {
            try await store.read { try $0.sql.query(query, arguments).count }
        }
    }

    @Test("texts, digests and terms are gone, numbers stay, and listeners are told")
    func erased() async throws {
        let scratch = try await Scratch()
        let ann = try await scratch.user()
        let id = try await scratch.notes(of: ann)
        for day in 0..<12 {
            try await scratch.send("secret \(day)", to: id, by: ann)
            scratch.pass(days: 1)
        }
        scratch.published.update { $0 = [] }
        #expect(try await scratch.erase(keepDays: 5) == 7)
        #expect(try await scratch.count("SELECT 1 FROM messages WHERE text LIKE 'secret%'") == 5)
        #expect(
            try await scratch.count(
                "SELECT 1 FROM messages WHERE text IS NULL AND deleted_at IS NOT NULL AND LENGTH(digest) = 0") == 7)
        let updates = scratch.published.value
        #expect(updates.allSatisfy { $0.conversation == id } && updates.flatMap(\.rows).count >= 7)
        #expect(try await scratch.erase(keepDays: 5) == 0)
        let mark = try await scratch.store.read { try $0.retentionMark(of: id) }
        #expect(mark.erasedTo == 7 && mark.keptSince == Self.start.adding(seconds: 7 * 86_400))
    }

    @Test("conversations without old messages cost one look, and one is due again when its first message is")
    func looks() async throws {
        let scratch = try await Scratch()
        let ann = try await scratch.user()
        let id = try await scratch.notes(of: ann)
        let groups = try await scratch.write { store, commands in
            try (0..<9).map { _ in
                try commands.createGroup(name: nil, members: [], id: .make(at: store.now), by: ann, in: store)
                    .conversation.id
            }
        }
        #expect(try await scratch.store.read { try !ConversationCommands.quiet().hasOldMessages(keepDays: 1, in: $0) })
        scratch.pass(days: 2)
        #expect(try await scratch.erase(keepDays: 1) == 0)
        #expect(try await scratch.store.read { try !ConversationCommands.quiet().hasOldMessages(keepDays: 1, in: $0) })
        try await scratch.send("late", to: groups[3], by: ann)
        scratch.pass(days: 2)
        #expect(try await scratch.erase(keepDays: 1, limit: 3) == 1)
        // A group's own days, without those of the server.
        try await scratch.send("again", to: groups[4], by: ann)
        _ = try await scratch.write { store, commands in
            try commands.change(groups[4], settings: ConversationSettings(keepDays: 3), by: ann, in: store)
        }
        scratch.pass(days: 2)
        #expect(try await scratch.erase(keepDays: 0) == 0)
        scratch.pass(days: 2)
        let settings = try await scratch.store.read { try $0.conversation(groups[4])?.settings }
        #expect(settings?.keepDays == 3)
        #expect(try await scratch.erase(keepDays: 0) == 1)
        #expect(try await scratch.count("SELECT 1 FROM messages WHERE conversation_id = ?1", [.id(id)]) == 0)
    }

    @Test("the last one out takes the invitations back at once, and leaves no text for long")
    func ended() async throws {
        let scratch = try await Scratch()
        let (ann, ben) = (try await scratch.user(), try await scratch.user())
        let id = try await scratch.write { store, commands in
            try commands.createGroup(
                name: "Secret", members: [ben], id: .make(at: store.now), by: ann, in: store
            ).conversation.id
        }
        for number in 1...9 { try await scratch.send("secret \(number)", to: id, by: ann) }
        #expect(try await scratch.erase(keepDays: 0) == 0)
        scratch.published.update { $0 = [] }
        try await scratch.write { try $1.leave(id, by: ann, in: $0) }
        #expect(scratch.published.value.contains { $0.moved.contains(ben) }, "the invitation is gone")
        #expect(try await scratch.count("SELECT 1 FROM members WHERE state <> 'left'") == 0)
        scratch.pass(days: 7)
        #expect(try await scratch.erase(keepDays: 0) == 0)
        #expect(try await scratch.count("SELECT 1 FROM messages WHERE text LIKE 'secret%'") == 9)
        scratch.pass(days: 1)
        #expect(try await scratch.erase(keepDays: 0) == 9)
        #expect(try await scratch.count("SELECT 1 FROM messages WHERE text IS NOT NULL OR LENGTH(digest) > 0") == 0)
        #expect(try await scratch.count("SELECT 1 FROM conversations WHERE name IS NOT NULL") == 0)
        #expect(try await scratch.erase(keepDays: 0) == 0)
        #expect(
            try await scratch.count(
                "SELECT 1 FROM conversations INDEXED BY conversations_ended WHERE ended_at IS NOT NULL AND kept_since < ended_at + 604800000"
            ) == 0)
        // A server key may go on with it, and what is written then stays.
        try await scratch.write { _ = try $1.addByServer([ben], to: id, in: $0) }
        try await scratch.send("new", to: id, by: ben)
        scratch.pass(days: 30)
        #expect(try await scratch.erase(keepDays: 0) == 0)
        #expect(try await scratch.count("SELECT 1 FROM messages WHERE text = 'new'") == 1)
    }

    @Test("groups that had ended before it was kept when are those without members, and not those of imports")
    func endedBefore() async throws {
        let directory = try ScratchDirectory()
        let database = try SQLiteDatabase(path: directory.database)
        _ = try await database.migrate(DatabaseSchema.migrations.filter { $0.number < 63 }, at: Self.start)
        let ids = (0..<4).map { ConversationID.make(at: Self.start.adding(seconds: $0)) }
        try await database.submit { sql in
            for (index, (kind, count)) in [("group", 0), ("group", 1), ("group", 0), ("direct", 0)].enumerated() {
                try sql.execute(
                    """
                    INSERT INTO conversations (
                        id, kind, created_at, last_number, last_sent_at, sequence, member_count, who_writes, who_adds,
                        who_renames, version)
                    VALUES (?1, ?2, 1, 0, 5, 1, ?3, 'members', 'members', 'members', 1)
                    """, [.id(ids[index]), .text(kind), .integer(count)])
                guard index != 2 else { continue }
                try sql.execute(
                    """
                    INSERT INTO members (conversation_id, user_id, role, state, joined_at, version)
                    VALUES (?1, ?2, 'member', ?3, 1, 1)
                    """,
                    [.id(ids[index]), .id(UserID.make(at: Self.start)), .text(count == 0 ? "left" : "member")])
            }
        }
        let store = Store(database: database, clock: { Self.start }, publish: { _ in })
        try await store.prepare()
        let ended = try await store.read { store in try ids.map { try store.conversation($0)?.endedAt } }
        #expect(ended == [Timestamp(milliseconds: 5), nil, nil, nil])
    }

    @Test("a long text is a transaction of its own")
    func longTexts() async throws {
        let scratch = try await Scratch()
        let ann = try await scratch.user()
        let id = try await scratch.notes(of: ann)
        let words = (0..<6_000).map { "word\($0)" }.joined(separator: " ")
        for number: Int64 in 1...3 {
            try await scratch.send(words, to: id, by: ann)
            for edit in 1...5 { try await scratch.edit(number, in: id, "\(words) \(edit)", by: ann) }
        }
        let indexer = MessageIndexer()
        while let batch = try await scratch.store.read({ try indexer.batch(of: id, in: $0) }) {
            _ = try await scratch.write { store, _ in try indexer.write(batch, in: store) }
        }
        #expect(try await scratch.count("SELECT 1 FROM postings LIMIT 5000") == 5_000)
        scratch.pass(days: 2)
        for _ in 0..<3 {
            let step = try await scratch.write { try $1.eraseOldMessages(keepDays: 1, limit: 50, in: $0) }
            #expect(step.erased == 1 && step.hasMore)
        }
        #expect(try await scratch.erase(keepDays: 1) == 0)
        // What the index has of them goes in parts.
        var parts = 1
        while try await scratch.write({ store, _ in try indexer.forgetDeleted(in: store) }) { parts += 1 }
        #expect(parts > 3 * SearchTokenizer.maxTerms / MessageIndexer.maxPostings)
        for table in ["postings", "message_terms", "changed_texts"] {
            #expect(try await scratch.count("SELECT 1 FROM \(table) LIMIT 1") == 0)
        }
    }

    @Test("what is due is found by indexes")
    func indexes() async throws {
        let scratch = try await Scratch()
        let plan = try await scratch.store.read { store in
            try [
                "SELECT id FROM conversations c WHERE kept_since < 5 ORDER BY kept_since LIMIT 5",
                """
                SELECT id FROM conversations c WHERE keep_days > 0 AND (kept_since + keep_days * 86400000) < 5
                ORDER BY (kept_since + keep_days * 86400000) LIMIT 5
                """,
                """
                SELECT id FROM conversations
                WHERE ended_at IS NOT NULL AND kept_since < ended_at + 604800000 AND ended_at < 5
                ORDER BY ended_at LIMIT 5
                """,
            ].map { try store.sql.query("EXPLAIN QUERY PLAN " + $0).map { try $0.text(3) }.joined(separator: "\n") }
        }
        #expect(plan[0].contains("conversations_kept") && plan[1].contains("conversations_due"), "\(plan)")
        #expect(plan[2].contains("conversations_ended"), "\(plan)")
        #expect(plan.allSatisfy { $0.contains("SEARCH") && !$0.contains("TEMP B-TREE") }, "\(plan)")
    }
}
