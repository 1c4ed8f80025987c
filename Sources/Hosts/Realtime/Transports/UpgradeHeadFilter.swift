import Model
import NIOCore
import NIOHTTP1

/// Filters the head of the first request before NIO's upgrade handler.
///
/// That handler loses the head of a request whose `Upgrade` is not accepted, so such an `Upgrade` header is removed
/// here, and requests that may not open a session are rejected here. Connections without a request, as browsers open
/// them in advance, are closed after a timeout, and at once when the server quiesces.
final class UpgradeHeadFilter: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias InboundOut = HTTPServerRequestPart
    typealias OutboundOut = HTTPServerResponsePart

    private let origins: AllowedOrigins
    private let timeout: TimeAmount
    private var timer: Scheduled<Void>?
    private var hasRejected = false

    init(origins: AllowedOrigins, timeout: TimeAmount) {
        self.origins = origins
        self.timeout = timeout
    }

    func handlerAdded(context: ChannelHandlerContext) {
        let channel = context.channel
        timer = context.eventLoop.scheduleTask(in: timeout) { channel.close(promise: nil) }
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        timer?.cancel()
    }

    func channelInactive(context: ChannelHandlerContext) {
        timer?.cancel()
        context.fireChannelInactive()
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard !hasRejected else { return }
        guard case .head(var head) = unwrapInboundIn(data) else { return context.fireChannelRead(data) }
        timer?.cancel()
        switch UpgradeDecision(head, origins: origins) {
        case .upgrade:
            pass(head, context)
        case .http:
            if head.headers.contains(name: "upgrade") {
                head.headers.remove(name: "upgrade")
                // The parser expects another protocol after an upgrade: this connection ends with its response.
                head.headers.replaceOrAdd(name: "connection", value: "close")
            }
            pass(head, context)
        case .reject(var problem, let headers):
            hasRejected = true
            let id = RequestID.make(traceparent: head.headers.first(name: "traceparent"))
            problem.request = id
            reject(problem, headers, id, context)
        }
    }

    private func pass(_ head: HTTPRequestHead, _ context: ChannelHandlerContext) {
        context.fireChannelRead(wrapInboundOut(.head(head)))
        context.pipeline.syncOperations.removeHandler(self, promise: nil)
    }

    private func reject(
        _ problem: Problem, _ headers: HTTPHeaders, _ id: RequestID, _ context: ChannelHandlerContext
    ) {
        var body = ByteBuffer()
        body.writeProblem(problem)
        var head = HTTPResponseHead(
            version: .http1_1, status: HTTPResponseStatus(statusCode: problem.kind.status), headers: headers)
        head.headers.add(name: "Content-Type", value: "application/problem+json")
        head.headers.add(name: "Content-Length", value: String(body.readableBytes))
        head.headers.add(name: "Connection", value: "close")
        head.headers.add(name: RequestID.headerName, value: id.text)
        context.write(wrapOutboundOut(.head(head)), promise: nil)
        context.write(wrapOutboundOut(.body(.byteBuffer(body))), promise: nil)
        let channel = context.channel
        context.writeAndFlush(wrapOutboundOut(.end(nil))).whenComplete { _ in channel.close(promise: nil) }
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if event is ChannelShouldQuiesceEvent {
            context.close(promise: nil)
        } else {
            context.fireUserInboundEventTriggered(event)
        }
    }
}
