import STUN
import Wire

/// One client's allocation, in its slot of the engine's table.
///
/// Permissions and channels are short arrays that are scanned: a call has two or three, and the engine bounds them.
/// Each channel carries its permission's expiry, so that forwarding a packet takes one scan.
///
/// At the rate of a call an allocation has left the processor's caches before its next packet comes, and fetching a line
/// of memory costs as much as all that is done with it. So what a packet needs stands first and together.
struct Allocation {
    enum Stage {
        case free
        /// The host was asked for a relay. `wasFingerprinted` and the credential shape the answer.
        case opening(AllocationWishes, answer: AnswerShape)
        case open
    }

    /// Raised each time the slot is given up, so that late events of the last tenant find nobody.
    var generation: UInt32 = 0
    /// Whether `stage` is `open`.
    private(set) var isOpen = false
    /// The client may be heard on another flow from now on: see `Mobility`.
    var isMoving = false
    let transport: RelayTransport
    /// The one of `channels` that a packet came through last, and most likely the next one does; nil when they changed.
    var recentChannel: Channel?
    var toPeers: Spending
    var toClient: Spending
    /// Of what its user's allocations may carry together, both ways.
    var ofUser = ByteSlice()
    /// Its only peers are the gateway's ports.
    let reachesGatewayOnly: Bool
    var flow: Flow
    var channels: [Channel] = [] {
        didSet { recentChannel = nil }
    }
    var permissions: [Permission] = []
    // What follows is for requests.
    var stage: Stage {
        didSet { if case .open = stage { isOpen = true } else { isOpen = false } }
    }
    /// nil where the client did not ask for a ticket.
    var mobility: Mobility?
    var username: String
    var user: String
    /// The parts of an ephemeral name.
    var name: EphemeralName?
    /// When the access token ends that made or last refreshed it, in Unix seconds; nil where a user did.
    var tokenExpiry: Int64?
    /// When it ends whatever its client asks for, in Unix seconds: see `Credential.end`.
    var end: Int64?
    var keys: CredentialKeys
    /// The Allocate that made it; the same id again is a retransmission and gets the same answer.
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
        _ request: Request, _ transaction: TransactionID, _ wishes: AllocationWishes, _ limits: AllocationLimits
    ) {
        let now = request.now
        stage = .opening(wishes, answer: request.shape)
        transport = wishes.transport
        flow = request.flow
        username = request.credential.username
        user = request.credential.user
        name = request.credential.name
        reachesGatewayOnly = request.credential.name?.scope == .gateway
        tokenExpiry = request.credential.tokenExpiry
        end = request.credential.end
        mobility = wishes.wantsTicket ? Mobility() : nil
        keys = request.credential.keys
        self.transaction = transaction
        createdAt = now
        expiry = .distantFuture
        toPeers = Spending(limits, at: now)
        toClient = Spending(limits, at: now)
        newPeers = TokenBucket(limits.newPeers, at: now)
        errors = TokenBucket(AllocationLimits.errors, at: now)
    }

    /// The flow was closed while the host was opening the relay.
    var isAbandoned = false

    func relay(_ family: IPAddress.Family) -> RelayOpening.Relay? {
        family == .ipv4 ? ipv4 : ipv6
    }
}

/// What one direction of an allocation may still carry.
struct Spending {
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

    /// Bytes of a stream that may pass now, at most `wanted`.
    mutating func allowance(upTo wanted: Int, _ limits: AllocationLimits, at now: Instant) -> Int {
        limits.bytesPerSecond == 0 ? wanted : bytes.available(upTo: wanted, limits.bytes, at: now)
    }

    /// Takes bytes that have passed, also more than there were.
    mutating func owe(_ byteCount: Int) {
        bytes.giveBack(-byteCount)
    }

    mutating func limit(to limits: AllocationLimits) {
        bytes.limit(to: limits.bytes)
        packets.limit(to: limits.packets)
    }
}

/// Leave for one peer address, whatever its port, to send to the relay and be sent to (RFC 8656 section 9).
struct Permission {
    static let lifetime: UInt32 = 300

    /// In the form in which the peer's packets arrive: own external addresses are replaced by local ones.
    let peer: IPAddress
    /// One of the server's own addresses, where each port needs a look.
    let isOwn: Bool
    var expiry: Instant
}

/// A short name for one peer (RFC 8656 section 12).
struct Channel {
    static let lifetime: UInt32 = 600
    /// RFC 8656 section 12 leaves clients 0x4000 to 0x4FFF and reserves the rest up to 0x7FFF, which RFC 5766 clients
    /// still use: coturn's and others'. Both are accepted; the first byte tells ChannelData apart in any case.
    static let numbers: ClosedRange<UInt16> = 0x4000...0x7FFF

    let peer: TransportAddress
    let number: UInt16
    let isOwn: Bool
    var expiry: Instant
    var permissionExpiry: Instant
}

/// How the answer to a request is to be signed: by its key, or not at all before authentication.
struct AnswerShape {
    var integrity: (algorithm: IntegrityAlgorithm, key: Digest)?
    var hasFingerprint: Bool
}
