import Model
import Synchronization

/// Where a live session is: which shard, and its number there. Numbers are never used twice.
struct SessionAddress: Hashable, Sendable {
    let shard: Int
    let number: UInt64
}

/// Which live sessions a user and an endpoint have, across all shards.
final class SessionDirectory: Sendable {
    private struct Entries {
        var users: [UserID: [SessionAddress]] = [:]
        var endpoints: [EndpointID: SessionAddress] = [:]
    }

    private let entries = Mutex(Entries())

    /// Enters a session; returns the one that spoke for the endpoint until now, which this one replaces.
    func enter(_ address: SessionAddress, user: UserID, endpoint: EndpointID) -> SessionAddress? {
        entries.withLock { entries in
            entries.users[user, default: []].append(address)
            return entries.endpoints.updateValue(address, forKey: endpoint)
        }
    }

    func leave(_ address: SessionAddress, user: UserID, endpoint: EndpointID) {
        entries.withLock { entries in
            entries.users[user]?.removeAll { $0 == address }
            if entries.users[user]?.isEmpty == true { entries.users[user] = nil }
            if entries.endpoints[endpoint] == address { entries.endpoints[endpoint] = nil }
        }
    }

    func sessions(of user: UserID) -> [SessionAddress] {
        entries.withLock { $0.users[user] ?? [] }
    }

    func session(of endpoint: EndpointID) -> SessionAddress? {
        entries.withLock { $0.endpoints[endpoint] }
    }
}
