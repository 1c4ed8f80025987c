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

/// Sends the packets of the engine and of the ICE agents: protects media with SRTP, and sends in batches.
struct PacketSender: ~Copyable, GatewayOutbox, Outbox {
    /// Where a leg's media is sent; stored at the index of its id.
    ///
    /// It is copied for each packet, so the session is not retained here: `sessions` retains it at the same index.
    private struct Path {
        let id: LegID
        let session: Unmanaged<SecureSession>
        let destination: Destination
    }

    private enum Destination {
        case datagrams(Int32, TransportAddress)
        case connection(GatewayConnection)
    }

    /// The limit of unsent bytes for each socket: 30 ms of a gigabit a second.
    private static let queueByteCount = 4 << 20
    private static let arenaByteCount = 256 * 1024
    /// How much a packet may grow: header extensions, the original sequence number of a retransmission, SRTP.
    private static let maxGrowth = 256
    private static let maxPacketByteCount = ReceiveBatch.maximumByteCount + maxGrowth

    private var listeners: [GatewayListener]
    private var paths: [Path?] = []
    private var sessions: [SecureSession?] = []
    var connections: GatewayConnections
    let tap: AudioTap
    private var batch = SendBatch(queueing: PacketSender.queueByteCount)
    private let arena: UnsafeMutableRawPointer
    private var used = 0
    /// The path of the packet that is being written.
    private var reserved: Int?
    private(set) var shown: [(LegID, [ShownSlot])] = []
    private(set) var packetsSent: UInt64 = 0
    private(set) var bytesSent: UInt64 = 0
    /// Packets that SRTP refused to protect, so that they were not sent.
    private(set) var rejected: UInt64 = 0

    init(_ listeners: [GatewayListener], _ connections: GatewayConnections, _ tap: AudioTap) {
        self.listeners = listeners
        self.tap = tap
        self.connections = connections
        arena = .allocate(byteCount: Self.arenaByteCount, alignment: 64)
    }

    deinit {
        arena.deallocate()
    }

    var dropped: UInt64 { batch.dropped &+ connections.dropped }
    /// Datagrams that waited until their socket was writable, and the bytes that wait now.
    var queued: UInt64 { batch.queued }
    var unsentByteCount: Int { batch.unsentByteCount }

    // MARK: Listeners

    mutating func add(_ listener: GatewayListener) { listeners.append(listener) }

    /// No path leads there any more. What waits for the socket is lost.
    mutating func removeListener(_ descriptor: Int32) {
        listeners.removeAll { $0.descriptor == descriptor }
        batch.forget(descriptor)
    }

    // MARK: Paths

    mutating func set(_ id: LegID, _ session: SecureSession, _ flow: Flow?) {
        let index = Int(id.index)
        while paths.count <= index {
            paths.append(nil)
            sessions.append(nil)
        }
        let found = flow.flatMap { destination(of: $0) }
        sessions[index] = found == nil ? nil : session
        paths[index] = found.map { Path(id: id, session: .passUnretained(session), destination: $0) }
    }

    private func destination(of flow: Flow) -> Destination? {
        switch flow.transport {
        case .tcp: connections[flow].map { .connection($0) }
        default: descriptor(of: flow).map { .datagrams($0, flow.remote) }
        }
    }

    mutating func remove(_ id: LegID) {
        let index = Int(id.index)
        guard index < paths.count, paths[index]?.id == id else { return }
        // Packets written for it are protected already and may be sent.
        paths[index] = nil
        sessions[index] = nil
    }

    private func index(of id: LegID) -> Int? {
        let index = Int(id.index)
        guard index < paths.count, paths[index]?.id == id else { return nil }
        return index
    }

    private func descriptor(of flow: Flow) -> Int32? {
        listeners.first { $0.address == flow.local }?.descriptor
    }

    // MARK: Sending

    mutating func reserve(for leg: LegID) -> UnsafeMutableRawBufferPointer? {
        reserved = index(of: leg)
        guard reserved != nil else { return nil }
        if Self.arenaByteCount &- used < Self.maxPacketByteCount { flush() }
        return UnsafeMutableRawBufferPointer(
            start: arena + used, count: Self.maxPacketByteCount &- SRTPSender.maximumExpansion)
    }

    mutating func commit(_ byteCount: Int, isVideo: Bool) -> Bool {
        guard let index = reserved, let path = paths[index], byteCount <= Self.maxPacketByteCount else { return false }
        let buffer = UnsafeMutableRawBufferPointer(start: arena + used, count: Self.maxPacketByteCount)
        let protected = path.session._withUnsafeGuaranteedRef { session in
            try? session.sender.protectRTP(buffer, count: byteCount)
        }
        guard let count = protected else {
            rejected &+= 1
            return false
        }
        send(count, path, isVideo: isVideo)
        return true
    }

    mutating func sendReport(_ bytes: borrowing [UInt8], to leg: LegID) {
        guard let index = index(of: leg), let path = paths[index],
            bytes.count <= Self.maxPacketByteCount &- SRTPSender.maximumExpansion
        else { return }
        if Self.arenaByteCount &- used < Self.maxPacketByteCount { flush() }
        let buffer = UnsafeMutableRawBufferPointer(start: arena + used, count: Self.maxPacketByteCount)
        bytes.withUnsafeBytes { buffer.copyMemory(from: $0) }
        let protected = path.session._withUnsafeGuaranteedRef { session in
            try? session.sender.protectRTCP(buffer, count: bytes.count)
        }
        guard let count = protected else {
            rejected &+= 1
            return
        }
        send(count, path)
    }

    private mutating func send(_ count: Int, _ path: Path, isVideo: Bool = false) {
        let packet = UnsafeRawBufferPointer(start: arena + used, count: count)
        switch path.destination {
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
        switch destination(of: flow) {
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

    mutating func tapBegan(_ source: TappedSource) { tap.append(.began(source)) }

    mutating func tap(_ payload: RawSpan, _ packet: TappedPacket) { tap.copy(packet, payload) }

    mutating func tapEnded(_ source: UInt32) { tap.append(.ended(source: source)) }

    mutating func takeShown() -> [(LegID, [ShownSlot])] {
        defer { shown = [] }
        return shown
    }

    func hasUnsent(for descriptor: Int32) -> Bool { batch.hasUnsent(for: descriptor) }

    /// False when some still waits for the socket.
    mutating func sendUnsent(from descriptor: Int32) -> Bool { batch.sendUnsent(from: descriptor) }

    mutating func flush() {
        batch.flush()
        connections.flush()
        used = 0
    }
}
