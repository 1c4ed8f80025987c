package import Accounts
package import Model
import Notifications

// The rows of sign-ins and of the devices they are on.
extension StoreTransaction {
    private static let signInColumns = """
        s.id, s.user_id, s.device_id, s.created_at, s.last_used_at, s.family_hash, s.used, s.used_hash, s.used_at,
        s.next_hashes, s.expires_at, s.ended_at, s.end_reason, s.actor, s.client_name, s.client_version
        """
    private static let signInColumnCount = 16
    private static let deviceColumns = "d.id, d.user_id, d.name, d.platform, d.created_at, d.last_seen_at"
    /// Bytes of a SHA-256 digest; `next_hashes` holds several in a row.
    private static let digestLength = 32

    package func insert(_ signIn: SignInRecord) throws {
        try sql.execute(
            """
            INSERT INTO sign_ins (
                id, user_id, device_id, created_at, last_used_at, family_hash, used, used_hash, used_at, next_hashes,
                expires_at, ended_at, end_reason, actor, client_name, client_version)
            VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16)
            """, Self.values(of: signIn))
    }

    package func update(_ signIn: SignInRecord) throws {
        try sql.execute(
            """
            UPDATE sign_ins SET user_id = ?2, device_id = ?3, created_at = ?4, last_used_at = ?5, family_hash = ?6, used = ?7,
                used_hash = ?8, used_at = ?9, next_hashes = ?10, expires_at = ?11, ended_at = ?12, end_reason = ?13,
                actor = ?14, client_name = ?15, client_version = ?16
            WHERE id = ?1
            """, Self.values(of: signIn))
        if signIn.endedAt != nil { try removePushRegistrations(of: signIn.user, leftOn: signIn.device) }
    }

    package func signIn(_ id: SignInID) throws -> SignInRecord? {
        try sql.first("SELECT \(Self.signInColumns) FROM sign_ins s WHERE s.id = ?1", [.id(id)])
            .map { try Self.signIn($0) }
    }

    package func openSignIns(
        of user: UserID, after cursor: UseCursor<SignInID>?, limit: Int
    ) throws -> [(signIn: SignInRecord, device: DeviceRecord)] {
        try sql.query(
            """
            SELECT \(Self.signInColumns), \(Self.deviceColumns) FROM sign_ins s
            JOIN devices d ON d.user_id = s.user_id AND d.id = s.device_id
            WHERE s.user_id = ?1 AND s.ended_at IS NULL AND s.expires_at > ?2
                AND (s.last_used_at < ?3 OR (s.last_used_at = ?3 AND s.id > ?4))
            ORDER BY s.last_used_at DESC, s.id LIMIT ?5
            """,
            [
                .id(user), .time(now), .integer(cursor?.usedAt.milliseconds ?? .max), .text(cursor?.id.text ?? ""),
                .integer(limit),
            ]
        ).map { (try Self.signIn($0), try Self.device($0, from: Self.signInColumnCount)) }
    }

    package func signInsEnded(since time: Timestamp) throws -> [(id: SignInID, at: Timestamp)] {
        try sql.query("SELECT id, ended_at FROM sign_ins WHERE ended_at >= ?1", [.time(time)])
            .map { (try $0.id(0), try $0.time(1)) }
    }

    package func isSignedIn(_ user: UserID, by signIn: SignInID?) throws -> Bool {
        try sql.first(
            """
            SELECT 1 FROM users WHERE id = ?1 AND disabled_at IS NULL
                AND NOT EXISTS (SELECT 1 FROM sign_ins s WHERE s.id = ?2 AND s.ended_at IS NOT NULL)
            """, [.id(user), .id(signIn)]) != nil
    }

    package func device(_ id: DeviceID, of user: UserID) throws -> DeviceRecord? {
        try sql.first(
            "SELECT \(Self.deviceColumns) FROM devices d WHERE d.user_id = ?1 AND d.id = ?2", [.id(user), .id(id)]
        ).map { try Self.device($0) }
    }

    package func save(_ device: DeviceRecord) throws {
        try sql.execute(
            """
            INSERT INTO devices (id, user_id, name, platform, created_at, last_seen_at) VALUES (?1, ?2, ?3, ?4, ?5, ?6)
            ON CONFLICT (user_id, id) DO UPDATE
            SET name = excluded.name, platform = excluded.platform, last_seen_at = excluded.last_seen_at
            """,
            [
                .id(device.id), .id(device.user), .text(device.name), .text(device.platform), .time(device.createdAt),
                .time(device.lastSeenAt),
            ])
    }

