import DatagramIO
import ICE
package import Wire

/// One TCP connection of a client, with framed packets (RFC 4571).
final class GatewayConnection {
    /// Packets beyond this many unsent bytes would be too old for a call, and are dropped.
    static let maximumUnsent = 256 * 1024

    let number: UInt32
    let flow: Flow
    let socket: StreamSocket
    /// Its entry in the admission table.
    let admission: AdmissionTable.Entry
    var incoming = ByteQueue()
    var outgoing = ByteQueue()
    /// It has bytes to send at the next flush.
    var isDirty = false

    init(
        _ number: UInt32, _ socket: consuming StreamSocket, _ flow: Flow, _ admission: AdmissionTable.Entry
    ) {
        self.number = number
        self.flow = flow
        self.socket = socket
        self.admission = admission
    }

    /// False when the packet is dropped because too much waits.
    func enqueue(_ packet: UnsafeRawBufferPointer) -> Bool {
        guard outgoing.count &+ packet.count &+ PacketFraming.headerByteCount <= Self.maximumUnsent else {
            return false
        }
        withUnsafeTemporaryAllocation(byteCount: PacketFraming.headerByteCount, alignment: 2) { header in
            var target = header.mutableBytes
            if PacketFraming.writeHeader(payload: packet.count, into: &target) {
                outgoing.append(UnsafeRawBufferPointer(header))
                outgoing.append(packet)
            }
        }
        return true
    }

    /// Sends as much as the kernel takes. False when the connection is broken.
    func flush() -> Bool {
        isDirty = false
        while !outgoing.isEmpty {
            guard let count = socket.send(outgoing.bytes) else { return false }
            if count == 0 { return true }
            outgoing.removeFirst(count)
        }
        outgoing.releaseIfLarge()
        return true
    }
}

extension ByteQueue {
    /// Releases memory that only a burst needed.
    mutating func releaseIfLarge() {
        if isEmpty, capacity > 16_384 { release() }
    }
}

/// A worker's listening TCP sockets and their connections (RFC 6544, passive).
///
/// A connection is pending until a valid check assigns it to a leg. When the table is full, or the share of a source
/// address, a new connection replaces the oldest pending one: of the same source, or of all.
struct GatewayConnections {
    /// For each worker.
    static let defaultLimit = 4_096
    /// How long a connection may be pending without a valid check.
    static let pendingTimeoutSeconds: UInt32 = 10

    /// Nil where one was closed.
    private(set) var listeners: [StreamListenerOwner?]
    private var admissions: AdmissionTable
    private(set) var byNumber: [UInt32: GatewayConnection] = [:]
    private var byFlow: [Flow: GatewayConnection] = [:]
    private var dirty: [GatewayConnection] = []
    private(set) var broken: [GatewayConnection] = []
    /// Packets for clients that do not read.
    private(set) var dropped: UInt64 = 0
    /// Connections beyond the limit.
    private(set) var rejected: UInt64 = 0
    private var nextNumber: UInt32 = 0

    init(_ listeners: [StreamListenerOwner], limit: Int) {
        self.listeners = listeners
        admissions = AdmissionTable(.init(all: limit))
    }

    var count: Int { byNumber.count }

    /// Returns its index, the lowest that is free.
    mutating func add(_ listener: StreamListenerOwner) -> Int {
        let index = listeners.firstIndex { $0 == nil } ?? listeners.count
        if index == listeners.count { listeners.append(nil) }
        listeners[index] = listener
        return index
    }

    mutating func removeListener(at index: Int) { listeners[index] = nil }

    subscript(flow: Flow) -> GatewayConnection? { byFlow[flow] }

    /// The pending connection to close before a new one of this address; nil when there is space, or none is pending.
    func evictionCandidate(for address: IPAddress) -> GatewayConnection? {
        let oldest: AdmissionTable.Pending?
        switch admissions.rejection(of: address) {
        case nil: return nil
        case .sourceLimit, .sourcePendingLimit: oldest = admissions.oldestPending(of: address)
        case .limit, .pendingLimit: oldest = admissions.oldestPending
        }
        return oldest.flatMap { byNumber[UInt32(truncatingIfNeeded: $0.owner)] }
    }

    /// nil when the limit is reached: the connection is closed.
    mutating func add(
        _ socket: consuming StreamSocket, _ flow: Flow, at now: Instant
    ) -> GatewayConnection? {
        guard byFlow[flow] == nil else { return nil }
        while byNumber[nextNumber] != nil { nextNumber &+= 1 }
        guard let admission = try? admissions.admit(flow.remote.address, owner: UInt64(nextNumber), at: now) else {
            rejected &+= 1
            return nil
        }
        socket.prepare(StreamSocket.TCPOptions())
        let connection = GatewayConnection(nextNumber, socket, flow, admission)
        nextNumber &+= 1
        byNumber[connection.number] = connection
        byFlow[flow] = connection
        return connection
    }

    /// A valid check arrived on the connection of this flow.
    mutating func confirm(_ flow: Flow) {
        if let connection = byFlow[flow] { admissions.confirm(connection.admission) }
    }

    /// The oldest pending connection that is overdue.
    func overdue(at now: Instant) -> GatewayConnection? {
        guard let oldest = admissions.oldestPending, oldest.since.adding(seconds: Self.pendingTimeoutSeconds) <= now
        else {
            return nil
        }
        return byNumber[UInt32(truncatingIfNeeded: oldest.owner)]
    }

    /// Extends the deadlines after a stall, in nanoseconds.
    mutating func extend(by stall: UInt64, at now: Instant) { admissions.extendPending(by: stall, at: now) }

    mutating func remove(_ connection: GatewayConnection) {
        guard byNumber.removeValue(forKey: connection.number) != nil else { return }
        admissions.release(connection.admission)
        byFlow[connection.flow] = nil
    }

    mutating func send(_ packet: UnsafeRawBufferPointer, on connection: GatewayConnection) {
        guard connection.enqueue(packet) else {
            dropped &+= 1
            return
        }
        guard !connection.isDirty else { return }
        connection.isDirty = true
        dirty.append(connection)
    }

    mutating func flush() {
        guard !dirty.isEmpty else { return }
        for connection in dirty where !connection.flush() { broken.append(connection) }
        dirty.removeAll(keepingCapacity: true)
    }

    mutating func takeBroken() -> [GatewayConnection] {
        defer { broken = [] }
        return broken
    }
}

/// Passes a listening socket to the thread that reads it.
package final class StreamListenerOwner: Sendable {
    private let listener: StreamListener
    package let address: TransportAddress

    package init(_ requested: TransportAddress) throws(GatewayError) {
        do {
            listener = try StreamListener(requested, .exclusive)
        } catch {
            throw GatewayError(error, requested, "TCP")
        }
        address = listener.address ?? requested
    }

    var descriptor: Int32 { listener.descriptor }

    func accept() -> StreamListener.Accepted { listener.accept() }
}
