import Model
import NIOCore
import Synchronization

/// The address of a session: its shard, and its number there. Numbers are never reused.
struct SessionAddress: Hashable, Sendable {
    let shard: Int
    let number: UInt64
}

/// When the client of a session last sent a message.
final class SessionPulse: Sendable {
    private let nanoseconds = Atomic<UInt64>(0)

    func beat(at now: NIODeadline) { nanoseconds.store(now.uptimeNanoseconds, ordering: .relaxed) }

    /// Nil before the first one.
    var last: NIODeadline? {
        let last = nanoseconds.load(ordering: .relaxed)
        return last == 0 ? nil : .uptimeNanoseconds(last)
    }
}

/// The sessions of users, endpoints and sign-ins, across all shards.
final class SessionDirectory: Sendable {
    private struct Entries {
        var users: [UserID: [SessionAddress]] = [:]
        var endpoints: [EndpointID: (address: SessionAddress, pulse: SessionPulse)] = [:]
        var signIns: [SignInID: [SessionAddress]] = [:]
        /// The sign-in under which a session is registered.
        var signInOf: [SessionAddress: SignInID] = [:]

        mutating func setSignIn(_ signIn: SignInID?, of address: SessionAddress) {
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

    /// Registers a session; returns the endpoint's previous session, which this one replaces.
    func register(
        _ address: SessionAddress, user: UserID, endpoint: EndpointID, signIn: SignInID?,
        pulse: SessionPulse = SessionPulse()
    ) -> SessionAddress? {
        entries.withLock { entries in
            entries.setSignIn(signIn, of: address)
            entries.users[user, default: []].append(address)
            return entries.endpoints.updateValue((address, pulse), forKey: endpoint)?.address
        }
    }

    func unregister(_ address: SessionAddress, user: UserID, endpoint: EndpointID) {
        entries.withLock { entries in
            entries.setSignIn(nil, of: address)
            entries.users[user]?.removeAll { $0 == address }
            if entries.users[user]?.isEmpty == true { entries.users[user] = nil }
            if entries.endpoints[endpoint]?.address == address { entries.endpoints[endpoint] = nil }
        }
    }

    /// The session continues with a token of another sign-in.
    func setSignIn(_ signIn: SignInID?, of address: SessionAddress) {
        entries.withLock { $0.setSignIn(signIn, of: address) }
    }

    func sessions(signedInWith signIn: SignInID) -> [SessionAddress] {
        entries.withLock { $0.signIns[signIn] ?? [] }
    }

    func sessions(of user: UserID) -> [SessionAddress] {
        entries.withLock { $0.users[user] ?? [] }
    }

    func session(of endpoint: EndpointID) -> SessionAddress? {
        entries.withLock { $0.endpoints[endpoint]?.address }
    }

    /// When the client of an endpoint's session last sent a message.
    func lastMessage(of endpoint: EndpointID) -> NIODeadline? {
        entries.withLock { $0.endpoints[endpoint]?.pulse }?.last
    }
}
