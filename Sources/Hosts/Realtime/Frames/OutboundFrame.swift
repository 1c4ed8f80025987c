import NIOCore

/// One JSON message of the server, with the header of a WebSocket text frame (RFC 6455 section 5.2).
///
/// Frames to a client are not masked, so the same bytes go to everyone: a frame is encoded once and shared.
struct OutboundFrame: Sendable, Hashable {
    /// Header and payload.
    let bytes: ByteBuffer
    /// It is the result of a request for a page.
    var isPage = false

    var count: Int { bytes.readableBytes }

    /// The JSON text alone.
    var text: ByteBuffer {
        var text = bytes
        switch bytes.getInteger(at: bytes.readerIndex + 1, as: UInt8.self) {
        case 127: text.moveReaderIndex(forwardBy: 10)
        case 126: text.moveReaderIndex(forwardBy: 4)
        default: text.moveReaderIndex(forwardBy: 2)
        }
        return text
    }

    private static let maxHeaderLength = 10
    private static let finalText: UInt8 = 0x81

    /// Lets `write` append the JSON text.
    init(expecting capacity: Int = 256, _ write: (inout ByteBuffer) -> Void) {
        var buffer = ByteBufferAllocator().buffer(capacity: capacity + Self.maxHeaderLength)
        // The header's length depends on the payload's, which is not known yet: reserve the maximum.
        buffer.writeRepeatingByte(0, count: Self.maxHeaderLength)
        write(&buffer)
        let length = buffer.readableBytes - Self.maxHeaderLength
        let start: Int
        switch length {
        case ..<126:
            start = Self.maxHeaderLength - 2
            buffer.setInteger(UInt8(truncatingIfNeeded: length), at: start + 1)
        case ..<65536:
            start = Self.maxHeaderLength - 4
            buffer.setInteger(126 as UInt8, at: start + 1)
            buffer.setInteger(UInt16(truncatingIfNeeded: length), at: start + 2)
        default:
            start = 0
            buffer.setInteger(127 as UInt8, at: start + 1)
            buffer.setInteger(UInt64(truncatingIfNeeded: length), at: start + 2)
        }
        buffer.setInteger(Self.finalText, at: start)
        buffer.moveReaderIndex(to: start)
        bytes = buffer
    }
}
