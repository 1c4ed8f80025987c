import BasicContainers
import DatagramIO
import STUN
import Wire

/// Floods a relay with what arrives from the Internet: noise, malformed messages, and requests without credentials.
struct RelayFlood: ~Copyable {
    private static let bar = ProgressBar()
    private let server: TransportAddress
    private var sources = UniqueArray<DatagramSocket>()
    private var random: SeededRandom
    private var sending = SendBatch()
    private var received = ReceiveBatch()

    init(_ server: TransportAddress, sources count: Int, seed: UInt64) throws {
        _ = DescriptorLimit.raise()
        self.server = server
        random = SeededRandom(seed: seed)
        for index in 0..<count {
            // All of 127/8 is local on Linux, so a loopback server sees as many source addresses as there are.
            let address =
                server.address.family == .ipv4 && server.address.isLoopback
                ? IPAddress(ipv4: 0x7F64_0000 &+ UInt32(truncatingIfNeeded: index) &* 97)
                : server.address.isLoopback ? server.address : .any(server.address.family)
            sources.append(try DatagramSocket(TransportAddress(address, port: 0), .exclusive))
        }
    }

    /// Sends `count` packets, as fast as the kernel accepts them, and counts the responses.
    mutating func send(_ count: Int) -> (packets: Int, responses: Int) {
        var responses = 0
        for index in 0..<count {
            let source = sources[index % sources.count].descriptor
            let packet = junk()
            sending.appendCopy(packet.span.bytes, from: source, to: server)
            if index % 64 == 63 {
                sending.flush()
                received.reset()
                responses += received.receive(from: source, limit: 64).count
                if index % 8192 == 8191 { Self.bar.show(Double(index) / Double(count), "\(index) of \(count)") }
            }
        }
        sending.flush()
        Self.bar.clear()
        return (count - Int(clamping: sending.dropped), responses)
    }

    private mutating func junk() -> [UInt8] {
        let id = TransactionID(UInt32(truncatingIfNeeded: random.next()), random.next())
        let method =
            [STUN.Method.binding, .allocate, .refresh, .createPermission, .channelBind]
            .randomElement(using: &random) ?? .binding
        switch Int.random(in: 0..<8, using: &random) {
        case 0: return noise(Int.random(in: 0...1200, using: &random))
        case 1:
            // ChannelData without an allocation.
            return [UInt8.random(in: 0x40...0x7F, using: &random)] + noise(Int.random(in: 0...300, using: &random))
        case 2, 3:
            return message(MessageType(.request, method), id) { _ in }
        case 4:
            // A forged MESSAGE-INTEGRITY, with and without the other attributes.
            let isComplete = Bool.random(using: &random)
            let code = noise(20)
            let nonce = noise(33)
            return message(MessageType(.request, method), id) { writer in
                if isComplete {
                    writer.append(.username, text: "mallory")
                    writer.append(.realm, text: "anywhere")
                    writer.append(.nonce, bytes: nonce)
                }
                writer.append(.messageIntegrity, bytes: code)
            }
        case 5:
            let noise = noise(Int.random(in: 0...64, using: &random))
            let kind = AttributeType(rawValue: UInt16(truncatingIfNeeded: random.next()))
            return message(MessageType(.request, method), id) { $0.append(kind, bytes: noise) }
        case 6:
            let noise = noise(100)
            return message(MessageType(.indication, .send), id) { $0.append(.data, bytes: noise) }
        default:
            // A truncated message, or one with a flipped bit.
            var bytes = message(MessageType(.request, method), id) { writer in
                writer.append(.requestedTransport, integer: UInt32(17) << 24)
                writer.appendFingerprint()
            }
            if Bool.random(using: &random) {
                bytes.removeLast(Int.random(in: 1..<bytes.count, using: &random))
            } else {
                bytes[Int.random(in: 0..<bytes.count, using: &random)] ^= 1 << UInt8.random(in: 0..<8, using: &random)
            }
            return bytes
        }
    }

    private func message(
        _ type: MessageType, _ id: TransactionID, _ body: (inout MessageWriter) -> Void
    ) -> [UInt8] {
        var writer = MessageWriter()
        writer.begin(type, id)
        body(&writer)
        return writer.bytes
    }

    private mutating func noise(_ count: Int) -> [UInt8] {
        (0..<count).map { _ in UInt8(truncatingIfNeeded: random.next()) }
    }
}
