import BasicContainers
import DatagramIO
import TURN
import Wire

/// What the engine wants of connections to peers.
enum PeerWish {
    case connect(PeerConnectionID, RelayID, TransportAddress)
    case bind(PeerConnectionID, Flow)
    case close(PeerConnectionID)
}

/// One connection between a relay and a peer (RFC 6062), in its slot of the worker's table, or the slot without one.
struct PeerStream: ~Copyable {
    enum Stage {
        case connecting
        /// Bytes that the peer sends wait in the kernel until the client claims the connection.
        case unclaimed
        /// With the slot of the client's connection.
        case piped(Int)
        /// The client is gone; what it sent last is on its way.
        case draining
    }

    let socket: StreamSocket
    let generation: UInt32
    let id: PeerConnectionID
    var stage: Stage
    /// What the client sent and the kernel had no room for.
    var backlog = ByteQueue()
    /// The client does not read fast enough, so the peer is not read.
    var isPaused = false
    /// It has to wait until its allocation's bandwidth allows more: see `HeldStreams`.
    var isHeld = false
    /// The peer sends no more; what its client sends goes on.
    var hasEnded = false
    /// The client sends no more, which the peer is told behind the last byte.
    var owesFarewell = false
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
    /// Bytes that may wait for one peer before its client is read no more.
    static let outputLimit = 256 * 1024

    private(set) var slots = UniqueArray<PeerStream>()
    private var free: [UInt32] = []
    private var byID: [PeerConnectionID: UInt32] = [:]
    /// Those that are not read until their clients catch up.
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

    /// The client sends no more: the peer hears it behind the last byte, and may go on sending.
    mutating func endSending(_ slot: Int) {
        slots[slot].owesFarewell = true
        sayFarewell(slot)
    }

    private mutating func sayFarewell(_ slot: Int) {
        guard slots[slot].owesFarewell, slots[slot].backlog.isEmpty else { return }
        slots[slot].owesFarewell = false
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

    /// Those whose clients have room again.
    mutating func takeResumed(_ connections: borrowing ConnectionTable) -> [Int] {
        guard !paused.isEmpty else { return [] }
        let waiting = paused
        paused.removeAll(keepingCapacity: true)
        var resumed: [Int] = []
        for entry in waiting {
            let slot = Int(entry)
            guard slots[slot].isPaused, let client = slots[slot].client else { continue }
            if connections.hasRoom(client) {
                slots[slot].isPaused = false
                resumed.append(slot)
            } else {
                paused.append(entry)
            }
        }
        return resumed
    }

    /// Sends to the peer, or keeps what does not fit. False when the connection is broken.
    mutating func write(_ bytes: UnsafeRawBufferPointer, to slot: Int) -> Bool {
        var rest = bytes
        if slots[slot].backlog.isEmpty {
            guard let taken = slots[slot].socket.send(bytes) else { return false }
            rest = UnsafeRawBufferPointer(rebasing: bytes.dropFirst(taken))
        }
        slots[slot].backlog.append(rest)
        return true
    }

    /// Sends what had to wait. False when the connection is broken.
    mutating func drain(_ slot: Int) -> Bool {
        while !slots[slot].backlog.isEmpty {
            guard let taken = slots[slot].socket.send(slots[slot].backlog.bytes) else { return false }
            if taken == 0 { return true }
            slots[slot].backlog.removeFirst(taken)
        }
        slots[slot].backlog.release()
        sayFarewell(slot)
        return true
    }

    func isFull(_ slot: Int) -> Bool {
        slots[slot].backlog.count >= Self.outputLimit
    }

    mutating func remove(_ slot: Int) {
        byID[slots[slot].id] = nil
        paused.removeAll { Int($0) == slot }
        slots[slot] = .closed(generation: slots[slot].generation &+ 1)
        free.append(UInt32(truncatingIfNeeded: slot))
    }
}
