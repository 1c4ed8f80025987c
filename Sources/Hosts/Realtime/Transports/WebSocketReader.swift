package import NIOCore

/// Something that a client sent over its WebSocket.
package enum WebSocketEvent: Equatable {
    /// A complete text message, valid UTF-8.
    case text([UInt8])
    case ping(ByteBuffer)
    case pong
    /// A small fragment of an incomplete message: it counts as a message, since it costs work for little content.
    case smallFragment
    /// The client closes; the code to respond with.
    case close(WebSocketCode)
}

/// A close code of RFC 6455 section 7.4.1.
package struct WebSocketCode: Error, Hashable {
    package let number: UInt16

    package static let normal = Self(number: 1000)
    package static let protocolError = Self(number: 1002)
    package static let unsupportedData = Self(number: 1003)
    package static let invalidPayload = Self(number: 1007)
    package static let messageTooBig = Self(number: 1009)
}

/// Parses the bytes of a client's WebSocket (RFC 6455 section 5), without extensions. Throws the close code for a
/// violation of the protocol.
///
///      0                   1                   2                   3
///      0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
///     +-+-+-+-+-------+-+-------------+-------------------------------+
///     |F|R|R|R| opcode|M| Payload len |  Extended payload length      |
///     |I|S|S|S|  (4)  |A|     (7)     |   (16 when 126, 64 when 127)  |
///     |N|V|V|V|       |S|             |                               |
///     +-+-+-+-+-------+-+-------------+-------------------------------+
///     | Masking key (32)              | Payload …                     |
///     +-------------------------------+-------------------------------+
///
/// The size of a message, fragments included, is checked as soon as a frame's header is read. Between messages the
/// reader holds no memory.
package struct WebSocketReader {
    /// Clients that split a long message send fragments of some kilobytes.
    private static let smallFragment = 1024

    private let limit: Int
    /// Bytes of an incomplete frame.
    private var pending: ByteBuffer?
    /// The payload of a fragmented message so far.
    private var fragments: [UInt8]?

    package init(limit: Int) {
        self.limit = limit
    }

    package mutating func append(_ bytes: ByteBuffer) {
        if pending == nil {
            pending = bytes
        } else {
            // Otherwise bytes that were read already would stay while chunks end within a frame.
            pending?.discardReadBytes()
            pending?.writeImmutableBuffer(bytes)
        }
    }

    /// Memory that is held between two chunks.
    var heldByteCount: Int {
        (pending?.storageCapacity ?? 0) + (fragments?.capacity ?? 0)
    }

    /// The next event, or nil until more bytes come.
    package mutating func next() throws(WebSocketCode) -> WebSocketEvent? {
        while var buffer = pending {
            guard let frame = try Self.frame(from: &buffer, atMost: limit - (fragments?.count ?? 0)) else { return nil }
            pending = buffer.readableBytes > 0 ? buffer : nil
            if let event = try handle(frame) { return event }
        }
        return nil
    }

    private mutating func handle(_ frame: Frame) throws(WebSocketCode) -> WebSocketEvent? {
        switch frame.opcode {
        case .text:
            guard fragments == nil else { throw .protocolError }
            if frame.isFinal { return .text(try Self.valid(frame.payload)) }
            fragments = frame.payload
            return Self.event(forFragmentOf: frame.payload.count)
        case .continuation:
            guard var message = fragments else { throw .protocolError }
            fragments = nil
            message += frame.payload
            if frame.isFinal { return .text(try Self.valid(message)) }
            fragments = message
            return Self.event(forFragmentOf: frame.payload.count)
        case .binary: throw .unsupportedData
        case .ping: return .ping(ByteBuffer(bytes: frame.payload))
        case .pong: return .pong
        case .close: return .close(try Self.closeCode(frame.payload))
        }
    }

    private static func event(forFragmentOf byteCount: Int) -> WebSocketEvent? {
        byteCount < smallFragment ? .smallFragment : nil
    }

    private static func valid(_ text: [UInt8]) throws(WebSocketCode) -> [UInt8] {
        guard String(validating: text, as: UTF8.self) != nil else { throw .invalidPayload }
        return text
    }

    /// RFC 6455 sections 5.5.1 and 7.4: a code that may be sent, and a reason in UTF-8. The response has the same code.
    private static func closeCode(_ payload: [UInt8]) throws(WebSocketCode) -> WebSocketCode {
        guard payload.count != 1 else { throw .protocolError }
        guard payload.count >= 2 else { return .normal }
        let code = UInt16(payload[0]) << 8 | UInt16(payload[1])
        switch code {
        case 1000...1003, 1007...1014, 3000...4999: break
        default: throw .protocolError
        }
        _ = try valid(Array(payload.dropFirst(2)))
        return WebSocketCode(number: code)
    }
}

// Frames.
extension WebSocketReader {
    private enum Opcode: UInt8 {
        case continuation = 0x0
        case text = 0x1
        case binary = 0x2
        case close = 0x8
        case ping = 0x9
        case pong = 0xA

        var isControl: Bool { rawValue >= 0x8 }
    }

    private struct Frame {
        var isFinal: Bool
        var opcode: Opcode
        var payload: [UInt8]
    }

    private static let maxControlPayload = 125

    /// Reads a frame from the buffer; nil, and nothing is read, when it is incomplete.
    private static func frame(from buffer: inout ByteBuffer, atMost limit: Int) throws(WebSocketCode) -> Frame? {
        var reader = buffer
        guard let first: UInt8 = reader.readInteger() else { return nil }
        // No extension was negotiated, so reserved bits and opcodes are invalid (section 5.2).
        guard first & 0x70 == 0, let opcode = Opcode(rawValue: first & 0x0F) else { throw .protocolError }
        let isFinal = first & 0x80 != 0
        guard let second: UInt8 = reader.readInteger() else { return nil }
        // A client must mask all frames (section 5.1).
        guard second & 0x80 != 0 else { throw .protocolError }
        let short = second & 0x7F
        if opcode.isControl, !isFinal || short > maxControlPayload { throw .protocolError }
        guard let length = try length(short, from: &reader) else { return nil }
        guard length <= limit || opcode.isControl else { throw .messageTooBig }
        guard let key = reader.readBytes(length: 4), var payload = reader.readBytes(length: length) else { return nil }
        for index in payload.indices { payload[index] ^= key[index & 3] }
        buffer = reader
        return Frame(isFinal: isFinal, opcode: opcode, payload: payload)
    }

    /// The payload's length, in the shortest form that fits it (section 5.2); nil when it is incomplete.
    private static func length(_ short: UInt8, from reader: inout ByteBuffer) throws(WebSocketCode) -> Int? {
        switch short {
        case 126:
            guard let length: UInt16 = reader.readInteger() else { return nil }
            guard length > 125 else { throw .protocolError }
            return Int(length)
        case 127:
            guard let length: UInt64 = reader.readInteger() else { return nil }
            guard length > 0xFFFF, length < 1 << 63 else { throw .protocolError }
            return Int(clamping: length)
        default:
            return Int(short)
        }
    }
}
