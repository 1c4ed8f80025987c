import Model
import NIOCore
import NIOEmbedded
import Testing

@testable import Realtime

/// A WebSocket on a channel whose other end reads when the test says so.
private struct SlowReader {
    let loop = EmbeddedEventLoop()
    let channel: EmbeddedChannel
    private let reads = ReadCounter()

    init() throws {
        let fake = FakeServices()
        let hub = RealtimeHub(eventLoopGroup: loop, bus: fake.bus, clock: { morning })
        channel = EmbeddedChannel(loop: loop)
        try channel.pipeline.syncOperations.addHandlers([
            reads,
            WebSocketHandler(hub: hub, services: fake.services, origin: SessionOrigin(address: "192.0.2.1")),
        ])
        channel.isWritable = false
        channel.pipeline.fireChannelWritabilityChanged()
    }

    var readCount: Int { reads.count }

    func send(_ frames: [UInt8]) throws { try channel.writeInbound(ByteBuffer(bytes: frames)) }

    func takeBytes() throws -> [UInt8] {
        var bytes: [UInt8] = []
        while let buffer = try channel.readOutbound(as: ByteBuffer.self) { bytes += buffer.readableBytesView }
        return bytes
    }

    func beginReading() {
        channel.isWritable = true
        channel.pipeline.fireChannelWritabilityChanged()
    }

    /// Counts how often the socket would be read.
    private final class ReadCounter: ChannelOutboundHandler {
        typealias OutboundIn = ByteBuffer
        var count = 0

        func read(context: ChannelHandlerContext) {
            count += 1
            context.read()
        }
    }
}

@Suite("Clients that flood and do not read")
struct FloodTests {
    @Test("one pong is pending, for the latest ping")
    func pongs() throws {
        let client = try SlowReader()
        for number in 0..<200 { try client.send(webSocketFrame(0x89, [UInt8(number)])) }
        #expect(try client.takeBytes().isEmpty)
        client.beginReading()
        #expect(try client.takeBytes() == [0x8A, 1, 199])
        try client.send(webSocketFrame(0x89, [7]) + webSocketFrame(0x89, [8]))
        #expect(try client.takeBytes() == [0x8A, 1, 8])
    }

    @Test("a socket that is not writable is not read until it is")
    func reads() throws {
        let client = try SlowReader()
        let before = client.readCount
        for _ in 0..<3 { client.channel.read() }
        #expect(client.readCount == before)
        client.beginReading()
        #expect(client.readCount == before + 1)
        client.channel.read()
        #expect(client.readCount == before + 2)
    }

    @Test("control frames and small fragments count like messages", arguments: [0x89, 0x8A, 0x00] as [UInt8])
    func counting(first: UInt8) throws {
        let client = try SlowReader()
        client.beginReading()
        if first == 0x00 { try client.send(webSocketFrame(0x01, [])) }
        for _ in 0..<501 { try client.send(webSocketFrame(first, [])) }
        let sent = String(decoding: try client.takeBytes(), as: UTF8.self)
        #expect(sent.contains(#"{"bye":{"code":4029,"reason":"rate_limited""#))
    }

    @Test("who floods is not read on after the close frame")
    func floodAfterClose() throws {
        let client = try SlowReader()
        client.beginReading()
        for _ in 0..<501 { try client.send(webSocketFrame(0x89, [])) }
        let before = client.readCount
        client.channel.read()
        #expect(client.readCount == before + 1, "The client's close frame is awaited.")
        for _ in 0..<512 { try client.send(webSocketFrame(0x89, [UInt8](repeating: 1, count: 125))) }
        client.channel.read()
        #expect(client.readCount == before + 1)
    }
}
