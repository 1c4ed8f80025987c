import BasicContainers
import DatagramIO
import OpenSSLCrypto
import TURN
import Wire

/// A connection on its way to another worker, closed when no worker takes it.
final class MovedConnection: Sendable {
    let flow: Flow
    /// Bytes that were received and not yet parsed.
    let unread: [UInt8]
    /// How often the connection was handed over, this time included.
    let handoffs: UInt8
    // The previous worker does not use the session any more.
    nonisolated(unsafe) let session: TLSSession?
    private let descriptor: Int32
    private let isTaken = OnceFlag()

    init(_ descriptor: Int32, _ flow: Flow, _ session: TLSSession?, _ unread: [UInt8], handoffs: UInt8) {
        self.descriptor = descriptor
        self.flow = flow
        self.session = session
        self.unread = unread
        self.handoffs = handoffs
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
    consuming func release() -> Int32 {
        socket.release()
    }
}

/// The TCP connections of one worker, and their output.
///
/// Messages for a connection are collected during the worker's round and written at its end with one system call. What
/// the kernel does not accept is kept, up to a limit: beyond it relayed packets are dropped, as on a full link, and a
/// client that does not read its responses is disconnected. Connections end only at the end of a round, so a slot holds
/// the same connection throughout.
struct ConnectionTable: ~Copyable {
    /// Bytes that may wait for one connection.
    static let outputLimit = 256 * 1024
    private static let spareLimit = 64
    private static let spareByteCount = 64 * 1024

    private(set) var slots = UniqueArray<Connection>()
    private(set) var count = 0
    private(set) var closed = [UInt64](repeating: 0, count: ConnectionCloseReason.allCases.count)
    /// Relayed packets that found their connection's output full.
    private(set) var dropped: UInt64 = 0
    private(set) var sendCalls: UInt64 = 0
    let tlsPipe = TLSPipe()
    /// All connections by source, once it is known; those without allocation are pending.
    private(set) var admissions: AdmissionTable
    private var free: [UInt32] = []
    private var byFlow: [Flow: UInt32] = [:]
    private var dirty: [UInt32] = []
    private var ending: [UInt32] = []
    /// Buffers for `collected`, reused in later rounds.
    private var spare = UniqueArray<ByteQueue>()

    init(limit: Int) {
        admissions = AdmissionTable(.init(all: limit))
    }

    /// Connections at a time, of which one source may have a quarter; a lower limit closes none that are open.
    var limit: Int {
        get { admissions.limits.all }
        set { admissions.limits = .init(all: newValue) }
    }

    /// The slot for a new connection, nil when there are too many: it is closed. Until a load balancer has named its
    /// source, it counts only in the total.
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

    /// The slot of an event, nil when its connection is gone.
    func slot(_ slot: Int, generation: UInt32) -> Int? {
        guard slot < slots.count, slots[slot].isOpen, slots[slot].generation & EventTag.generationMask == generation
        else { return nil }
        return slot
    }

    // MARK: Admission

    /// The slot of the connection to evict before one of this source is added, nil when the table is not full, or when
    /// all connections have allocations.
    func candidateForEviction(for source: IPAddress?) -> Int? {
        let oldest: AdmissionTable.Pending?
        switch admissions.rejection(of: source) {
        case nil: return nil
        case .sourceLimit, .sourcePendingLimit: oldest = source.flatMap { admissions.oldestPending(of: $0) }
        case .limit, .pendingLimit: oldest = admissions.oldestPending
        }
        guard let slot = oldest.map({ Int(truncatingIfNeeded: $0.owner) }), slot < slots.count else { return nil }
        return slot
    }

    /// The connection has an allocation and must not be evicted.
    mutating func confirm(_ slot: Int) {
        if let admission = slots[slot].admission { admissions.confirm(admission) }
    }

    /// Releases the connection's admission at once; it closes at the end of the round.
    mutating func evict(_ slot: Int) {
        if let admission = slots[slot].admission { admissions.release(admission) }
        slots[slot].admission = nil
        end(slot, .evicted)
    }

    /// Counts the connection for the source that a load balancer named. False when that source is at its limit.
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

