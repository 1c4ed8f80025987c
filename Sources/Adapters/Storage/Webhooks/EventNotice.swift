package import Model
package import Webhooks

/// What a commit means for those who deliver and read events.
package struct EventNotice: Hashable, Sendable {
    /// The webhooks for which it wrote deliveries that wait for a claim.
    package var webhooks: Set<WebhookID>
    /// The deliveries that were written as claims of this process: see `Store.claimNewDeliveries`.
    package var claims: [ClaimedDelivery]
    /// Whether it wrote events, which pullers may read.
    package var hasEvents: Bool
    /// Whether webhooks were added, removed or changed.
    package var hasChangedWebhooks: Bool
}
