import Foundation
import Languages
import Messaging
import Model
import TestSupport
import Testing

@testable import Storage

@Suite struct MigrationTests {
    let now = Timestamp(milliseconds: 1_800_000_000_000)

    @Test func everyMigrationHasItsOwnNumber() {
        let numbers = DatabaseSchema.migrations.map(\.number)
        #expect(Set(numbers).count == numbers.count)
        #expect(numbers.allSatisfy { $0 > 0 })
    }

    @Test func anEmptyDatabaseIsBroughtUpOnce() async throws {
        let directory = try ScratchDirectory()
        let database = try SQLiteDatabase(path: directory.database)
        let store = Store(database: database, publish: { _ in })
        #expect(try await store.prepare().map(\.number) == DatabaseSchema.migrations.map(\.number).sorted())
        #expect(try await store.prepare().isEmpty)
        await database.close()
        let again = try SQLiteDatabase(path: directory.database)
        #expect(try await Store(database: again, publish: { _ in }).prepare().isEmpty)
    }

    @Test func olderRecordingsBelongToWhoWasJoinedOrRecorded() async throws {
        let directory = try ScratchDirectory()
        let database = try SQLiteDatabase(path: directory.database)
        _ = try await database.migrate(DatabaseSchema.migrations.filter { $0.number < 12 }, at: now)
        let audience = try await database.submit { sql in
            try sql.execute(
                """
                INSERT INTO recordings (id, call_id, user_id, started_at, status, ended_at)
                VALUES ('r', 'c', 'by', 1000, 'complete', 2000)
                """)
            // User, joined at, left at: who left before, came after, was in it, is in it still, never was.
            let rows: [(String, Int64?, Int64?)] = [
                ("before", 100, 900), ("after", 2100, 2200), ("within", 1500, 1600), ("still", 1900, nil),
                ("never", nil, nil),
            ]
            for (index, row) in rows.enumerated() {
                try sql.execute(
                    """
                    INSERT INTO participants (
                        call_id, place, user_id, display_name, live, withheld, state, joined_at, left_at, connected,
                        taken_over, audio, video, screen, held)
                    VALUES ('c', ?1, ?2, ?2, 0, 0, 'left', ?3, ?4, 0, 0, 1, 0, 0, 0)
                    """, [.integer(index), .text(row.0), .integer(row.1), .integer(row.2)])
            }
            // Recorded in it, and in the call again since.
            try sql.execute(
                """
                INSERT INTO recording_tracks (recording_id, number, user_id, endpoint_id, source, start_ms, file_id)
                VALUES ('r', 0, 'heard', 'e', 'microphone', 0, 'f')
                """)
            for migration in DatabaseSchema.migrations where migration.number == 12 {
                for statement in migration.statements { try sql.execute(statement) }
            }
            return try sql.query("SELECT user_id FROM recording_audience WHERE recording_id = 'r' ORDER BY user_id")
                .map { try $0.text(0) }
        }
        #expect(audience == ["by", "heard", "still", "within"])
    }

    @Test func captionsOfBeforeLeaveTheLogsOfCalls() async throws {
        let directory = try ScratchDirectory()
        let database = try SQLiteDatabase(path: directory.database)
        let early = DatabaseSchema.migrations.filter { $0.number < 14 }
        let store = Store(database: database, publish: { _ in })
        try await store.prepare(early)
        // What writes here is of now.
        func alterLog(_ change: String) async throws {
            _ = try await database.submit { try $0.execute("ALTER TABLE log \(change)") }
        }
        try await alterLog("ADD COLUMN stream_epoch TEXT")
        let (said, silent) = (StreamName.call(.make(at: now)), StreamName.call(.make(at: now)))
        let before = try await store.write { store in
            for type in ["call", "caption", "participant"] { try store.append(type, json: "{}", to: said) }
            return (try store.append("call", json: "{}", to: silent), try store.position(of: said))
        }.value
        try await alterLog("DROP COLUMN stream_epoch")
        try await store.prepare()
        #expect(try await store.read { try $0.position(of: silent) } == before.0)
        let resumed = try await store.read { try $0.changes(of: said, after: before.1) }
        #expect(resumed == .reset(.epoch), "Who resumes starts over.")
        #expect(try await store.read { try $0.sql.query("SELECT type FROM changes").count } == 1)
        let next = try await store.write { try $0.append("call", json: "{}", to: said) }.value
        // Its log was empty, so it starts again.
        #expect(next.sequence == 1 && next.epoch != before.1.epoch)
    }

