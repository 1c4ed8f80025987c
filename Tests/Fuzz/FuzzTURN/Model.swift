import STUN
import Synchronization
import TURN
import Wire

/// An allocation among those of both workers.
struct AllocationKey: Hashable {
    let worker: UInt8
    let id: AllocationID
}

/// What the model knows of an allocation: never less than the engine may do with it.
struct ModelAllocation {
    let request: RelayRequest
    let username: String
    var isOpen = false
    var relays: [IPAddress.Family: TransportAddress] = [:]
    /// Until when each address may be reached.
    var permissions: [IPAddress: Instant] = [:]
    var channelPeers: Set<TransportAddress> = []

    init(_ request: RelayRequest, username: String) {
        self.request = request
        self.username = username
    }
}

/// A connection between a relay and a peer.
struct ModelConnection {
    enum Stage: Equatable {
        case connecting
        case unclaimed
        case bound(Flow)
    }

    let allocation: AllocationKey
    let peer: TransportAddress
    var stage: Stage
    /// When the engine has to give it up.
    var until: Instant
}

/// A message as a client made it.
struct Sent {
    let bytes: [UInt8]
    /// Who signed it with a password that is good, nil for all others.
    var username: String?
    /// Whether that password was still the one that makes allocations.
    var isCurrent = false
    var transaction = TransactionID(0, 0)
    var method: STUN.Method?
    /// What XOR-PEER-ADDRESS named before the signature.
    var peers: [TransportAddress] = []
    /// Whose ticket it brings.
    var ticket: AllocationKey?

    init(_ bytes: [UInt8]) { self.bytes = bytes }
}

/// Which peers may be reached, implemented independently of the engine.
struct ModelPolicy {
    enum Variant: UInt8 {
        case plain, denyingPeers, allowingLoopback
    }

    var variant = Variant.plain

    func policy(_ live: any LiveRelays) -> PeerPolicy {
        let ranges = { (texts: [String]) in texts.compactMap { AddressRange($0) } }
        return PeerPolicy(
            allowed: ranges(variant == .allowingLoopback ? ["127.0.0.0/8"] : []),
            denied: ranges(variant == .denyingPeers ? ["1.0.0.0/8"] : []),
            own: [TURNHarness.server, TURNHarness.server6],
            externals: [(TURNHarness.external, TURNHarness.server)], deniedOwnPorts: [80], live: live)
    }

    /// Whether nothing may go to this address, in its local form.
    func forbids(_ peer: TransportAddress, _ live: Relays) -> Bool {
        let address = peer.address
        if live.holds(peer) { return false }
        if address == TURNHarness.server || address == TURNHarness.server6 { return true }
        if address.family == .ipv4 { return forbids(ipv4: address.ipv4, port: peer.port) }
        if address.high == 0x0064_FF9B_0000_0000 {
            return forbids(ipv4: UInt32(truncatingIfNeeded: address.low), port: peer.port)
        }
        return address.high >> 61 != 1
    }

    /// Whether a permission for it cannot stand.
    func forbidsAll(of address: IPAddress, _ live: Relays) -> Bool {
        if address == TURNHarness.server || address == TURNHarness.server6 { return false }
        return forbids(TransportAddress(address, port: 0), live)
    }

    private func forbids(ipv4 address: UInt32, port: UInt16) -> Bool {
        switch address >> 24 {
        case 127: variant != .allowingLoopback || port == 80
        case 1: variant == .denyingPeers
        case 0, 10, 224...255: true
        default: false
        }
    }
}

final class Relays: LiveRelays {
    private let open = Mutex<Set<TransportAddress>>([])

    func insert(_ address: TransportAddress) -> Bool { open.withLock { $0.insert(address).inserted } }
    func remove(_ address: TransportAddress) { open.withLock { _ = $0.remove(address) } }
    func holds(_ address: TransportAddress) -> Bool { open.withLock { $0.contains(address) } }

    func local(of address: TransportAddress) -> TransportAddress? {
        let local = TURNHarness.local(of: address)
        return holds(local) ? local : nil
    }
}
