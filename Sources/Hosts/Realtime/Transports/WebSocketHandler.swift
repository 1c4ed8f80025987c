import NIOCore

/// A session's WebSocket, from the upgrade on: one handler for both directions, on raw bytes.
///
/// Frames go out as they were encoded for everybody; NIO's own frame encoder and decoder are not used, since they would
/// enforce little of RFC 6455 and cost memory in every idle connection. No task belongs to the connection.
///
/// What a client makes the server send is bounded by what it reads: a socket that takes no bytes is not read, and at most
/// one pong waits to be sent, for the latest ping. What it sends after the close frame is read up to `closingBytes`, enough
/// for what was on its way before its own; the rest stays in the kernel until the connection ends.
final class WebSocketDoor: ChannelDuplexHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private let hub: RealtimeHub
    private let services: RealtimeServices
    private var reader: WebSocketReader
    private var session: Session?
    private var context: ChannelHandlerContext?
    private var state = State.open
    /// The payload of the latest ping, until its pong is written.
    private var owedPong: ByteBuffer?
    /// A pong was written and has not left for the network.
    private var isPongUnsent = false
    /// The channel wanted to read while it could not write.
    private var isReadHeld = false
    /// How much came after the close frame was sent.
    private var bytesAfterClose = 0
    private static let closingBytes = 64 * 1024

    private enum State {
        case open
        /// A close frame was sent; the client's is awaited.
        case closing
        /// The client broke the rules: what it still sends is not read any more.
        case failed
    }

    let origin: SessionOrigin

    init(hub: RealtimeHub, services: RealtimeServices, origin: SessionOrigin) {
        self.hub = hub
        self.origin = origin
        self.services = services
        reader = WebSocketReader(limit: hub.limits.inboundBytes)
    }

    func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
        session = hub.open(on: context.eventLoop, transport: self, services: services)
        if session == nil { context.close(promise: nil) }
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        forget()
    }

    func channelInactive(context: ChannelHandlerContext) {
        forget()
        context.fireChannelInactive()
    }

    /// The session holds its transport and the transport its session: this is where they let go.
    private func forget() {
        context = nil
        session?.transportClosed()
        session = nil
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let bytes = unwrapInboundIn(data)
        switch state {
        case .open: break
        case .closing: bytesAfterClose += bytes.readableBytes
        case .failed:
            bytesAfterClose += bytes.readableBytes
            return
        }
        reader.append(bytes)
        do {
            while let event = try reader.next() { take(event, context) }
        } catch {
            fail(with: error, context)
        }
    }

    private func take(_ event: WebSocketEvent, _ context: ChannelHandlerContext) {
        switch (event, state) {
        case (.text(let text), .open):
            session?.receive(text)
        case (.ping(let payload), .open):
            owedPong = payload
            session?.receiveControlFrame()
        case (.pong, .open), (.smallFragment, .open):
            session?.receiveControlFrame()
        case (.close(let code), _):
            sendClose(code)
            context.close(promise: nil)
        case (_, .closing), (_, .failed):
            return
        }
    }

    /// Fails the connection (section 7.1.7). It is closed for writing only, and for reading when the client has seen that:
    /// closing at once, with bytes of the client's unread, could lose the close frame on its way.
    private func fail(with code: WebSocketCode, _ context: ChannelHandlerContext) {
        sendClose(code)
        state = .failed
        session?.fail()
        context.close(mode: .output, promise: nil)
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        sendOwedPong(context)
        context.fireChannelReadComplete()
    }

    func read(context: ChannelHandlerContext) {
        guard bytesAfterClose <= Self.closingBytes else { return }
        if context.channel.isWritable {
            context.read()
        } else {
            isReadHeld = true
        }
    }

    func channelWritabilityChanged(context: ChannelHandlerContext) {
        session?.transportChanged()
        sendOwedPong(context)
        if isReadHeld, context.channel.isWritable {
            isReadHeld = false
            context.read()
        }
        context.fireChannelWritabilityChanged()
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        switch event {
        case is ChannelShouldQuiesceEvent: session?.end(.shuttingDown)
        // Clients of WebSockets do not half-close.
        case ChannelEvent.inputClosed: context.close(promise: nil)
        default: context.fireUserInboundEventTriggered(event)
        }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        context.close(promise: nil)
    }
}

extension WebSocketDoor: SessionTransport {
    var isWritable: Bool { context?.channel.isWritable ?? false }

    var unsentBytes: Int {
        guard let options = context?.channel.syncOptions else { return 0 }
        return (try? options.getOption(.bufferedWritableBytes)) ?? 0
    }

    func send(_ frame: OutboundFrame) {
        context?.write(wrapOutboundOut(frame.bytes), promise: nil)
    }

    func flush() {
        context?.flush()
    }

    func close(_ bye: Bye) {
        sendClose(WebSocketCode(number: UInt16(clamping: bye.code)), reason: bye.reason)
    }

    func abort() {
        context?.close(promise: nil)
    }
}

// Control frames.
extension WebSocketDoor {
    private enum Control: UInt8 {
        case close = 0x88
        case pong = 0x8A
    }

    /// Answers the latest ping (section 5.5.3), once the pong before has left.
    private func sendOwedPong(_ context: ChannelHandlerContext) {
        guard case .open = state, !isPongUnsent, context.channel.isWritable,
            let payload = exchange(&owedPong, with: nil)
        else { return }
        isPongUnsent = true
        let promise = context.eventLoop.makePromise(of: Void.self)
        promise.futureResult.assumeIsolated().whenComplete { [weak self] _ in
            guard let self else { return }
            isPongUnsent = false
            if let context = self.context { sendOwedPong(context) }
        }
        write(.pong, payload, promise)
    }

    private func write(_ control: Control, _ payload: ByteBuffer, _ promise: EventLoopPromise<Void>? = nil) {
        guard let context else {
            promise?.fail(ChannelError.ioOnClosedChannel)
            return
        }
        var frame = context.channel.allocator.buffer(capacity: payload.readableBytes + 2)
        frame.writeInteger(control.rawValue)
        frame.writeInteger(UInt8(truncatingIfNeeded: payload.readableBytes))
        frame.writeImmutableBuffer(payload)
        context.writeAndFlush(wrapOutboundOut(frame), promise: promise)
    }

    /// Sends the one close frame of this side (section 5.5.1).
    private func sendClose(_ code: WebSocketCode, reason: String = "") {
        guard case .open = state else { return }
        state = .closing
        var payload = ByteBuffer(integer: code.number)
        payload.writeString(reason)
        write(.close, payload)
    }
}
