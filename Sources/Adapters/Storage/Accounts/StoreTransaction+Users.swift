package import Accounts
import Languages
package import Model
import Notifications

// The rows of users, of the words of their names and of external identities.
extension StoreTransaction {
    static let userColumns = """
        u.id, u.email, u.password_hash, u.display_name, u.photo_url, u.languages, u.call_waiting, u.presence,
        u.created_at, u.disabled_at, u.deleted_at, u.reach, u.receipts, u.last_seen,
        u.message_requests, u.translation_mode, u.translation_into, u.translation_tone, u.intelligence,
        u.hints, u.notifications, u.quiet_from, u.quiet_to, u.quiet_zone
        """

    static func user(_ row: SQLRow, from start: Int = 0) throws -> UserRecord {
        var user = UserRecord(
            id: try row.id(start), email: try row.textIfPresent(start + 1),
            passwordHash: try row.textIfPresent(start + 2), displayName: try row.text(start + 3),
            photoURL: try row.textIfPresent(start + 4),
            languages: try row.text(start + 5).split(separator: ",").map(String.init),
            callWaiting: try row.bool(start + 6),
            presence: PresenceVisibility(rawValue: try row.text(start + 7)) ?? .nobody,
            reach: Reach(rawValue: try row.text(start + 11)) ?? .exact, createdAt: try row.time(start + 8),
            disabledAt: try row.timeIfPresent(start + 9),
            deletedAt: try row.timeIfPresent(start + 10))
        user.receipts = try row.bool(start + 12)
        user.lastSeen = LastSeenVisibility(rawValue: try row.text(start + 13)) ?? .nobody
        user.messageRequests = MessageRequestPolicy(rawValue: try row.text(start + 14)) ?? .ask
        var choices = ColumnReader(row, from: start + 15)
        user.choices = try Self.choices(&choices)
        user.notifications = try choices.textIfPresent().flatMap(NotificationLevel.init)
        user.quietHours = try Self.quietHours(&choices)
        return user
    }

    package func user(_ id: UserID) throws -> UserRecord? {
        try sql.first("SELECT \(Self.userColumns) FROM users u WHERE u.id = ?1", [.id(id)]).map { try Self.user($0) }
    }

    package func user(emailKey key: String) throws -> UserRecord? {
        try sql.first("SELECT \(Self.userColumns) FROM users u WHERE u.email_key = ?1", [.text(key)])
            .map { try Self.user($0) }
    }

    package func user(issuer: String, subject: String) throws -> UserRecord? {
        try sql.first(
            """
            SELECT \(Self.userColumns) FROM outside_identities o JOIN users u ON u.id = o.user_id
            WHERE o.issuer = ?1 AND o.subject = ?2
            """, [.text(issuer), .text(subject)]
        ).map { try Self.user($0) }
    }

    package func insert(_ user: UserRecord) throws -> Bool {
        let inserted = try sql.execute(
            """
            INSERT INTO users (
                id, email, email_key, password_hash, display_name, photo_url, languages, call_waiting, presence, created_at,
                disabled_at, deleted_at, reach, receipts, last_seen, message_requests, translation_mode, translation_into,
                translation_tone, intelligence, hints, notifications, quiet_from, quiet_to, quiet_zone)
            VALUES (
                ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20, ?21, ?22,
                ?23, ?24, ?25)
            ON CONFLICT DO NOTHING
            """, Self.values(of: user))
        guard inserted == 1 else { return false }
        try writeWords(of: user)
        return true
    }

    package func update(_ user: UserRecord) throws {
        let before = try self.user(user.id)
        try sql.execute(
            """
            UPDATE users SET email = ?2, email_key = ?3, password_hash = ?4, display_name = ?5, photo_url = ?6,
                languages = ?7, call_waiting = ?8, presence = ?9, created_at = ?10, disabled_at = ?11,
                deleted_at = ?12, reach = ?13, receipts = ?14, last_seen = ?15, message_requests = ?16,
                translation_mode = ?17, translation_into = ?18, translation_tone = ?19, intelligence = ?20,
                hints = ?21, notifications = ?22, quiet_from = ?23, quiet_to = ?24, quiet_zone = ?25,
                last_seen_at = CASE WHEN ?12 IS NULL THEN last_seen_at END
            WHERE id = ?1
            """, Self.values(of: user))
        if before?.choices != user.choices || before?.languages != user.languages {
            try sql.execute(
                "UPDATE users SET choices_since = ?2 WHERE id = ?1", [.id(user.id), .integer(try nextCounter())])
        }
        if user.disabledAt != nil { try removePushRegistrations(of: user.id) }
        if before?.quietHours != user.quietHours { try releaseQuietPushes(of: user.id) }
        // Who has deleted their account allows nothing any more.
        let isGone = user.deletedAt != nil && before?.deletedAt == nil
        if isGone || before?.choices.intelligence != user.choices.intelligence { try checkLevels(of: user.id) }
        guard before?.displayName != user.displayName || user.deletedAt != nil else { return }
        try sql.execute("DELETE FROM name_words WHERE user_id = ?1", [.id(user.id)])
        try writeWords(of: user)
    }

