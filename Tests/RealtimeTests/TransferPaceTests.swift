import HTTPTypes
import NIOCore
import NIOEmbedded
import NIOHTTP1
import NIOHTTPTypes
import NIOHTTPTypesHTTP1
import Testing

@testable import Realtime

/// A connection of which the test is the clock, the client and the responder.
private struct PacedConnection {
    let loop = EmbeddedEventLoop()
    let channel: EmbeddedChannel

    init() throws {
        channel = EmbeddedChannel(loop: loop)
        try channel.pipeline.syncOperations.configureHTTPServerPipeline(withPipeliningAssistance: false)
        try channel.pipeline.syncOperations.addHandlers([
            HTTP1ToHTTPServerCodec(secure: false), TransferPaceHandler(TransferPace()),
        ])
        try channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 1)).wait()
    }

    func receive(_ text: String) throws {
        channel.read()
        try channel.writeInbound(ByteBuffer(string: text))
        channel.read()
    }

    /// The client takes nothing of it until `flush`.
    func respond() {
        channel.write(HTTPResponsePart.head(HTTPResponse(status: .ok)), promise: nil)
        channel.write(HTTPResponsePart.body(ByteBuffer(string: "bytes")), promise: nil)
        channel.write(HTTPResponsePart.end(nil), promise: nil)
    }
}

@Suite("The pace of requests and responses")
struct TransferPaceTests {
    private static let head = "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\n\r\n"

    @Test("a body that has just begun when another one's window ends is not slow, until its own has ended")
    func bodies() throws {
        let connection = try PacedConnection()
        try connection.receive(Self.head + "body")
        connection.loop.advanceTime(by: .milliseconds(29_999))
        try connection.receive(Self.head)
        connection.loop.advanceTime(by: .milliseconds(1))
        #expect(connection.channel.isActive)
        connection.loop.advanceTime(by: .seconds(30))
        #expect(!connection.channel.isActive)
    }

    @Test("a response that has just begun when another one's window ends is not slow, until its own has ended")
    func responses() throws {
        let connection = try PacedConnection()
        connection.respond()
        // Bytes wait from the beginning of the second window.
        connection.loop.advanceTime(by: .seconds(30))
        connection.channel.flush()
        connection.loop.advanceTime(by: .milliseconds(29_999))
        connection.respond()
        connection.loop.advanceTime(by: .milliseconds(1))
        #expect(connection.channel.isActive)
        connection.loop.advanceTime(by: .seconds(30))
        #expect(!connection.channel.isActive)
    }
}
