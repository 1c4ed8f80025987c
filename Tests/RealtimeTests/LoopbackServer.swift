import Foundation
import HTTPTypes
import HummingbirdCore
import Logging
import Model
import NIOCore
import NIOPosix

@testable import Realtime

/// A server on a loopback port with the realtime channel and a responder that echoes the request.
struct LoopbackServer {
    let hub: RealtimeHub
    let fake: FakeServices
    let group: MultiThreadedEventLoopGroup
    let channel: any Channel
    let connections: ConnectionLimits

    static func with(
        limits: RealtimeLimits = RealtimeLimits(), connections: ConnectionLimits = ConnectionLimits(),
        addresses: ClientAddresses = ClientAddresses(), pace: TransferPace = TransferPace(),
        _ body: (LoopbackServer) async throws -> Void
    ) async throws {
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 2)
        let fake = FakeServices()
        let hub = RealtimeHub(eventLoopGroup: group, bus: fake.bus, limits: limits, clock: { morning })
        let http = UpgradeChannel(
            responder: { request, writer, channel in
                var response = ByteBuffer(string: "\(request.method) \(request.uri.path)")
                if request.uri.path == "/address" {
                    response = ByteBuffer(string: addresses.client(of: channel) { _ in [] })
                } else if request.uri.path.hasPrefix("/bytes/"), let count = Int(request.uri.path.dropFirst(7)) {
                    response = ByteBuffer(repeating: 0x78, count: count)
                }
                var body = try await writer.writeHead(
                    HTTPResponse(status: .ok, headerFields: [.contentLength: "\(response.readableBytes)"]))
                try await body.write(response)
                try await body.finish(nil)
            }, hub: hub, services: fake.services, origins: AllowedOrigins(["https://app.example.com"]),
            addresses: addresses, pace: pace)
        let limited = LimitedChannel(http, addresses: addresses, limits: connections)
        let logger = Logger(label: "test")
        let channel = try await ServerBootstrap(group: group)
            .serverChannelOption(.backlog, value: 4096)
            .childChannelOption(.allowRemoteHalfClosure, value: true)
            .childChannelInitializer { channel in
                limited.setup(channel: channel, logger: logger).map { value in
                    _ = Task { await limited.handle(value: value, logger: logger) }
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
        let server = LoopbackServer(hub: hub, fake: fake, group: group, channel: channel, connections: connections)
        do {
            try await body(server)
        } catch {
            await server.stop()
            throw error
        }
        await server.stop()
    }

    private func stop() async {
        await hub.shutdown()
        try? await channel.close()
        try? await group.shutdownGracefully()
    }

    func connect() async throws -> LoopbackClient {
        try await LoopbackClient.connect(to: channel.localAddress?.port ?? 0, on: group)
    }

    /// A client that has upgraded.
    func webSocket() async throws -> LoopbackClient {
        let client = try await connect()
        try await client.upgrade()
        return client
    }

    /// A client that has said hello.
    func session(user: Int, endpoint: Int? = nil, resume: String = "{}") async throws -> LoopbackClient {
        let client = try await webSocket()
        let id = endpoint.map { #","endpoint":"\#(EndpointID.numbered($0))","secret":"s\#($0)""# } ?? ""
        try await client.send(#"{"id":1,"hello":{"token":"user-\#(user)"\#(id),"resume":\#(resume)}}"#)
        _ = try await client.next { $0["id"] as? Int == 1 }
        return client
    }
}

extension EndpointID {
    static func numbered(_ number: Int) -> EndpointID { identifier(number) }
}

/// A client that writes given bytes, and reads WebSocket frames or anything else.
final class LoopbackClient: Sendable {
    let channel: any Channel
    private let reader: Reader

    struct Closed: Error {}

    /// What came, in order; only one task reads.
    actor Reader {
        private var iterator: AsyncStream<ByteBuffer>.Iterator
        private var buffer = ByteBuffer()

        init(_ stream: AsyncStream<ByteBuffer>) { iterator = stream.makeAsyncIterator() }

        private func more() async throws {
            var iterator = iterator
            guard let bytes = await iterator.next(isolation: self) else { throw Closed() }
            self.iterator = iterator
            buffer.writeImmutableBuffer(bytes)
        }

        /// Everything up to and with the empty line.
        func head() async throws -> String {
            while true {
                let text = String(buffer: buffer)
                if let end = text.range(of: "\r\n\r\n") {
                    let head = text[..<end.upperBound]
                    buffer.moveReaderIndex(forwardBy: head.utf8.count)
                    return String(head)
                }
                try await more()
            }
        }

        func frame() async throws -> (first: UInt8, payload: [UInt8]) {
            while true {
                if let frame = parse() { return frame }
                try await more()
            }
        }

        /// Everything until the connection ends.
        func rest() async -> String {
            while (try? await more()) != nil {}
            return String(buffer: buffer)
        }

        private func parse() -> (first: UInt8, payload: [UInt8])? {
            var reader = buffer
            guard let first: UInt8 = reader.readInteger(), let short: UInt8 = reader.readInteger() else { return nil }
            var length = Int(short)
            if short == 126 {
                guard let long: UInt16 = reader.readInteger() else { return nil }
                length = Int(long)
            } else if short == 127 {
                guard let long: UInt64 = reader.readInteger() else { return nil }
                length = Int(long)
            }
            guard let payload = reader.readBytes(length: length) else { return nil }
            buffer = reader
            return (first, payload)
        }
    }

    private final class Collector: ChannelInboundHandler {
        typealias InboundIn = ByteBuffer
        let continuation: AsyncStream<ByteBuffer>.Continuation

        init(_ continuation: AsyncStream<ByteBuffer>.Continuation) { self.continuation = continuation }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) { continuation.yield(unwrapInboundIn(data)) }
        func channelInactive(context: ChannelHandlerContext) { continuation.finish() }
        func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
    }

    private init(channel: any Channel, reader: Reader) {
        self.channel = channel
        self.reader = reader
    }

    static func connect(to port: Int, on group: any EventLoopGroup) async throws -> LoopbackClient {
        let (stream, continuation) = AsyncStream.makeStream(of: ByteBuffer.self)
        let channel = try await ClientBootstrap(group: group)
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(Collector(continuation))
                }
            }
            .connect(host: "127.0.0.1", port: port).get()
        return LoopbackClient(channel: channel, reader: Reader(stream))
    }

