import Accounts
import Calls
import Model
import Storage
import TestSupport
import Testing
import Webhooks

/// A real database with webhooks.
final class ScratchWebhooks: Sendable {
    let time = ManualClock<Timestamp>()
    let directory: ScratchDirectory
    let store: Store
    let connected = Shared<Set<EndpointID>>([])

    init() async throws {
        directory = try ScratchDirectory()
        let (time, connected) = (time, connected)
        store = Store(
            database: try SQLiteDatabase(path: directory.database), clock: { time.now },
            isConnected: { connected.value.contains($0) }, publish: { _ in })
        try await store.prepare()
    }

    func write<T: Sendable>(_ job: @escaping @Sendable (StoreTransaction) throws -> T) async throws -> T {
        try await store.write(job).value
    }

    /// - Parameter url: nil for a puller.
    func add(url: String? = "https://app.example/hook", types: Set<EventType>? = nil) async throws -> WebhookRecord {
        let webhook = WebhookRecord(
            id: .make(at: time.now), url: url, types: types, secret: [1, 2, 3], createdAt: time.now)
        try await write { try $0.insert(webhook) }
        return webhook
    }

    func webhook(_ id: WebhookID) async throws -> WebhookRecord {
        try #require(try await store.read { try $0.webhook(id) })
    }

    @discardableResult
    func event(_ type: EventType = .callEnded, expiresIn seconds: Int64? = nil) async throws -> EventRecord {
        let now = time.now
        let event = EventRecord(
            id: .make(at: now), type: type, at: now, expiresAt: seconds.map { now.adding(seconds: $0) },
            data: #"{"call":"x"}"#)
        try await write { try $0.insert(event) }
        return event
    }

    func claim(_ webhook: WebhookRecord, limit: Int = 100, seconds: Int64 = 60) async throws -> [ClaimedDelivery] {
        try await write { store in
            try store.claimDeliveries(of: webhook.id, limit: limit, until: store.now.adding(seconds: seconds))
        }
    }

    @discardableResult
    func settle(_ claim: ClaimedDelivery, _ result: Settlement.Result) async throws -> Bool {
        try await write { try $0.settle([Settlement(claim.delivery, result)]).contains(claim.delivery.id) }
    }

    /// All events, as pullers read them.
    func pulled(after number: Int64 = 0) async throws -> [EventRecord] {
        try await store.read { try $0.pulledEvents(after: number, limit: 1000) }
    }

    func user(_ name: String, ext: String? = nil) async throws -> UserID {
        try await write { store in
            let user = UserRecord(id: .make(at: store.now), displayName: name, createdAt: store.now)
            _ = try store.insert(user)
            if let ext { try store.link(ExternalIdentity(issuer: UserReference.issuer, subject: ext), to: user.id) }
            return user.id
        }
    }
}
