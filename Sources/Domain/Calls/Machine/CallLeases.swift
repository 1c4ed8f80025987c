package import Model

/// The leases of joined participants: who is considered alive in which call, and until when.
///
/// A participant's lease is renewed by any sign of life: a frame from its endpoint's session, or the other side's
/// report that media flows. It lapses only if none of them arrives for the whole duration; losing a socket alone ends
/// no call. Leases are kept in memory, in nanoseconds of a clock that stops while the machine is suspended, like the
/// gateway's. After a restart each starts again, and after a stall each is extended (`extend`), so that an outage of
/// the server ends nobody's call.
package struct CallLeases: Sendable {
    package struct Holder: Hashable, Sendable {
        package var call: CallID
        package var user: UserID
        package var endpoint: EndpointID

        package init(call: CallID, user: UserID, endpoint: EndpointID) {
            self.call = call
            self.user = user
            self.endpoint = endpoint
        }
    }

    private struct Key: Hashable {
        var call: CallID
        var user: UserID
    }

    private struct Lease {
        var endpoint: EndpointID
        var until: Int64
    }

    /// Nanoseconds.
    package let duration: Int64
    private var leases: [Key: Lease] = [:]
    private var byEndpoint: [EndpointID: Set<Key>] = [:]

    package init(duration: Int64 = 30_000_000_000) { self.duration = duration }

    package var count: Int { leases.count }

    /// Starts a lease, which replaces the participant's previous one.
    package mutating func start(_ holder: Holder, at now: Int64) {
        let key = Key(call: holder.call, user: holder.user)
        remove(key)
        leases[key] = Lease(endpoint: holder.endpoint, until: now &+ duration)
        byEndpoint[holder.endpoint, default: []].insert(key)
    }

    package mutating func renew(_ call: CallID, _ user: UserID, at now: Int64) {
        leases[Key(call: call, user: user)]?.until = now &+ duration
    }

    /// The endpoint's session gave a sign of life: renews the leases of all its calls.
    package mutating func renew(_ endpoint: EndpointID, at now: Int64) {
        guard let keys = byEndpoint[endpoint] else { return }
        for key in keys { leases[key]?.until = now &+ duration }
    }

    /// The server was stalled for `stall` nanoseconds: extends every lease by that time, to `duration` from now at
    /// most.
    package mutating func extend(by stall: Int64, at now: Int64) {
        let latest = now &+ duration
        for key in Array(leases.keys) {
            guard let until = leases[key]?.until else { continue }
            let (sum, isOver) = until.addingReportingOverflow(stall)
            leases[key]?.until = isOver ? latest : min(sum, latest)
        }
    }

    package mutating func end(_ call: CallID, _ user: UserID) { remove(Key(call: call, user: user)) }

    /// Whether the endpoint is in any call.
    package func holds(_ endpoint: EndpointID) -> Bool { byEndpoint[endpoint] != nil }

    /// The calls that the endpoint is in.
    package func calls(of endpoint: EndpointID) -> [CallID] { byEndpoint[endpoint].map { $0.map(\.call) } ?? [] }

    /// Removes and returns the lapsed leases.
    package mutating func lapsed(at now: Int64) -> [Holder] {
        let over = leases.filter { $0.value.until <= now }
        for key in over.keys { remove(key) }
        return over.map { Holder(call: $0.key.call, user: $0.key.user, endpoint: $0.value.endpoint) }
    }

    /// When the next lease lapses.
    package var deadline: Int64? { leases.values.lazy.map(\.until).min() }

    private mutating func remove(_ key: Key) {
        guard let lease = leases.removeValue(forKey: key) else { return }
        byEndpoint[lease.endpoint]?.remove(key)
        if byEndpoint[lease.endpoint]?.isEmpty ?? false { byEndpoint[lease.endpoint] = nil }
    }
}
