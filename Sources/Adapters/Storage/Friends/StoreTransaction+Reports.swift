internal import Foundation
package import Friends
import Messaging
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
    private static let reportColumns = """
        id, reporter, user_id, reason, text, at, conversation_id, evidence, outcome, resolved_at, resolved_by
        """

    package func insert(_ report: ReportRecord) throws {
        try sql.execute(
            """
            INSERT INTO reports (id, reporter, user_id, reason, text, at, conversation_id, evidence)
            VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)
            """,
            [
                .id(report.id), .id(report.reporter), .id(report.user), .text(report.reason.rawValue),
                .text(report.text), .time(report.createdAt), .id(report.conversation),
                .text(report.messages.isEmpty ? nil : try Self.json(report.messages)),
            ])
    }

    package func reportTimes(by reporter: UserID, since time: Timestamp, limit: Int) throws -> [Timestamp] {
        let newest = try sql.query(
            "SELECT at FROM reports WHERE reporter = ?1 AND at > ?2 ORDER BY at DESC LIMIT ?3",
            [.id(reporter), .time(time), .integer(limit)])
        return try newest.reversed().map { try $0.time(0) }
    }

    package func reports(before cursor: ReportID?, isOpen: Bool?, limit: Int) throws -> [ReportRecord] {
        let state = isOpen.map { $0 ? "AND resolved_at IS NULL" : "AND resolved_at IS NOT NULL" } ?? ""
        // "z" follows every id.
        return try sql.query(
            "SELECT \(Self.reportColumns) FROM reports WHERE id < ?1 \(state) ORDER BY id DESC LIMIT ?2",
            [.text(cursor?.text ?? "z"), .integer(limit)]
        ).map { try Self.report($0) }
    }

    package func report(_ id: ReportID) throws -> ReportRecord? {
        try sql.first("SELECT \(Self.reportColumns) FROM reports WHERE id = ?1", [.id(id)]).map { try Self.report($0) }
    }

    package func resolve(_ id: ReportID, _ resolution: ReportResolution) throws {
        try sql.execute(
            "UPDATE reports SET outcome = ?2, resolved_at = ?3, resolved_by = ?4 WHERE id = ?1",
            [.id(id), .text(resolution.outcome.rawValue), .time(resolution.at), .text(resolution.by)])
    }

    package func reportedMessages(
        _ number: Int64, in conversation: ConversationID, by author: UserID, seenBy reporter: UserID
    ) throws -> [ReportedMessage] {
        let commands = ConversationCommands()
        let message = try commands.message(number, in: conversation, by: reporter, store: self)
        guard message.author == author, message.kind != .notice, message.deletedAt == nil else {
            throw Problem.notFound("message", field: "number")
        }
        let earlier = try commands.page(.before(number), of: conversation, limit: 20, by: reporter, in: self).messages
        let shown = (earlier + [message]).filter { $0.author == author && $0.text != nil || $0.number == number }
        return shown.suffix(ReportedMessage.maxCount).map {
            ReportedMessage(
                number: $0.number, sentAt: $0.sentAt,
                text: ($0.text ?? "(\($0.kind.rawValue))").prefix(bytes: ReportedMessage.maxBytes))
        }
    }

    /// Empties the texts of some reports that the user made, and those of the user that others reported. Returns how many
    /// reports.
    package func eraseReports(by user: UserID, limit: Int) throws -> Int {
        try sql.execute(
            """
            UPDATE reports SET text = NULL WHERE id IN (
                SELECT id FROM reports WHERE reporter = ?1 AND text IS NOT NULL LIMIT ?2)
            """, [.id(user), .integer(limit)])
            + sql.execute(
                """
                UPDATE reports SET evidence = NULL WHERE id IN (
                    SELECT id FROM reports WHERE user_id = ?1 AND evidence IS NOT NULL LIMIT ?2)
                """, [.id(user), .integer(limit)])
    }

    /// Removes some reports that are older than `time`. Returns how many. Ids rise with time.
    package func removeReports(before time: Timestamp, limit: Int) throws -> Int {
        try sql.execute(
            """
            DELETE FROM reports WHERE id IN (
                SELECT id FROM (SELECT id, at FROM reports ORDER BY id LIMIT ?2) oldest WHERE at < ?1)
            """, [.time(time), .integer(limit)])
    }

    private static func report(_ row: SQLRow) throws -> ReportRecord {
        var columns = ColumnReader(row)
        var report = ReportRecord(
            id: try columns.id(), reporter: try columns.id(), user: try columns.id(), reason: try columns.enumCase(),
            text: try columns.textIfPresent(), createdAt: try columns.time())
        report.conversation = try columns.idIfPresent()
        if let evidence = try columns.textIfPresent() {
            report.messages = try JSONDecoder().decode([ReportedMessage].self, from: Data(evidence.utf8))
        }
        let outcome = try columns.textIfPresent().flatMap { ReportResolution.Outcome(rawValue: $0) }
        let (time, actor) = (try columns.timeIfPresent(), try columns.textIfPresent())
        if let outcome, let time, let actor {
            report.resolution = ReportResolution(outcome: outcome, at: time, by: actor)
        }
        return report
    }
}
