package import Model

/// What a commit means for those who deliver and read events.
package struct EventNotice: Hashable, Sendable {
    /// The webhooks for which it wrote deliveries.
    package var webhooks: Set<WebhookID>
    /// Whether it wrote events, which pullers may read.
    package var hasEvents: Bool
    /// Whether webhooks were added, removed or changed.
    package var hasChangedWebhooks: Bool
}
