import Model
import Webhooks

/// A webhook with an address: where its messages are sent to, and with what they are signed.
struct DeliveryTarget: Hashable, Sendable {
    let webhook: WebhookID
    let url: WebhookURL
    private let secret: [UInt8]
    /// The secret before the last rotation.
    private let previous: Previous?

    private struct Previous: Hashable, Sendable {
        var secret: [UInt8]
        var until: Timestamp
    }

    /// - Throws: if the current secret cannot be opened. A previous one that cannot is left out: it was sealed with a key
    ///   that is gone.
    init(_ webhook: WebhookRecord, at url: WebhookURL, _ sealer: any SecretSealer) throws {
        self.webhook = webhook.id
        self.url = url
        secret = try sealer.open(webhook.secret, for: webhook.id)
        previous = webhook.previous.flatMap { previous in
            (try? sealer.open(previous.secret, for: webhook.id)).map { Previous(secret: $0, until: previous.until) }
        }
    }

    init(webhook: WebhookID, url: WebhookURL, secret: [UInt8]) {
        (self.webhook, self.url, self.secret, previous) = (webhook, url, secret, nil)
    }

    /// What signs a message now, the current secret first.
    func secrets(at now: Timestamp) -> [[UInt8]] {
        guard let previous, now < previous.until else { return [secret] }
        return [secret, previous.secret]
    }
}
