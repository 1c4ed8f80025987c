import Messaging
import Model
import TestSupport
import Testing
import Voice
import Wire

@testable import Storage

/// The voice messages of two people in an older database become messages.
@Suite struct OlderVoiceTests {
    private static let now = Timestamp(milliseconds: 1_800_000_000_000)
    private static let transcript =
        #"{"status":"complete","language":"en","text":"good morning","segments":[{"start":0,"end":9,"text":"good morning"}]}"#

    private func migrated<Value: Sendable>(
        to number: Int = 46, _ people: [UserID], _ seed: UInt64,
        _ make: @escaping @Sendable (inout OlderDatabase) throws -> Value
    ) async throws -> (store: Store, made: Value) {
        try await OlderDatabase.migrated(to: number, people, seed, now: Self.now, make)
    }

    private func people(_ count: Int) -> [UserID] { (0..<count).map { .make(at: Timestamp(milliseconds: Int64($0))) } }

    /// What a page says in short.
    private static func shown(
        _ id: ConversationID, _ user: UserID, _ store: StoreTransaction
    ) throws -> [String] {
        try ConversationCommands().page(.newest, of: id, limit: 100, by: user, in: store).messages.map {
            "\($0.number) \($0.sentAt.milliseconds) \($0.voice.map { "voice \($0.words ?? "-")" } ?? $0.text ?? "call")"
        }
    }

