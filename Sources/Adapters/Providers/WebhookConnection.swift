internal import NIOCore
internal import NIOHTTP1
internal import Webhooks

/// One connection to a webhook's host: one request at a time.
final class WebhookConnection: ChannelInboundHandler {
    typealias InboundIn = HTTPClientResponsePart
    typealias OutboundOut = HTTPClientRequestPart

    private struct Exchange {
        var id: UInt64
        var maxResponseSize: Int
        var excess: ProviderClient.Excess
        var head: HTTPResponseHead?
        var body: [UInt8] = []
    }

    /// The beginning of an error response is enough.
    private static let maxErrorBodySize = 64 << 10

    let destination: WebhookConnections.Destination
    private let connections: WebhookConnections
    private var context: ChannelHandlerContext?
    private var exchange: Exchange?

    init(connections: WebhookConnections, destination: WebhookConnections.Destination) {
        self.connections = connections
        self.destination = destination
    }

    func send(_ request: WebhookRequest, id: UInt64) {
        guard let context else { return connections.finish(id, .failure(Self.closed), keep: nil) }
        exchange = Exchange(id: id, maxResponseSize: request.maxResponseSize, excess: request.excess)
        var headers = HTTPHeaders()
        headers.reserveCapacity(request.headers.count + 3)
        headers.add(name: "Host", value: request.url.authority)
        headers.add(name: "User-Agent", value: "Switchboard")
        headers.add(name: "Content-Length", value: "\(request.body.count)")
        for (name, value) in request.headers { headers.add(name: name, value: value) }
        let head = HTTPRequestHead(version: .http1_1, method: .POST, uri: request.url.target, headers: headers)
        context.write(wrapOutboundOut(.head(head)), promise: nil)
        let body = context.channel.allocator.buffer(bytes: request.body)
        context.write(wrapOutboundOut(.body(.byteBuffer(body))), promise: nil)
        context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
    }

    func close() {
        exchange = nil
        context?.close(promise: nil)
    }

    func handlerAdded(context: ChannelHandlerContext) { self.context = context }

    func handlerRemoved(context: ChannelHandlerContext) { self.context = nil }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head(let head): exchange?.head = head
        case .body(let part): receive(part)
        case .end:
            guard let head = exchange?.head else { return }
            finish(head, isComplete: context.channel.isActive)
        }
    }

    private func receive(_ part: ByteBuffer) {
        guard let exchange, let head = exchange.head else { return }
        let isSuccess = (200..<300).contains(head.status.code)
        let limit = isSuccess || exchange.excess == .dropped ? exchange.maxResponseSize : Self.maxErrorBodySize
        let room = limit - exchange.body.count
        guard part.readableBytes > room else {
            self.exchange?.body += part.readableBytesView
            return
        }
        guard !isSuccess || exchange.excess == .dropped else {
            return fail(.responseTooLarge(limit: limit))
        }
        self.exchange?.body += part.readableBytesView.prefix(room)
        finish(head, isComplete: false)
    }

    /// - Parameter isComplete: whether the connection may be used for another request.
    private func finish(_ head: HTTPResponseHead, isComplete: Bool) {
        guard let exchange else { return }
        self.exchange = nil
        let isKept = isComplete && head.isKeepAlive
        if !isKept { context?.close(promise: nil) }
        let response = ProviderClient.Response(
            status: Int(head.status.code), body: exchange.body,
            retryAfter: RetryTime.read { head.headers.first(name: $0) })
        connections.finish(exchange.id, .success(response), keep: isKept ? self : nil)
    }

    private func fail(_ failure: ProviderFailure) {
        let id = exchange?.id
        exchange = nil
        context?.close(promise: nil)
        if let id { connections.finish(id, .failure(failure), keep: nil) }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { fail(Self.failure(of: error)) }

    func channelInactive(context: ChannelHandlerContext) {
        connections.remove(self)
        fail(Self.closed)
    }
}

// Failures.
extension WebhookConnection {
    private static let closed = ProviderFailure.unreachable("it closed the connection")

    static func failure(of error: any Error) -> ProviderFailure {
        if case ChannelError.connectTimeout = error { return .unreachable("it did not respond") }
        if error is IOError { return .unreachable("the connection was refused or lost") }
        return .unreachable(String("\(error)".prefix(ProviderClient.maxReasonLength)))
    }
}
