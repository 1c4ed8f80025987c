import BasicContainers
import DatagramIO
import OpenSSLCrypto
import TURN
import Wire

/// A connection on its way to another worker, which is closed when nobody takes it.
final class MovedConnection: Sendable {
    let flow: Flow
    /// What was received and not yet understood.
    let unread: [UInt8]
    /// How often it went from worker to worker, with this time.
    let moves: UInt8
    // The worker that let go of the session does not touch it again.
    nonisolated(unsafe) let session: TLSSession?
    private let descriptor: Int32
    private let isTaken = TakenFlag()

    init(_ descriptor: Int32, _ flow: Flow, _ session: TLSSession?, _ unread: [UInt8], moves: UInt8) {
        self.descriptor = descriptor
        self.flow = flow
        self.session = session
        self.unread = unread
        self.moves = moves
    }

    deinit {
        if isTaken.set() { _ = StreamSocket(adopting: descriptor) }
    }

    /// The socket, once.
    func take() -> StreamSocket? {
        isTaken.set() ? StreamSocket(adopting: descriptor) : nil
    }
}

extension Connection {
    consuming func surrender() -> Int32 {
        socket.surrender()
    }
}

/// The TCP connections of one worker, and what waits to leave through them.
///
/// Messages for a connection are collected during the worker's round and written at its end with one call. What the
/// kernel has no room for stays, within a bound: beyond it relayed packets are dropped, as a full link would drop them,
/// and a client that does not even read its answers is cut off. Connections end only at the end of a round, so a slot
/// means the same connection throughout.
struct ConnectionTable: ~Copyable {
    /// Bytes that may wait for one connection.
    static let outputLimit = 256 * 1024
    private static let spareLimit = 64
    private static let spareByteCount = 64 * 1024

    private(set) var slots = UniqueArray<Connection>()
    private(set) var count = 0
    private(set) var closed = [UInt64](repeating: 0, count: ConnectionEnd.allCases.count)
    /// Relayed packets that found their connection's output full.
    private(set) var dropped: UInt64 = 0
    private(set) var sendCalls: UInt64 = 0
    let pipe = TLSPipe()
    /// All of them by their sources, once these are known; those without allocation are pending.
    private(set) var admissions: AdmissionTable
    private var free: [UInt32] = []
    private var byFlow: [Flow: UInt32] = [:]
    private var touched: [UInt32] = []
    private var ending: [UInt32] = []
    /// Memory for `collected`, handed from round to round.
    private var spare = UniqueArray<ByteQueue>()

    init(limit: Int) {
        admissions = AdmissionTable(.init(all: limit))
    }

    /// Connections at a time, of which one source may have a quarter; a lower limit closes none that are open.
    var limit: Int {
        get { admissions.limits.all }
        set { admissions.limits = .init(all: newValue) }
    }

    /// The slot for a new connection, nil when there are too many: it is closed. Where a load balancer is yet to say whose it
    /// is, it counts in the total alone.
    mutating func add(
        _ socket: consuming StreamSocket, _ flow: Flow, _ stage: Connection.Stage, at now: Instant
    ) -> Int? {
        let slot = free.last.map { Int($0) } ?? slots.count
        var source: IPAddress? = flow.remote.address
        if case .proxyHeader = stage { source = nil }
        guard let admission = try? admissions.admit(source, owner: UInt64(slot), at: now) else { return nil }
        if free.popLast() != nil {
            slots[slot] = Connection(socket, generation: slots[slot].generation, flow, stage, admission, at: now)
        } else {
            slots.append(Connection(socket, generation: 0, flow, stage, admission, at: now))
        }
        count += 1
        byFlow[flow] = UInt32(truncatingIfNeeded: slot)
        return slot
    }

    /// The slot that an event is about, nil when its connection is gone.
    func slot(_ slot: Int, generation: UInt32) -> Int? {
        guard slot < slots.count, slots[slot].isOpen, slots[slot].generation & EventTag.generationMask == generation
        else { return nil }
        return slot
    }

