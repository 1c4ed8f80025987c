import Messaging
import Model
import TestSupport
import Wire

@testable import Storage

/// A database of before, which is written by SQL.
struct OlderDatabase {
    let sql: any SQLTransaction
    let people: [UserID]
    var random: SeededRandom

    mutating func id<Entity>(at: Int64) -> Identifier<Entity> {
        .make(at: Timestamp(milliseconds: at), using: &random)
    }

    func add(people: [UserID]) throws {
        try sql.execute("INSERT INTO log (id, epoch, counter) VALUES (1, 'e', 7)")
        for (index, user) in people.enumerated() {
            try sql.execute(
                """
                INSERT INTO users (id, display_name, languages, call_waiting, presence, created_at)
                VALUES (?1, ?2, '', 0, 'everyone', 0)
                """, [.id(user), .text("Person \(index)")])
        }
    }

    /// Of the first of `users`; the second has answered unless it says otherwise.
    @discardableResult
    mutating func call(
        _ users: [Int], at: Int64, withheld: Bool = false, answered: Bool = true, live: Bool = false
    ) throws -> CallID {
        let id: CallID = id(at: at)
        try sql.execute(
            """
            INSERT INTO calls (
                id, kind, mode, created_at, version, status, answered_at, ended_at, end_reason, ended_by)
            VALUES (?1, 'audio', 'direct', ?2, 3, ?3, ?4, ?5, ?6, ?7)
            """,
            [
                .id(id), .integer(at), .text(live ? "active" : "ended"), .integer(answered ? at + 1 : nil),
                .integer(live ? nil : at + 2001), .text(live ? nil : answered ? "hung_up" : "missed"),
                .id(answered && !live ? people[users[0]] : nil),
            ])
        for (place, user) in users.enumerated() {
            let isIn = place == 0 || answered
            let state = live ? "joined" : isIn ? "left" : "missed"
            try sql.execute(
                """
                INSERT INTO participants (
                    call_id, place, user_id, display_name, live, withheld, state, endpoint_id, joined_at, left_at,
                    reason, connected, taken_over, audio, video, screen, held)
                VALUES (?1, ?2, ?3, '', ?4, ?5, ?6, ?7, ?8, ?9, ?10, 0, 0, 1, 0, 0, 0)
                """,
                [
                    .id(id), .integer(place), .id(people[user]), .bool(live), .bool(withheld && place == 1),
                    .text(state), .id(live ? self.id(at: at) as EndpointID : nil),
                    .integer(isIn ? at : nil), .integer(isIn && !live ? at + 2001 : nil),
                    .text(isIn && !live ? "hung_up" : nil),
                ])
        }
        return id
    }

    /// A conversation of two with messages at these times.
    mutating func conversation(of users: [Int], at times: [Int64]) throws -> ConversationID {
        let id: ConversationID = id(at: 5)
        let pair = ConversationPair(people[users[0]], people[users[1]])
        try sql.execute(
            """
            INSERT INTO conversations (
                id, kind, pair, created_at, last_number, last_sent_at, sequence, member_count, who_writes, who_adds,
                who_renames, version, counter, activity, pins)
            VALUES (?1, 'direct', ?2, 5, ?3, ?4, ?5, 2, 'members', 'members', 'members', 1, 3, 3, '[{"number":2}]')
            """,
            [
                .id(id), .text(pair.text), .integer(times.count), .integer(times.last ?? 5),
                .integer(times.count + 1),
            ])
        for user in users.map({ people[$0] }) {
            try sql.execute(
                """
                INSERT INTO members (conversation_id, user_id, role, state, joined_at, version)
                VALUES (?1, ?2, 'member', 'member', 5, 1)
                """, [.id(id), .id(user)])
            try sql.execute(
                "INSERT INTO spans (conversation_id, user_id, from_number) VALUES (?1, ?2, 0)",
                [.id(id), .id(user)])
        }
        for (index, time) in times.enumerated() {
            try sql.execute(
                """
                INSERT INTO messages (
                    conversation_id, number, client_id, author, sent_at, kind, text, version, text_version, withheld,
                    text_withheld, digest, born, reply_to)
                VALUES (?1, ?2, ?3, ?4, ?5, 'text', ?6, ?7, ?7, 0, 0, X'00', ?7, ?8)
                """,
                [
                    .id(id), .integer(index + 1), .id(self.id(at: time) as ClientID), .id(people[users[index % 2]]),
                    .integer(time), .text("message \(index + 1)"), .integer(index + 2),
                    .integer(index > 0 ? Int64(index) : nil),
                ])
        }
        return id
    }

    /// Of the first of `users` to the second, with its file; its client id is in `client_ids` if it is given.
    @discardableResult
    mutating func voice(
        _ users: [Int], at: Int64, withheld: Bool = false, clientID: ClientID? = nil, transcript: String? = nil
    ) throws -> FileID {
        let (id, file): (FileID, FileID) = (self.id(at: at), self.id(at: at))
        let (sender, recipient) = (people[users[0]], people[users[1]])
        let pair =
            withheld
            ? sender.text + ">" + recipient.text
            : sender.text < recipient.text ? sender.text + ":" + recipient.text : recipient.text + ":" + sender.text
        try sql.execute(
            """
            INSERT INTO media_files (id, kind, resource, content_type, byte_count, created_at, owner)
            VALUES (?1, 'voice', ?2, 'audio/ogg', 4000, ?3, ?4)
            """, [.id(file), .id(id), .integer(at), .id(sender)])
        try sql.execute(
            """
            INSERT INTO voice_messages (id, pair, sender, recipient, file_id, created_at, duration, waveform, level)
            VALUES (?1, ?2, ?3, ?4, ?5, ?6, 1500, ?7, -23)
            """,
            [
                .id(id), .text(pair), .id(sender), .id(recipient), .id(file), .integer(at), .blob([0, 50, 100]),
            ])
        if let clientID {
            try sql.execute(
                "INSERT INTO client_ids (user_id, client_id, body_hash, entity) VALUES (?1, ?2, X'01', ?3)",
                [.id(sender), .id(clientID), .id(id)])
        }
        if let transcript {
            try sql.execute(
                "INSERT INTO transcripts (file_id, status, data) VALUES (?1, 'complete', ?2)",
                [.id(file), .text(transcript)])
        }
        return file
    }

    /// Migrates from the version before `number` what `make` has written.
    static func migrated<Value: Sendable>(
        to number: Int, _ people: [UserID], _ seed: UInt64, now: Timestamp,
        _ make: @escaping @Sendable (inout OlderDatabase) throws -> Value
    ) async throws -> (store: Store, made: Value) {
        let database = try SQLiteDatabase(path: try ScratchDirectory().database)
        _ = try await database.migrate(DatabaseSchema.migrations.filter { $0.number < number }, at: now)
        let made = try await database.submit { sql in
            var older = OlderDatabase(sql: sql, people: people, random: SeededRandom(seed: seed))
            try older.add(people: people)
            return try make(&older)
        }
        let store = Store(database: database, clock: { now }, publish: { _ in })
        try await store.prepare()
        return (store, made)
    }
}
