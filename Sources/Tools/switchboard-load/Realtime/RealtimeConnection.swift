import NIOCore
import NIOPosix

/// What a connection reports, on its event loop.
protocol RealtimeConnectionDelegate: AnyObject {
    /// The WebSocket is open: the hello is due.
    func opened(_ connection: RealtimeConnection)
    /// A message has arrived, as JSON text.
    func received(_ message: ByteBuffer, on connection: RealtimeConnection)
    func failed(_ what: String, on connection: RealtimeConnection)
    func lost(_ connection: RealtimeConnection)
}

/// One virtual user's WebSocket (RFC 6455), minimal for low overhead: one handler, no copies, no tasks.
///
/// The frames are masked with a key of zeros, so that masking costs nothing. Random keys protect caches between a
/// browser and a server, and there are none here.
final class RealtimeConnection: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private enum Stage { case connecting, upgrading, open, closed }

    private static let maxFrameByteCount = 4 << 20

    let person: VirtualUser
    let endpoint: String
    private let secret: String
    private let target: TargetServer
    weak var delegate: (any RealtimeConnectionDelegate)?

    private var stage = Stage.connecting
    private var context: ChannelHandlerContext?
    private var buffer = ByteBuffer()
    private var lastID = 0

    /// - Parameter earlier: a connection whose endpoint this one continues.
    init(_ person: VirtualUser, target: TargetServer, continuing earlier: RealtimeConnection? = nil) {
        self.person = person
        self.target = target
        endpoint = earlier?.endpoint ?? UUIDText.make()
        secret = earlier?.secret ?? UUIDText.make()
    }

    /// Connects; only a failure to do so completes the future before the connection is lost.
    func connect(on loop: any EventLoop) -> EventLoopFuture<Void> {
        let handler = NIOLoopBound(self, eventLoop: loop)
        return ClientBootstrap(group: loop)
            .channelOption(.socketOption(.tcp_nodelay), value: 1)
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(handler.value)
                }
            }
            .connect(host: target.host, port: target.port)
            .map { _ in }
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
        delegate?.lost(self)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        var data = unwrapInboundIn(data)
        if buffer.readableBytes == 0 { buffer = data } else { buffer.writeBuffer(&data) }
        if stage == .upgrading { upgrade() }
        while stage == .open, handleFrame() {}
        if buffer.readableBytes == 0 { buffer.clear() } else { buffer.discardReadBytes() }
    }

    /// Sends the first frame.
    ///
    /// - Parameter resume: the positions of streams, as JSON text.
    func hello(resume: String = "{}") -> Int {
        send(
            "hello",
            #"{"token":"\#(person.token)","endpoint":"\#(endpoint)","secret":"\#(secret)","resume":\#(resume)}"#)
    }

    func listen(to stream: String) -> Int { send("listen", #"{"stream":"\#(stream)"}"#) }

    /// Makes a request; `params` is JSON text. Returns its id.
    func request(_ name: StaticString, _ params: String) -> Int { send("request", #""\#(name)","params":\#(params)"#) }

    func respondToHeartbeat() { send(#"{"heartbeat":{}}"#) }

    private func send(_ verb: StaticString, _ json: String) -> Int {
        lastID += 1
        send(#"{"id":\#(lastID),"\#(verb)":\#(json)}"#)
        return lastID
    }

    func close() { context?.close(promise: nil) }

    private func upgrade() {
        let text = buffer.readableBytesView
        guard let end = text.firstRange(of: Array("\r\n\r\n".utf8)) else { return }
        guard text.starts(with: "HTTP/1.1 101 ".utf8) else {
            delegate?.failed("not upgraded: \(String(decoding: text.prefix { $0 != 13 }, as: UTF8.self))", on: self)
            return close()
        }
        buffer.moveReaderIndex(to: end.upperBound)
        stage = .open
        delegate?.opened(self)
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
        case 0x1: delegate?.received(payload, on: self)
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