    // MARK: Admission

    /// The slot of the connection that would have to go before one of this source comes, nil when there is room, or when all
    /// have allocations.
    func candidateForEviction(for source: IPAddress?) -> Int? {
        let oldest: AdmissionTable.Pending?
        switch admissions.refusal(of: source) {
        case nil: return nil
        case .sourceLimit, .sourcePendingLimit: oldest = source.flatMap { admissions.oldestPending(of: $0) }
        case .limit, .pendingLimit: oldest = admissions.oldestPending
        }
        guard let slot = oldest.map({ Int(truncatingIfNeeded: $0.owner) }), slot < slots.count else { return nil }
        return slot
    }

    /// It has an allocation, and is not to go.
    mutating func confirm(_ slot: Int) {
        if let admission = slots[slot].admission { admissions.confirm(admission) }
    }

    /// Its place is another's from now on; it closes at the end of the round.
    mutating func evict(_ slot: Int) {
        if let admission = slots[slot].admission { admissions.release(admission) }
        slots[slot].admission = nil
        end(slot, .evicted)
    }

    /// Counts the connection for the source that a load balancer named. False when that has its share already.
    mutating func countSource(_ slot: Int) -> Bool {
        guard let admission = slots[slot].admission else { return true }
        return admissions.setSource(admission, slots[slot].flow.remote.address)
    }

    // MARK: Reading

    mutating func setStage(_ slot: Int, _ stage: Connection.Stage) {
        slots[slot].stage = stage
    }

    mutating func secure(_ slot: Int, _ session: TLSSession) {
        slots[slot].session = session
        slots[slot].unread.release()
    }

    /// The flow changes when it turns out who the client is, or that it speaks TLS. Another connection of that flow ends:
    /// the load balancer has forgotten it.
    mutating func setFlow(_ slot: Int, _ flow: Flow) {
        if byFlow[slots[slot].flow] == UInt32(truncatingIfNeeded: slot) { byFlow[slots[slot].flow] = nil }
        slots[slot].flow = flow
        if let twin = byFlow.updateValue(UInt32(truncatingIfNeeded: slot), forKey: flow) { end(Int(twin), .replaced) }
    }

    /// Keeps the beginning of a message until the rest arrives.
    mutating func keep(_ slot: Int, _ bytes: UnsafeRawBufferPointer) {
        if bytes.isEmpty {
            slots[slot].unread.release()
        } else {
            slots[slot].unread.removeAll()
            slots[slot].unread.append(bytes)
        }
    }

    mutating func sawMessage(_ slot: Int, at now: Instant) {
        slots[slot].quietSince = now
    }

    mutating func sawAllocation(_ slot: Int, at now: Instant) {
        slots[slot].quietSince = now
        slots[slot].idleSince = now
        confirm(slot)
    }

    // MARK: Sending

    /// An answer: the client waits for it, so one that cannot be kept ends the connection. Or an indication, which nobody
    /// waits for.
    mutating func send(_ message: RawSpan, on flow: Flow) {
        guard let slot = byFlow[flow].map({ Int($0) }) else { return }
        guard hasRoom(slot, message.byteCount) else {
            // The class bits of RFC 8489 section 5.
            if (message.integer(at: 0, as: UInt16.self) ?? 0) & 0x110 == 0x010 {
                dropped &+= 1
            } else {
                end(slot, .unread)
            }
            return
        }
        touch(slot)
        slots[slot].collected.append(message)
    }

    func slot(of flow: Flow) -> Int? {
        byFlow[flow].map { Int($0) }
    }

    /// Whether bytes of a peer may be added. One read more than the limit is.
    func hasRoom(_ slot: Int) -> Bool {
        hasRoom(slot, 0)
    }

    /// What a peer sent, as it is.
    mutating func pipe(_ bytes: UnsafeRawBufferPointer, to slot: Int) {
        touch(slot)
        slots[slot].collected.append(bytes)
    }

