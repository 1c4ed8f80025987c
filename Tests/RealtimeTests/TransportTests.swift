import Foundation
import Model
import NIOCore
import NIOHTTP1
import Synchronization
import TestSupport
import Testing

@testable import Realtime

@Suite("The WebSocket transport", .timeLimit(.minutes(1)))
struct TransportTests {
    @Test("from the hello to the close handshake")
    func session() async throws {
        try await LoopbackServer.with { server in
            let stream = StreamName.user(identifier(7))
            server.fake.commit(stream)
            let client = try await server.session(user: 7)
            try await client.send(#"{"id":2,"listen":{"stream":"\#(stream)"}}"#)
            #expect(
                try await client.next().text == #"{"stream":"\#(stream)","snapshot":{"count":1},"epoch":"e1","seq":1}"#)
            #expect(try await client.next().text == #"{"id":2,"result":{"stream":"\#(stream)","position":["e1",1]}}"#)
            try await client.send(#"{"id":3,"request":"commit"}"#)
            #expect(
                try await client.next().text
                    == #"{"stream":"\#(stream)","changes":[{"seq":2,"type":"call","data":{}}]}"#)
            #expect(try await client.next().text == #"{"id":3,"result":{},"positions":{"\#(stream)":["e1",2]}}"#)
            try await client.write(webSocketFrame(0x89, Array("ping".utf8)))
            let pong = try await client.frame()
            #expect(pong.first == 0x8A)
            #expect(pong.payload == Array("ping".utf8))
            try await client.write(webSocketFrame(0x88, [0x03, 0xE8]))
            #expect(try await client.closeCode() == 1000)
            #expect(await client.rest() == "")
            try await eventually { server.hub.stats.sessions == 0 }
            #expect(server.fake.state.withLock { $0.detached.count } == 1)
        }
    }

    @Test("a protocol violation gets its close code, and other clients are not affected")
    func violations() async throws {
        try await LoopbackServer.with { server in
            let other = try await server.session(user: 7)
            let big = [UInt8](repeating: 0x20, count: 600_000)
            for (bytes, code) in [
                (webSocketFrame(0x81, Array("{}".utf8), isMasked: false), 1002), (webSocketFrame(0xC1, [0x20]), 1002),
                (webSocketFrame(0x83, []), 1002), (webSocketFrame(0x81, [0xFF]), 1007),
                (webSocketFrame(0x82, [1]), 1003),
                (webSocketFrame(0x81, big), 1009), (webSocketFrame(0x80, []), 1002),
            ] {
                let client = try await server.webSocket()
                try? await client.write(bytes)
                #expect(try await client.closeCode() == code)
                try? await client.close()
            }
            try await eventually { server.hub.stats.sessions == 1 }
            try await other.send(#"{"id":3,"request":"echo","params":{"a":1}}"#)
            #expect(try await other.next().text == #"{"id":3,"result":{"a":1}}"#)
        }
    }

    @Test("anything but a WebSocket is an ordinary HTTP request")
    func http() async throws {
        try await LoopbackServer.with { server in
            let client = try await server.connect()
            try await client.request("GET /v1/realtime")
            #expect(try await client.head().hasPrefix("HTTP/1.1 200"))
            try await client.request("GET /again", ["Connection: close"])
            let rest = await client.rest()
            #expect(rest.hasPrefix("GET /v1/realtime") && rest.hasSuffix("GET /again"))
            for (line, headers, body) in [
                (
                    "GET /", ["Connection: Upgrade, HTTP2-Settings", "Upgrade: h2c", "HTTP2-Settings: AAMAAABk"],
                    "GET /"
                ),
                ("GET /v1/calls", LoopbackClient.upgradeHeaders, "GET /v1/calls"),
                ("POST /v1/realtime", LoopbackClient.upgradeHeaders + ["Content-Length: 0"], "POST /v1/realtime"),
            ] {
                let client = try await server.connect()
                try await client.request(line, headers)
                #expect(try await client.head().hasPrefix("HTTP/1.1 200"))
                // The connection is closed after the response, so that no later request is lost.
                #expect(await client.rest() == body)
            }
        }
    }

    @Test("a rejected upgrade gets a problem")
    func rejections() async throws {
        try await LoopbackServer.with { server in
            for (headers, status) in [
                (LoopbackClient.upgradeHeaders + ["Origin: https://evil.example.com"], "403"),
                (LoopbackClient.upgradeHeaders.map { $0.replacingOccurrences(of: "13", with: "8") }, "426"),
                (LoopbackClient.upgradeHeaders.map { $0.replacingOccurrences(of: "dGhl", with: "") }, "400"),
            ] {
                let client = try await server.connect()
                try await client.request("GET /v1/realtime", headers)
                let response = await client.rest()
                #expect(response.hasPrefix("HTTP/1.1 \(status)"))
                #expect(response.contains("application/problem+json"))
                #expect(response.contains("Sec-WebSocket-Version: 13") == (status == "426"))
            }
            for origin in ["https://app.example.com", "http://127.0.0.1"] {
                let client = try await server.connect()
                try await client.request("GET /v1/realtime", LoopbackClient.upgradeHeaders + ["Origin: \(origin)"])
                #expect(try await client.head().hasPrefix("HTTP/1.1 101"))
            }
        }
    }

    @Test("the first frame may come with the upgrade request")
    func eager() async throws {
        try await LoopbackServer.with { server in
            let client = try await server.connect()
            let head = (["GET /v1/realtime HTTP/1.1", "Host: x"] + LoopbackClient.upgradeHeaders).joined(
                separator: "\r\n")
            let hello = webSocketFrame(0x81, Array(#"{"id":1,"hello":{"token":"user-7"}}"#.utf8))
            try await client.write(Array((head + "\r\n\r\n").utf8) + hello)
            _ = try await client.head()
            #expect(try await client.next().json["id"] as? Int == 1)
        }
    }

    @Test("a hello without a valid token ends with 4001")
    func unauthenticated() async throws {
        try await LoopbackServer.with { server in
            let client = try await server.webSocket()
            try await client.send(#"{"id":1,"hello":{"token":"nobody"}}"#)
            #expect(try await client.next().text.hasPrefix(#"{"id":1,"error":{"type":"unauthenticated""#))
            #expect(try await client.next().text == #"{"bye":{"code":4001,"reason":"unauthenticated"}}"#)
            #expect(try await client.closeCode() == 4001)
        }
    }
}
