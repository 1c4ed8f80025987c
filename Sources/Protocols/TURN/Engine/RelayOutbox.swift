package import STUN
package import Wire

/// What the TURN engine asks of its host.
///
/// The engine owns no socket. An Allocate that passes every check becomes `openRelay`, and the host answers with
/// `TURNEngine.relayOpened` or `relayRefused`, at once or later. For every `relayOpened` there is one `endAllocation`
/// in the end, so a host that counts allocations per user by these two counts right.
package protocol RelayOutbox: Outbox, ~Copyable {
    mutating func openRelay(_ request: RelayRequest)
    /// The relay's port is to be given back. Comes before `endAllocation`.
    mutating func closeRelay(_ relay: RelayID)
    /// A TCP connection is to be made: `TURNEngine.peerConnected` or `peerClosed` answers, at once or later.
    mutating func connectPeer(_ connection: PeerConnectionID, from relay: RelayID, to peer: TransportAddress)
    /// The client's flow is the other end of the connection from now on: what follows in both is relayed as it is.
    mutating func bindPeer(_ connection: PeerConnectionID, to flow: Flow)
    /// The connection is to be closed, and the client's end of it.
    mutating func closePeer(_ connection: PeerConnectionID)
    mutating func endAllocation(_ allocation: AllocationID, user: String)

    /// A datagram of this flow belongs to another worker, which gets it by `receiveHandedOver`.
    mutating func handOver(_ message: RawSpan, on flow: Flow, to worker: UInt8, isTaken: Bool)
    /// A message that only the worker can send to which the flow's datagrams come: see `TURNEngine.mayPass`.
    mutating func send(_ message: RawSpan, on flow: Flow, through worker: UInt8)
    /// What another worker's engine is told by `keepStranger`, `forgetStranger` and `loseGuest`, in the order of the calls.
    /// `answer` leaves there, once that worker agreed.
    mutating func keep(_ flow: Flow, _ claim: Claim, at worker: UInt8, answer: RawSpan)
    mutating func forget(_ flow: Flow, _ claim: Claim, at worker: UInt8)
    mutating func evict(_ flow: Flow, _ claim: Claim, at worker: UInt8)
}

/// An allocation, told apart from an earlier one in the same slot by its generation.
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

/// What a relay and its peers speak: REQUESTED-TRANSPORT.
package enum RelayTransport: UInt8, Hashable, Sendable {
    case tcp = 6
    case udp = 17
}

/// The ports that an authenticated Allocate asks for.
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
    /// What the credential is good for, where the API issued it.
    package let scope: CredentialScope?
    /// Who may claim a port that this request reserves, or has reserved the one that it claims: the user, or any holder of
    /// a token.
    package let claimant: String
    /// The server's address on which the client came, a hint for the address to relay from.
    package let local: TransportAddress
    package let family: IPAddress.Family
    /// ADDITIONAL-ADDRESS-FAMILY: wanted too, but its failure does not fail the request.
    package let additional: IPAddress.Family?
    package let port: Port
}

/// The relays that a host opened for a request.
package struct RelayOpening: Hashable, Sendable {
    /// One relay: `local` is where its socket is bound, `told` what clients and peers are told, which differs behind a
    /// one-to-one NAT.
    package struct Relay: Hashable, Sendable {
        package let local: TransportAddress
        package let told: TransportAddress

        package init(local: TransportAddress, told: TransportAddress) {
            self.local = local
            self.told = told
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
