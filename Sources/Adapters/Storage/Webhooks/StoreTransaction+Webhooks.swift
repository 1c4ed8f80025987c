package import Model
package import Webhooks

extension StoreTransaction: WebhookStore {}

// The rows of webhooks.
extension StoreTransaction {
    private static let webhookColumns = """
        id, name, url, types, secret, previous_secret, previous_until, created_at, disabled_at, disabled_reason,
        dropped, waiting
        """

    package func webhooks() throws -> [WebhookRecord] {
        try sql.query("SELECT \(Self.webhookColumns) FROM webhooks WHERE removed_at IS NULL ORDER BY created_at, id")
            .map { try Self.webhook($0) }
    }

    package func webhook(_ id: WebhookID) throws -> WebhookRecord? {
        try sql.first("SELECT \(Self.webhookColumns) FROM webhooks WHERE id = ?1 AND removed_at IS NULL", [.id(id)])
            .map { try Self.webhook($0) }
    }

    package func wasRemoved(_ id: WebhookID) throws -> Bool {
        try sql.first("SELECT 1 FROM webhooks WHERE id = ?1 AND removed_at IS NOT NULL", [.id(id)]) != nil
    }

    package func insert(_ webhook: WebhookRecord) throws {
        hasChangedWebhooks = true
        try sql.execute(
            """
            INSERT INTO webhooks (
                id, name, url, types, secret, previous_secret, previous_until, created_at, disabled_at, disabled_reason)
            VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)
            """,
            [
                .id(webhook.id), .text(webhook.name), .text(webhook.url), .text(Self.text(of: webhook.types)),
                .blob(webhook.secret), .blob(webhook.previous?.secret), .time(webhook.previous?.until),
                .time(webhook.createdAt), .time(webhook.disabledAt), .text(webhook.disabledReason),
            ])
    }

    package func update(_ webhook: WebhookRecord) throws {
        hasChangedWebhooks = true
        try sql.execute(
            """
            UPDATE webhooks SET name = ?2, secret = ?3, previous_secret = ?4, previous_until = ?5, disabled_at = ?6,
                disabled_reason = ?7
            WHERE id = ?1
            """,
            [
                .id(webhook.id), .text(webhook.name), .blob(webhook.secret), .blob(webhook.previous?.secret),
                .time(webhook.previous?.until), .time(webhook.disabledAt), .text(webhook.disabledReason),
            ])
    }

    package func removeWebhook(_ id: WebhookID) throws -> Bool {
        hasChangedWebhooks = true
        let removed = try sql.execute(
            """
            UPDATE webhooks SET removed_at = ?2, secret = ?3, previous_secret = NULL, url = NULL
            WHERE id = ?1 AND removed_at IS NULL
            """, [.id(id), .time(now), .blob([])])
        return removed == 1
    }

    private static func webhook(_ row: SQLRow) throws -> WebhookRecord {
        var previous: WebhookRecord.Previous?
        if let secret = try row.blobIfPresent(5), let until = try row.timeIfPresent(6) {
            previous = WebhookRecord.Previous(secret: secret, until: until)
        }
        return WebhookRecord(
            id: try row.id(0), name: try row.textIfPresent(1), url: try row.textIfPresent(2),
            types: try row.textIfPresent(3).map(types), secret: try row.blob(4), previous: previous,
            createdAt: try row.time(7), disabledAt: try row.timeIfPresent(8), disabledReason: try row.textIfPresent(9),
            dropped: try row.integer(10), waiting: try row.integer(11))
    }

    private static func text(of types: Set<EventType>?) -> String? {
        types.map { $0.map(\.rawValue).sorted().joined(separator: ",") }
    }

    /// Types that this version does not know are left out.
    private static func types(_ text: String) -> Set<EventType> {
        Set(text.split(separator: ",").compactMap { EventType(rawValue: String($0)) })
    }
}

extension StoreTransaction {
    /// Disables all webhooks that are enabled.
    package func disableWebhooks(because reason: String) throws {
        hasChangedWebhooks = true
        try sql.execute(
            "UPDATE webhooks SET disabled_at = ?1, disabled_reason = ?2 WHERE disabled_at IS NULL",
            [.time(now), .text(reason)])
    }
}
