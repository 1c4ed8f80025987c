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
        var signIns: [SignInID: [SessionAddress]] = [:]
        /// The sign-in under which a session is found.
        var signInOf: [SessionAddress: SignInID] = [:]

        mutating func note(_ signIn: SignInID?, of address: SessionAddress) {
            guard signIn != signInOf[address] else { return }
            if let earlier = signInOf.removeValue(forKey: address) {
                signIns[earlier]?.removeAll { $0 == address }
                if signIns[earlier]?.isEmpty == true { signIns[earlier] = nil }
            }
            guard let signIn else { return }
            signInOf[address] = signIn
            signIns[signIn, default: []].append(address)
        }
    }

    private let entries = Mutex(Entries())

    /// Enters a session; returns the one that spoke for the endpoint until now, which this one replaces.
    func enter(
        _ address: SessionAddress, user: UserID, endpoint: EndpointID, signIn: SignInID?
    ) -> SessionAddress? {
        entries.withLock { entries in
            entries.note(signIn, of: address)
            entries.users[user, default: []].append(address)
            return entries.endpoints.updateValue(address, forKey: endpoint)
        }
    }

    func leave(_ address: SessionAddress, user: UserID, endpoint: EndpointID) {
        entries.withLock { entries in
            entries.note(nil, of: address)
            entries.users[user]?.removeAll { $0 == address }
            if entries.users[user]?.isEmpty == true { entries.users[user] = nil }
            if entries.endpoints[endpoint] == address { entries.endpoints[endpoint] = nil }
        }
    }

    /// The session goes on with a token of another sign-in.
    func note(_ signIn: SignInID?, of address: SessionAddress) {
        entries.withLock { $0.note(signIn, of: address) }
    }

    func sessions(signedInWith signIn: SignInID) -> [SessionAddress] {
        entries.withLock { $0.signIns[signIn] ?? [] }
    }

    func sessions(of user: UserID) -> [SessionAddress] {
        entries.withLock { $0.users[user] ?? [] }
    }

    func session(of endpoint: EndpointID) -> SessionAddress? {
        entries.withLock { $0.endpoints[endpoint] }
    }
}
