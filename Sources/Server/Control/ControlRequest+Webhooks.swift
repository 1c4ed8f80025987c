import Model
import Services
import Webhooks

// Requests of `switchboard webhook`.
extension WebhookCommands {
    /// Nil for other requests.
    func handle(_ request: ControlRequest) async throws -> ControlResponse? {
        switch request {
        case .webhookAdd(let url, let name, let events):
            let made = try await add(url: url, name: name, events: events)
            return ControlResponse(lines: [made.webhook.id.text] + (made.webhook.isPuller ? [] : [made.secret.text]))
        case .webhookList:
            return ControlResponse(lines: try await list().map(Self.line))
        case .webhookRotate(let id):
            return ControlResponse(lines: [try await rotate(id).secret.text])
        case .webhookRemove(let id):
            return ControlResponse(lines: ["The webhook \(try await remove(id)) is removed."])
        case .webhookEnable(let id):
            let webhook = try await enable(id)
            return ControlResponse(lines: ["The webhook \(webhook.id) is enabled; \(webhook.waiting) deliveries wait."])
        case .webhookTest(let id):
            return try await test(id)
        case .webhookReplay(let id, let since):
            let count = try await replay(id, since: Timestamp.start(since: since))
            return ControlResponse(lines: ["\(count) deliveries are made again."])
        default: return nil
        }
    }

    private func test(_ id: String) async throws -> ControlResponse {
        let (webhook, delivery) = try await test(id)
        if webhook.isPuller { return ControlResponse(lines: ["The event is among those of GET /v1/server/events."]) }
        if let delivery { return Self.outcome(of: delivery.record) }
        return ControlResponse(error: "There was no outcome within 20 seconds: \(webhook.waiting) deliveries wait.")
    }

    private static func outcome(of delivery: DeliveryRecord) -> ControlResponse {
        let status = delivery.status.map { "the response was \($0)" } ?? "there was no response"
        guard delivery.outcome == .delivered else {
            let reason = delivery.reason.map { ": \($0)" } ?? ""
            return ControlResponse(error: "The webhook failed; \(status)\(reason)")
        }
        return ControlResponse(lines: ["The webhook works: \(status)."])
    }

    private static func line(_ webhook: WebhookRecord) -> String {
        [
            webhook.id.text, webhook.name ?? "-", webhook.url ?? "pulled",
            webhook.disabledAt == nil ? "enabled" : "disabled: \(webhook.disabledReason ?? "-")",
            webhook.types.map { $0.map(\.rawValue).sorted().joined(separator: ",") } ?? "all",
            "\(webhook.waiting) waiting", "\(webhook.dropped) dropped", webhook.createdAt.text,
        ].joined(separator: "\t")
    }
}
