import DatagramIO
import ICE
package import Wire

/// One TCP connection of a client, in which packets lie framed (RFC 4571).
final class GatewayConnection {
    /// What waits longer than this much is too old for a call: packets are dropped whole.
    static let maximumUnsent = 256 * 1024

    let number: UInt32
    let flow: Flow
    let socket: StreamSocket
    /// Its place in the table of admissions.
    let admission: AdmissionTable.Entry
    var incoming = ByteQueue()
    var outgoing = ByteQueue()
    /// It waits for its bytes to be sent at the next flush.
    var isDirty = false

    init(
        _ number: UInt32, _ socket: consuming StreamSocket, _ flow: Flow, _ admission: AdmissionTable.Entry
    ) {
        self.number = number
        self.flow = flow
        self.socket = socket
        self.admission = admission
    }

    /// False when it is dropped, since too much waits.
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
    /// Memory that a burst needed is not kept for the rest of the connection.
    mutating func releaseIfLarge() {
        if isEmpty, capacity > 16_384 { release() }
    }
}

/// A worker's listening TCP sockets and the connections that came of them (RFC 6544, passive).
///
/// A connection is pending until a valid check has shown whose it is. Where the table is full, or the share of its source, a
/// new one replaces the oldest pending one: of the same source, or of all.
struct GatewayConnections {
    /// Of one worker.
    static let defaultLimit = 4_096
    /// Until a connection has shown by a valid check whose it is.
    static let unknownSeconds: UInt32 = 10

    let listeners: [StreamListenerOwner]
    private var admissions: AdmissionTable
    private(set) var byNumber: [UInt32: GatewayConnection] = [:]
    private var byFlow: [Flow: GatewayConnection] = [:]
    private var dirty: [GatewayConnection] = []
    private(set) var broken: [GatewayConnection] = []
    /// Packets for clients that do not read.
    private(set) var dropped: UInt64 = 0
    /// Connections for which there was no room.
    private(set) var refused: UInt64 = 0
    private var nextNumber: UInt32 = 0

    init(_ listeners: [StreamListenerOwner], limit: Int) {
        self.listeners = listeners
        admissions = AdmissionTable(.init(all: limit))
    }

    var count: Int { byNumber.count }

    subscript(flow: Flow) -> GatewayConnection? { byFlow[flow] }

    /// The connection that has to go before one of this address comes; nil when there is room, or when all that could go
    /// are somebody's.
    func replaced(by address: IPAddress) -> GatewayConnection? {
        let oldest: AdmissionTable.Pending?
        switch admissions.refusal(of: address) {
        case nil: return nil
        case .sourceLimit, .sourcePendingLimit: oldest = admissions.oldestPending(of: address)
        case .limit, .pendingLimit: oldest = admissions.oldestPending
        }
        return oldest.flatMap { byNumber[UInt32(truncatingIfNeeded: $0.owner)] }
    }

    /// nil when there is no room for it: it is closed.
    mutating func add(
        _ socket: consuming StreamSocket, _ flow: Flow, at now: Instant
    ) -> GatewayConnection? {
        guard byFlow[flow] == nil else { return nil }
        while byNumber[nextNumber] != nil { nextNumber &+= 1 }
        guard let admission = try? admissions.admit(flow.remote.address, owner: UInt64(nextNumber), at: now) else {
            refused &+= 1
            return nil
        }
        socket.prepare(StreamSocket.Patience())
        let connection = GatewayConnection(nextNumber, socket, flow, admission)
        nextNumber &+= 1
        byNumber[connection.number] = connection
        byFlow[flow] = connection
        return connection
    }

    /// A valid check has come through the connection of this flow.
    mutating func confirm(_ flow: Flow) {
        if let connection = byFlow[flow] { admissions.confirm(connection.admission) }
    }

    /// The oldest connection that has not shown in time whose it is.
    func overdue(at now: Instant) -> GatewayConnection? {
        guard let oldest = admissions.oldestPending, oldest.since.adding(seconds: Self.unknownSeconds) <= now else {
            return nil
        }
        return byNumber[UInt32(truncatingIfNeeded: oldest.owner)]
    }

    /// Nobody read what came for so many nanoseconds until now.
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

/// A listening socket on its way to the thread that reads it.
package final class StreamListenerOwner: Sendable {
    private let listener: StreamListener
    package let address: TransportAddress

    package init(_ wanted: TransportAddress) throws(GatewayError) {
        do {
            listener = try StreamListener(wanted, .exclusive)
        } catch {
            throw GatewayError(error, wanted, "TCP")
        }
        address = listener.address ?? wanted
    }

    var descriptor: Int32 { listener.descriptor }

    func accept() -> StreamListener.Accepted { listener.accept() }
}
