package import Model
package import Notifications

// The rows of registrations for pushes.
extension StoreTransaction {
    static let registrationColumns = """
        r.id, r.user_id, r.device_id, r.kind, r.address, r.digest, r.endpoint_id, r.shared, r.created_at, r.updated_at
        """
    static let registrationColumnCount = 10
    /// Of one user; the least recently renewed beyond it are removed.
    package static let maxPushRegistrations = 64

    /// Those of a user, the last renewed first.
    package func pushRegistrations(of user: UserID) throws -> [PushRegistration] {
        try sql.query(
            """
            SELECT \(Self.registrationColumns) FROM push_registrations r WHERE r.user_id = ?1
            ORDER BY r.updated_at DESC, r.id DESC
            """, [.id(user)]
        ).map { try Self.registration($0) }
    }

    package func pushKinds(of user: UserID) throws -> [DeviceID: [PushKind]] {
        let rows = try sql.query(
            "SELECT device_id, kind FROM push_registrations WHERE user_id = ?1 ORDER BY kind", [.id(user)])
        var kinds: [DeviceID: [PushKind]] = [:]
        for row in rows {
            guard let kind = PushKind(rawValue: try row.text(1)) else { continue }
            kinds[try row.id(0), default: []].append(kind)
        }
        return kinds
    }

    /// Inserts it, or replaces that of the same device and kind. The same address of other devices goes, and that of other
    /// accounts unless both are shared.
    package func save(_ registration: PushRegistration) throws -> PushRegistration {
        let others = try sql.query(
            """
            SELECT id FROM push_registrations
            WHERE digest = ?1 AND kind = ?2 AND (user_id = ?3 AND device_id <> ?4
                OR user_id <> ?3 AND (shared = 0 OR ?5 = 0))
            """,
            [
                .blob(registration.digest), .text(registration.kind.rawValue), .id(registration.user),
                .id(registration.device), .bool(registration.isShared),
            ])
        for row in others { try removePushRegistration(row.integer(0)) }
        let row = try sql.first(
            """
            INSERT INTO push_registrations (
                user_id, device_id, kind, address, digest, endpoint_id, shared, created_at, updated_at)
            VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)
            ON CONFLICT (user_id, device_id, kind) DO UPDATE SET address = excluded.address, digest = excluded.digest,
                endpoint_id = excluded.endpoint_id, shared = excluded.shared, updated_at = excluded.updated_at
            RETURNING id, created_at
            """,
            [
                .id(registration.user), .id(registration.device), .text(registration.kind.rawValue),
                .blob(registration.sealed), .blob(registration.digest), .id(registration.endpoint),
                .bool(registration.isShared), .time(registration.createdAt), .time(registration.updatedAt),
            ])
        guard let row else { throw SQLError(.failed, "A registration has no id.") }
        var saved = registration
        (saved.id, saved.createdAt) = (try row.integer(0), try row.time(1))
        for surplus in try pushRegistrations(of: registration.user).dropFirst(Self.maxPushRegistrations) {
            try removePushRegistration(surplus.id)
        }
        if saved.createdAt == registration.createdAt { notePush(.registered) }
        return saved
    }

    /// Returns whether there was one.
    @discardableResult
    package func removePushRegistration(of user: UserID, on device: DeviceID, _ kind: PushKind) throws -> Bool {
        let row = try sql.first(
            "SELECT id FROM push_registrations WHERE user_id = ?1 AND device_id = ?2 AND kind = ?3",
            [.id(user), .id(device), .text(kind.rawValue)])
        guard let row else { return false }
        try removePushRegistration(row.integer(0))
        return true
    }

    /// Those of a device on which the user is signed in no more.
    func removePushRegistrations(of user: UserID, leftOn device: DeviceID) throws {
        let rows = try sql.query(
            """
            SELECT r.id FROM push_registrations r
            WHERE r.user_id = ?1 AND r.device_id = ?2 AND r.endpoint_id IS NULL AND NOT EXISTS (
                SELECT 1 FROM sign_ins s WHERE s.user_id = ?1 AND s.device_id = ?2 AND s.ended_at IS NULL)
            """, [.id(user), .id(device)])
        for row in rows { try removePushRegistration(row.integer(0)) }
    }

    /// Those that an endpoint has made, which is gone.
    func removePushRegistrations(by endpoint: EndpointID) throws {
        for row in try sql.query("SELECT id FROM push_registrations WHERE endpoint_id = ?1", [.id(endpoint)]) {
            try removePushRegistration(row.integer(0))
        }
    }

    /// All of a user, who is disabled or deleted.
    package func removePushRegistrations(of user: UserID) throws {
        for row in try sql.query("SELECT id FROM push_registrations WHERE user_id = ?1", [.id(user)]) {
            try removePushRegistration(row.integer(0))
        }
    }

    package func removePushRegistration(_ id: Int64) throws {
        try sql.execute("DELETE FROM push_registrations WHERE id = ?1", [.integer(id)])
        try sql.execute("DELETE FROM pushes WHERE registration_id = ?1", [.integer(id)])
    }

    /// Of a database that was restored: nobody is pushed to until their clients come back.
    func removeAllPushes() throws {
        for table in ["push_registrations", "push_sources", "pushes"] { try sql.execute("DELETE FROM \(table)") }
    }

    static func registration(_ row: SQLRow, from start: Int = 0) throws -> PushRegistration {
        var reader = ColumnReader(row, from: start)
        let (id, user, device) = (
            try reader.integer(), try reader.id(of: Entities.User.self), try reader.id(of: Entities.Device.self)
        )
        let (kind, sealed, digest): (PushKind, [UInt8], [UInt8]) =
            (try reader.enumCase(), try reader.blob(), try reader.blob())
        let endpoint = try reader.idIfPresent(of: Entities.Endpoint.self)
        return PushRegistration(
            id: id, user: user, device: device, kind: kind, sealed: sealed, digest: digest, endpoint: endpoint,
            isShared: try reader.bool(), createdAt: try reader.time(), updatedAt: try reader.time())
    }
}
