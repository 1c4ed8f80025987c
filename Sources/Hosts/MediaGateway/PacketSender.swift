import DatagramIO
import Gateway
import RTP
import SDP
import SecureMedia
import Wire

/// A local address of a worker's socket.
struct GatewayListener {
    let descriptor: Int32
    let address: TransportAddress
}

/// Takes what the engine and the ICE agents want sent, protects media, and sends in batches.
struct GatewayWires: ~Copyable, GatewayOutbox, Outbox {
    /// Where a leg's media goes; the engine names it by its place.
    ///
    /// It is copied for each packet, so the session is not counted here: `sessions` has it in the same place.
    private struct Path {
        let id: LegID
        let session: Unmanaged<SecureSession>
        let way: Way
    }

    private enum Way {
        case datagrams(Int32, TransportAddress)
        case connection(GatewayConnection)
    }

    /// For each socket, of what it does not take at once: 30 ms of a gigabit a second.
    private static let keptByteCount = 4 << 20
    private static let arenaByteCount = 256 * 1024
    /// No packet grows by more on its way through: header extensions, the original number in a repair, SRTP.
    private static let growth = 256
    private static let room = ReceiveBatch.maximumByteCount + growth

    let listeners: [GatewayListener]
    private var paths: [Path?] = []
    private var sessions: [SecureSession?] = []
    var connections: GatewayConnections
    let tap: SoundTap
    private var batch = SendBatch(keeping: GatewayWires.keptByteCount)
    private let arena: UnsafeMutableRawPointer
    private var used = 0
    /// The path of the packet that is being written.
    private var reserved: Int?
    private(set) var shown: [(LegID, [ShownSlot])] = []
    private(set) var packetsSent: UInt64 = 0
    private(set) var bytesSent: UInt64 = 0
    /// What SRTP did not protect, so that it was not sent.
    private(set) var refused: UInt64 = 0

    init(_ listeners: [GatewayListener], _ connections: GatewayConnections, _ tap: SoundTap) {
        self.listeners = listeners
        self.tap = tap
        self.connections = connections
        arena = .allocate(byteCount: Self.arenaByteCount, alignment: 64)
    }

    deinit {
        arena.deallocate()
    }

    var dropped: UInt64 { batch.dropped &+ connections.dropped }
    /// Datagrams that waited until their socket had room, and how many bytes do so now.
    var kept: UInt64 { batch.kept }
    var unsentByteCount: Int { batch.unsentByteCount }

    // MARK: Paths

    mutating func set(_ id: LegID, _ session: SecureSession, _ flow: Flow?) {
        let place = Int(id.place)
        while paths.count <= place {
            paths.append(nil)
            sessions.append(nil)
        }
        let found = flow.flatMap { way(of: $0) }
        sessions[place] = found == nil ? nil : session
        paths[place] = found.map { Path(id: id, session: .passUnretained(session), way: $0) }
    }

    private func way(of flow: Flow) -> Way? {
        switch flow.transport {
        case .tcp: connections[flow].map { .connection($0) }
        default: descriptor(of: flow).map { .datagrams($0, flow.remote) }
        }
    }

    mutating func remove(_ id: LegID) {
        let place = Int(id.place)
        guard place < paths.count, paths[place]?.id == id else { return }
        // What was written for it is protected already, and may leave.
        paths[place] = nil
        sessions[place] = nil
    }

    private func place(of id: LegID) -> Int? {
        let place = Int(id.place)
        guard place < paths.count, paths[place]?.id == id else { return nil }
        return place
    }

    private func descriptor(of flow: Flow) -> Int32? {
        listeners.first { $0.address == flow.local }?.descriptor
    }

    // MARK: What is sent

    mutating func reserve(for leg: LegID) -> UnsafeMutableRawBufferPointer? {
        reserved = place(of: leg)
        guard reserved != nil else { return nil }
        if Self.arenaByteCount &- used < Self.room { flush() }
        return UnsafeMutableRawBufferPointer(start: arena + used, count: Self.room &- SRTPSender.maximumExpansion)
    }

    mutating func commit(_ byteCount: Int, isVideo: Bool) -> Bool {
        guard let place = reserved, let path = paths[place], byteCount <= Self.room else { return false }
        let room = UnsafeMutableRawBufferPointer(start: arena + used, count: Self.room)
        let protected = path.session._withUnsafeGuaranteedRef { session in
            try? session.sender.protectRTP(room, count: byteCount)
        }
        guard let count = protected else {
            refused &+= 1
            return false
        }
        send(count, path, isVideo: isVideo)
        return true
    }

    mutating func sendReport(_ bytes: borrowing [UInt8], to leg: LegID) {
        guard let place = place(of: leg), let path = paths[place],
            bytes.count <= Self.room &- SRTPSender.maximumExpansion
        else { return }
        if Self.arenaByteCount &- used < Self.room { flush() }
        let room = UnsafeMutableRawBufferPointer(start: arena + used, count: Self.room)
        bytes.withUnsafeBytes { room.copyMemory(from: $0) }
        let protected = path.session._withUnsafeGuaranteedRef { session in
            try? session.sender.protectRTCP(room, count: bytes.count)
        }
        guard let count = protected else {
            refused &+= 1
            return
        }
        send(count, path)
    }

    private mutating func send(_ count: Int, _ path: Path, isVideo: Bool = false) {
        let packet = UnsafeRawBufferPointer(start: arena + used, count: count)
        switch path.way {
        case .datagrams(let descriptor, let destination):
            batch.append(packet, from: descriptor, to: destination, isVideo: isVideo)
            used &+= count
        case .connection(let connection):
            connections.send(packet, on: connection)
        }
        packetsSent &+= 1
        bytesSent &+= UInt64(truncatingIfNeeded: count)
    }

    mutating func send(_ message: RawSpan, on flow: Flow) {
        switch way(of: flow) {
        case .datagrams(let descriptor, let destination):
            batch.appendCopy(message, from: descriptor, to: destination)
        case .connection(let connection):
            message.withUnsafeBytes { connections.send($0, on: connection) }
        case nil: break
        }
    }

    mutating func show(_ slots: [ShownSlot], on leg: LegID) {
        shown.append((leg, slots))
    }

    mutating func tapBegan(_ source: TappedSource) { tap.note(.began(source)) }

    mutating func tap(_ payload: RawSpan, _ packet: TappedPacket) { tap.copy(packet, payload) }

    mutating func tapEnded(_ source: UInt32) { tap.note(.ended(source: source)) }

    mutating func takeShown() -> [(LegID, [ShownSlot])] {
        defer { shown = [] }
        return shown
    }

    func holdsUnsent(for descriptor: Int32) -> Bool { batch.holdsUnsent(for: descriptor) }

    /// False when the socket still does not take all that waits for it.
    mutating func sendKept(from descriptor: Int32) -> Bool { batch.sendKept(from: descriptor) }

    mutating func flush() {
        batch.flush()
        connections.flush()
        used = 0
    }
}
