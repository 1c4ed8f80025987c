import NIOCore

/// One virtual user's WebSocket (RFC 6455), minimal for low overhead: one handler, no copies, no tasks.
///
/// The frames are masked with a key of zeros, so that masking costs nothing. Random keys protect caches between a
/// browser and a server, and there are none here.
final class CallsConnection: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private enum Stage { case connecting, upgrading, open, closed }

    private static let maxFrameByteCount = 4 << 20

    let person: VirtualUser
    let endpoint: String
    private let target: TargetServer
    /// The pair that the connection belongs to.
    weak var pair: CallsPair?

    private var stage = Stage.connecting
    private var context: ChannelHandlerContext?
    private var buffer = ByteBuffer()
    private var lastID = 0

    init(_ person: VirtualUser, target: TargetServer) {
        self.person = person
        self.target = target
        endpoint = UUIDText.make()
    }

    func channelActive(context: ChannelHandlerContext) {
        self.context = context
        stage = .upgrading
        let head = """
            GET /v1/realtime HTTP/1.1\r
            Host: \(target.host):\(target.port)\r
            Connection: Upgrade\r
            Upgrade: websocket\r
            Sec-WebSocket-Version: 13\r
            Sec-WebSocket-Key: c3dpdGNoYm9hcmQtbG9hZA==\r
            \r

            """
        context.writeAndFlush(wrapOutboundOut(ByteBuffer(string: head)), promise: nil)
    }

    func channelInactive(context: ChannelHandlerContext) {
        stage = .closed
        self.context = nil
        pair?.lost(self)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        var data = unwrapInboundIn(data)
        if buffer.readableBytes == 0 { buffer = data } else { buffer.writeBuffer(&data) }
        if stage == .upgrading { upgrade() }
        while stage == .open, handleFrame() {}
        if buffer.readableBytes == 0 { buffer.clear() } else { buffer.discardReadBytes() }
    }

    /// Makes a request; `params` is JSON text. Returns its id.
    func request(_ name: StaticString, _ params: String) -> Int {
        lastID += 1
        send(#"{"id":\#(lastID),"request":"\#(name)","params":\#(params)}"#)
        return lastID
    }

    func close() { context?.close(promise: nil) }

    private func upgrade() {
        let text = buffer.readableBytesView
        guard let end = text.firstRange(of: Array("\r\n\r\n".utf8)) else { return }
        guard text.starts(with: "HTTP/1.1 101 ".utf8) else {
            pair?.failed("not upgraded: \(String(decoding: text.prefix { $0 != 13 }, as: UTF8.self))")
            return close()
        }
        buffer.moveReaderIndex(to: end.upperBound)
        stage = .open
        lastID = 2
        send(
            #"{"id":1,"hello":{"token":"\#(person.token)","endpoint":"\#(endpoint)","secret":"\#(UUIDText.make())"}}"#)
        send(#"{"id":2,"listen":{"stream":"user:\#(person.user)"}}"#)
    }

    /// Handles the next frame in the buffer. Returns false if it is incomplete.
    private func handleFrame() -> Bool {
        guard let (opcode, length, header) = frameHeader() else { return false }
        guard length <= Self.maxFrameByteCount else {
            close()
            return false
        }
        guard buffer.readableBytes >= header + length,
            let payload = buffer.getSlice(at: buffer.readerIndex + header, length: length)
        else { return false }
        buffer.moveReaderIndex(forwardBy: header + length)
        switch opcode {
        case 0x1: handle(payload)
        case 0x8: close()
        case 0x9: send(opcode: 0xA, payload)
        default: break
        }
        return true
    }

    /// The opcode, the payload's length and the header's own (RFC 6455 section 5.2); servers do not mask.
    private func frameHeader() -> (opcode: UInt8, length: Int, header: Int)? {
        let start = buffer.readerIndex
        guard let first = buffer.getInteger(at: start, as: UInt8.self),
            let second = buffer.getInteger(at: start + 1, as: UInt8.self)
        else { return nil }
        switch second & 0x7F {
        case 126:
            guard let length = buffer.getInteger(at: start + 2, as: UInt16.self) else { return nil }
            return (first & 0xF, Int(length), 4)
        case 127:
            guard let length = buffer.getInteger(at: start + 2, as: UInt64.self) else { return nil }
            return (first & 0xF, Int(clamping: length), 10)
        case let length: return (first & 0xF, Int(length), 2)
        }
    }

    private func handle(_ payload: ByteBuffer) {
        let text = payload.readableBytesUInt8Span
        guard let frame = CallsFrame(text) else { pair?.failed("a frame that is not JSON"); return }
        if frame.isHeartbeat {
            send(#"{"heartbeat":{}}"#)
        } else if frame.isBye {
            pair?.failed("bye: \(text.text(after: #""reason":""#) ?? "")")
        } else {
            pair?.handle(frame, text, on: self)
        }
    }

    private func send(_ text: String) {
        guard stage == .open, let context else { return }
        var frame = context.channel.allocator.buffer(capacity: text.utf8.count + 14)
        writeHeader(opcode: 0x1, length: text.utf8.count, to: &frame)
        frame.writeString(text)
        context.writeAndFlush(wrapOutboundOut(frame), promise: nil)
    }

    private func send(opcode: UInt8, _ payload: ByteBuffer) {
        guard stage == .open, let context else { return }
        var frame = context.channel.allocator.buffer(capacity: payload.readableBytes + 14)
        writeHeader(opcode: opcode, length: payload.readableBytes, to: &frame)
        frame.writeImmutableBuffer(payload)
        context.writeAndFlush(wrapOutboundOut(frame), promise: nil)
    }

    private func writeHeader(opcode: UInt8, length: Int, to frame: inout ByteBuffer) {
        frame.writeInteger(0x80 | opcode)
        if length < 126 {
            frame.writeInteger(0x80 | UInt8(truncatingIfNeeded: length))
        } else if length <= 0xFFFF {
            frame.writeInteger(0x80 | UInt8(126))
            frame.writeInteger(UInt16(truncatingIfNeeded: length))
        } else {
            frame.writeInteger(0x80 | UInt8(127))
            frame.writeInteger(UInt64(length))
        }
        frame.writeInteger(UInt32(0))
    }
}