    func write(_ bytes: [UInt8]) async throws {
        try await channel.writeAndFlush(ByteBuffer(bytes: bytes)).get()
    }

    func request(_ line: String, _ headers: [String] = []) async throws {
        let text = ([line + " HTTP/1.1", "Host: 127.0.0.1"] + headers).joined(separator: "\r\n") + "\r\n\r\n"
        try await write(Array(text.utf8))
    }

    static let upgradeHeaders = [
        "Connection: keep-alive, Upgrade", "Upgrade: websocket", "Sec-WebSocket-Version: 13",
        "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
    ]

    func upgrade() async throws {
        try await request("GET /v1/realtime", Self.upgradeHeaders)
        let head = try await reader.head()
        // The response to the key of RFC 6455 section 1.3.
        guard head.hasPrefix("HTTP/1.1 101"), head.contains("s3pPLMBiTxaQ9kYGzzhZRbK+xOo=") else { throw Closed() }
    }

    func head() async throws -> String { try await reader.head() }
    func rest() async -> String { await reader.rest() }
    func frame() async throws -> (first: UInt8, payload: [UInt8]) { try await reader.frame() }

    func send(_ text: String) async throws {
        try await write(webSocketFrame(0x81, Array(text.utf8)))
    }

    /// The next JSON message that fits; others before it are dropped.
    func next(where fits: ([String: Any]) -> Bool = { _ in true }) async throws -> Message {
        while true {
            let (first, payload) = try await frame()
            guard first == 0x81 else { throw Closed() }
            let message = Message(text: String(decoding: payload, as: UTF8.self))
            if fits(message.json) { return message }
        }
    }

    /// The code of the close frame, after whatever messages come before it.
    func closeCode() async throws -> Int {
        while true {
            let (first, payload) = try await frame()
            if first == 0x88 { return payload.count < 2 ? 1005 : Int(payload[0]) << 8 | Int(payload[1]) }
        }
    }

    func close() async throws {
        try await channel.close()
    }
}

/// A message's text, which may cross tasks, and what it says.
struct Message: Sendable {
    var text: String

    var json: [String: Any] {
        (try? JSONSerialization.jsonObject(with: Data(text.utf8))) as? [String: Any] ?? [:]
    }
}
