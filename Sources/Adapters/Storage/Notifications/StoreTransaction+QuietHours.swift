import Model
import Notifications

// The columns of quiet hours, and the pushes that wait for their end.
extension StoreTransaction {
    /// Reads `quiet_from, quiet_to, quiet_zone`.
    static func quietHours(_ reader: inout ColumnReader) throws -> QuietHours? {
        let (from, to) = (try reader.integerIfPresent(), try reader.integerIfPresent())
        let zone = try reader.textIfPresent()
        guard let from, let to, let zone else { return nil }
        return QuietHours(from: Int(clamping: from), to: Int(clamping: to), zone: zone)
    }

    static func values(of hours: QuietHours?) -> [SQLValue] {
        [.integer(hours.map { Int64($0.from) }), .integer(hours.map { Int64($0.to) }), .text(hours?.zone)]
    }

    /// When the quiet hours end in which the user of a registration is; nil if there are none now.
    func quietEnd(of registration: Int64) throws -> Timestamp? {
        let row = try sql.first(
            """
            SELECT u.quiet_from, u.quiet_to, u.quiet_zone FROM push_registrations r JOIN users u ON u.id = r.user_id
            WHERE r.id = ?1
            """, [.integer(registration)])
        guard let row else { return nil }
        var reader = ColumnReader(row)
        return try Self.quietHours(&reader)?.end(at: now)
    }

    /// The user's quiet hours have changed: whether what waits for their end still has to is decided anew.
    func releaseQuietPushes(of user: UserID) throws {
        let released = try sql.execute(
            """
            UPDATE pushes SET not_before = ?2, quiet_until = ?2
            WHERE registration_id IN (SELECT id FROM push_registrations WHERE user_id = ?1)
                AND quiet_until = not_before AND not_before > ?2
            """, [.id(user), .time(now)])
        if released > 0 { pushesDue = now }
    }
}
