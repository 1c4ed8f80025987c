import Model
package import Storage
import Webhooks

/// Whether a webhook works, for `switchboard check`.
package struct WebhookHealth: Codable, Hashable, Sendable {
    package var id: String
    /// The name that the operator gave it, else its host; the URL may contain a token.
    package var name: String
    package var isDisabled: Bool
    /// Why it is disabled, or why its last deliveries failed.
    package var reason: String?
    package var waiting: Int64

    /// How many deliveries are looked at.
    private static let deliveries = 20
    /// How many of those that were attempted have to have failed.
    private static let failures = 3

    package init(id: String, name: String, isDisabled: Bool = false, reason: String? = nil, waiting: Int64 = 0) {
        self.id = id
        self.name = name
        self.isDisabled = isDisabled
        self.reason = reason
        self.waiting = waiting
    }

    /// Of every webhook with an address.
    package static func all(in store: StoreTransaction) throws -> [Self] {
        try store.webhooks().compactMap { webhook in
            guard let url = webhook.url else { return nil }
            let latest = try store.deliveries(of: webhook.id, limit: Self.deliveries)
            let host = WebhookURL(url)?.host ?? webhook.id.text
            return Self(
                id: webhook.id.text, name: webhook.name ?? host, isDisabled: !webhook.isEnabled,
                reason: webhook.isEnabled ? Self.failure(of: latest) : webhook.disabledReason,
                waiting: webhook.waiting)
        }
    }

    /// Why the last deliveries failed; nil unless all of them did.
    ///
    /// - Parameter latest: the newest first.
    static func failure(of latest: [DeliveryRecord]) -> String? {
        let attempted = latest.filter { $0.outcome == .delivered || $0.reason != nil }.prefix(failures)
        guard let last = attempted.first, !attempted.contains(where: { $0.outcome == .delivered }) else { return nil }
        return last.reason
    }
}