    mutating func setMoves(_ slot: Int, _ moves: UInt8) {
        slots[slot].moves = moves
    }

    mutating func setPaused(_ slot: Int, _ isPaused: Bool) {
        slots[slot].isPaused = isPaused
    }

    mutating func setHeld(_ slot: Int, _ isHeld: Bool) {
        slots[slot].isHeld = isHeld
    }

    /// The client of a stream sends no more.
    mutating func setEnded(_ slot: Int) {
        slots[slot].hasEnded = true
    }

    /// The peer of a stream sends no more: the client hears it behind the last byte, and may go on sending.
    mutating func endSending(_ slot: Int) {
        guard case .none = slots[slot].farewell else { return }
        slots[slot].farewell = .owed
        touch(slot)
    }

    /// A relayed packet with its framing. False when it was dropped.
    mutating func forward(_ packet: UnsafeRawBufferPointer, on flow: Flow) -> Bool {
        guard let slot = byFlow[flow].map({ Int($0) }), hasRoom(slot, packet.count) else {
            dropped &+= 1
            return false
        }
        touch(slot)
        slots[slot].collected.append(packet)
        return true
    }

    private func hasRoom(_ slot: Int, _ byteCount: Int) -> Bool {
        slots[slot].collected.count &+ slots[slot].backlog.count &+ byteCount <= Self.outputLimit
    }

    private mutating func touch(_ slot: Int) {
        guard !slots[slot].isTouched else { return }
        slots[slot].isTouched = true
        touched.append(UInt32(truncatingIfNeeded: slot))
        if slots[slot].collected.capacity == 0, let memory = spare.popLast() { slots[slot].collected = memory }
    }

    /// Writes what was collected.
    mutating func flush() {
        guard !touched.isEmpty else { return }
        for slot in touched { flush(Int(slot)) }
        touched.removeAll(keepingCapacity: true)
    }

    /// The same for one connection, before it goes away.
    mutating func flushNow(_ slot: Int) {
        if slots[slot].isTouched { flush(slot) }
    }

    private mutating func flush(_ slot: Int) {
        slots[slot].isTouched = false
        guard slots[slot].isOpen else { return }
        if let session = slots[slot].session, !slots[slot].collected.isEmpty {
            // A record for each message: clients such as coturn's take what one read gives them for one message.
            var isFramed = false
            if case .messages = slots[slot].stage { isFramed = true }
            let isWritten = session.write(slots[slot].collected.bytes) { rest in
                if isFramed, case .frame(let size) = StreamFraming.next(rest.bytes) { size } else { rest.count }
            }
            if isWritten {
                write(slot, pipe.outgoing)
            } else {
                end(slot, .tls)
            }
        } else {
            write(slot, slots[slot].collected.bytes)
        }
        var memory = ByteQueue()
        swap(&memory, &slots[slot].collected)
        memory.removeAll()
        if (1...Self.spareByteCount).contains(memory.capacity), spare.count < Self.spareLimit { spare.append(memory) }
        endIfDrained(slot)
    }

    private mutating func write(_ slot: Int, _ bytes: UnsafeRawBufferPointer) {
        guard !bytes.isEmpty, slots[slot].end != .broken else { return }
        var rest = bytes
        if slots[slot].backlog.isEmpty {
            sendCalls &+= 1
            guard let taken = slots[slot].socket.send(bytes) else {
                end(slot, .broken)
                return
            }
            rest = UnsafeRawBufferPointer(rebasing: bytes.dropFirst(taken))
        }
        // The kernel reports room when there is some again.
        slots[slot].backlog.append(rest)
    }

    /// Sends what TLS has to say for itself: handshakes and alerts.
    mutating func sendHandshake(_ slot: Int) {
        let bytes = pipe.outgoing
        guard slots[slot].backlog.count &+ bytes.count <= Self.outputLimit else {
            end(slot, .unread)
            return
        }
        write(slot, bytes)
    }

