package import NIOCore
import NIOHTTPTypes

/// Closes HTTP connections whose requests or responses are too slow.
///
/// A request body or a response must move at least `minBytes` within each `window`. Only the client's delay counts: of
/// a body while the server waits for more of it, and of a response while some of it waits for the client. Idle
/// server-sent events are not a slow response.
///
/// A client that does not read is not read either: further requests on a connection that is not writable wait in its
/// socket.
final class TransferPaceHandler: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPRequestPart
    typealias InboundOut = HTTPRequestPart
    typealias OutboundIn = HTTPResponsePart
    typealias OutboundOut = HTTPResponsePart

    private let window: TimeAmount
    private let minBytes: Int
    private var check: Scheduled<Void>?

    private var isReceivingBody = false
    /// One body since the window began.
    private var wasReceivingBody = false
    /// The server has requested a read that is not complete.
    private var isReadRequested = false
    /// The server requested a read while the channel was not writable.
    private var isReadHeld = false
    private var received = 0
    private var receivedBefore = 0

    private var written = 0
    private var takenBefore = 0
    /// Bytes have waited for the client since the window began.
    private var wasSending = false

    init(_ pace: TransferPace) {
        window = pace.window
        minBytes = pace.minBytes
    }

    func handlerRemoved(context: ChannelHandlerContext) { check?.cancel() }

    func channelInactive(context: ChannelHandlerContext) {
        check?.cancel()
        context.fireChannelInactive()
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        isReadRequested = false
        switch unwrapInboundIn(data) {
        case .head:
            isReceivingBody = true
            startWindow(context)
        case .body(let bytes): received &+= bytes.readableBytes
        case .end:
            isReceivingBody = false
            wasReceivingBody = false
        }
        context.fireChannelRead(data)
    }

    func read(context: ChannelHandlerContext) {
        guard context.channel.isWritable else {
            isReadHeld = true
            return
        }
        isReadRequested = true
        context.read()
    }

    func channelWritabilityChanged(context: ChannelHandlerContext) {
        if isReadHeld, context.channel.isWritable {
            isReadHeld = false
            read(context: context)
        }
        context.fireChannelWritabilityChanged()
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        if case .body(let bytes) = unwrapOutboundIn(data) { written &+= bytes.readableBytes }
        // Before the write: bytes that wait from now on count from the next window on.
        if wasSending, waitingBytes(context) == 0 { wasSending = false }
        startWindow(context)
        context.write(data, promise: promise)
    }

    /// Starts a window, unless one is running.
    private func startWindow(_ context: ChannelHandlerContext) {
        guard check == nil else { return }
        wasReceivingBody = isReceivingBody
        receivedBefore = received
        let waiting = waitingBytes(context)
        wasSending = waiting > 0
        takenBefore = written &- waiting
        check = context.eventLoop.assumeIsolated().scheduleTask(in: window) { [weak self] in
            guard let self else { return }
            check = nil
            checkPace(context)
        }
    }

    private func checkPace(_ context: ChannelHandlerContext) {
        let waiting = waitingBytes(context)
        let isSlowBody =
            wasReceivingBody && isReceivingBody && isReadRequested && received &- receivedBefore < minBytes
        let isSlowResponse = wasSending && waiting > 0 && (written &- waiting) &- takenBefore < minBytes
        guard !isSlowBody, !isSlowResponse else {
            context.close(promise: nil)
            return
        }
        if isReceivingBody || waiting > 0 { startWindow(context) }
    }

    /// Bytes of responses that the socket has not accepted.
    private func waitingBytes(_ context: ChannelHandlerContext) -> Int {
        guard let options = context.channel.syncOptions else { return 0 }
        return (try? options.getOption(.bufferedWritableBytes)) ?? 0
    }
}

/// The minimum rate of bodies and responses.
package struct TransferPace: Sendable {
    package var window: TimeAmount = .seconds(30)
    /// Within each window.
    package var minBytes = 30 * 4096

    package init() {}
}
