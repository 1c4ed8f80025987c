import Accounts
import HTTPTypes
import Model
import Services
import Storage
import Webhooks

/// What operators do with webhooks: list, add, try, replay, enable and remove them, give them new secrets, and see what
/// became of their deliveries. A secret is in one response alone, and in its repetition: that of the request that made it.
enum OperatorWebhookOperations {
    static func all(_ webhooks: WebhookCommands) -> [Operation] {
        [
            list(webhooks), add(webhooks), rotate(webhooks), enable(webhooks), remove(webhooks), test(webhooks),
            replay(webhooks), deliveries(webhooks),
        ]
    }

    static let schemas: [(String, Schema)] = [
        (
            "Webhook",
            .object([
                .required("id", .identifier), .optional("name", .text()),
                .optional("url", .text(), "None for a puller, which reads `GET /v1/server/events`."),
                .required("events", .list(events), "The events that it gets; empty for all."),
                .required("createdAt", .time), .optional("disabledAt", .time),
                .optional("disabledReason", .text(), "Why it was disabled."),
                .required("waiting", .integer(0...Int64.max), "Deliveries that wait."),
                .required(
                    "dropped", .integer(0...Int64.max),
                    "Deliveries that were dropped: too many waited, or for too long."),
                .optional("previousUntil", .time, "Until when the secret before the last rotation signs too."),
            ])
        ),
        (
            "MadeWebhook",
            .object([
                .required("webhook", .named("Webhook")),
                .optional("secret", .text(), "`whsec_…`. It is shown by this response alone; a puller has none."),
                .optional("duplicate", .boolean, "The request was already executed."),
            ])
        ),
        (
            "WebhookDelivery",
            .object([
                .required("id", .text(), "The number of the delivery."),
                .optional("event", .identifier, "The `webhook-id`; none if the event is kept no longer."),
                .optional("type", .choice(EventType.allCases.map(\.rawValue))),
                .required("createdAt", .time),
                .required(
                    "outcome", .choice(["waiting", "delivered", "failed", "expired", "dropped"]), "What became of it."),
                .required("attempts", .integer(0...Int64.max), "How many were made."),
                .optional("status", .integer(100...999), "The HTTP status of the last attempt."),
                .optional("reason", .text(), "Why the last attempt failed."),
                .optional("nextAt", .time, "When the next attempt is due."),
                .optional("doneAt", .time),
            ])
        ),
    ]

    private static let events = Schema.choice(EventType.subscribable.map(\.rawValue))
    private static let webhook = Operation.Parameter.path("webhook", .identifier, "The webhook's id.")
    private static let clientID = Schema.Member.required(
        "clientID", .identifier, "A UUID; a request repeated with it is executed once, and has the same result.")
    private static let path = "/admin/v1/webhooks"

    private struct Document: Encodable {
        var id: WebhookID
        var name: String?
        var url: String?
        var events: [String]
        var createdAt: Timestamp
        var disabledAt: Timestamp?
        var disabledReason: String?
        var waiting: Int64
        var dropped: Int64
        var previousUntil: Timestamp?

        init(_ record: WebhookRecord) {
            let now = Timestamp.systemClock()
            id = record.id
            name = record.name
            url = record.url
            events = record.types?.map(\.rawValue).sorted() ?? []
            createdAt = record.createdAt
            disabledAt = record.disabledAt
            disabledReason = record.disabledReason
            waiting = record.waiting
            dropped = record.dropped
            previousUntil = record.previous.flatMap { now < $0.until ? $0.until : nil }
        }
    }

    private struct WebhookList: Encodable { var webhooks: [Document] }
    private struct WebhookResponse: Encodable { var webhook: Document }

    private static func list(_ webhooks: WebhookCommands) -> Operation {
        Operation(
            name: "admin.webhooks.list", method: .get, path: path, summary: "All webhooks, the oldest first.",
            access: .operator, isRealtime: false,
            responses: [.ok(.object([.required("webhooks", .list(.named("Webhook")))]))], limit: .serverKeys
        ) { request in
            _ = try request.requireKey()
            return try .json(WebhookList(webhooks: try await webhooks.list().map(Document.init)))
        }
    }

    private struct AddBody: Decodable {
        var clientID: ClientID
        var url: String?
        var name: String?
        var events: [String]?
    }

    private struct Made: Encodable {
        var webhook: Document
        var secret: String?
        var duplicate: Bool?

        init(_ made: MadeWebhook) {
            webhook = Document(made.webhook)
            secret = made.webhook.isPuller ? nil : made.secret.text
            duplicate = made.isDuplicate ? true : nil
        }
    }

    private static func add(_ webhooks: WebhookCommands) -> Operation {
        Operation(
            name: "admin.webhooks.add", method: .post, path: path,
            summary: "Add a webhook, or without an address a puller.", access: .operator, isRealtime: false,
            body: .object([
                clientID,
                .optional(
                    "url", .text(maximum: 2_048),
                    "`https://…`; its host must be public or within `webhooks.allow`. Without it, events are only kept for "
                        + "`GET /v1/server/events`."),
                .optional("name", Schemas.displayName), .optional("events", .list(events), "Empty or missing for all."),
            ]),
            responses: [.created(.named("MadeWebhook")), .ok(.named("MadeWebhook"), "It was added before.")],
            problems: [.conflict, .clientIDReused], limit: .serverKeys
        ) { request in
            let administrator = try request.requireKey()
            let body = try request.decode(AddBody.self)
            let made = try await webhooks.add(
                url: body.url, name: body.name, events: body.events ?? [],
                by: .operator(administrator, request: body.clientID))
            return try .json(Made(made), status: made.isDuplicate ? 200 : 201)
        }
    }

