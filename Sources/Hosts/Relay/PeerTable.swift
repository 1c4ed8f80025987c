import BasicContainers
import DatagramIO
import TURN
import Wire

/// A request of the engine about a connection to a peer.
enum PeerRequest {
    case connect(PeerConnectionID, RelayID, TransportAddress)
    case bind(PeerConnectionID, Flow)
    case close(PeerConnectionID)
}

/// A slot of the worker's table: one connection between a relay and a peer (RFC 6062), or empty.
struct PeerStream: ~Copyable {
    enum Stage {
        case connecting
        /// The peer's bytes wait in the kernel until the client claims the connection.
        case unclaimed
        /// With the slot of the client's connection.
        case piped(Int)
        /// The client is gone; its last bytes are being sent.
        case draining
    }

    let socket: StreamSocket
    let generation: UInt32
    let id: PeerConnectionID
    var stage: Stage
    /// Bytes of the client that the kernel did not accept.
    var unsent = ByteQueue()
    /// Not read, because the client reads too slowly.
    var isPaused = false
    /// Not read until its allocation's bandwidth allows more: see `HeldStreams`.
    var isHeld = false
    /// The peer has ended its direction; its client's goes on.
    var hasEnded = false
    /// The client has ended its direction: the socket is shut down for sending after the last byte.
    var needsShutdown = false
    var drainingSince = Instant(nanoseconds: 0)

    init(_ socket: consuming StreamSocket, generation: UInt32, _ id: PeerConnectionID, _ stage: Stage) {
        self.socket = socket
        self.generation = generation
        self.id = id
        self.stage = stage
    }

    static func closed(generation: UInt32) -> PeerStream {
        PeerStream(.none, generation: generation, PeerConnectionID(rawValue: 0), .connecting)
    }

    var isOpen: Bool {
        socket.descriptor >= 0
    }

    var client: Int? {
        if case .piped(let client) = stage { client } else { nil }
    }
}

/// The connections of one worker's TCP allocations to their peers.
struct PeerTable: ~Copyable {
    /// Bytes that may wait for one peer before its client is paused.
    static let outputLimit = 256 * 1024

    private(set) var slots = UniqueArray<PeerStream>()
    private var free: [UInt32] = []
    private var byID: [PeerConnectionID: UInt32] = [:]
    /// The slots that are not read until their clients catch up.
    private var paused: [UInt32] = []

    mutating func add(_ socket: consuming StreamSocket, _ id: PeerConnectionID, _ stage: PeerStream.Stage) -> Int {
        let slot: Int
        if let last = free.popLast() {
            slot = Int(last)
            slots[slot] = PeerStream(socket, generation: slots[slot].generation, id, stage)
        } else {
            slot = slots.count
            slots.append(PeerStream(socket, generation: 0, id, stage))
        }
        byID[id] = UInt32(truncatingIfNeeded: slot)
        return slot
    }

    func slot(_ slot: Int, generation: UInt32) -> Int? {
        guard slot < slots.count, slots[slot].isOpen, slots[slot].generation & EventTag.generationMask == generation
        else { return nil }
        return slot
    }

    func slot(of id: PeerConnectionID) -> Int? {
        byID[id].map { Int($0) }
    }

    mutating func setStage(_ slot: Int, _ stage: PeerStream.Stage) {
        slots[slot].stage = stage
    }

    mutating func setEnded(_ slot: Int) {
        slots[slot].hasEnded = true
    }

    /// The client has ended its direction: the peer's is closed after the last byte, and it may go on sending.
    mutating func endSending(_ slot: Int) {
        slots[slot].needsShutdown = true
        shutdownIfDrained(slot)
    }

    private mutating func shutdownIfDrained(_ slot: Int) {
        guard slots[slot].needsShutdown, slots[slot].unsent.isEmpty else { return }
        slots[slot].needsShutdown = false
        slots[slot].socket.endSending()
    }

    mutating func setHeld(_ slot: Int, _ isHeld: Bool) {
        slots[slot].isHeld = isHeld
    }

    mutating func beginDraining(_ slot: Int, at now: Instant) {
        slots[slot].stage = .draining
        slots[slot].drainingSince = now
    }

    mutating func pause(_ slot: Int) {
        guard !slots[slot].isPaused else { return }
        slots[slot].isPaused = true
        paused.append(UInt32(truncatingIfNeeded: slot))
    }

    /// The paused slots whose clients have caught up.
    mutating func takeResumed(_ connections: borrowing ConnectionTable) -> [Int] {
        guard !paused.isEmpty else { return [] }
        let waiting = paused
        paused.removeAll(keepingCapacity: true)
        var resumed: [Int] = []
        for entry in waiting {
            let slot = Int(entry)
            guard slots[slot].isPaused, let client = slots[slot].client else { continue }
            if connections.hasCapacity(client) {
                slots[slot].isPaused = false
                resumed.append(slot)
            } else {
                paused.append(entry)
            }
        }
        return resumed
    }

    /// Sends to the peer, and keeps what the kernel does not accept. False when the connection is broken.
    mutating func write(_ bytes: UnsafeRawBufferPointer, to slot: Int) -> Bool {
        var rest = bytes
        if slots[slot].unsent.isEmpty {
            guard let taken = slots[slot].socket.send(bytes) else { return false }
            rest = UnsafeRawBufferPointer(rebasing: bytes.dropFirst(taken))
        }
        slots[slot].unsent.append(rest)
        return true
    }

    /// Sends unsent bytes. False when the connection is broken.
    mutating func drain(_ slot: Int) -> Bool {
        while !slots[slot].unsent.isEmpty {
            guard let taken = slots[slot].socket.send(slots[slot].unsent.bytes) else { return false }
            if taken == 0 { return true }
            slots[slot].unsent.removeFirst(taken)
        }
        slots[slot].unsent.release()
        shutdownIfDrained(slot)
        return true
    }

    func isFull(_ slot: Int) -> Bool {
        slots[slot].unsent.count >= Self.outputLimit
    }

    mutating func remove(_ slot: Int) {
        byID[slots[slot].id] = nil
        paused.removeAll { Int($0) == slot }
        slots[slot] = .closed(generation: slots[slot].generation &+ 1)
        free.append(UInt32(truncatingIfNeeded: slot))
    }
}
