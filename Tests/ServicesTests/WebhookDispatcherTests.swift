import Logging
import Model
import Providers
import ServiceLifecycle
import Storage
import Synchronization
import TestSupport
import Testing
import Tokens
import Webhooks

@testable import Services

/// Deliveries over a real database, with addresses that the test answers for.
@Suite(.timeLimit(.minutes(2))) struct WebhookDispatcherTests {
    /// Requests, and what they get.
    private final class Addresses: WebhookTransport {
        struct Request: Sendable {
            var message: WebhookMessage
            var url: String
        }

        let requests = Mutex<[Request]>([])
        private let handler: @Sendable (Request) async throws(ProviderFailure) -> WebhookResponse

        init(_ handler: @escaping @Sendable (Request) async throws(ProviderFailure) -> WebhookResponse) {
            self.handler = handler
        }

        func send(_ message: WebhookMessage, to url: WebhookURL) async throws(ProviderFailure) -> WebhookResponse {
            let request = Request(message: message, url: url.text)
            requests.withLock { $0.append(request) }
            return try await handler(request)
        }

        func ids(at url: String) -> [String] {
            requests.withLock { $0.filter { $0.url == url }.map(\.message.id) }
        }
    }

    /// The system's clock, which a test can set forward.
    private final class Clock: Sendable {
        private let offset = Mutex(Int64(0))

        var now: Timestamp { Timestamp.systemClock().adding(seconds: offset.withLock { $0 }) }

        /// The dispatcher sleeps by the system's clock, so it is woken.
        func advance(seconds: Int64, waking dispatcher: WebhookDispatcher) {
            offset.withLock { $0 += seconds }
            dispatcher.wake()
        }
    }

    private let time = Clock()
    private let store: Store
    private let key = WebhookKey.ephemeral()

    init() async throws {
        let time = time
        store = Store(
            database: try SQLiteDatabase(path: try ScratchDirectory().database), clock: { time.now }, publish: { _ in })
        try await store.prepare()
    }

    private func dispatcher(_ transport: any WebhookTransport, key: WebhookKey? = nil) -> WebhookDispatcher {
        WebhookDispatcher(
            store: store, transport: transport, sealer: key ?? self.key, clock: { [time] in time.now }, random: { 0.5 },
            logger: Logger(label: "webhooks") { _ in SwiftLogNoOpLogHandler() })
    }

    private func add(_ url: String, secret: [UInt8] = [1, 2, 3]) async throws -> WebhookID {
        let id = WebhookID.make(at: time.now)
        let webhook = WebhookRecord(
            id: id, url: url, secret: try key.seal(secret, for: id), createdAt: time.now)
        _ = try await store.write { try $0.insert(webhook) }
        return id
    }

    private func event(expiresIn seconds: Int64? = nil) async throws -> EventID {
        let now = time.now
        let event = EventRecord(
            id: .make(at: now), type: seconds == nil ? .callEnded : .callRinging, at: now,
            expiresAt: seconds.map { now.adding(seconds: $0) }, data: #"{"call":"c"}"#)
        _ = try await store.write { try $0.insert(event) }
        return event.id
    }

    private func attempts(_ webhook: WebhookID) async throws -> Int? {
        try await store.read { try $0.deliveries(of: webhook, limit: 1).first?.attempt }
    }

    private func waiting(_ webhook: WebhookID) async throws -> Int64? {
        try await store.read { try $0.webhook(webhook)?.waiting }
    }

    private func running(_ dispatcher: WebhookDispatcher, _ body: () async throws -> Void) async throws {
        let task = Task { await dispatcher.run() }
        defer { task.cancel() }
        try await body()
    }

    @Test func anEventIsSentSignedAndOnce() async throws {
        let addresses = Addresses { _ in WebhookResponse(status: 200) }
        let webhook = try await add("https://a.example")
        try await running(dispatcher(addresses)) {
            let id = try await event(expiresIn: 30)
            try await eventually { try await waiting(webhook) == 0 }
            #expect(addresses.ids(at: "https://a.example") == [id.text])
            let message = try #require(addresses.requests.withLock { $0.first?.message })
            #expect(String(decoding: message.body, as: UTF8.self).contains(#""data":{"call":"c","remainingMs":"#))
            #expect(message.secrets == [[1, 2, 3]])
        }
    }

    @Test func aFailureIsRepeatedWithItsID() async throws {
        let failures = Mutex(2)
        let addresses = Addresses { _ in
            let fails = failures.withLock { failures in
                failures -= 1
                return failures >= 0
            }
            return WebhookResponse(status: fails ? 500 : 204)
        }
        let webhook = try await add("https://a.example")
        let dispatcher = dispatcher(addresses)
        try await running(dispatcher) {
            let id = try await event()
            try await eventually { try await attempts(webhook) == 1 }
            time.advance(seconds: 6, waking: dispatcher)
            try await eventually { try await attempts(webhook) == 2 }
            time.advance(seconds: 31, waking: dispatcher)
            try await eventually { try await waiting(webhook) == 0 }
            #expect(addresses.ids(at: "https://a.example") == [id.text, id.text, id.text])
        }
    }

    @Test func silentOnesHoldUpNoOther() async throws {
        let addresses = Addresses { request async throws(ProviderFailure) in
            guard request.url == "https://quick.example" else {
                try? await Task.sleep(for: .seconds(3_600))
                throw .cancelled
            }
            return WebhookResponse(status: 200)
        }
        for index in 0..<20 { _ = try await add("https://silent\(index).example") }
        let quick = try await add("https://quick.example")
        try await running(dispatcher(addresses)) {
            for _ in 0..<100 { _ = try await event() }
            try await eventually { try await waiting(quick) == 0 }
            let ids = addresses.ids(at: "https://quick.example")
            #expect(ids.count == 100 && Set(ids).count == 100)
            for index in 0..<20 { #expect(addresses.ids(at: "https://silent\(index).example").count <= 16) }
        }
    }

    @Test func aClaimThatIsLostComesAgainAfterItsLease() async throws {
        let webhook = try await add("https://a.example")
        let id = try await event()
        let until = time.now.adding(seconds: 30)
        let claims = try await store.write { try $0.claimDeliveries(of: webhook, limit: 10, until: until) }.value
        let lost = try #require(claims.first)
        #expect(claims.map(\.event.id) == [id])
        let addresses = Addresses { _ in WebhookResponse(status: 200) }
        let dispatcher = dispatcher(addresses)
        try await running(dispatcher) {
            // Another one is delivered meanwhile.
            let other = try await event()
            try await eventually { try await waiting(webhook) == 1 }
            #expect(addresses.ids(at: "https://a.example") == [other.text])
            time.advance(seconds: 31, waking: dispatcher)
            try await eventually { try await waiting(webhook) == 0 }
            #expect(addresses.ids(at: "https://a.example") == [other.text, id.text])
            // The late settlement of the lost claim changes nothing.
            let late = Settlement(lost.delivery, .givenUp(status: nil, reason: "late"))
            #expect(try await store.write { try $0.settle([late]) }.value.isEmpty)
        }
    }

    @Test func stoppingReleasesWhatIsInFlight() async throws {
        let addresses = Addresses { _ async throws(ProviderFailure) in
            try? await Task.sleep(for: .seconds(3_600))
            throw .cancelled
        }
        let webhook = try await add("https://a.example")
        let dispatcher = dispatcher(addresses)
        let graph = ServiceGroup(
            services: [dispatcher], logger: Logger(label: "group") { _ in SwiftLogNoOpLogHandler() })
        let task = Task { try await graph.run() }
        _ = try await event()
        try await eventually { addresses.ids(at: "https://a.example").count == 1 }
        await graph.triggerGracefulShutdown()
        try await task.value
        let delivery = try #require(try await store.read { try $0.deliveries(of: webhook, limit: 1).first })
        #expect(delivery.attempt == 0 && delivery.leaseUntil == nil && delivery.notBefore <= time.now)
    }

    @Test func goneDisables() async throws {
        let addresses = Addresses { _ in WebhookResponse(status: 410) }
        let webhook = try await add("https://a.example")
        try await running(dispatcher(addresses)) {
            _ = try await event()
            try await eventually { try await store.read { try $0.webhook(webhook)?.isEnabled == false } }
            let health = try await store.read { try WebhookHealth.all(in: $0) }
            #expect(health.map(\.isDisabled) == [true])
            #expect(health.first?.name == "a.example")
        }
    }

    @Test func aSecretOfAnotherKeyDisables() async throws {
        let addresses = Addresses { _ in WebhookResponse(status: 200) }
        let webhook = try await add("https://a.example")
        try await running(dispatcher(addresses, key: .ephemeral())) {
            try await eventually { try await store.read { try $0.webhook(webhook)?.isEnabled == false } }
            #expect(addresses.requests.withLock { $0.isEmpty })
        }
    }

    @Test func rotationSignsTwice() async throws {
        let addresses = Addresses { _ in WebhookResponse(status: 200) }
        let webhook = try await add("https://a.example")
        let sealed = try key.seal([4, 5], for: webhook)
        _ = try await store.write { store in
            guard var record = try store.webhook(webhook) else { return }
            record.rotate(to: sealed, at: store.now)
            try store.update(record)
        }
        let dispatcher = dispatcher(addresses)
        try await running(dispatcher) {
            _ = try await event()
            try await eventually { try await waiting(webhook) == 0 }
            time.advance(seconds: WebhookRecord.overlapSeconds, waking: dispatcher)
            _ = try await event()
            try await eventually { addresses.requests.withLock { $0.count } == 2 }
            #expect(addresses.requests.withLock { $0.map(\.message.secrets) } == [[[4, 5], [1, 2, 3]], [[4, 5]]])
        }
    }

    @Test func theHealthIsThatOfTheLastAttempts() {
        func delivery(_ outcome: DeliveryRecord.Outcome?, _ reason: String?) -> DeliveryRecord {
            DeliveryRecord(
                id: 1, webhook: .make(at: time.now), event: 1, notBefore: time.now, createdAt: time.now,
                outcome: outcome, reason: reason)
        }
        let good = delivery(.delivered, nil)
        let bad = delivery(nil, "It responded 500.")
        let new = delivery(nil, nil)
        #expect(WebhookHealth.failure(of: []) == nil)
        #expect(WebhookHealth.failure(of: [new, new]) == nil)
        #expect(WebhookHealth.failure(of: [new, bad]) == "It responded 500.")
        #expect(WebhookHealth.failure(of: [bad, good]) == nil)
        #expect(WebhookHealth.failure(of: [bad, bad, bad, good]) == "It responded 500.")
    }
}
