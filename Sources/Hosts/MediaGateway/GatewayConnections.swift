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
    let accepted: Instant
    var incoming = ByteQueue()
    var outgoing = ByteQueue()
    /// It waits for its bytes to be sent at the next flush.
    var isDirty = false

    init(_ number: UInt32, _ socket: consuming StreamSocket, _ flow: Flow, at now: Instant) {
        self.number = number
        self.flow = flow
        self.socket = socket
        accepted = now
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
struct GatewayConnections {
    /// Of one worker; beyond, each new one takes the place of the oldest that has not shown whose it is.
    static let defaultLimit = 4_096
    /// Until a connection has shown by a valid check whose it is.
    static let unknownSeconds: UInt32 = 10

    let listeners: [StreamListenerOwner]
    private let limit: Int
    private(set) var byNumber: [UInt32: GatewayConnection] = [:]
    private var byFlow: [Flow: GatewayConnection] = [:]
    private var dirty: [GatewayConnection] = []
    private(set) var broken: [GatewayConnection] = []
    /// Packets for clients that do not read.
    private(set) var dropped: UInt64 = 0
    private var nextNumber: UInt32 = 0

    init(_ listeners: [StreamListenerOwner], limit: Int) {
        self.listeners = listeners
        self.limit = limit
    }

    var count: Int { byNumber.count }
    var isFull: Bool { byNumber.count >= limit }

    subscript(flow: Flow) -> GatewayConnection? { byFlow[flow] }

    mutating func add(
        _ socket: consuming StreamSocket, _ flow: Flow, at now: Instant
    ) -> GatewayConnection? {
        guard !isFull, byFlow[flow] == nil else { return nil }
        while byNumber[nextNumber] != nil { nextNumber &+= 1 }
        socket.prepare(StreamSocket.Patience())
        let connection = GatewayConnection(nextNumber, socket, flow, at: now)
        nextNumber &+= 1
        byNumber[connection.number] = connection
        byFlow[flow] = connection
        return connection
    }

    mutating func remove(_ connection: GatewayConnection) {
        byNumber[connection.number] = nil
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
