import DatagramIO
import Glibc
import ICE
import Wire

/// A client's socket: datagrams, or a stream with packets framed in it.
final class TestSocket {
    private let socket: ClientSocket?
    private let isStream: Bool
    private var incoming: [UInt8] = []
    /// When it is set, bytes leave one by one, and it is called between them.
    var onByteSent: (() -> Void)?
    /// The gateway ended it.
    private(set) var isClosed = false

    init(to server: TransportAddress, isStream: Bool, from source: IPAddress? = nil) throws {
        let made = try ClientSocket(isStream ? .stream : .datagram, to: server, from: source, milliseconds: 5000)
        let descriptor = made.descriptor
        socket = consume made
        self.isStream = isStream
        guard isStream else { return }
        var now: Int32 = 1
        setsockopt(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &now, UInt32(MemoryLayout<Int32>.size))
    }

    private init() {
        socket = nil
        isStream = false
        isClosed = true
    }

    /// One that leads nowhere.
    static var closed: TestSocket { TestSocket() }

    static func framed(_ packet: [UInt8]) -> [UInt8] {
        [UInt8(packet.count >> 8), UInt8(packet.count & 255)] + packet
    }

    func send(_ packet: [UInt8]) {
        sendRaw(isStream ? Self.framed(packet) : packet)
    }

    /// A connection that is gone takes no more.
    func sendRaw(_ bytes: [UInt8]) {
        guard let onByteSent else {
            try? socket?.send(bytes, milliseconds: 1000)
            return
        }
        for byte in bytes {
            try? socket?.send([byte], milliseconds: 1000)
            onByteSent()
        }
    }

    /// The packets that have come.
    func take() -> [[UInt8]] {
        var packets: [[UInt8]] = []
        while !isClosed {
            do {
                guard let bytes = try socket?.receive(milliseconds: 0) else { break }
                if isStream { incoming += bytes } else { packets.append(bytes) }
            } catch {
                isClosed = true
            }
        }
        while case .packet(let range) = PacketFraming.next(incoming.span.bytes) {
            packets.append(Array(incoming[range]))
            incoming.removeFirst(range.upperBound)
        }
        return packets
    }
}
