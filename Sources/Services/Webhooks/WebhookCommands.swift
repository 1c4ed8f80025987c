import Accounts
package import Model
package import Providers
package import Storage
package import Webhooks

/// The operator's commands for webhooks. Each write and its entry in the audit log are one transaction; the store keeps
/// the subscriptions in memory up to date.
package final class WebhookCommands: Sendable {
    /// How many events a replay looks at in one transaction.
    private static let replayBatch = 500

    package let store: Store
    private let sealer: any SecretSealer
    private let rules: WebhookAddressRules
    private let audit: AuditLog

    package init(store: Store, sealer: any SecretSealer, rules: WebhookAddressRules, audit: AuditLog) {
        self.store = store
        self.sealer = sealer
        self.rules = rules
        self.audit = audit
    }

    /// Adds a webhook, or a puller without `url`. The secret is not stored in the clear and cannot be shown again; a
    /// puller has none to show.
    ///
    /// - Parameter events: the types; empty for all.
    package func add(
        url: String?, name: String?, events: [String]
    ) async throws -> (webhook: WebhookRecord, secret: WebhookSecret) {
        let address = try url.map { try WebhookURL($0, allowing: rules).text }
        let types = try Self.types(events)
        let name = try name.map { try AccountRules.displayName($0, field: "name") }
        let id = WebhookID.make(at: Timestamp.systemClock())
        let secret = WebhookSecret.generate()
        let sealed = try sealer.seal(secret.bytes, for: id)
        let webhook = try await change("webhook.add", id) { store in
            guard try store.webhooks().count < WebhookLimits.webhooks else {
                throw Problem(
                    .conflict, "There are \(WebhookLimits.webhooks) webhooks, the most there may be: remove one first.")
            }
            let webhook = WebhookRecord(
                id: id, name: name, url: address, types: types, secret: sealed, createdAt: store.now)
            try store.insert(webhook)
            return webhook
        }
        return (webhook, secret)
    }

    /// All webhooks, the oldest first.
    package func list() async throws -> [WebhookRecord] { try await store.read { try $0.webhooks() } }

    /// Replaces the secret. Messages are signed by the old one too for another day.
    package func rotate(_ id: String) async throws -> WebhookSecret {
        let id = try Self.id(id)
        let secret = WebhookSecret.generate()
        let sealed = try sealer.seal(secret.bytes, for: id)
        try await change("webhook.rotate", id) { store in
            var webhook = try store.existingWebhook(id)
            guard !webhook.isPuller else {
                throw Problem(.conflict, "A webhook without an address has no secret.", field: "id")
            }
            webhook.rotate(to: sealed, at: store.now)
            try store.update(webhook)
        }
        return secret
    }

    package func remove(_ id: String) async throws -> WebhookID {
        let id = try Self.id(id)
        try await change("webhook.remove", id) { store in
            guard try store.removeWebhook(id) else { throw Problem.notFound("webhook", field: "id") }
        }
        return id
    }

    /// Enables a webhook that was disabled. What still waits for it is sent.
    package func enable(_ id: String) async throws -> WebhookRecord {
        let id = try Self.id(id)
        return try await change("webhook.enable", id) { store in
            var webhook = try store.existingWebhook(id)
            (webhook.disabledAt, webhook.disabledReason) = (nil, nil)
            try store.update(webhook)
            return webhook
        }
    }

    /// Writes a `webhook.test` event, to be sent at once. Returns its number.
    package func test(_ id: String) async throws -> (webhook: WebhookRecord, event: Int64) {
        let id = try Self.id(id)
        return try await change("webhook.test", id) { store in
            let webhook = try store.existingWebhook(id)
            guard webhook.isEnabled else {
                throw Problem(.conflict, "This webhook is disabled: enable it first.", field: "id")
            }
            let event = EventRecord(
                id: .make(at: store.now), type: .webhookTest, at: store.now, data: EventData.test(of: id))
            return (webhook, try store.insert(event, for: webhook))
        }
    }

    /// The delivery of an event to a webhook. Nil if it is not among the latest.
    package func delivery(of event: Int64, to webhook: WebhookID) async throws -> DeliveryRecord? {
        try await store.read { store in
            try store.deliveries(of: webhook, limit: 100).first { $0.event == event }
        }
    }

    /// Sends what happened since `time` again, with the same ids. Returns the number of deliveries.
    package func replay(_ id: String, since time: Timestamp) async throws -> Int {
        let id = try Self.id(id)
        let webhook = try await change("webhook.replay", id) { store in
            let webhook = try store.existingWebhook(id)
            guard !webhook.isPuller else {
                throw Problem(
                    .conflict, "A webhook without an address has no deliveries: read GET /v1/server/events?since=….",
                    field: "id")
            }
            guard webhook.isEnabled else {
                throw Problem(.conflict, "This webhook is disabled: enable it first.", field: "id")
            }
            return webhook
        }
        let last = try await store.read { try $0.eventPositions().last }
        var after: Int64 = try await store.read { try $0.lastEvent(before: time) }
        var total = 0
        while after < last {
            let from = after
            let (next, count) = try await store.write { store in
                var count = 0
                let next = try store.replay(
                    to: webhook, after: from, upTo: last, limit: Self.replayBatch, count: &count)
                return (next, count)
            }.value
            total += count
            guard let next else { break }
            after = next
        }
        return total
    }

    private func change<T: Sendable>(
        _ action: String, _ webhook: WebhookID, _ body: @escaping @Sendable (StoreTransaction) throws -> T
    ) async throws -> T {
        let entry = AuditEntry(actor: .commandLine, action: action, subject: webhook.text)
        let value = try await store.write { store in
            let value = try body(store)
            try store.insert(entry)
            return value
        }.value
        audit.log(entry)
        return value
    }

    private static func types(_ events: [String]) throws -> Set<EventType>? {
        let names = events.flatMap { $0.split { $0 == "," || $0 == " " }.map(String.init) }
        guard names.count <= 64 else { throw Problem.invalid("event", "Name each event once.") }
        let types = try Set(names.map { try EventType.subscribable($0) })
        return types.isEmpty ? nil : types
    }

    private static func id(_ text: String) throws -> WebhookID {
        guard let id = WebhookID(text) else {
            throw Problem.invalid("id", "The id of a webhook is a UUID; `webhook list` has it.")
        }
        return id
    }
}

extension StoreTransaction {
    fileprivate func existingWebhook(_ id: WebhookID) throws -> WebhookRecord {
        guard let webhook = try webhook(id) else { throw Problem.notFound("webhook", field: "id") }
        return webhook
    }
}
