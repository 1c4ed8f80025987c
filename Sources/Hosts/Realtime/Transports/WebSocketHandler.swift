import NIOCore

/// A session's WebSocket, from the upgrade on: one handler for both directions, on raw bytes.
///
/// Frames are sent as they were encoded once for all; NIO's own frame encoder and decoder are not used, since they
/// enforce little of RFC 6455 and cost memory in every idle connection. The connection has no task.
///
/// Output that a client causes is limited by what it reads: a socket that is not writable is not read, and at most one
/// pong waits to be sent, for the latest ping. After the close frame `closingBytes` more are read, enough for what the
/// client sent before its own close frame; the rest stays in the kernel until the connection ends.
final class WebSocketHandler: ChannelDuplexHandler {
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
    private var pendingPong: ByteBuffer?
    /// A pong was written and is not flushed yet.
    private var isPongUnsent = false
    /// A read was requested while the channel was not writable.
    private var isReadHeld = false
    /// How much came after the close frame was sent.
    private var bytesAfterClose = 0
    private static let closingBytes = 64 * 1024

    private enum State {
        case open
        /// A close frame was sent; the client's is awaited.
        case closing
        /// The client violated the protocol: its further bytes are ignored.
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

    /// Breaks the reference cycle of the session and its transport.
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
            while let event = try reader.next() { handle(event, context) }
        } catch {
            fail(with: error, context)
        }
    }

    private func handle(_ event: WebSocketEvent, _ context: ChannelHandlerContext) {
        switch (event, state) {
        case (.text(let text), .open):
            session?.receive(text)
        case (.ping(let payload), .open):
            pendingPong = payload
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

    /// Fails the connection (section 7.1.7). It is closed for writing only, and for reading once the client has
    /// noticed: closing at once, with unread bytes of the client, could lose the close frame.
    private func fail(with code: WebSocketCode, _ context: ChannelHandlerContext) {
        sendClose(code)
        state = .failed
        session?.fail()
        context.close(mode: .output, promise: nil)
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        sendPendingPong(context)
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
        sendPendingPong(context)
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

extension WebSocketHandler: SessionTransport {
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
extension WebSocketHandler {
    private enum Control: UInt8 {
        case close = 0x88
        case pong = 0x8A
    }

    /// Responds to the latest ping (section 5.5.3), once the previous pong was sent.
    private func sendPendingPong(_ context: ChannelHandlerContext) {
        guard case .open = state, !isPongUnsent, context.channel.isWritable,
            let payload = exchange(&pendingPong, with: nil)
        else { return }
        isPongUnsent = true
        let promise = context.eventLoop.makePromise(of: Void.self)
        promise.futureResult.assumeIsolated().whenComplete { [weak self] _ in
            guard let self else { return }
            isPongUnsent = false
            if let context = self.context { sendPendingPong(context) }
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

    /// Sends this side's only close frame (section 5.5.1).
    private func sendClose(_ code: WebSocketCode, reason: String = "") {
        guard case .open = state else { return }
        state = .closing
        var payload = ByteBuffer(integer: code.number)
        payload.writeString(reason)
        write(.close, payload)
    }
}