    @Test func voiceMessagesStandAmongTheOthersByTime() async throws {
        let (people, seed) = (people(2), freshSeed())
        let clientID = ClientID.make(at: Timestamp(milliseconds: 9))
        let (store, made) = try await migrated(people, seed) { older in
            let id = try older.conversation(of: [0, 1], at: [100_000, 200_000, 300_000])
            let first = try older.voice([0, 1], at: 50_000, clientID: clientID, transcript: Self.transcript)
            try older.voice([1, 0], at: 150_000)
            try older.voice([0, 1], at: 160_000, withheld: true)
            try older.voice([1, 0], at: 400_000)
            // A call that is a message already: its row follows.
            let call = try older.call([0, 1], at: 200_000)
            try older.sql.execute(
                "UPDATE calls SET conversation_id = ?1, number = 2 WHERE id = ?2", [.id(id), .id(call)])
            try older.sql.execute(
                "INSERT INTO missed_calls (conversation_id, number, user_id) VALUES (?1, 2, ?2)",
                [.id(id), .id(people[1])])
            try older.sql.execute(
                """
                INSERT INTO own (user_id, conversation_id, number, hidden, counter, starred_at) VALUES (?1, ?2, 2, 0, 1, 9)
                """, [.id(people[0]), .id(id)])
            try older.sql.execute(
                """
                INSERT INTO scheduled (author, client_id, conversation_id, text, reply_to, send_at, created_at, digest, counter)
                VALUES (?1, ?2, ?3, 'later', 3, 9000000000000, 1, X'', 1)
                """, [.id(people[0]), .id(clientID), .id(id)])
            try older.sql.execute(
                """
                INSERT INTO marks (conversation_id, user_id, read, delivered, shown, counter)
                VALUES (?1, ?2, 2, 3, '[{"from":0,"to":2}]', 1)
                """, [.id(id), .id(people[0])])
            return (id, first, call)
        }
        try await store.read { store in
            let commands = ConversationCommands()
            let id = made.0
            #expect(
                try Self.shown(id, people[0], store) == [
                    "1 50000 voice good morning", "2 100000 message 1", "3 150000 voice -", "4 160000 voice -",
                    "5 200000 message 2", "6 300000 message 3", "7 400000 voice -",
                ], "seed \(seed)")
            // The other one had blocked the sender of the fourth.
            #expect(try Self.shown(id, people[1], store).count == 6)
            let message = try #require(try store.message(1, in: id))
            #expect(message.clientID == clientID && message.voice?.file == made.1)
            #expect(message.voice?.audio.waveform == [0, 50, 100] && message.voice?.audio.byteCount == 4_000)
            #expect(message.voice?.audio.durationMs == 1_500 && message.voice?.audio.level == -23)
            #expect(message.voice?.transcript?.segments == nil)
            #expect(try store.transcript(of: made.1)?.segments?.count == 1)
            #expect(try commands.mayListen(to: made.1, people[1], in: store))
            #expect(try store.voiceFile(made.1)?.location == .init(conversation: id, number: 1))
            #expect(try store.mediaFile(made.1)?.resource == made.1.text)
            // What names numbers has followed.
            #expect(
                try store.sql.first("SELECT number FROM calls WHERE id = ?1", [.id(made.2)])?.integer(0) == 5)
            #expect(try store.sql.first("SELECT number FROM missed_calls")?.integer(0) == 5)
            #expect(try store.sql.first("SELECT reply_to FROM scheduled")?.integer(0) == 6)
            #expect(try commands.get(id, by: people[0], in: store).pins == [5])
            #expect(try commands.starred(by: people[0], after: nil, limit: 9, in: store).messages.map(\.number) == [5])
            let page = try commands.page(.newest, of: id, limit: 100, by: people[0], in: store).messages
            #expect(page.map(\.replyTo) == [nil, nil, nil, nil, 2, 5, nil])
            let marks = try store.marks(of: people[0], in: id)?.marks
            #expect(marks?.read == 5 && marks?.delivered == 7)
            // Who had read nothing has read the one before the first text.
            #expect(try store.marks(of: people[1], in: id)?.marks.read == 1)
            #expect(try store.inboxPosition().epoch != "e")
            for table in ["voice_messages", "all_older_voice", "older_voice", "voice_numbers"] {
                let found = try store.sql.first("SELECT 1 FROM sqlite_master WHERE name = ?1", [.text(table)])
                #expect(found == nil, "\(table) is left")
            }
        }
        // A request that is repeated after the upgrade was executed.
        let again = try await store.write { store in
            var outgoing = OutgoingMessage(clientID: clientID, forward: nil, digest: [7])
            outgoing.voice = OutgoingVoice(file: made.1, isTranscribed: false)
            let sent = try ConversationCommands().send(outgoing, to: made.0, by: people[0], in: store)
            return [sent.isDuplicate ? 1 : 0, sent.message.number]
        }.value
        #expect(again == [1, 1])
        // Deleted like any other, with its file.
        _ = try await store.write { store in
            _ = try ConversationCommands().delete(1, in: made.0, by: people[0], store: store)
        }
        try await store.read { store in
            let media = try store.mediaFile(made.1)
            #expect(try media == nil && store.voiceFile(made.1) == nil)
            #expect(try store.transcript(of: made.1) == nil)
        }
    }

    @Test func aPairWithoutAConversationGetsOne() async throws {
        let (people, seed) = (people(6), freshSeed())
        // From before calls were messages.
        let (store, _) = try await migrated(to: 45, people, seed) { older in
            try older.call([0, 1], at: 1_500)
            try older.voice([0, 1], at: 1_000)
            try older.voice([1, 0], at: 2_000)
            try older.voice([2, 3], at: 3_000, withheld: true)
            try older.sql.execute("UPDATE users SET disabled_at = 1 WHERE id = ?1", [.id(people[5])])
            try older.voice([4, 5], at: 5_000)
            try older.sql.execute(
                """
                INSERT INTO friends (owner, user_id, state, at) VALUES (?1, ?2, 'friend', 1)
                """, [.id(people[5]), .id(people[4])])
        }
        try await store.read { store in
            let commands = ConversationCommands()
            func conversation(_ one: Int, _ other: Int) throws -> ConversationID {
                try #require(try store.conversation(of: ConversationPair(people[one], people[other]))?.id)
            }
            let first = try conversation(0, 1)
            for user in people.prefix(2) {
                #expect(
                    try Self.shown(first, user, store) == ["1 1000 voice -", "2 1500 call", "3 2000 voice -"],
                    "seed \(seed)")
                #expect(try commands.get(first, by: user, in: store).member.state == .member)
            }
            let withheld = try conversation(2, 3)
            #expect(try Self.shown(withheld, people[2], store) == ["1 3000 voice -"])
            #expect(try Self.shown(withheld, people[3], store) == [])
            #expect(try commands.get(withheld, by: people[3], in: store).member.state == .invited)
            let disabled = try conversation(4, 5)
            #expect(try Self.shown(disabled, people[4], store).count == 1)
            #expect(try commands.get(disabled, by: people[5], in: store).member.state == .member)
            for (id, user) in [(first, people[0]), (first, people[1]), (disabled, people[5])] {
                #expect(try commands.unread(of: user, in: [id], store: store)[id]?.messages ?? 0 == 0)
            }
        }
    }

    /// Against a plain merge in memory; more than one part does.
    @Test func anyOrderIsTheOrderOfTime() async throws {
        let (people, seed) = (people(4), freshSeed())
        var random = SeededRandom(seed: seed)
        let times = (0..<40).map { _ in Int64.random(in: 10...1_000, using: &random) * 1000 }.sorted()
        let voice = (0..<60).map { _ in Int64.random(in: 10...1_000, using: &random) * 1000 + 500 }
        let (store, id) = try await migrated(people, seed) { older in
            let id = try older.conversation(of: [0, 1], at: times)
            for at in voice { try older.voice([0, 1], at: at) }
            for at in 0..<6_000 { try older.voice(at % 2 == 0 ? [2, 3] : [0, 2], at: Int64(at)) }
            return id
        }
        try await store.read { store in
            let rows = try store.sql.query(
                "SELECT number, sent_at, born FROM messages WHERE conversation_id = ?1 ORDER BY number", [.id(id)])
            #expect(try rows.map { try $0.integer(0) } == (1...100).map { Int64($0) }, "seed \(seed)")
            #expect(try rows.map { try $0.integer(1) } == (times + voice).sorted(), "seed \(seed)")
            let born = try rows.map { try $0.integer(2) }
            #expect(born == born.sorted(), "seed \(seed)")
            for pair in [[2, 3], [0, 2]] {
                let found = try store.conversation(of: ConversationPair(people[pair[0]], people[pair[1]]))
                #expect(found?.lastNumber == 3_000)
            }
            let lost = try store.sql.first("SELECT COUNT(*) FROM voice_files WHERE number IS NULL")?.integer(0)
            #expect(lost == 0)
        }
    }
}
