import DatagramIO
import TURN
import Wire

/// A slot of the worker's table: a relay's socket, or empty.
struct RelaySocket: ~Copyable {
    let socket: DatagramSocket
    let id: RelayID
    let port: UInt16
    /// Of its advertised address, to be released with it; nil for an empty slot.
    let ports: AdvertisedPorts?
    /// Accepts the peers of a TCP allocation; -1 for none. The datagram socket then only holds the port.
    private(set) var acceptor = StreamListener(adopting: -1)
    /// The socket's current setting; it changes rarely, since packets with DONT-FRAGMENT come in runs.
    private(set) var forbidsFragments = false

    init(_ socket: consuming DatagramSocket, id: RelayID, port: UInt16, ports: AdvertisedPorts?) {
        self.socket = socket
        self.id = id
        self.port = port
        self.ports = ports
    }

    static var closed: RelaySocket {
        RelaySocket(
            .none, id: RelayID(AllocationID(slot: 0, generation: 0), .ipv4), port: 0, ports: nil)
    }

    mutating func setAcceptor(_ acceptor: consuming StreamListener) {
        self.acceptor = acceptor
    }

    var isOpen: Bool {
        socket.descriptor >= 0
    }

    /// On Linux the DF bit is an option of the socket, not of a datagram: queued packets must be sent before it
    /// changes.
    mutating func setForbidsFragments(_ forbids: Bool) {
        socket.forbidFragments(forbids, id.family)
        forbidsFragments = forbids
    }
}

/// Identifies a socket's purpose and owner in the 64 bits of its epoll data.
///
///     | kind (8) | generation (24) | slot or index (32) |
enum EventTag {
    case wake
    case listener(Int)
    case relay(slot: Int, family: IPAddress.Family, generation: UInt32)
    case streamListener(Int)
    case connection(slot: Int, generation: UInt32)
    case relayAcceptor(slot: Int, family: IPAddress.Family, generation: UInt32)
    case peer(slot: Int, generation: UInt32)
    case unknown

    /// A slot would have to be reused 16 million times within one wait to be mistaken for another.
    static let generationMask: UInt32 = 0xFF_FFFF
    static let wakeBits: UInt64 = 0

    static func listener(_ index: Int) -> UInt64 {
        1 << 56 | UInt64(truncatingIfNeeded: index) & 0xFFFF_FFFF
    }

    static func relay(_ id: RelayID) -> UInt64 {
        (id.family == .ipv4 ? 2 : 3) << 56 | UInt64(id.allocation.generation & generationMask) << 32
            | UInt64(id.allocation.slot)
    }

    static func streamListener(_ index: Int) -> UInt64 {
        4 << 56 | UInt64(truncatingIfNeeded: index) & 0xFFFF_FFFF
    }

    static func connection(_ slot: Int, generation: UInt32) -> UInt64 {
        5 << 56 | UInt64(generation & generationMask) << 32 | UInt64(truncatingIfNeeded: slot) & 0xFFFF_FFFF
    }

    static func relayAcceptor(_ id: RelayID) -> UInt64 {
        (id.family == .ipv4 ? 6 : 7) << 56 | UInt64(id.allocation.generation & generationMask) << 32
            | UInt64(id.allocation.slot)
    }

    static func peer(_ slot: Int, generation: UInt32) -> UInt64 {
        8 << 56 | UInt64(generation & generationMask) << 32 | UInt64(truncatingIfNeeded: slot) & 0xFFFF_FFFF
    }

    static func read(_ bits: UInt64) -> EventTag {
        let low = Int(truncatingIfNeeded: bits & 0xFFFF_FFFF)
        let generation = UInt32(truncatingIfNeeded: bits >> 32) & generationMask
        switch bits >> 56 {
        case 0: return .wake
        case 1: return .listener(low)
        case 2: return .relay(slot: low, family: .ipv4, generation: generation)
        case 3: return .relay(slot: low, family: .ipv6, generation: generation)
        case 4: return .streamListener(low)
        case 5: return .connection(slot: low, generation: generation)
        case 6: return .relayAcceptor(slot: low, family: .ipv4, generation: generation)
        case 7: return .relayAcceptor(slot: low, family: .ipv6, generation: generation)
        case 8: return .peer(slot: low, generation: generation)
        default: return .unknown
        }
    }
}