    /// Sends what had to wait, now that there is room.
    mutating func drain(_ slot: Int) {
        while !slots[slot].backlog.isEmpty {
            sendCalls &+= 1
            guard let taken = slots[slot].socket.send(slots[slot].backlog.bytes) else {
                end(slot, .broken)
                return
            }
            if taken == 0 { return }
            slots[slot].backlog.removeFirst(taken)
        }
        slots[slot].backlog.release()
        endIfDrained(slot)
    }

    // MARK: Ending

    /// The client sends no more: its last answers are to reach it all the same.
    mutating func beginDraining(_ slot: Int, at now: Instant) {
        slots[slot].isDraining = true
        slots[slot].quietSince = now
        slots[slot].idleSince = now
        slots[slot].unread.release()
        touch(slot)
    }

    private mutating func endIfDrained(_ slot: Int) {
        guard slots[slot].end == nil, slots[slot].collected.isEmpty, slots[slot].backlog.isEmpty else { return }
        guard slots[slot].isDraining else {
            sayFarewell(slot)
            return
        }
        if let session = slots[slot].session {
            session.close()
            write(slot, pipe.outgoing)
        }
        end(slot, .client)
    }

    private mutating func sayFarewell(_ slot: Int) {
        if case .owed = slots[slot].farewell {
            slots[slot].farewell = .closingTLS
            if let session = slots[slot].session {
                session.close()
                write(slot, pipe.outgoing)
            }
        }
        guard case .closingTLS = slots[slot].farewell, slots[slot].backlog.isEmpty else { return }
        slots[slot].farewell = .said
        slots[slot].socket.endSending()
    }

    /// Ends the connection at the end of the round.
    mutating func end(_ slot: Int, _ reason: ConnectionEnd) {
        guard slots[slot].isOpen, slots[slot].end == nil else { return }
        slots[slot].end = reason
        ending.append(UInt32(truncatingIfNeeded: slot))
    }

    /// A connection that is gone, and its flow unless another connection has taken that over.
    struct Removed {
        let flow: Flow?
        let peer: Int?
    }

    /// Closes one of the connections that end; nil when none is left.
    mutating func removeNext() -> Removed? {
        guard let slot = ending.popLast().map({ Int($0) }) else { return nil }
        let flow = slots[slot].flow
        if let reason = slots[slot].end { closed[reason.rawValue] &+= 1 }
        let peer = slots[slot].peer
        // A twin that replaced it owns the flow now.
        let isReplaced = byFlow[flow] != UInt32(truncatingIfNeeded: slot)
        if !isReplaced { byFlow[flow] = nil }
        vacate(slot)
        return Removed(flow: isReplaced ? nil : flow, peer: peer)
    }

    private mutating func vacate(_ slot: Int) {
        if let admission = slots[slot].admission { admissions.release(admission) }
        slots[slot] = .closed(generation: slots[slot].generation &+ 1)
        free.append(UInt32(truncatingIfNeeded: slot))
        count -= 1
    }

    /// Lets a connection go without closing it. nil when it still has something to send.
    mutating func surrender(_ slot: Int) -> MovedConnection? {
        guard slots[slot].isReading, slots[slot].backlog.isEmpty, slots[slot].collected.isEmpty else { return nil }
        let flow = slots[slot].flow
        if byFlow[flow] == UInt32(truncatingIfNeeded: slot) { byFlow[flow] = nil }
        let session = slots[slot].session
        let unread = Array(slots[slot].unread.bytes)
        let moves = slots[slot].moves &+ 1
        var connection = Connection.closed(generation: slots[slot].generation)
        // Its place is given back with its slot.
        connection.admission = slots[slot].admission
        swap(&connection, &slots[slot])
        vacate(slot)
        return MovedConnection(connection.surrender(), flow, session, unread, moves: moves)
    }
}
