internal import Foundation
internal import NIOCore
package import NIOHTTP1
internal import NIOPosix
package import NIOSSL
internal import Synchronization

/// A real HTTP server on loopback with a script, also for misbehaviour.
package final class ScriptedServer: Sendable {
    package struct Request: Sendable {
        package var path: String
        package var headers: HTTPHeaders
        package var body: [UInt8]
        /// The client's port, which tells its connections apart.
        package var port: Int

        /// A field of a form, as bytes.
        package func field(_ name: String) -> [UInt8]? {
            guard let type = headers.first(name: "Content-Type"), let mark = type.range(of: "boundary=") else {
                return nil
            }
            let boundary = Array("\r\n--\(type[mark.upperBound...])".utf8)
            let head = Array("name=\"\(name)\"".utf8)
            guard let start = body.firstRange(of: head)?.upperBound,
                let content = body[start...].firstRange(of: Array("\r\n\r\n".utf8))?.upperBound,
                let end = body[content...].firstRange(of: boundary)?.lowerBound
            else { return nil }
            return Array(body[content..<end])
        }

        package func text(_ name: String) -> String? { field(name).map { String(decoding: $0, as: UTF8.self) } }
    }

    package enum Reply: Sendable {
        case response(Int, String, [(String, String)] = [])
        /// One piece after the other, each when `before` has returned, which is given its index.
        case pieces([String], [(String, String)], before: @Sendable (Int) async -> Void)
        /// Nothing, and the connection stays open.
        case hang
        /// A beginning, and then a byte now and then, without an end.
        case trickle
        /// So many bytes, as fast as the client reads.
        case flood(Int)
        case hangUp
    }

    package typealias Script = @Sendable (Request) async -> Reply

    private let script: Script
    private let channel = Mutex<(any Channel)?>(nil)
    private let seen = Mutex<[Request]>([])

    package init(_ script: @escaping Script) { self.script = script }

    package var requests: [Request] { seen.withLock { $0 } }

    /// Runs `body` with the server's address, such as `http://127.0.0.1:4711`.
    ///
    /// - Parameter encryption: for a server with TLS.
    package static func run<Result>(
        encryption: NIOSSLContext? = nil, _ script: @escaping Script,
        _ body: (String, ScriptedServer) async throws -> Result
    ) async throws -> Result {
        let server = ScriptedServer(script)
        let channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    if let encryption {
                        try channel.pipeline.syncOperations.addHandler(NIOSSLServerHandler(context: encryption))
                    }
                    try channel.pipeline.syncOperations.configureHTTPServerPipeline()
                    try channel.pipeline.syncOperations.addHandler(Handler(server))
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
        do {
            let scheme = encryption == nil ? "http" : "https"
            let result = try await body("\(scheme)://127.0.0.1:\(channel.localAddress?.port ?? 0)", server)
            try await channel.close().get()
            return result
        } catch {
            try? await channel.close().get()
            throw error
        }
    }

    private func reply(to request: Request) async -> Reply {
        seen.withLock { $0.append(request) }
        return await script(request)
    }

    private final class Handler: ChannelInboundHandler {
        typealias InboundIn = HTTPServerRequestPart
        typealias OutboundOut = HTTPServerResponsePart
        private let server: ScriptedServer
        private var request = Request(path: "", headers: [:], body: [], port: 0)

        init(_ server: ScriptedServer) { self.server = server }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            switch unwrapInboundIn(data) {
            case .head(let head):
                request = Request(
                    path: head.uri, headers: head.headers, body: [], port: context.remoteAddress?.port ?? 0)
            case .body(let part): request.body += part.readableBytesView
            case .end:
                server.serve(request, context.channel)
            }
        }
    }

    private func serve(_ request: Request, _ channel: any Channel) {
        Task {
            let reply = await self.reply(to: request)
            try? await Self.perform(reply, channel)
        }
    }

    private static func perform(_ reply: Reply, _ channel: any Channel) async throws {
        func send(_ part: HTTPServerResponsePart) async throws { try await channel.writeAndFlush(part).get() }
        func begin(_ status: Int, _ headers: [(String, String)]) async throws {
            try await send(
                .head(.init(version: .http1_1, status: .init(statusCode: status), headers: HTTPHeaders(headers))))
        }
        switch reply {
        case .response(let status, let body, let headers):
            try await begin(status, headers + [("Content-Length", "\(body.utf8.count)")])
            try await send(.body(.byteBuffer(ByteBuffer(string: body))))
            try await send(.end(nil))
        case .pieces(let pieces, let headers, let before):
            try await begin(200, headers)
            for (index, piece) in pieces.enumerated() {
                await before(index)
                try await send(.body(.byteBuffer(ByteBuffer(string: piece))))
            }
            try await send(.end(nil))
        case .hang: break
        case .hangUp: try await channel.close().get()
        case .trickle:
            try await begin(200, [])
            while channel.isActive {
                try await send(.body(.byteBuffer(ByteBuffer(string: " "))))
                try await Task.sleep(for: .milliseconds(20))
            }
        case .flood(let count):
            try await begin(200, [])
            let part = ByteBuffer(repeating: 0x20, count: 1 << 20)
            for _ in 0..<count >> 20 { try await send(.body(.byteBuffer(part))) }
            try await send(.end(nil))
        }
    }
}
