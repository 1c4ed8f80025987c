package import Model

/// How what happened on one machine reaches the realtime hosts of all: committed changes in the order of their commits,
/// and ephemeral events.
///
/// Delivery is at most once. A host that misses a change sees the hole in the stream's dense sequence and reads the
/// missing part from the store, so nothing here has to be durable.
package protocol EventBus: Sendable {
    /// Hands committed changes to every subscriber. Called on the store's writer thread: it must not block.
    func publish(_ changes: [Change])

    /// Hands an ephemeral event to every subscriber.
    func publish(_ event: EphemeralEvent)

    /// Calls `subscriber` with everything published from now on, on the publisher's thread; it must not block.
    func subscribe(_ subscriber: @escaping @Sendable (BusMessage) -> Void)
}

/// What travels on the bus.
package enum BusMessage: Sendable, Hashable {
    /// Changes of one commit or one group of commits; those of one stream are in order and dense.
    case changes([Change])
    case event(EphemeralEvent)
}

/// Something that is told and never stored: a user's presence, of which only the latest counts, or what was said in a
/// call, which keeps its order (`StreamName.Kind`).
package struct EphemeralEvent: Sendable, Hashable {
    package var stream: StreamName
    /// The event's JSON text.
    package var data: String
    /// Of those who listen, the endpoints that may hear it; nil: all of them.
    package var audience: Set<EndpointID>?

    package init(stream: StreamName, data: String, audience: Set<EndpointID>? = nil) {
        self.stream = stream
        self.data = data
        self.audience = audience
    }
}
