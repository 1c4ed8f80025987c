import BasicContainers
import Wire

// Configuration changes at run time.

extension TURNEngine {
    /// Applies new credentials and a new policy.
    ///
    /// Allocations stay, with the keys that they were made with. Permissions, channels and connections whose peer the
    /// new policy forbids end at once, and not when they would expire.
    package mutating func adopt(
        _ credentials: Credentials, _ policy: PeerPolicy, into outbox: inout some RelayOutbox & ~Copyable
    ) {
        self.credentials = credentials
        self.policy = policy
        for slot in 0..<allocations.count where allocations[slot].isOpen {
            let only = allocations[slot].reachesGatewayOnly
            allocations[slot].permissions.removeAll { !policy.allowsSome($0.peer, gatewayOnly: only) }
            allocations[slot].channels = allocations[slot].channels.compactMap { channel in
                guard case .allowed(_, let isOwn) = policy.verdict(on: channel.peer, gatewayOnly: only) else {
                    return nil
                }
                var channel = channel
                channel.isOwn = isOwn
                return channel
            }
        }
        closeConnections(into: &outbox) { policy.verdict(on: $0.peer) == .forbidden }
    }
}
