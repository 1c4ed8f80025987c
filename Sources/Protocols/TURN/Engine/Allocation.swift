import STUN
import Wire

/// One client's allocation, in its slot of the engine's table.
///
/// Permissions and channels are short arrays that are scanned: a call has two or three, and the engine bounds them.
/// Each channel carries its permission's expiry, so that forwarding a packet takes one scan.
///
/// At the packet rate of a call an allocation has left the processor's caches before its next packet comes, and a cache
/// miss costs as much as all the processing of a packet. So the fields that a packet needs are first and together.
struct Allocation {
    enum Stage {
        case free
        /// The host was asked for a relay.
        case opening(AllocateParameters, signing: ResponseSigning)
        case open
    }

    /// Incremented each time the slot is freed, so that late events of its previous allocation are ignored.
    var generation: UInt32 = 0
    /// Whether `stage` is `open`.
    private(set) var isOpen = false
    /// The client may continue on another flow: see `Mobility`.
    var isMoving = false
    let transport: RelayTransport
    /// The one of `channels` that the last packet used, as the next one most likely does; nil when they changed.
    var recentChannel: Channel?
    var toPeers: TrafficLimiter
    var toClient: TrafficLimiter
    /// Its share of the bandwidth of its user's allocations, both ways.
    var userBudget = ByteSlice()
    /// Its only peers are the gateway's ports.
    let reachesGatewayOnly: Bool
    var flow: Flow
    var channels: [Channel] = [] {
        didSet { recentChannel = nil }
    }
    var permissions: [Permission] = []
    // The rest is for requests.
    var stage: Stage {
        didSet { if case .open = stage { isOpen = true } else { isOpen = false } }
    }
    /// nil where the client did not ask for a ticket.
    var mobility: Mobility?
    var username: String
    var user: String
    /// The parts of an ephemeral name.
    var name: EphemeralName?
    /// When the access token that made or last refreshed it expires, in Unix seconds; nil where a user did.
    var tokenExpiry: Int64?
    /// When it ends at the latest, in Unix seconds: see `Credential.end`.
    var end: Int64?
    var keys: CredentialKeys
    /// The Allocate that made it; the same id again is a retransmission and gets the same response.
    var transaction: TransactionID
    var grantedLifetime: UInt32 = 0
    var reservationToken: UInt64?
    var additionalFailure: ErrorCode?
    var createdAt: Instant
    var expiry: Instant
    var ipv4: RelayOpening.Relay?
    var ipv6: RelayOpening.Relay?
    var peerConnections: [PeerConnectionID] = []
    var newPeers: TokenBucket
    var errors: TokenBucket

    init(
        _ request: Request, _ transaction: TransactionID, _ parameters: AllocateParameters, _ limits: AllocationLimits
    ) {
        let now = request.now
        stage = .opening(parameters, signing: request.signing)
        transport = parameters.transport
        flow = request.flow
        username = request.credential.username
        user = request.credential.user
        name = request.credential.name
        reachesGatewayOnly = request.credential.name?.scope == .gateway
        tokenExpiry = request.credential.tokenExpiry
        end = request.credential.end
        mobility = parameters.requestsTicket ? Mobility() : nil
        keys = request.credential.keys
        self.transaction = transaction
        createdAt = now
        expiry = .distantFuture
        toPeers = TrafficLimiter(limits, at: now)
        toClient = TrafficLimiter(limits, at: now)
        newPeers = TokenBucket(limits.newPeers, at: now)
        errors = TokenBucket(AllocationLimits.errors, at: now)
    }

    /// The flow was closed while the host was opening the relay.
    var isAbandoned = false

    func relay(_ family: IPAddress.Family) -> RelayOpening.Relay? {
        family == .ipv4 ? ipv4 : ipv6
    }
}

/// The rate limits of one direction of an allocation.
struct TrafficLimiter {
    private var bytes: TokenBucket
    private var packets: TokenBucket

    enum Verdict {
        case passes, tooManyBytes, tooManyPackets
    }

    init(_ limits: AllocationLimits, at now: Instant) {
        bytes = TokenBucket(limits.bytes, at: now)
        packets = TokenBucket(limits.packets, at: now)
    }

    mutating func spend(_ byteCount: Int, _ limits: AllocationLimits, at now: Instant) -> Verdict {
        guard packets.take(1, limits.packets, at: now) else { return .tooManyPackets }
        guard bytes.take(byteCount, limits.bytes, at: now) else {
            packets.giveBack(1)
            return .tooManyBytes
        }
        return .passes
    }

    /// How many bytes of a stream, at most `requested`, may pass now.
    mutating func allowance(upTo requested: Int, _ limits: AllocationLimits, at now: Instant) -> Int {
        limits.bytesPerSecond == 0 ? requested : bytes.available(upTo: requested, limits.bytes, at: now)
    }

    /// Deducts bytes that have passed, even more than were available.
    mutating func charge(_ byteCount: Int) {
        bytes.giveBack(-byteCount)
    }

    mutating func limit(to limits: AllocationLimits) {
        bytes.limit(to: limits.bytes)
        packets.limit(to: limits.packets)
    }
}

/// Permits one peer address, whatever its port, to send to the relay and to receive from it (RFC 8656 section 9).
struct Permission {
    static let lifetime: UInt32 = 300

    /// As the peer's packets arrive: own external addresses are replaced by local ones.
    let peer: IPAddress
    var expiry: Instant
}

/// A channel number bound to one peer (RFC 8656 section 12).
struct Channel {
    static let lifetime: UInt32 = 600
    /// RFC 8656 section 12 has 0x4000 to 0x4FFF and reserves the rest up to 0x7FFF, which RFC 5766 clients still use:
    /// coturn's and others'. Both are accepted; the first byte identifies ChannelData in any case.
    static let numbers: ClosedRange<UInt16> = 0x4000...0x7FFF

    let peer: TransportAddress
    let number: UInt16
    /// On one of the server's own addresses, where the port is checked with each packet.
    var isOwn: Bool
    var expiry: Instant
    var permissionExpiry: Instant
}

/// How the response to a request is signed: with its key, or not at all before authentication.
struct ResponseSigning {
    var integrity: (algorithm: IntegrityAlgorithm, key: Digest)?
    var hasFingerprint: Bool
}
