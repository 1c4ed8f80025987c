import DatagramIO
import OpenSSLCrypto
import Wire

/// A slot of the worker's table: one client's TCP connection, or empty.
///
/// It buffers only what it must: `unread` holds the beginning of an incomplete message, `collected` the messages of the
/// worker's current round, `unsent` what the kernel did not accept.
struct Connection: ~Copyable {
    enum Stage {
        /// From a load balancer: a PROXY header comes first (see `ProxyHeader`).
        case proxyHeader
        /// The first bytes show which protocol the client uses.
        case opening
        case messages
        /// Bytes go to a peer, whose connection has this slot (RFC 6062).
        case piped(Int)
        /// Being handed to the worker that owns what it claims.
        case moving(UInt8)
    }

    /// How far the server's direction of a stream is closed after its peer's end.
    enum CloseState {
        case none
        /// Closed once everything before it has been sent.
        case pending
        /// close_notify is on its way; TCP's FIN follows.
        case closingTLS
        case closed
    }

    let socket: StreamSocket
    /// Incremented each time the slot is freed, so that late events of its previous connection are ignored.
    let generation: UInt32
    /// Its entry in the table of admissions, pending until the connection has an allocation. nil when the slot is
    /// empty, or the connection was evicted and its admission released already.
    var admission: AdmissionTable.Entry?
    var flow: Flow
    var stage: Stage
    /// For TLS: `unread` and `collected` are plaintext then, `unsent` is not.
    var session: TLSSession?
    var unread = ByteQueue()
    var collected = ByteQueue()
    var unsent = ByteQueue()
    /// Whether it is on the list of connections with something to send in this round.
    var isDirty = false
    /// The client has ended its direction; the connection ends when its last responses have been sent.
    var isDraining = false
    /// The client of a stream has ended its direction; its peer's goes on.
    var hasEnded = false
    /// The peer of a stream has ended its direction: the client's is closed after the last byte.
    var closeState = CloseState.none
    /// How often it was handed to another worker.
    var handoffs: UInt8 = 0
    /// Not read, because the peer reads too slowly.
    var isPaused = false
    /// Not read until its allocation's bandwidth allows more: see `HeldStreams`.
    var isHeld = false
    /// Why it ends at the end of this round.
    var end: ConnectionCloseReason?
    /// When its last complete message was received.
    var quietSince: Instant
    /// Since when it has had no allocation.
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

    /// Whether a TLS handshake is in progress, whose next step may cost a signature.
    var isHandshaking: Bool {
        session.map { !$0.isEstablished } ?? false
    }

    /// Whether the client's protocol is not known yet.
    var isOpening: Bool {
        switch stage {
        case .proxyHeader, .opening: true
        case .messages, .piped, .moving: false
        }
    }

    /// Whether received bytes are still processed.
    var isReading: Bool {
        isOpen && end == nil && !isDraining && !hasEnded
    }

    var peer: Int? {
        if case .piped(let peer) = stage { peer } else { nil }
    }

    /// Whether it lives as long as its peer's connection.
    var isPiping: Bool {
        peer != nil && !isDraining
    }

    var target: UInt8? {
        if case .moving(let worker) = stage { worker } else { nil }
    }
}

/// Why a connection ended.
package enum ConnectionCloseReason: Int, CaseIterable, Sendable {
    /// The client closed it.
    case client
    /// No allocation, and no whole message in time.
    case idle
    /// The first bytes are neither TURN nor TLS, or the framing is invalid.
    case malformed
    /// A message larger than a client without allocation may send.
    case oversized
    /// The client does not read its responses.
    case unread
    /// The network failed, or the client ended TLS without close_notify.
    case broken
    /// OpenSSL rejected a TLS handshake or record.
    case tls
    /// A configured load balancer sent no valid PROXY header.
    case proxyHeader
    /// The allocation of its peer's connection ended, or the peer closed.
    case peer
    /// A load balancer opened another connection for the same client address and port.
    case replaced
    /// The source that a load balancer named is at its limit.
    case sourceLimit
    /// It had no allocation, and another connection needed its admission.
    case evicted

    package var name: String {
        switch self {
        case .proxyHeader: "proxy_header"
        case .sourceLimit: "source_limit"
        default: "\(self)"
        }
    }
}
