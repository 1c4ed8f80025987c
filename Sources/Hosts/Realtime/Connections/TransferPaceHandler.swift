package import NIOCore
import NIOHTTPTypes

/// Ends HTTP connections that hold a request or a response open without moving it.
///
/// A body that comes, and a response that goes, makes at least `leastBytes` within each `window`, or the connection is
/// closed. It counts only what the other end owes: a body while the server wants to read more of it, and a response
/// while some of it waits for the client to take it. Server-sent events that nobody writes are no slow response.
///
/// Nor is more read of a client than it reads: requests that follow on a connection that takes no bytes wait in its socket.
final class TransferPaceHandler: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPRequestPart
    typealias InboundOut = HTTPRequestPart
    typealias OutboundIn = HTTPResponsePart
    typealias OutboundOut = HTTPResponsePart

    private let window: TimeAmount
    private let leastBytes: Int
    private var check: Scheduled<Void>?

    private var isReceivingBody = false
    /// It was so when the window began.
    private var wasReceivingBody = false
    /// The server asked for more than has come.
    private var isReadWanted = false
    /// The server asked for more while the client took nothing.
    private var isReadHeld = false
    private var received = 0
    private var receivedBefore = 0

    private var written = 0
    private var takenBefore = 0
    /// Something waited for the client when the window began.
    private var wasSending = false

    init(_ pace: TransferPace) {
        window = pace.window
        leastBytes = pace.leastBytes
    }

    func handlerRemoved(context: ChannelHandlerContext) { check?.cancel() }

    func channelInactive(context: ChannelHandlerContext) {
        check?.cancel()
        context.fireChannelInactive()
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        isReadWanted = false
        switch unwrapInboundIn(data) {
        case .head:
            isReceivingBody = true
            watch(context)
        case .body(let bytes): received &+= bytes.readableBytes
        case .end: isReceivingBody = false
        }
        context.fireChannelRead(data)
    }

    func read(context: ChannelHandlerContext) {
        guard context.channel.isWritable else {
            isReadHeld = true
            return
        }
        isReadWanted = true
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
        // Before the writing: what waits from now on is counted from the next window on.
        watch(context)
        context.write(data, promise: promise)
    }

    /// Begins a window, unless one is running.
    private func watch(_ context: ChannelHandlerContext) {
        guard check == nil else { return }
        wasReceivingBody = isReceivingBody
        receivedBefore = received
        let waiting = waitingBytes(context)
        wasSending = waiting > 0
        takenBefore = written &- waiting
        check = context.eventLoop.assumeIsolated().scheduleTask(in: window) { [weak self] in
            guard let self else { return }
            check = nil
            look(context)
        }
    }

    private func look(_ context: ChannelHandlerContext) {
        let waiting = waitingBytes(context)
        let isSlowBody =
            wasReceivingBody && isReceivingBody && isReadWanted && received &- receivedBefore < leastBytes
        let isSlowResponse = wasSending && waiting > 0 && (written &- waiting) &- takenBefore < leastBytes
        guard !isSlowBody, !isSlowResponse else {
            context.close(promise: nil)
            return
        }
        if isReceivingBody || waiting > 0 { watch(context) }
    }

    /// Bytes of responses that the socket has not taken.
    private func waitingBytes(_ context: ChannelHandlerContext) -> Int {
        guard let options = context.channel.syncOptions else { return 0 }
        return (try? options.getOption(.bufferedWritableBytes)) ?? 0
    }
}

/// How fast bodies and responses must move.
package struct TransferPace: Sendable {
    package var window: TimeAmount = .seconds(30)
    /// Within each window.
    package var leastBytes = 30 * 4096

    package init() {}
}
