package import Model

/// Who subscribes to what: a copy in memory of the enabled webhooks, so that a change without subscribers costs neither a
/// query nor a row.
package struct WebhookSubscriptions: Hashable, Sendable {
    private struct Address: Hashable, Sendable {
        var webhook: WebhookID
        /// Nil for all.
        var types: Set<EventType>?
    }

    private var addresses: [Address] = []
    private var pulled: Set<EventType> = []
    private var types: Set<EventType> = []

    package init() {}

    /// Disabled webhooks are left out.
    package init(_ webhooks: [WebhookRecord]) {
        for webhook in webhooks where webhook.isEnabled {
            let wanted = webhook.types ?? Set(EventType.subscribable)
            types.formUnion(wanted)
            if webhook.isPuller {
                pulled.formUnion(wanted)
            } else {
                addresses.append(Address(webhook: webhook.id, types: webhook.types))
            }
        }
    }

    package func includes(_ type: EventType) -> Bool { types.contains(type) }

    /// Whether pullers read it.
    package func isPulled(_ type: EventType) -> Bool { pulled.contains(type) }

    /// The webhooks with an address that subscribe to it.
    package func recipients(of type: EventType) -> [WebhookID] {
        addresses.filter { $0.types?.contains(type) ?? true }.map(\.webhook)
    }
}
