import Accounts
import Crypto
package import Model
package import Storage
package import Webhooks

/// The operator's commands for webhooks, on the command line and on the operator's page. Each write and its entry in the
/// audit log are one transaction; the store keeps the subscriptions in memory up to date.
package final class WebhookCommands: Sendable {
    /// How many events a replay looks at in one transaction.
    private static let replayBatch = 500
    /// How long a test waits for the outcome: the time of an attempt and of its commits.
    private static let testPolls = 200
    private static let testPollInterval = Duration.milliseconds(100)
    private static let clientIDReused = Problem(
        .clientIDReused, "This client id was used for another request.", field: "clientID")

    package let store: Store
    private let sealer: any SecretSealer
    private let rules: WebhookAddressRules
    private let audit: AuditLog
    /// Of this process; see `numbers`.
    private let repetitionSecret = SymmetricKey(size: .bits256)

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
        url: String?, name: String?, events: [String], by administrator: WebhookAdministrator = .commandLine
    ) async throws -> MadeWebhook {
        let address = try url.map { try WebhookURL($0, allowing: rules).text }
        let types = try Self.types(events)
        let name = try name.map { try AccountRules.displayName($0, field: "name") }
        var generator = numbers(for: "add", by: administrator)
        // The time of an id is that of the request, which a repetition does not know: it has a random one instead.
        let id: WebhookID =
            if case .operator(_, .some) = administrator {
                .make(at: Timestamp(milliseconds: Int64(generator.next() >> 16)), using: &generator)
            } else { .make(at: Timestamp.systemClock(), using: &generator) }
        let secret = WebhookSecret(using: &generator)
        let sealed = try sealer.seal(secret.bytes, for: id)
        return try await change(administrator.entry("add", id)) { [sealer] store in
            if let known = try store.webhook(id) {
                // Only the same request makes the same id.
                guard try sealer.open(known.secret, for: id) == secret.bytes, known.url == address,
                    known.name == name, known.types == types
                else { throw Self.clientIDReused }
                return Change(MadeWebhook(webhook: known, secret: secret, isDuplicate: true), isChange: false)
            }
            guard try !store.wasRemoved(id) else { throw Self.clientIDReused }
            guard try store.webhooks().count < WebhookLimits.webhooks else {
                throw Problem(
                    .conflict, "There are \(WebhookLimits.webhooks) webhooks, the most there may be: remove one first.")
            }
            let webhook = WebhookRecord(
                id: id, name: name, url: address, types: types, secret: sealed, createdAt: store.now)
            try store.insert(webhook)
            return Change(MadeWebhook(webhook: webhook, secret: secret, isDuplicate: false))
        }
    }

    /// All webhooks, the oldest first.
    package func list() async throws -> [WebhookRecord] { try await store.read { try $0.webhooks() } }

    /// Replaces the secret. Messages are signed by the old one too for another day.
    package func rotate(
        _ id: String, by administrator: WebhookAdministrator = .commandLine
    ) async throws -> MadeWebhook {
        let id = try Self.id(id)
        var generator = numbers(for: "rotate \(id)", by: administrator)
        let secret = WebhookSecret(using: &generator)
        let sealed = try sealer.seal(secret.bytes, for: id)
        return try await change(administrator.entry("rotate", id)) { [sealer] store in
            var webhook = try store.existingWebhook(id)
            guard !webhook.isPuller else {
                throw Problem(.conflict, "A webhook without an address has no secret.", field: "webhook")
            }
            // Secrets that cannot be opened were sealed with a key that is gone; a new one mends that.
            if (try? sealer.open(webhook.secret, for: id)) == secret.bytes {
                return Change(MadeWebhook(webhook: webhook, secret: secret, isDuplicate: true), isChange: false)
            }
            // It was rotated again since.
            if let previous = webhook.previous, (try? sealer.open(previous.secret, for: id)) == secret.bytes {
                throw Self.clientIDReused
            }
            webhook.rotate(to: sealed, at: store.now)
            try store.update(webhook)
            return Change(MadeWebhook(webhook: webhook, secret: secret, isDuplicate: false))
        }
    }

    package func remove(
        _ id: String, by administrator: WebhookAdministrator = .commandLine
    ) async throws -> WebhookID {
        let id = try Self.id(id)
        return try await change(administrator.entry("remove", id)) { store in
            guard try store.removeWebhook(id) else { throw Problem.notFound("webhook", field: "webhook") }
            return Change(id)
        }
    }

    /// Enables a webhook that was disabled. What still waits for it is sent.
    package func enable(
        _ id: String, by administrator: WebhookAdministrator = .commandLine
    ) async throws -> WebhookRecord {
        let id = try Self.id(id)
        return try await change(administrator.entry("enable", id)) { store in
            var webhook = try store.existingWebhook(id)
            (webhook.disabledAt, webhook.disabledReason) = (nil, nil)
            try store.update(webhook)
            return Change(webhook)
        }
    }

    /// Writes a `webhook.test` event, which is sent at once, and waits until it was attempted.
    ///
    /// - Returns: the webhook, and the delivery: nil for a puller, or if there was no attempt within 20 seconds.
    package func test(
        _ id: String, by administrator: WebhookAdministrator = .commandLine
    ) async throws -> (webhook: WebhookRecord, delivery: DeliveryOfEvent?) {
        let id = try Self.id(id)
        let (webhook, event) = try await change(administrator.entry("test", id)) { store in
            let webhook = try store.existingWebhook(id)
            guard webhook.isEnabled else {
                throw Problem(.conflict, "This webhook is disabled: enable it first.", field: "webhook")
            }
            let event = EventRecord(
                id: .make(at: store.now), type: .webhookTest, at: store.now, data: EventData.test(of: id))
            return Change((webhook, try store.insert(event, for: webhook)))
        }
        if webhook.isPuller { return (webhook, nil) }
        for _ in 0..<Self.testPolls {
            let delivery = try await store.read { store in
                try store.deliveries(of: id, limit: 100).first { $0.event == event && $0.attempt > 0 }
                    .map { DeliveryOfEvent(record: $0, event: try store.event(event)) }
            }
            if let delivery { return (webhook, delivery) }
            try await Task.sleep(for: Self.testPollInterval)
        }
        return (webhook, nil)
    }

    /// The latest deliveries to a webhook, the newest first, each with its event unless that is kept no longer.
    package func deliveries(to id: String, limit: Int) async throws -> [DeliveryOfEvent] {
        let id = try Self.id(id)
        return try await store.read { store in
            _ = try store.existingWebhook(id)
            return try store.deliveries(of: id, limit: limit).map {
                DeliveryOfEvent(record: $0, event: try store.event($0.event))
            }
        }
    }

    /// Sends what happened since `time` again, with the same ids. Returns the number of deliveries.
    package func replay(
        _ id: String, since time: Timestamp, by administrator: WebhookAdministrator = .commandLine
    ) async throws -> Int {
        let id = try Self.id(id)
        let webhook = try await change(administrator.entry("replay", id)) { store in
            let webhook = try store.existingWebhook(id)
            guard !webhook.isPuller else {
                throw Problem(
                    .conflict, "A webhook without an address has no deliveries: read GET /v1/server/events?since=….",
                    field: "webhook")
            }
            guard webhook.isEnabled else {
                throw Problem(.conflict, "This webhook is disabled: enable it first.", field: "webhook")
            }
            return Change(webhook)
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
}

extension WebhookCommands {
    /// What a command returns, and whether it changed something: what did not is not in the audit log.
    private struct Change<Value: Sendable>: Sendable {
        var value: Value
        var isChange: Bool

        init(_ value: Value, isChange: Bool = true) {
            self.value = value
            self.isChange = isChange
        }
    }

    private func change<Value: Sendable>(
        _ entry: AuditEntry, _ body: @escaping @Sendable (StoreTransaction) throws -> Change<Value>
    ) async throws -> Value {
        let change = try await store.write { store in
            let change = try body(store)
            if change.isChange { try store.insert(entry) }
            return change
        }.value
        if change.isChange { audit.log(entry) }
        return change.value
    }

    /// Random numbers, or for a request that may be repeated numbers that only this process can derive, so that nothing
    /// secret has to be kept for the repetition.
    private func numbers(for purpose: String, by administrator: WebhookAdministrator) -> AnyNumbers {
        guard case .operator(let key, let request?) = administrator else {
            return AnyNumbers(SystemRandomNumberGenerator())
        }
        return AnyNumbers(
            DerivedNumbers(secret: repetitionSecret, label: "\(purpose) \(key.id.text) \(request.text)"))
    }

    private struct AnyNumbers: RandomNumberGenerator {
        private var generator: any RandomNumberGenerator

        init(_ generator: any RandomNumberGenerator) { self.generator = generator }

        mutating func next() -> UInt64 { generator.next() }
    }

    private static func types(_ events: [String]) throws -> Set<EventType>? {
        let names = events.flatMap { $0.split { $0 == "," || $0 == " " }.map(String.init) }
        guard names.count <= 64 else { throw Problem.invalid("events", "Name each event once.") }
        let types = try Set(names.map { try EventType.subscribable($0) })
        return types.isEmpty ? nil : types
    }

    private static func id(_ text: String) throws -> WebhookID {
        guard let id = WebhookID(text) else {
            throw Problem.invalid("webhook", "The id of a webhook is a UUID; `webhook list` has it.")
        }
        return id
    }
}

extension StoreTransaction {
    fileprivate func existingWebhook(_ id: WebhookID) throws -> WebhookRecord {
        guard let webhook = try webhook(id) else { throw Problem.notFound("webhook", field: "webhook") }
        return webhook
    }
}
