import DatagramIO
package import OpenSSLCrypto
package import TURN
package import Wire

/// The configuration of a relay.
package struct RelayConfiguration: Sendable {
    /// Addresses to listen on; none means each address of this machine. A wildcard is never bound, so that a response
    /// is always sent from the address that received the request.
    package var listen: [IPAddress] = []
    /// 0 lets the kernel choose a port, for tests.
    package var port: UInt16 = 3478
    /// The certificate for TLS and DTLS; without one they are off.
    package var certificate: ServerCertificate?
    /// Additional ports for TURN over TLS and DTLS, opened when there is a certificate. `port` serves both, too.
    package var tlsPorts: [UInt16] = []
    /// Load balancers that start each connection with a PROXY header.
    package var balancers: [AddressRange] = []
    package var realm = "switchboard"
    /// Passwords of static users by name.
    package var users: [String: String] = [:]
    /// Secrets that sign ephemeral credentials; each of them is accepted.
    package var secrets: [String] = []
    /// Keys shared with authorization servers by their ids (RFC 7635), each of 16 or 32 bytes.
    package var tokenKeys: [String: [UInt8]] = [:]
    /// Relays that clients are redirected to while this one drains or is full, at most one of each family.
    package var alternates: [TransportAddress] = []
    /// Whether an allocation follows its client to a new address (RFC 8016).
    package var isMobile = true
    /// Whether NAT behaviour discovery is served (RFC 5780), on the first two addresses of a family.
    package var servesDiscovery = false
    /// Addresses to advertise instead of local ones, behind a one-to-one NAT.
    package var externalAddresses: [ExternalAddress] = []
    package var minPort: UInt16 = 49152
    package var maxPort: UInt16 = 65535
    /// Ranges that are allowed for peers although they are special-purpose or contain an own address.
    package var allowedPeers: [AddressRange] = []
    /// Ranges that are denied for peers, whatever `allowedPeers` says.
    package var deniedPeers: [AddressRange] = []
    /// Ports of this machine that are denied for peers: those of the HTTP servers.
    package var deniedOwnPorts: Set<UInt16> = []
    /// Threads; nil means one for each core.
    package var workers: Int?
    /// Whether each thread is pinned to a processor of its own.
    package var pinsThreads = false
    /// Whether datagrams of one size to one destination are sent as one message (`UDP_SEGMENT`). Off only in benchmarks
    /// that compare with relays that do not do it.
    package var joinsDatagrams = true
    package var limits = RelayLimits()

    package init() {}

    var workerCount: Int {
        max(1, workers ?? ProcessorCount.available)
    }
}

package struct RelayLimits: Hashable, Sendable {
    /// Allocations that one user may have at a time: 486 beyond.
    package var allocationsPerUser = 64
    /// Allocations of all users: 508 beyond.
    package var allocations = 16_000
    /// The limits of one allocation: 100 Mbit/s and 10,000 packets per second each way, and 10 new peers per second,
    /// 100 at once. A video call in high definition needs less than a tenth of that.
    package var perAllocation = AllocationLimits(
        bytesPerSecond: 12_500_000, packetsPerSecond: 10_000, newPeersPerSecond: 10)
    /// Bytes of payload per second, both directions together, of all allocations of a user whose credentials the API
    /// issued, and of all allocations. 0 means no limit.
    package var userBytesPerSecond: UInt64 = 12_500_000
    package var totalBytesPerSecond: UInt64 = 0
    /// TCP connections of all workers, a quarter of them for one address: more are closed immediately.
    package var connections = 20_000
    /// DTLS sessions of all workers: further hellos get no response.
    package var datagramSessions = 20_000
    /// DTLS handshakes in progress at a time, per worker; a quarter of them for one source.
    package var datagramHandshakes = 512
    /// How long a DTLS handshake may take, in seconds.
    package var handshakeSeconds: UInt32 = 15
    /// Seconds that a TCP client without allocation has for each message.
    package var messageSeconds: UInt32 = 10
    /// Seconds that a client over TCP or DTLS may stay without allocation.
    package var idleSeconds: UInt32 = 60
    /// DTLS sessions of one IPv4 address or IPv6 /64, per worker.
    package var datagramSessionsPerSource = 512
    /// DTLS handshakes per second, and at once, of one address prefix, per worker: further hellos get no response. 0
    /// means no limit.
    package var handshakesPerSecond: UInt32 = 100
    package var handshakeBurst: UInt32 = 500
    /// Responses per second, and at once, to unauthenticated sources of one address prefix, per worker. 0 means no
    /// limit.
    package var responsesPerSecond: UInt32 = 500
    package var responseBurst: UInt32 = 2_000

    package init() {}
}

/// An external address of a NAT, and the local address that it maps to.
package struct ExternalAddress: Hashable, Sendable {
    package let external: IPAddress
    /// nil: every local address of the family that is not loopback.
    package let local: IPAddress?

    package init(_ external: IPAddress, local: IPAddress? = nil) {
        self.external = external
        self.local = local
    }
}

extension ExternalAddress: LosslessStringConvertible {
    /// `203.0.113.5`, or `203.0.113.5/10.0.0.5` to name the local address.
    package init?(_ text: String) {
        let parts = text.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        guard let external = IPAddress(parts[0]) else { return nil }
        guard parts.count == 2 else {
            self.init(external)
            return
        }
        guard let local = IPAddress(parts[1]), local.family == external.family else { return nil }
        self.init(external, local: local)
    }

    package var description: String {
        local.map { "\(external)/\($0)" } ?? "\(external)"
    }
}

/// Why a relay cannot start: the message names the setting and what to do.
package struct RelayError: Error, Hashable, CustomStringConvertible {
    package let description: String
    /// Whether the port is in use; another one may be free.
    let isPortTaken: Bool
    /// Whether the machine does not have the address.
    let isAddressUnknown: Bool

    init(_ description: String, isPortTaken: Bool = false, isAddressUnknown: Bool = false) {
        self.description = description
        self.isPortTaken = isPortTaken
        self.isAddressUnknown = isAddressUnknown
    }
}