    @Test func aNewerDatabaseIsRefused() async throws {
        let directory = try ScratchDirectory()
        let database = try SQLiteDatabase(path: directory.database)
        _ = try await database.migrate(
            [Migration(1, "one", ["CREATE TABLE one (n BIGINT)"]), Migration(7, "seven", [])], at: now)
        let error = await #expect(throws: SQLError.self) {
            _ = try await database.migrate([Migration(1, "one", [])], at: now)
        }
        #expect(error?.kind == .newer)
        #expect(error?.message.contains("version 7") == true)
    }

    @Test func aFailedMigrationLeavesNothing() async throws {
        let directory = try ScratchDirectory()
        let database = try SQLiteDatabase(path: directory.database)
        await #expect(throws: SQLError.self) {
            _ = try await database.migrate(
                [Migration(1, "one", ["CREATE TABLE one (n BIGINT)", "CREATE TABLE one (n BIGINT)"])], at: now)
        }
        #expect(try await database.migrate([Migration(1, "one", ["CREATE TABLE one (n BIGINT)"])], at: now).count == 1)
    }

    /// Addresses of photos elsewhere go, with the log that has them; streams without one go on where they were.
    @Test func addressesOfPhotosElsewhereAreForgotten() async throws {
        let directory = try ScratchDirectory()
        let database = try SQLiteDatabase(path: directory.database)
        _ = try await database.migrate(DatabaseSchema.migrations.filter { $0.number < 20 }, at: now)
        try await database.submit { sql in
            let users = [("a", "'https://a.example/p.png'"), ("b", "NULL")]
            for (name, photo) in users {
                try sql.execute(
                    """
                    INSERT INTO users (id, display_name, photo_url, languages, call_waiting, presence, created_at)
                    VALUES ('\(name)', '\(name)', \(photo), '', 0, 'everyone', 0)
                    """)
                try sql.execute(
                    "INSERT INTO streams (name, epoch, seq, trimmed, at) VALUES ('user:\(name)', 'e', 2, 0, 0)")
            }
            try sql.execute("INSERT INTO log (id, epoch) VALUES (1, 'e')")
            let changes = [
                ("user:a", 1, "{}"), ("user:a", 2, #"{"participants":[{"photoURL":"https://a.example/p.png"}]}"#),
                ("user:b", 1, #"{"photoURL":"/v1/photos/1"}"#), ("user:b", 2, #"{"displayName":"http"}"#),
            ]
            for (stream, number, data) in changes {
                try sql.execute(
                    "INSERT INTO changes (stream, seq, type, data, at) VALUES (?1, ?2, 'profile', ?3, 0)",
                    [.text(stream), .integer(number), .text(data)])
            }
        }
        _ = try await database.migrate(DatabaseSchema.migrations.filter { $0.number <= 20 }, at: now)
        let (photos, streams, left, epoch) = try await database.submit { sql in
            (
                try sql.query("SELECT id FROM users WHERE photo_url IS NOT NULL").count,
                try sql.query("SELECT epoch, seq, trimmed FROM streams ORDER BY name").map {
                    "\(try $0.text(0)) \(try $0.int(1)) \(try $0.int(2))"
                },
                try sql.query("SELECT stream FROM changes").map { try $0.text(0) },
                try sql.first("SELECT epoch FROM log")?.text(0)
            )
        }
        #expect(photos == 0)
        #expect(streams == ["e 2 0"] && epoch == "ep")
        #expect(left == ["user:b", "user:b"])
    }

    /// The value is the same in rows and in what is to be resumed, so that who reads both sees no change.
    @Test func presenceHasTheWordOfLastSeen() async throws {
        let directory = try ScratchDirectory()
        let database = try SQLiteDatabase(path: directory.database)
        _ = try await database.migrate(DatabaseSchema.migrations.filter { $0.number < 49 }, at: now)
        try await database.submit { sql in
            for (name, presence) in [("a", "everyone"), ("b", "nobody")] {
                try sql.execute(
                    """
                    INSERT INTO users (id, display_name, languages, call_waiting, presence, created_at)
                    VALUES ('\(name)', 'everyone', '', 0, '\(presence)', 0)
                    """)
                try sql.execute(
                    "INSERT INTO changes (stream, seq, type, data, at) VALUES ('user:\(name)', 1, 'profile', ?1, 0)",
                    [.text(#"{"displayName":"everyone","presence":"\#(presence)"}"#)])
            }
        }
        _ = try await database.migrate(DatabaseSchema.migrations, at: now)
        let (rows, changes) = try await database.submit { sql in
            (
                try sql.query("SELECT display_name, presence FROM users ORDER BY id").map {
                    "\(try $0.text(0)) \(try $0.text(1))"
                }, try sql.query("SELECT data FROM changes ORDER BY stream").map { try $0.text(0) }
            )
        }
        #expect(rows == ["everyone everybody", "everyone nobody"])
        #expect(
            changes == [
                #"{"displayName":"everyone","presence":"everybody"}"#,
                #"{"displayName":"everyone","presence":"nobody"}"#,
            ])
    }

    @Test("names that were stored in parts are found by who types them whole")
    func normalizedNames() async throws {
        let directory = try ScratchDirectory()
        let database = try SQLiteDatabase(path: directory.database)
        let store = Store(database: database, publish: { _ in })
        try await store.prepare(DatabaseSchema.migrations.filter { $0.number < 72 })
        // As they were then: marks dropped, and the parts of syllables letters of their own.
        let names = [
            "Ann Ábel": ["abel", "ann"], "мои\u{306}": ["мои"], "か\u{3099}": ["か"], "ﾃｽﾄ": ["ﾃｽﾄ"], "Ελένη": ["ελένη"],
            "\u{1112}\u{1161}\u{11AB}": ["\u{1112}\u{1161}\u{11AB}"],
        ]
        let users = names.map { (id: UserID.make(at: now), name: $0.key, words: $0.value) }
        try await database.submit { sql in
            for user in users {
                try sql.execute(
                    """
                    INSERT INTO users (id, display_name, languages, call_waiting, presence, created_at)
                    VALUES (?1, ?2, '', 0, 'nobody', 0)
                    """, [.id(user.id), .text(user.name)])
                for word in user.words {
                    try sql.execute(
                        "INSERT INTO name_words (word, user_id) VALUES (?1, ?2)", [.text(word), .id(user.id)])
                }
            }
        }
        try await store.prepare()
        func words(of name: String) async throws -> [[UInt8]] {
            let id = try #require(users.first { $0.name.utf8.elementsEqual(name.utf8) }?.id)
            return try await database.read { sql in
                try sql.query("SELECT word FROM name_words WHERE user_id = ?1 ORDER BY word", [.id(id)])
                    .map { try Array($0.text(0).utf8) }
            }
        }
        for (name, wanted) in [
            ("Ann Ábel", ["abel", "ann"]), ("мои\u{306}", ["мой"]), ("か\u{3099}", ["が"]), ("ﾃｽﾄ", ["テスト"]),
            ("Ελένη", ["ελενη"]),
            ("\u{1112}\u{1161}\u{11AB}", ["한"]),
        ] {
            #expect(try await words(of: name) == wanted.map { Array($0.utf8) }, "\(name)")
        }
        #expect(
            try await database.read { try $0.query("SELECT name FROM sqlite_master WHERE name = 'unnormalized_names'") }
                .isEmpty)
    }

    @Test("glossaries whose entries were rows stay as they are")
    func glossaries() async throws {
        let directory = try ScratchDirectory()
        let database = try SQLiteDatabase(path: directory.database)
        _ = try await database.migrate(DatabaseSchema.migrations.filter { $0.number < 61 }, at: now)
        let ids = (0..<3).map { ConversationID.make(at: now.adding(seconds: $0)) }
        try await database.submit { sql in
            // Not in their order.
            for (id, position, source, target, language) in [
                (ids[0], 1, "two", "\"zwei\"", "de"), (ids[1], 0, "três", "drei 🥉", "de-AT"),
                (ids[0], 0, "one", "uno", "es"),
            ] {
                try sql.execute(
                    "INSERT INTO glossary_terms (conversation_id, position, source, target, language) VALUES (?1, ?2, ?3, ?4, ?5)",
                    [.id(id), .integer(position), .text(source), .text(target), .text(language)])
            }
        }
        let store = Store(database: database, clock: { now }, publish: { _ in })
        try await store.prepare()
        func glossary(_ id: ConversationID) async throws -> [[String]] {
            try await store.read { try $0.glossary(of: id) }.map { [$0.source, $0.target, $0.language.string] }
        }
        #expect(try await glossary(ids[0]) == [["one", "uno", "es"], ["two", "\"zwei\"", "de"]])
        #expect(try await glossary(ids[1]) == [["três", "drei 🥉", "de-AT"]])
        #expect(try await glossary(ids[2]).isEmpty)
        _ = try await store.write { try $0.setGlossary([], of: ids[0]) }
        #expect(try await glossary(ids[0]).isEmpty)
    }

    /// Rows as version 11 left them: sums, bounds and epochs are right afterwards.
    @Test func whatIsThereIsBroughtUp() async throws {
        let directory = try ScratchDirectory()
        let database = try SQLiteDatabase(path: directory.database)
        let store = Store(database: database, clock: { now }, publish: { _ in })
        try await store.prepare(DatabaseSchema.migrations.filter { $0.number <= 11 })
        let (user, other) = (UserID.make(at: now), UserID.make(at: now))
        try await database.submit { sql in
            for number in 0..<100 {
                let id = SQLValue.id(SignInID.make(at: now)), device = SQLValue.id(DeviceID.make(at: now))
                let at = SQLValue.time(now.adding(seconds: Int64(number)))
                try sql.execute("INSERT INTO devices VALUES (?1, ?2, 'd', 'p', ?3, ?3)", [.id(user), device, at])
                try sql.execute(
                    "INSERT INTO sign_ins VALUES (?1, ?2, ?3, ?4, ?4, ?5, 0, ?5, ?4, ?5, ?6, NULL, NULL)",
                    [id, .id(user), device, at, .blob([]), .time(now.adding(seconds: 10_000))])
            }
            try sql.execute("INSERT INTO streams VALUES ('user:a', 'e', 3, 1, 5), ('user:b', 'e', 7, 7, 5)")
            try sql.execute("INSERT INTO changes VALUES ('user:a', 3, 't', '{}', 6), ('user:a', 2, 't', '{}', 5)")
            try sql.execute("UPDATE log SET epoch = 'e'")
            let message = FileID.make(at: now).text, recording = RecordingID.make(at: now).text
            try sql.execute(
                "INSERT INTO voice_messages VALUES (?1, 'p', ?2, ?3, 'f1', 0, 1, x'', 0)",
                [.text(message), .id(user), .id(other)])
            try sql.execute(
                "INSERT INTO recordings (id, call_id, user_id, started_at, status) VALUES (?1, 'c', ?2, 0, 'complete')",
                [.text(recording), .id(other)])
            try sql.execute(
                """
                INSERT INTO media_files VALUES ('f1', 'voice', ?1, 'audio/ogg', 10, 0),
                    ('f2', 'recording', ?2, 'audio/ogg', 20, 0), ('f3', 'recording', ?2, 'audio/ogg', 30, 0)
                """, [.text(message), .text(recording)])
        }
        try await store.prepare()
        let open = try await database.read {
            try $0.query("SELECT last_used_at FROM sign_ins WHERE ended_at IS NULL ORDER BY 1").map { try $0.time(0) }
        }
        #expect(open == (36..<100).map { now.adding(seconds: $0) })
        let devices = try await database.read {
            try $0.first("SELECT COUNT(*), MIN(last_seen_at) FROM devices")?.values
        }
        #expect(devices == [.integer(64), .time(now.adding(seconds: 36))])
        #expect(try await store.read { try $0.mediaBytes(of: user) } == 10)
        #expect(try await store.read { try $0.mediaBytes(of: other) } == 50)
        let streams = try await database.read { try $0.query("SELECT name FROM streams").map { try $0.text(0) } }
        #expect(streams == ["user:a"])
        let epoch = try await database.read { try $0.first("SELECT epoch FROM log")?.text(0) }
        #expect(epoch != "e")
        let order = try await database.read {
            try $0.query("SELECT seq FROM changes ORDER BY id").map { try $0.integer(0) }
        }
        #expect(order == [2, 3])
    }
}