    package func devices(
        of user: UserID, after cursor: UseCursor<DeviceID>?, limit: Int
    ) throws -> [DeviceRecord] {
        try sql.query(
            """
            SELECT \(Self.deviceColumns) FROM devices d
            WHERE d.user_id = ?1 AND (d.last_seen_at < ?2 OR (d.last_seen_at = ?2 AND d.id > ?3))
            ORDER BY d.last_seen_at DESC, d.id LIMIT ?4
            """,
            [
                .id(user), .integer(cursor?.usedAt.milliseconds ?? .max), .text(cursor?.id.text ?? ""),
                .integer(limit),
            ]
        ).map { try Self.device($0) }
    }

    package func removeDevice(_ id: DeviceID, of user: UserID) throws {
        try sql.execute("DELETE FROM devices WHERE user_id = ?1 AND id = ?2", [.id(user), .id(id)])
        for kind in PushKind.allCases { try removePushRegistration(of: user, on: id, kind) }
    }

    package func removeStale(before time: Timestamp, limit: Int) throws -> Int {
        let stale = try sql.query(
            "SELECT id, user_id, device_id FROM sign_ins WHERE last_used_at < ?1 ORDER BY last_used_at LIMIT ?2",
            [.time(time), .integer(limit)])
        var removed = 0
        for row in stale {
            removed += try sql.execute("DELETE FROM sign_ins WHERE id = ?1", [try row.value(0)])
            try removePushRegistrations(of: row.id(1), leftOn: row.id(2))
            removed += try sql.execute(
                """
                DELETE FROM devices WHERE user_id = ?1 AND id = ?2 AND NOT EXISTS (
                    SELECT 1 FROM sign_ins s WHERE s.user_id = ?1 AND s.device_id = ?2)
                """, [try row.value(1), try row.value(2)])
        }
        let endpoints = try sql.query(
            "SELECT id FROM endpoints WHERE used_at < ?1 ORDER BY used_at LIMIT ?2", [.time(time), .integer(limit)])
        for row in endpoints {
            removed += try sql.execute("DELETE FROM endpoints WHERE id = ?1", [try row.value(0)])
            try removePushRegistrations(by: row.id(0))
        }
        return removed
    }

    private static func values(of signIn: SignInRecord) -> [SQLValue] {
        let rotation = signIn.rotation
        return [
            .id(signIn.id), .id(signIn.user), .id(signIn.device), .time(signIn.createdAt), .time(signIn.lastUsedAt),
            .blob(rotation.familyHash), .integer(rotation.used), .blob(rotation.usedHash), .time(rotation.usedAt),
            .blob(rotation.next.flatMap(\.self)), .time(rotation.expiresAt), .time(signIn.endedAt),
            .text(signIn.endReason?.rawValue), .text(signIn.actor), .text(signIn.client?.name),
            .text(signIn.client?.version),
        ]
    }

    private static func signIn(_ row: SQLRow) throws -> SignInRecord {
        let hashes = try row.blob(9)
        let next = stride(from: 0, to: hashes.count, by: digestLength).map {
            Array(hashes[$0..<min($0 + digestLength, hashes.count)])
        }
        let client = try row.textIfPresent(14).map { ClientInfo(name: $0, version: try row.textIfPresent(15) ?? "") }
        return SignInRecord(
            id: try row.id(0), user: try row.id(1), device: try row.id(2), createdAt: try row.time(3),
            lastUsedAt: try row.time(4),
            rotation: RefreshRotation(
                familyHash: try row.blob(5), used: try row.integer(6), usedHash: try row.blob(7),
                usedAt: try row.time(8), next: next, expiresAt: try row.time(10)),
            endedAt: try row.timeIfPresent(11), endReason: try row.textIfPresent(12).flatMap(SignInEnd.init),
            actor: try row.textIfPresent(13), client: client)
    }

    private static func device(_ row: SQLRow, from start: Int = 0) throws -> DeviceRecord {
        DeviceRecord(
            id: try row.id(start), user: try row.id(start + 1), name: try row.text(start + 2),
            platform: try row.text(start + 3), createdAt: try row.time(start + 4), lastSeenAt: try row.time(start + 5))
    }
}
