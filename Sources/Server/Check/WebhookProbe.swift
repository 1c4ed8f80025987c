import Foundation
import Services

/// Asks the running server whether its webhooks work: a phone that is not woken does not ring.
///
/// Nothing is sent; `switchboard webhook test` does that.
struct WebhookProbe: Sendable {
    let server: RunningServer

    func run() async -> CheckOutcome {
        do throws(CheckProblem) {
            let text = try await server.ask(.webhooks)
            guard let webhooks = try? JSONDecoder().decode([WebhookHealth].self, from: Data(text.utf8)) else {
                throw CheckProblem("the server's list of webhooks cannot be read", remedy: "Look at its log.")
            }
            return evaluate(webhooks)
        } catch {
            return .failed(error)
        }
    }

    func evaluate(_ webhooks: [WebhookHealth]) -> CheckOutcome {
        guard !webhooks.isEmpty else { return .notConfigured("there are no webhooks") }
        let failing = webhooks.filter { !$0.isDisabled && $0.reason != nil }
        let disabled = webhooks.filter(\.isDisabled).map { webhook in
            "The webhook \(webhook.name) (\(webhook.id)) is disabled\(CheckProblem.clause(webhook.reason)): "
                + "`switchboard webhook enable` it, or remove it."
        }
        guard failing.isEmpty else {
            let details = failing.map { webhook in
                "the last deliveries to \(webhook.name) (\(webhook.id)) failed\(CheckProblem.clause(webhook.reason)), "
                    + "\(webhook.waiting) wait"
            }
            return .failed(
                CheckProblem(
                    details.joined(separator: "; "),
                    remedy: (["Correct its server, then try it with `switchboard webhook test`."] + disabled)
                        .joined(separator: " ")))
        }
        return .passed(webhooks.count == 1 ? "1 webhook" : "\(webhooks.count) webhooks", warnings: disabled)
    }
}
