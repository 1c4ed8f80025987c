import Model
import NIOCore
import TestSupport
import Testing
import Wire

@testable import Realtime

@Suite("Connections of the API's port", .timeLimit(.minutes(1)))
struct ConnectionTests {
    private func response(_ client: LoopbackClient, to path: String) async throws -> String {
        try await client.request("GET \(path)", ["Connection: close"])
        return await client.rest()
    }

    @Test(
        "a connection over the limit of an address or in total is closed at once, and a closed one frees its slot",
        arguments: [true, false])
    func caps(inAll: Bool) async throws {
        let limits = inAll ? ConnectionLimits(total: 3) : ConnectionLimits(perAddress: 3)
        try await LoopbackServer.with(connections: limits) { server in
            var clients: [LoopbackClient] = []
            for _ in 0..<3 {
                clients.append(try await server.connect())
                try await clients.last?.request("GET /")
                _ = try await clients.last?.head()
            }
            let refused = try await server.connect()
            #expect(await refused.rest() == "")
            try await eventually { limits.stats == (3, 1) }
            try await clients[0].close()
            try await eventually { limits.stats.open == 2 }
            #expect(try await response(try await server.connect(), to: "/x").hasSuffix("GET /x"))
            // Also those that became WebSockets count until they end.
            try await clients[1].close()
            try await eventually { limits.stats.open == 1 }
            let session = try await server.session(user: 7)
            #expect(limits.stats.open == 2)
            try await session.close()
            try await clients[2].close()
            try await eventually { limits.stats.open == 0 }
        }
    }

    private func behindBalancers(trusting proxies: String? = nil) throws -> ClientAddresses {
        var rules = ClientAddresses.Rules()
        rules.proxyProtocol = [try #require(AddressRange("127.0.0.0/8"))]
        rules.trustedProxies = try proxies.map { [try #require(AddressRange($0))] } ?? []
        return ClientAddresses(rules)
    }

    /// HAProxy's `proxy-protocol.txt` section 2.2: TCP over IPv4 for 203.0.113.x, or LOCAL.
    private func proxyHeader(client: UInt8?) -> [UInt8] {
        let signature: [UInt8] = [0x0D, 0x0A, 0x0D, 0x0A, 0, 0x0D, 0x0A, 0x51, 0x55, 0x49, 0x54, 0x0A]
        guard let client else { return signature + [0x20, 0x00, 0, 0] }
        return signature + [0x21, 0x11, 0, 12] + [203, 0, 113, client, 192, 0, 2, 1, 0x30, 0x39, 0x01, 0xBB]
    }

    @Test("the PROXY header of a balancer names the client, and is required")
    func proxyProtocol() async throws {
        try await LoopbackServer.with(addresses: try behindBalancers()) { server in
            let known = try await server.connect()
            try await known.write(proxyHeader(client: 9))
            #expect(try await response(known, to: "/address").hasSuffix("203.0.113.9"))
            let itself = try await server.connect()
            try await itself.write(proxyHeader(client: nil))
            #expect(try await response(itself, to: "/address").hasSuffix("127.0.0.1"))
            let silent = try await server.connect()
            #expect(try await response(silent, to: "/address") == "")
            // Byte by byte, and the request in the header's last segment.
            let slow = try await server.connect()
            let header = proxyHeader(client: 8)
            for byte in header.dropLast() { try await slow.write([byte]) }
            try await slow.write(
                [header[27]] + Array("GET /address HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n".utf8))
            #expect(await slow.rest().hasSuffix("203.0.113.8"))
        }
    }

    @Test("connections of a balancer count for their clients")
    func countedByClient() async throws {
        let limits = ConnectionLimits(perAddress: 1)
        let addresses = try behindBalancers(trusting: "203.0.113.7")
        try await LoopbackServer.with(connections: limits, addresses: addresses) { server in
            func connect(for client: UInt8) async throws -> LoopbackClient {
                let connection = try await server.connect()
                // One too many is closed as soon as its client is known.
                try? await connection.write(
                    proxyHeader(client: client) + Array("GET / HTTP/1.1\r\nHost: x\r\n\r\n".utf8))
                return connection
            }
            var open: [LoopbackClient] = []
            for client in [1, 2, 7, 7, 7] as [UInt8] {
                open.append(try await connect(for: client))
                _ = try await open.last?.head()
            }
            let refused = try await connect(for: 2)
            #expect(await refused.rest() == "")
            try await eventually { limits.stats == (5, 1) }
            for connection in open { try await connection.close() }
            try await eventually { limits.stats.open == 0 }
        }
    }

    private static let strict: TransferPace = {
        var pace = TransferPace()
        pace.window = .milliseconds(100)
        pace.minBytes = 10_000
        return pace
    }()

    @Test("a stalled request body ends its connection")
    func slowBody() async throws {
        try await LoopbackServer.with(pace: Self.strict) { server in
            let client = try await server.connect()
            try await client.request("POST /slow", ["Content-Length: 100000"])
            // There may be a response before, and it ends all the same.
            _ = await client.rest()
            try await eventually { server.connections.stats.open == 0 }
        }
    }

    @Test("a response that is not read ends its connection, others arrive completely; nothing is read meanwhile")
    func slowResponse() async throws {
        try await LoopbackServer.with(pace: Self.strict) { server in
            let bytes = 20_000_000
            let stuck = try await server.connect()
            try await stuck.channel.setOption(ChannelOptions.autoRead, value: false).get()
            try await stuck.request("GET /bytes/\(bytes)")
            for _ in 0..<50 { try? await stuck.request("GET /bytes/\(bytes)") }
            let other = try await server.connect()
            #expect(try await response(other, to: "/bytes/\(bytes)").utf8.count > bytes)
            try await eventually { server.connections.stats.open == 0 }
        }
    }

    @Test("the sessions of a user are limited; one that replaces an older one does not count")
    func sessionsOfAUser() async throws {
        var limits = RealtimeLimits()
        limits.sessionsPerUser = 2
        try await LoopbackServer.with(limits: limits) { server in
            let first = try await server.session(user: 7, endpoint: 1)
            _ = try await server.session(user: 7, endpoint: 2)
            let refused = try await server.webSocket()
            try await refused.send(#"{"id":1,"hello":{"token":"user-7"}}"#)
            #expect(try await refused.next().text.hasPrefix(#"{"id":1,"error":{"type":"rate_limited""#))
            #expect(try await refused.closeCode() == 4029)
            _ = try await server.session(user: 8, endpoint: 3)
            _ = try await server.session(user: 7, endpoint: 1)
            #expect(try await first.closeCode() == 4003)
            _ = try await server.session(user: 8, endpoint: 4)
        }
    }
}
