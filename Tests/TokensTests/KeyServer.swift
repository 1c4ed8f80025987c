import NIOCore
import NIOHTTP1
import NIOPosix
import Synchronization

/// A real HTTP server on loopback that serves one document, and counts how often it was asked.
final class KeyServer: Sendable {
    struct Response: Sendable {
        var status: HTTPResponseStatus = .ok
        var body = "{\"keys\":[]}"
        var headers: HTTPHeaders = [:]
    }

    private let state = Mutex((answer: Response(), requests: 0))
    private let channel = Mutex<(any Channel)?>(nil)

    var requests: Int { state.withLock { $0.requests } }
    func serve(_ keys: [String]) {
        state.withLock { $0.answer = Response(body: "{\"keys\":[\(keys.joined(separator: ","))]}") }
    }
    func fail(retryAfter: String? = nil) {
        let headers = retryAfter.map { HTTPHeaders([("Retry-After", $0)]) } ?? [:]
        state.withLock { $0.answer = Response(status: .internalServerError, headers: headers) }
    }

    func start() async throws -> String {
        let channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .childChannelInitializer { [weak self] channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.configureHTTPServerPipeline()
                    try channel.pipeline.syncOperations.addHandler(Handler { self?.next() ?? Response() })
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
        self.channel.withLock { $0 = channel }
        return "http://127.0.0.1:\(channel.localAddress?.port ?? 0)/jwks.json"
    }

    func stop() async throws { try await channel.withLock { $0 }?.close().get() }

    private func next() -> Response {
        state.withLock {
            $0.requests += 1
            return $0.answer
        }
    }

    private final class Handler: ChannelInboundHandler {
        typealias InboundIn = HTTPServerRequestPart
        typealias OutboundOut = HTTPServerResponsePart
        let next: () -> Response

        init(_ next: @escaping () -> Response) { self.next = next }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            guard case .end = unwrapInboundIn(data) else { return }
            let answer = next()
            let body = ByteBuffer(string: answer.body)
            var headers: HTTPHeaders = ["Content-Type": "application/json", "Content-Length": "\(body.readableBytes)"]
            headers.add(contentsOf: answer.headers)
            let head = HTTPResponseHead(version: .http1_1, status: answer.status, headers: headers)
            context.write(wrapOutboundOut(.head(head)), promise: nil)
            context.write(wrapOutboundOut(.body(.byteBuffer(body))), promise: nil)
            context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
        }
    }
}