    package func link(_ identity: ExternalIdentity, to user: UserID) throws {
        try sql.execute(
            "INSERT INTO outside_identities (issuer, subject, user_id) VALUES (?1, ?2, ?3)",
            [.text(identity.issuer), .text(identity.subject), .id(user)])
    }

    package func outsideSubjects(of users: [UserID], issuer: String) throws -> [UserID: String] {
        var subjects: [UserID: String] = [:]
        for batch in users.batches {
            let rows = try sql.query(
                """
                SELECT user_id, subject FROM outside_identities
                WHERE issuer = ?1 AND user_id IN \(Placeholders.list(batch.count, from: 2))
                """, [.text(issuer)] + batch.map { .id($0) })
            for row in rows { subjects[try row.id(0)] = try row.text(1) }
        }
        return subjects
    }

    package func users(after id: UserID?, limit: Int) throws -> [UserRecord] {
        try sql.query(
            "SELECT \(Self.userColumns) FROM users u WHERE u.id > ?1 ORDER BY u.id LIMIT ?2",
            [.text(id?.text ?? ""), .integer(limit)]
        ).map { try Self.user($0) }
    }

    /// Scans the words that begin with the longest of `terms`. A user with several such words appears at the first; the
    /// other terms are looked up user by user.
    package func users(
        matching terms: [String], for reader: UserID?, after cursor: NameCursor?, limit: Int
    ) throws -> [(user: UserRecord, cursor: NameCursor, isFriend: Bool)] {
        let sorted = terms.sorted { $0.unicodeScalars.count > $1.unicodeScalars.count }
        guard let first = sorted.first else { return [] }
        let others = sorted.dropFirst().prefix(3)
        var text = """
            SELECT w.word, f.user_id, \(Self.userColumns) FROM name_words w JOIN users u ON u.id = w.user_id
            LEFT JOIN friends f ON f.owner = ?3 AND f.user_id = w.user_id AND f.state = 'friend'
            WHERE w.word >= ?1 AND w.word < ?2 AND (?3 = '' OR (w.user_id <> ?3 AND u.disabled_at IS NULL
                    AND (u.reach = 'everybody' OR f.user_id IS NOT NULL)))
                AND (w.word > ?4 OR (w.word = ?4 AND w.user_id > ?5))
                AND NOT EXISTS (
                    SELECT 1 FROM name_words e WHERE e.user_id = w.user_id AND e.word >= ?1 AND e.word < w.word)
            """
        var arguments: [SQLValue] = [
            .text(first), .text(Self.end(ofPrefix: first)), .text(reader?.text ?? ""), .text(cursor?.word ?? ""),
            .text(cursor?.user.text ?? ""), .integer(limit),
        ]
        for other in others {
            let base = arguments.count
            text += """
                 AND EXISTS (SELECT 1 FROM name_words o WHERE o.user_id = w.user_id AND o.word >= ?\(base + 1)
                    AND o.word < ?\(base + 2))
                """
            arguments += [.text(other), .text(Self.end(ofPrefix: other))]
        }
        text += " ORDER BY w.word, w.user_id LIMIT ?6"
        return try sql.query(text, arguments).map { row in
            let user = try Self.user(row, from: 2)
            return (user, NameCursor(word: try row.text(0), user: user.id), try !row.isNull(1))
        }
    }

    /// A string that sorts after every word with this prefix: no word contains the last code point.
    private static func end(ofPrefix prefix: String) -> String { prefix + "\u{10FFFF}" }

    private func writeWords(of user: UserRecord) throws {
        guard user.deletedAt == nil else { return }
        for word in SearchTerms.terms(in: user.displayName) {
            try sql.execute("INSERT INTO name_words (word, user_id) VALUES (?1, ?2)", [.text(word), .id(user.id)])
        }
    }

    private static func values(of user: UserRecord) -> [SQLValue] {
        [
            .id(user.id), .text(user.email), .text(user.email.map { AccountRules.emailKey($0) }),
            .text(user.passwordHash), .text(user.displayName), .text(user.photoURL),
            .text(user.languages.joined(separator: ",")), .bool(user.callWaiting), .text(user.presence.rawValue),
            .time(user.createdAt), .time(user.disabledAt), .time(user.deletedAt), .text(user.reach.rawValue),
            .bool(user.receipts), .text(user.lastSeen.rawValue), .text(user.messageRequests.rawValue),
        ] + values(of: user.choices) + [.text(user.notifications?.rawValue)] + values(of: user.quietHours)
    }
}
