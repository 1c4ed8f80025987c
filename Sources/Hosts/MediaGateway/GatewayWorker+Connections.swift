import DatagramIO
import ICE
import Wire

// ICE-TCP: clients that can only connect by TCP.

/// Identifies sockets in the event queue.
enum GatewayEventTag {
    case wake
    case datagrams(Int)
    case listener(Int)
    case connection(UInt32)

    private static let listeners: UInt64 = 1 << 32
    private static let connections: UInt64 = 2 << 32
    static let wakeBits: UInt64 = .max

    init(bits: UInt64) {
        let low = UInt32(truncatingIfNeeded: bits)
        switch bits &- UInt64(low) {
        case 0: self = .datagrams(Int(low))
        case Self.listeners: self = .listener(Int(low))
        case Self.connections: self = .connection(low)
        default: self = .wake
        }
    }

    var bits: UInt64 {
        switch self {
        case .wake: Self.wakeBits
        case .datagrams(let index): UInt64(UInt32(truncatingIfNeeded: index))
        case .listener(let index): Self.listeners | UInt64(UInt32(truncatingIfNeeded: index))
        case .connection(let number): Self.connections | UInt64(number)
        }
    }
}

extension GatewayWorker {
    private static let maxAccepts = 64
    private static let maxReads = 8

    mutating func accept(listener index: Int) {
        guard index < sender.connections.listeners.count, let listener = sender.connections.listeners[index] else {
            return
        }
        for _ in 0..<Self.maxAccepts {
            switch listener.accept() {
            case .connection(let socket, let remote):
                let flow = Flow(.tcp, local: listener.address, remote: remote)
                // Silent connections, even thousands, must not keep others out: the client of a leg proves its password
                // as soon as it is connected.
                if let replaced = sender.connections.evictionCandidate(for: remote.address) { close(replaced) }
                guard let connection = sender.connections.add(socket, flow, at: now) else { continue }
                let tag = GatewayEventTag.connection(connection.number).bits
                if !queue.watchStream(connection.socket.descriptor, as: tag) { close(connection) }
            // Without descriptors the next one waits until a connection ends and the sweep accepts again.
            case .nothing: return
            case .shortage: return
            }
        }
        queue.rearm(of: listener.descriptor, as: GatewayEventTag.listener(index).bits)
    }

    mutating func serve(_ number: UInt32, _ readiness: Readiness) {
        guard let connection = sender.connections.byNumber[number] else { return }
        if readiness.isWritable, !connection.flush() {
            close(connection)
            return
        }
        guard readiness.isReadable else { return }
        for _ in 0..<Self.maxReads {
            switch connection.socket.receive(into: buffer.bytes) {
            case .bytes(let count):
                connection.incoming.append(UnsafeRawBufferPointer(rebasing: buffer.bytes[0..<count]))
                guard receivePackets(of: connection) else {
                    close(connection)
                    return
                }
            case .nothing: return
            case .end, .broken:
                close(connection)
                return
            }
        }
        queue.rearmStream(connection.socket.descriptor, as: GatewayEventTag.connection(number).bits)
    }

    /// Receives every complete packet in the buffer. False when the connection is to be closed.
    private mutating func receivePackets(of connection: GatewayConnection) -> Bool {
        while true {
            switch PacketFraming.next(connection.incoming.bytes.bytes) {
            case .incomplete(let byteCount):
                connection.incoming.releaseIfLarge()
                return byteCount <= ReceiveBatch.maximumByteCount &+ PacketFraming.headerByteCount
            case .packet(let range):
                guard range.count <= ReceiveBatch.maximumByteCount else { return false }
                let packet = UnsafeMutableRawBufferPointer(
                    mutating: UnsafeRawBufferPointer(rebasing: connection.incoming.bytes[range]))
                receive(packet, on: connection.flow)
                // Its leg may have ended with this packet, and the connection with the leg.
                guard sender.connections.byNumber[connection.number] != nil else { return false }
                connection.incoming.removeFirst(range.upperBound)
            }
        }
    }

    mutating func close(_ connection: GatewayConnection) {
        sender.connections.remove(connection)
        queue.forget(connection.socket.descriptor)
        guard let leg = flows.removeValue(forKey: connection.flow) else { return }
        leg.agent.forget(connection.flow)
        updatePath(leg)
    }

    /// Closes connections without a valid check in time, and those that broke while sending.
    mutating func sweepConnections() {
        for connection in sender.connections.takeBroken() { close(connection) }
        while let connection = sender.connections.overdue(at: now) { close(connection) }
        for index in sender.connections.listeners.indices { accept(listener: index) }
    }
}
