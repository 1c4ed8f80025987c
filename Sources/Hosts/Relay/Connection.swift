import DatagramIO
import OpenSSLCrypto
import Wire

/// One client's TCP connection, in its slot of the worker's table, or the slot without one.
///
/// It keeps bytes of its own only while it must: `unread` holds the beginning of a message that has not arrived whole,
/// `collected` the messages of this round of the worker, `backlog` what the kernel had no room for.
struct Connection: ~Copyable {
    enum Stage {
        /// A load balancer's: first it must say for whom (see `ProxyHeader`).
        case proxyHeader
        /// The first bytes will tell what the client speaks.
        case opening
        case messages
        /// What comes belongs to a peer: the slot of its connection (RFC 6062).
        case piped(Int)
        /// On its way to the worker that holds what it claims.
        case moving(UInt8)
    }

    /// How far a client has been told that its peer sends no more.
    enum Farewell {
        case none
        /// When everything before it has left.
        case owed
        /// TLS's goodbye is on its way; TCP's follows.
        case closingTLS
        case said
    }

    let socket: StreamSocket
    /// Raised each time the slot is given up, so that late events of the last tenant find nobody.
    let generation: UInt32
    /// Its entry in the table of admissions, pending until it has been seen with an allocation. nil where it holds none: the
    /// slot is empty, or the connection is to go and another has its place already.
    var admission: AdmissionTable.Entry?
    var flow: Flow
    var stage: Stage
    /// For a client that speaks TLS: `unread` and `collected` are plaintext then, `backlog` is not.
    var session: TLSSession?
    var unread = ByteQueue()
    var collected = ByteQueue()
    var backlog = ByteQueue()
    /// On the list of those that have something to send in this round.
    var isTouched = false
    /// The client sends no more; the connection ends when its last answers have left.
    var isDraining = false
    /// The client of a stream sends no more; what its peer sends goes on.
    var hasEnded = false
    /// The peer of a stream sends no more, which the client is told behind the last byte.
    var farewell = Farewell.none
    /// How often it went from worker to worker.
    var moves: UInt8 = 0
    /// The peer does not take what it sends fast enough.
    var isPaused = false
    /// It has to wait until its allocation's bandwidth allows more: see `HeldStreams`.
    var isHeld = false
    /// Why it ends at the end of this round.
    var end: ConnectionEnd?
    /// When its last whole message came.
    var quietSince: Instant
    /// Since when it has been seen without an allocation.
    var idleSince: Instant

    init(
        _ socket: consuming StreamSocket, generation: UInt32, _ flow: Flow, _ stage: Stage,
        _ admission: AdmissionTable.Entry?, at now: Instant
    ) {
        self.socket = socket
        self.admission = admission
        self.generation = generation
        self.flow = flow
        self.stage = stage
        quietSince = now
        idleSince = now
    }

    static func closed(generation: UInt32) -> Connection {
        let nowhere = TransportAddress(IPAddress(ipv4: 0), port: 0)
        return Connection(
            .none, generation: generation, Flow(.tcp, local: nowhere, remote: nowhere), .opening, nil,
            at: Instant(nanoseconds: 0))
    }

    var isOpen: Bool {
        socket.descriptor >= 0
    }

    /// TLS has begun and is not agreed on yet: what comes costs a signature.
    var isShakingHands: Bool {
        session.map { !$0.isEstablished } ?? false
    }

    /// Its client's first bytes are still to come.
    var isOpening: Bool {
        switch stage {
        case .proxyHeader, .opening: true
        case .messages, .piped, .moving: false
        }
    }

    /// Whether what it receives is still of interest.
    var isReading: Bool {
        isOpen && end == nil && !isDraining && !hasEnded
    }

    var peer: Int? {
        if case .piped(let peer) = stage { peer } else { nil }
    }

    /// Lives as long as its peer's connection does.
    var isPiping: Bool {
        peer != nil && !isDraining
    }

    var target: UInt8? {
        if case .moving(let worker) = stage { worker } else { nil }
    }
}

/// Why a connection ended.
package enum ConnectionEnd: Int, CaseIterable, Sendable {
    /// The client closed it.
    case client
    /// No allocation, and no whole message in time.
    case idle
    /// Bytes that begin neither TURN nor TLS.
    case malformed
    /// A message larger than a client without allocation may send.
    case oversized
    /// The client does not read its answers.
    case unread
    /// The network, or the client without a goodbye.
    case broken
    /// A TLS handshake or record that OpenSSL refuses.
    case tls
    /// A configured load balancer that does not say for whom it speaks.
    case proxyHeader
    /// The allocation of the peer that it was connected to is over, or the peer closed.
    case peer
    /// A load balancer opened another one for the same client's address and port.
    case replaced
    /// Its source, which a load balancer named, has as many as it may.
    case sourceLimit
    /// It had no allocation, and its place was needed for another connection.
    case evicted

    package var name: String {
        switch self {
        case .proxyHeader: "proxy_header"
        case .sourceLimit: "source_limit"
        default: "\(self)"
        }
    }
}