    /// The flow changes when a load balancer names the client, or when the client begins TLS. Another connection of the
    /// new flow ends: the load balancer has dropped it.
    mutating func setFlow(_ slot: Int, _ flow: Flow) {
        if byFlow[slots[slot].flow] == UInt32(truncatingIfNeeded: slot) { byFlow[slots[slot].flow] = nil }
        slots[slot].flow = flow
        if let duplicate = byFlow.updateValue(UInt32(truncatingIfNeeded: slot), forKey: flow) {
            end(Int(duplicate), .replaced)
        }
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

    mutating func noteMessage(_ slot: Int, at now: Instant) {
        slots[slot].quietSince = now
    }

    mutating func noteAllocation(_ slot: Int, at now: Instant) {
        slots[slot].quietSince = now
        slots[slot].idleSince = now
        confirm(slot)
    }

    // MARK: Sending

    /// Sends a response or an indication. When the output is full, a response ends the connection, since the client
    /// waits for it; an indication is dropped.
    mutating func send(_ message: RawSpan, on flow: Flow) {
        guard let slot = byFlow[flow].map({ Int($0) }) else { return }
        guard hasCapacity(slot, message.byteCount) else {
            // The class bits of RFC 8489 section 5.
            if (message.integer(at: 0, as: UInt16.self) ?? 0) & 0x110 == 0x010 {
                dropped &+= 1
            } else {
                end(slot, .unread)
            }
            return
        }
        markDirty(slot)
        slots[slot].collected.append(message)
    }

    func slot(of flow: Flow) -> Int? {
        byFlow[flow].map { Int($0) }
    }

    /// Whether bytes of a peer may be added. They may exceed the limit by one read.
    func hasCapacity(_ slot: Int) -> Bool {
        hasCapacity(slot, 0)
    }

    /// Adds bytes of a peer, without framing.
    mutating func pipe(_ bytes: UnsafeRawBufferPointer, to slot: Int) {
        markDirty(slot)
        slots[slot].collected.append(bytes)
    }

    mutating func setHandoffs(_ slot: Int, _ handoffs: UInt8) {
        slots[slot].handoffs = handoffs
    }

    mutating func setPaused(_ slot: Int, _ isPaused: Bool) {
        slots[slot].isPaused = isPaused
    }

    mutating func setHeld(_ slot: Int, _ isHeld: Bool) {
        slots[slot].isHeld = isHeld
    }

    /// The client of a stream has ended its direction.
    mutating func setEnded(_ slot: Int) {
        slots[slot].hasEnded = true
    }

    /// The peer of a stream has ended its direction: the client's is closed after the last byte, and it may go on
    /// sending.
    mutating func endSending(_ slot: Int) {
        guard case .none = slots[slot].closeState else { return }
        slots[slot].closeState = .pending
        markDirty(slot)
    }

    /// Adds a relayed packet with its framing. False when it was dropped.
    mutating func forward(_ packet: UnsafeRawBufferPointer, on flow: Flow) -> Bool {
        guard let slot = byFlow[flow].map({ Int($0) }), hasCapacity(slot, packet.count) else {
            dropped &+= 1
            return false
        }
        markDirty(slot)
        slots[slot].collected.append(packet)
        return true
    }

    private func hasCapacity(_ slot: Int, _ byteCount: Int) -> Bool {
        slots[slot].collected.count &+ slots[slot].unsent.count &+ byteCount <= Self.outputLimit
    }

    private mutating func markDirty(_ slot: Int) {
        guard !slots[slot].isDirty else { return }
        slots[slot].isDirty = true
        dirty.append(UInt32(truncatingIfNeeded: slot))
        if slots[slot].collected.capacity == 0, let memory = spare.popLast() { slots[slot].collected = memory }
    }

    /// Writes what was collected.
    mutating func flush() {
        guard !dirty.isEmpty else { return }
        for slot in dirty { flush(Int(slot)) }
        dirty.removeAll(keepingCapacity: true)
    }

    /// The same for one connection, before it goes away.
    mutating func flushNow(_ slot: Int) {
        if slots[slot].isDirty { flush(slot) }
    }

    private mutating func flush(_ slot: Int) {
        slots[slot].isDirty = false
        guard slots[slot].isOpen else { return }
        if let session = slots[slot].session, !slots[slot].collected.isEmpty {
            // A record for each message: clients such as coturn's take what one read gives them for one message.
            var isFramed = false
            if case .messages = slots[slot].stage { isFramed = true }
            let isWritten = session.write(slots[slot].collected.bytes) { rest in
                if isFramed, case .frame(let size) = StreamFraming.next(rest.bytes) { size } else { rest.count }
            }
            if isWritten {
                write(slot, tlsPipe.outgoing)
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
        if slots[slot].unsent.isEmpty {
            sendCalls &+= 1
            guard let taken = slots[slot].socket.send(bytes) else {
                end(slot, .broken)
                return
            }
            rest = UnsafeRawBufferPointer(rebasing: bytes.dropFirst(taken))
        }
        // The kernel reports when the socket is writable again.
        slots[slot].unsent.append(rest)
    }

    /// Sends TLS's own records: handshakes and alerts.
    mutating func sendHandshake(_ slot: Int) {
        let bytes = tlsPipe.outgoing
        guard slots[slot].unsent.count &+ bytes.count <= Self.outputLimit else {
            end(slot, .unread)
            return
        }
        write(slot, bytes)
    }

    /// Sends unsent bytes, now that the socket is writable.
    mutating func drain(_ slot: Int) {
        while !slots[slot].unsent.isEmpty {
            sendCalls &+= 1
            guard let taken = slots[slot].socket.send(slots[slot].unsent.bytes) else {
                end(slot, .broken)
                return
            }
            if taken == 0 { return }
            slots[slot].unsent.removeFirst(taken)
        }
        slots[slot].unsent.release()
        endIfDrained(slot)
    }

    // MARK: Ending

    /// The client has ended its direction: its last responses are still sent.
    mutating func beginDraining(_ slot: Int, at now: Instant) {
        slots[slot].isDraining = true
        slots[slot].quietSince = now
        slots[slot].idleSince = now
        slots[slot].unread.release()
        markDirty(slot)
    }

    private mutating func endIfDrained(_ slot: Int) {
        guard slots[slot].end == nil, slots[slot].collected.isEmpty, slots[slot].unsent.isEmpty else { return }
        guard slots[slot].isDraining else {
            sendCloseNotify(slot)
            return
        }
        if let session = slots[slot].session {
            session.close()
            write(slot, tlsPipe.outgoing)
        }
        end(slot, .client)
    }

    private mutating func sendCloseNotify(_ slot: Int) {
        if case .pending = slots[slot].closeState {
            slots[slot].closeState = .closingTLS
            if let session = slots[slot].session {
                session.close()
                write(slot, tlsPipe.outgoing)
            }
        }
        guard case .closingTLS = slots[slot].closeState, slots[slot].unsent.isEmpty else { return }
        slots[slot].closeState = .closed
        slots[slot].socket.endSending()
    }

    /// Ends the connection at the end of the round.
    mutating func end(_ slot: Int, _ reason: ConnectionCloseReason) {
        guard slots[slot].isOpen, slots[slot].end == nil else { return }
        slots[slot].end = reason
        ending.append(UInt32(truncatingIfNeeded: slot))
    }

    /// A removed connection: its flow, unless another connection has replaced it, and its peer.
    struct Removed {
        let flow: Flow?
        let peer: Int?
    }

    /// Closes the next connection that is ending; nil when none is left.
    mutating func removeNext() -> Removed? {
        guard let slot = ending.popLast().map({ Int($0) }) else { return nil }
        let flow = slots[slot].flow
        if let reason = slots[slot].end { closed[reason.rawValue] &+= 1 }
        let peer = slots[slot].peer
        // A duplicate that replaced it owns the flow now.
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

    /// Removes a connection without closing it. nil when it still has something to send.
    mutating func detach(_ slot: Int) -> MovedConnection? {
        guard slots[slot].isReading, slots[slot].unsent.isEmpty, slots[slot].collected.isEmpty else { return nil }
        let flow = slots[slot].flow
        if byFlow[flow] == UInt32(truncatingIfNeeded: slot) { byFlow[flow] = nil }
        let session = slots[slot].session
        let unread = Array(slots[slot].unread.bytes)
        let handoffs = slots[slot].handoffs &+ 1
        var connection = Connection.closed(generation: slots[slot].generation)
        // The admission is released with the slot.
        connection.admission = slots[slot].admission
        swap(&connection, &slots[slot])
        vacate(slot)
        return MovedConnection(connection.release(), flow, session, unread, handoffs: handoffs)
    }
}
