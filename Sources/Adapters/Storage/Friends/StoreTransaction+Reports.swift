package import Friends
package import Model

// Contact links.
extension StoreTransaction {
    package func setContactLink(hash: [UInt8], of user: UserID) throws {
        try sql.execute(
            """
            INSERT INTO contact_links (user_id, hash, at) VALUES (?1, ?2, ?3)
            ON CONFLICT (user_id) DO UPDATE SET hash = excluded.hash, at = excluded.at
            """, [.id(user), .blob(hash), .time(now)])
    }

    package func removeContactLink(of user: UserID) throws {
        try sql.execute("DELETE FROM contact_links WHERE user_id = ?1", [.id(user)])
    }

    package func contactLinkOwner(hash: [UInt8]) throws -> UserID? {
        try sql.first("SELECT user_id FROM contact_links WHERE hash = ?1", [.blob(hash)])?.id(0)
    }
}

// Reports.
extension StoreTransaction {
    package func insert(_ report: ReportRecord) throws {
        try sql.execute(
            "INSERT INTO reports (id, reporter, user_id, reason, text, at) VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
            [
                .id(report.id), .id(report.reporter), .id(report.user), .text(report.reason.rawValue),
                .text(report.text), .time(report.createdAt),
            ])
    }

    package func reportTimes(by reporter: UserID, since time: Timestamp, limit: Int) throws -> [Timestamp] {
        let newest = try sql.query(
            "SELECT at FROM reports WHERE reporter = ?1 AND at > ?2 ORDER BY at DESC LIMIT ?3",
            [.id(reporter), .time(time), .integer(limit)])
        return try newest.reversed().map { try $0.time(0) }
    }

    package func reports(before cursor: ReportID?, limit: Int) throws -> [ReportRecord] {
        // "z" follows every id.
        try sql.query(
            "SELECT id, reporter, user_id, reason, text, at FROM reports WHERE id < ?1 ORDER BY id DESC LIMIT ?2",
            [.text(cursor?.text ?? "z"), .integer(limit)]
        ).map { row in
            var columns = ColumnReader(row)
            return ReportRecord(
                id: try columns.id(), reporter: try columns.id(), user: try columns.id(),
                reason: try columns.enumCase(), text: try columns.textIfPresent(), createdAt: try columns.time())
        }
    }

    /// Empties the texts of some reports that the user made. Returns how many.
    package func eraseReports(by user: UserID, limit: Int) throws -> Int {
        try sql.execute(
            """
            UPDATE reports SET text = NULL WHERE id IN (
                SELECT id FROM reports WHERE reporter = ?1 AND text IS NOT NULL LIMIT ?2)
            """, [.id(user), .integer(limit)])
    }
}
