package import Accounts
package import Model

// The rows of the audit log.
extension StoreTransaction {
    package func insert(_ entry: AuditEntry) throws {
        let actor = entry.actor.columns
        try sql.execute(
            """
            INSERT INTO audit (at, actor_kind, actor_id, action, subject, outcome, address, count, request_id)
            VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)
            """,
            [
                .time(entry.at ?? now), .text(actor.kind), .text(actor.id), .text(entry.action), .text(entry.subject),
                .text(entry.outcome), .text(entry.address), .integer(entry.count),
                .text(entry.request?.text),
            ])
    }

    package func auditEntries(since time: Timestamp, limit: Int) throws -> [AuditEntry] {
        try sql.query(
            "SELECT \(Self.auditColumns) FROM audit WHERE at >= ?1 ORDER BY id DESC LIMIT ?2",
            [.time(time), .integer(limit)]
        ).reversed().map { try Self.auditEntry($0) }
    }

    package func auditEntries(before id: Int64?, limit: Int) throws -> [AuditEntry] {
        try sql.query(
            "SELECT \(Self.auditColumns) FROM audit WHERE id < ?1 ORDER BY id DESC LIMIT ?2",
            [.integer(id ?? .max), .integer(limit)]
        ).map { try Self.auditEntry($0) }
    }

    private static let auditColumns =
        "id, at, actor_kind, actor_id, action, subject, outcome, address, count, request_id"

    private static func auditEntry(_ row: SQLRow) throws -> AuditEntry {
        AuditEntry(
            id: try row.integer(0), at: try row.time(1),
            actor: AuditActor(kind: try row.text(2), id: try row.textIfPresent(3)), action: try row.text(4),
            subject: try row.textIfPresent(5), outcome: try row.text(6), address: try row.textIfPresent(7),
            count: try row.integer(8), request: try row.textIfPresent(9).flatMap { RequestID($0) })
    }

    package func removeAuditEntries(before time: Timestamp, limit: Int) throws -> Int {
        try sql.execute(
            "DELETE FROM audit WHERE id IN (SELECT id FROM audit WHERE at < ?1 ORDER BY at LIMIT ?2)",
            [.time(time), .integer(limit)])
    }
}
