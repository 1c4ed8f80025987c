import DatagramIO
import TURN
import Wire

/// A relay's socket in its place in the worker's table, or the place without one.
struct RelaySocket: ~Copyable {
    let socket: DatagramSocket
    let id: RelayID
    let port: UInt16
    let addressIndex: Int
    /// Where peers connect to a TCP allocation; -1 for none. Its datagram socket then only keeps the port.
    private(set) var entrance = StreamListener(adopting: -1)
    /// How the socket is set now: packets that ask for it come in runs.
    private(set) var forbidsFragments = false

    init(_ socket: consuming DatagramSocket, id: RelayID, port: UInt16, addressIndex: Int) {
        self.socket = socket
        self.id = id
        self.port = port
        self.addressIndex = addressIndex
    }

    static var closed: RelaySocket {
        RelaySocket(
            .none, id: RelayID(AllocationID(slot: 0, generation: 0), .ipv4), port: 0, addressIndex: 0)
    }

    mutating func setEntrance(_ entrance: consuming StreamListener) {
        self.entrance = entrance
    }

    var isOpen: Bool {
        socket.descriptor >= 0
    }

    /// Linux has the DF bit as an option of the socket, not of a datagram: what waits to leave must leave before.
    mutating func setForbidsFragments(_ forbids: Bool) {
        socket.forbidFragments(forbids, id.family)
        forbidsFragments = forbids
    }
}

/// What a socket is for, in the 64 bits that epoll keeps for it.
///
///     | kind (8) | generation (24) | slot or index (32) |
enum EventTag {
    case wake
    case listener(Int)
    case relay(slot: Int, family: IPAddress.Family, generation: UInt32)
    case streamListener(Int)
    case connection(slot: Int, generation: UInt32)
    case relayEntrance(slot: Int, family: IPAddress.Family, generation: UInt32)
    case peer(slot: Int, generation: UInt32)
    case unknown

    /// A slot would have to be used 16 million times within one wait to be mistaken.
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

    static func relayEntrance(_ id: RelayID) -> UInt64 {
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
        case 6: return .relayEntrance(slot: low, family: .ipv4, generation: generation)
        case 7: return .relayEntrance(slot: low, family: .ipv6, generation: generation)
        case 8: return .peer(slot: low, generation: generation)
        default: return .unknown
        }
    }
}
