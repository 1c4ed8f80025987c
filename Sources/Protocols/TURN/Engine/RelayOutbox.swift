package import STUN
package import Wire

/// The operations that the TURN engine asks of its host.
///
/// The engine owns no socket. An Allocate that passes every check becomes `openRelay`, and the host responds with
/// `TURNEngine.relayOpened` or `relayFailed`, at once or later. Every `relayOpened` is followed by one `endAllocation`
/// in the end, so that a host can count the allocations of a user by these two.
package protocol RelayOutbox: Outbox, ~Copyable {
    mutating func openRelay(_ request: RelayRequest)
    /// Releases the relay's port. Comes before `endAllocation`.
    mutating func closeRelay(_ relay: RelayID)
    /// Makes a TCP connection. The host responds with `TURNEngine.peerConnected` or `peerClosed`, at once or later.
    mutating func connectPeer(_ connection: PeerConnectionID, from relay: RelayID, to peer: TransportAddress)
    /// Binds the client's flow to the connection: from now on the bytes of each are relayed to the other.
    mutating func bindPeer(_ connection: PeerConnectionID, to flow: Flow)
    /// Closes the connection, and the client's flow that is bound to it.
    mutating func closePeer(_ connection: PeerConnectionID)
    mutating func endAllocation(_ allocation: AllocationID, user: String)

    /// Forwards a datagram of this flow to another worker, which gets it by `receiveForwarded`.
    mutating func forward(_ message: RawSpan, on flow: Flow, to worker: UInt8, isOccupied: Bool)
    /// Sends a message through the worker at which the flow's datagrams arrive: see `TURNEngine.mayPass`.
    mutating func send(_ message: RawSpan, on flow: Flow, through worker: UInt8)
    /// These three call `keepForwardedFlow`, `forgetForwardedFlow` and `removeIngress` of another worker's engine, in
    /// order. That worker sends `response` when it has agreed.
    mutating func keep(_ flow: Flow, _ claim: Claim, at worker: UInt8, response: RawSpan)
    mutating func forget(_ flow: Flow, _ claim: Claim, at worker: UInt8)
    mutating func evict(_ flow: Flow, _ claim: Claim, at worker: UInt8)
}

/// An allocation, distinguished from an earlier one in the same slot by its generation.
package struct AllocationID: Hashable, Sendable {
    package let slot: UInt32
    package let generation: UInt32

    package init(slot: UInt32, generation: UInt32) {
        self.slot = slot
        self.generation = generation
    }
}

/// One of the at most two relays of an allocation, one for each address family.
package struct RelayID: Hashable, Sendable {
    package let allocation: AllocationID
    package let family: IPAddress.Family

    package init(_ allocation: AllocationID, _ family: IPAddress.Family) {
        self.allocation = allocation
        self.family = family
    }
}

/// The transport between a relay and its peers: REQUESTED-TRANSPORT.
package enum RelayTransport: UInt8, Hashable, Sendable {
    case tcp = 6
    case udp = 17
}

/// The relays that an authenticated Allocate asks for.
package struct RelayRequest: Hashable, Sendable {
    package enum Port: Hashable, Sendable {
        case any
        /// EVEN-PORT (RFC 8656 section 18.7). With `reserveNext`, the port above is held for 30 seconds.
        case even(reserveNext: Bool)
        /// The port that an earlier request reserved.
        case reserved(token: UInt64)

        var isReserved: Bool {
            if case .reserved = self { true } else { false }
        }
    }

    package let allocation: AllocationID
    package let transport: RelayTransport
    /// Who is charged for it: see `Credential.user`.
    package let user: String
    /// The credential's scope, where the API issued it.
    package let scope: CredentialScope?
    /// Who may claim a port that this request reserves, or reserved the one that it claims: the user, or any token
    /// holder.
    package let claimant: String
    /// The server's address that the client used, a hint for the address to relay from.
    package let local: TransportAddress
    package let family: IPAddress.Family
    /// ADDITIONAL-ADDRESS-FAMILY: optional, its failure does not fail the request.
    package let additional: IPAddress.Family?
    package let port: Port
}

/// The relays that a host opened for a request.
package struct RelayOpening: Hashable, Sendable {
    /// One relay: `local` is where its socket is bound, `advertised` the address for clients and peers, which differs behind
    /// a one-to-one NAT.
    package struct Relay: Hashable, Sendable {
        package let local: TransportAddress
        package let advertised: TransportAddress

        package init(local: TransportAddress, advertised: TransportAddress) {
            self.local = local
            self.advertised = advertised
        }
    }

    package let relay: Relay
    package let additional: Relay?
    /// Why there is no additional relay, when one was asked for.
    package let additionalFailure: ErrorCode?
    package let reservationToken: UInt64?

    package init(
        relay: Relay, additional: Relay? = nil, additionalFailure: ErrorCode? = nil, reservationToken: UInt64? = nil
    ) {
        self.relay = relay
        self.additional = additional
        self.additionalFailure = additionalFailure
        self.reservationToken = reservationToken
    }
}
