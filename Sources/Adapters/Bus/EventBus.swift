package import Model

/// Publishes committed changes, in the order of their commits, and ephemeral events to the realtime hosts of all
/// machines.
///
/// Delivery is at most once. A host that misses a change notices the gap in the stream's sequence and reads the missing
/// changes from the store, so the bus need not be durable.
package protocol EventBus: Sendable {
    /// Publishes committed changes to every subscriber. Called on the store's writer thread: it must not block.
    func publish(_ changes: [Change])

    /// Publishes what a commit changed in conversations. Called on the store's writer thread: it must not block.
    func publish(_ updates: [ConversationUpdate])

    /// Publishes an ephemeral event to every subscriber.
    func publish(_ event: EphemeralEvent)

    /// Calls `subscriber` with all messages published from now on, on the publisher's thread; it must not block.
    func subscribe(_ subscriber: @escaping @Sendable (BusMessage) -> Void)
}

/// A message on the bus.
package enum BusMessage: Sendable, Hashable {
    /// Changes of one commit or one group of commits; those of one stream are in order and without gaps.
    case changes([Change])
    /// What one commit changed in conversations.
    case conversations([ConversationUpdate])
    case event(EphemeralEvent)
}

/// An event that is never stored: a user's presence, of which only the latest counts, or the captions of a call, which
/// keep their order (`StreamName.Kind`).
package struct EphemeralEvent: Sendable, Hashable {
    package var stream: StreamName
    /// The event's JSON text.
    package var data: String
    /// The listeners' endpoints that may receive it; nil for all of them.
    package var audience: Set<EndpointID>?
    /// Whom it is about, in a stream that has events about several users: a new one replaces an older one about the same.
    package var subject: UserID?
    /// Of a presence stream: listeners get what they see of it instead of `data`.
    package var presence: Presence?

    package init(
        stream: StreamName, data: String, audience: Set<EndpointID>? = nil, subject: UserID? = nil
    ) {
        self.stream = stream
        self.data = data
        self.audience = audience
        self.subject = subject
    }

    package init(_ presence: Presence, of user: UserID) {
        self.init(stream: .presence(user), data: presence.json)
        self.presence = presence
    }
}