    private struct RotateBody: Decodable { var clientID: ClientID }

    private static func rotate(_ webhooks: WebhookCommands) -> Operation {
        Operation(
            name: "admin.webhooks.rotate", method: .post, path: path + "/{webhook}/rotate",
            summary: "Give a webhook a new secret. Messages are signed by the old one too for another 24 hours.",
            access: .operator, isRealtime: false, parameters: [webhook], body: .object([clientID]),
            responses: [.ok(.named("MadeWebhook"))], problems: [.notFound, .conflict, .clientIDReused],
            limit: .serverKeys
        ) { request in
            let administrator = try request.requireKey()
            let body = try request.decode(RotateBody.self)
            let made = try await webhooks.rotate(
                request.webhook, by: .operator(administrator, request: body.clientID))
            return try .json(Made(made))
        }
    }

    private static func enable(_ webhooks: WebhookCommands) -> Operation {
        Operation(
            name: "admin.webhooks.enable", method: .post, path: path + "/{webhook}/enable",
            summary: "Enable a webhook that was disabled. What waits for it is sent.", access: .operator,
            isRealtime: false, parameters: [webhook],
            responses: [.ok(.object([.required("webhook", .named("Webhook"))]))], problems: [.notFound],
            limit: .serverKeys
        ) { request in
            let record = try await webhooks.enable(request.webhook, by: .operator(request.requireKey()))
            return try .json(WebhookResponse(webhook: Document(record)))
        }
    }

    private static func remove(_ webhooks: WebhookCommands) -> Operation {
        Operation(
            name: "admin.webhooks.remove", method: .delete, path: path + "/{webhook}",
            summary: "Remove a webhook. What waits for it is not sent.", access: .operator, isRealtime: false,
            parameters: [webhook], problems: [.notFound], limit: .serverKeys
        ) { request in
            _ = try await webhooks.remove(request.webhook, by: .operator(request.requireKey()))
            return OperationResponse(status: 204, body: [])
        }
    }

    private struct Delivery: Encodable {
        var id: String
        var event: EventID?
        var type: String?
        var createdAt: Timestamp
        var outcome: String
        var attempts: Int
        var status: Int?
        var reason: String?
        var nextAt: Timestamp?
        var doneAt: Timestamp?

        init(_ record: DeliveryRecord, event: EventRecord?) {
            id = "\(record.id)"
            self.event = event?.id
            type = event?.type.rawValue
            createdAt = record.createdAt
            outcome = record.outcome?.rawValue ?? "waiting"
            attempts = record.attempt
            status = record.status
            reason = record.reason
            nextAt = record.outcome == nil ? record.notBefore : nil
            doneAt = record.doneAt
        }
    }

    private struct TestResponse: Encodable { var delivery: Delivery? }

    private static func test(_ webhooks: WebhookCommands) -> Operation {
        Operation(
            name: "admin.webhooks.test", method: .post, path: path + "/{webhook}/test",
            summary: "Send a `webhook.test` event, and wait up to 20 seconds for what becomes of it.",
            access: .operator, isRealtime: false, parameters: [webhook],
            responses: [
                .ok(
                    .object([
                        .optional(
                            "delivery", .named("WebhookDelivery"),
                            "None for a puller, or if there was no attempt within 20 seconds.")
                    ]))
            ], problems: [.notFound, .conflict], limit: .serverKeys
        ) { request in
            let (_, delivery) = try await webhooks.test(request.webhook, by: .operator(request.requireKey()))
            return try .json(TestResponse(delivery: delivery.map { Delivery($0.record, event: $0.event) }))
        }
    }

    private struct ReplayBody: Decodable { var since: Timestamp }
    private struct ReplayResponse: Encodable { var deliveries: Int }

    private static func replay(_ webhooks: WebhookCommands) -> Operation {
        Operation(
            name: "admin.webhooks.replay", method: .post, path: path + "/{webhook}/replay",
            summary: "Send what happened since a time again, with the same ids.", access: .operator,
            isRealtime: false, parameters: [webhook],
            body: .object([.required("since", .time, "Events are kept for 30 days.")]),
            responses: [
                .ok(.object([.required("deliveries", .integer(0...Int64.max), "How many are made again.")]))
            ], problems: [.notFound, .conflict], limit: .serverKeys
        ) { request in
            let administrator = try request.requireKey()
            let body = try request.decode(ReplayBody.self)
            let count = try await webhooks.replay(
                request.webhook, since: body.since, by: .operator(administrator))
            return try .json(ReplayResponse(deliveries: count))
        }
    }

    private struct DeliveryList: Encodable { var deliveries: [Delivery] }

    private static func deliveries(_ webhooks: WebhookCommands) -> Operation {
        Operation(
            name: "admin.webhooks.deliveries", method: .get, path: path + "/{webhook}/deliveries",
            summary:
                "The latest deliveries of a webhook, the newest first: those among the last 10,000 of all webhooks.",
            access: .operator, isRealtime: false,
            parameters: [webhook, .query("limit", .integer(1...100), "How many at most; the default is 50.")],
            responses: [.ok(.object([.required("deliveries", .list(.named("WebhookDelivery")))]))],
            problems: [.notFound], limit: .serverKeys
        ) { request in
            _ = try request.requireKey()
            let latest = try await webhooks.deliveries(
                to: request.webhook, limit: request.integer("limit", in: 1...100, default: 50))
            return try .json(DeliveryList(deliveries: latest.map { Delivery($0.record, event: $0.event) }))
        }
    }
}

extension OperationRequest {
    fileprivate var webhook: String { parameters["webhook"] ?? "" }
}
