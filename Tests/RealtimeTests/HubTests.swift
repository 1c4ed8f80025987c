import Bus
import Foundation
import Model
import NIOCore
import Synchronization
import TestSupport
import Testing
import Wire

@testable import Realtime

@Suite("The hub", .timeLimit(.minutes(2)))
struct HubTests {
    private let stream = StreamName.call(identifier(10))

    @Test("attaching sends the snapshot, before the result of a later request; detaching ends it")
    func attach() async throws {
        try await LoopbackServer.with { server in
            let tabs = [
                try await server.session(user: 7, endpoint: 21), try await server.session(user: 7, endpoint: 22),
            ]
            server.fake.commit(stream)
            server.hub.attach(user: identifier(7), stream: stream)
            for tab in tabs { #expect(try await tab.next().json["snapshot"] != nil) }
            let signals = StreamName.signals(identifier(10), identifier(22))
            server.hub.attach(endpoint: identifier(22), stream: signals)
            #expect(try await tabs[1].next().json["stream"] as? String == signals.text)
            server.fake.commit(stream)
            server.hub.detach(stream: stream)
            server.fake.commit(stream)
            for tab in tabs {
                #expect(try await tab.next().text.contains(#""seq":2"#))
                try await tab.send(#"{"id":9,"request":"echo"}"#)
                #expect(try await tab.next().json["id"] as? Int == 9)
            }
        }
    }

    @Test("a reconnecting endpoint replaces its older socket; another secret does not")
    func replaced() async throws {
        try await LoopbackServer.with { server in
            let older = try await server.session(user: 7, endpoint: 21)
            let newer = try await server.session(user: 7, endpoint: 21)
            #expect(try await older.next().text == #"{"bye":{"code":4003,"reason":"replaced"}}"#)
            #expect(try await older.closeCode() == 4003)
            let thief = try await server.webSocket()
            try await thief.send(
                #"{"id":1,"hello":{"token":"user-7","endpoint":"\#(EndpointID.numbered(21))","secret":"guess"}}"#)
            #expect(try await thief.next().text.contains(#""type":"forbidden""#))
            try await newer.send(#"{"id":9,"request":"echo"}"#)
            #expect(try await newer.next().json["id"] as? Int == 9)
        }
    }

    @Test("revoking closes the sockets of a sign-in or a user, and no others")
    func revoked() async throws {
        try await LoopbackServer.with { server in
            let seven = try await server.session(user: 7)
            let eight = try await server.session(user: 8)
            let nine = try await server.session(user: 9)
            server.hub.revoke(signIn: identifier(507))
            server.hub.revoke(user: identifier(8))
            for client in [seven, eight] {
                #expect(try await client.next().text == #"{"bye":{"code":4004,"reason":"revoked"}}"#)
                #expect(try await client.closeCode() == 4004)
            }
            try await nine.send(#"{"id":9,"request":"echo"}"#)
            #expect(try await nine.next().json["id"] as? Int == 9)
            #expect(server.hub.stats.byes["revoked"] == 2)
        }
    }

    @Test("a session that is being authenticated when its sign-in or user is revoked does not go live")
    func revokedWhileAuthenticating() async throws {
        try await LoopbackServer.with { server in
            server.fake.hold()
            var clients: [LoopbackClient] = []
            for user in [7, 8, 9] {
                let client = try await server.webSocket()
                try await client.send(
                    #"{"id":1,"hello":{"token":"user-\#(user)","resume":{"\#(stream)":["e1",0]}}}"#)
                clients.append(client)
            }
            try await eventually { server.fake.heldCount == 3 }
            server.fake.state.withLock { state in
                state.revokedSignIns.insert(identifier(507))
                state.revoked.insert(identifier(8))
            }
            server.hub.revoke(signIn: identifier(507))
            server.hub.revoke(user: identifier(8))
            server.fake.release()
            for client in clients.prefix(2) {
                #expect(try await client.next().json["error"] != nil)
                #expect(try await client.next().text == #"{"bye":{"code":4001,"reason":"unauthenticated"}}"#)
                #expect(try await client.closeCode() == 4001)
            }
            #expect(try await clients[2].next().json["result"] != nil)
            #expect(server.fake.state.withLock { $0.attached.count } == 1)
            #expect(server.hub.directory.sessions(of: identifier(7) as UserID).isEmpty)
            #expect(server.hub.directory.sessions(of: identifier(8) as UserID).isEmpty)
        }
    }

    @Test("a session does not take a newer token whose sign-in is revoked while it is verified")
    func newerTokenRevokedMeanwhile() async throws {
        try await LoopbackServer.with { server in
            let client = try await server.session(user: 7)
            server.fake.hold()
            try await client.send(#"{"id":2,"token":"newer-7"}"#)
            try await eventually { server.fake.heldCount == 1 }
            server.fake.state.withLock { _ = $0.revokedSignIns.insert(identifier(607)) }
            server.hub.revoke(signIn: identifier(607))
            server.fake.release()
            #expect(try await client.next { $0["id"] as? Int == 2 }.json["error"] != nil)
            // It continues with its current token.
            try await client.send(#"{"id":9,"request":"echo"}"#)
            #expect(try await client.next().json["id"] as? Int == 9)
        }
    }

    @Test("an endpoint that may no longer see a stream stops receiving it")
    func drop() async throws {
        try await LoopbackServer.with { server in
            let seven = try await server.session(user: 7, endpoint: 21)
            let eight = try await server.session(user: 8, endpoint: 22)
            for client in [seven, eight] {
                try await client.send(#"{"id":2,"listen":{"stream":"\#(stream)"}}"#)
                _ = try await client.next { $0["id"] as? Int == 2 }
            }
            server.hub.drop(endpoint: .numbered(21), from: stream)
            server.fake.commit(stream)
            #expect(try await seven.next().text == #"{"stream":"\#(stream)","reset":{"reason":"access"}}"#)
            try await seven.send(#"{"id":9,"request":"echo"}"#)
            #expect(try await seven.next().json["id"] as? Int == 9)
            #expect(try await eight.next().text.contains(#""seq":1"#))
        }
    }

    @Test("an event for some endpoints reaches those of them that listen, and nobody else")
    func audience() async throws {
        try await LoopbackServer.with { server in
            let captions = StreamName.captions(identifier(10))
            let meant = try await server.session(user: 7, endpoint: 21)
            let other = try await server.session(user: 7, endpoint: 22)
            let deaf = try await server.session(user: 8, endpoint: 23)
            for client in [meant, other] {
                try await client.send(#"{"id":2,"listen":{"stream":"\#(captions)"}}"#)
                _ = try await client.next { $0["id"] as? Int == 2 }
            }
            server.fake.bus.publish(
                EphemeralEvent(
                    stream: captions, data: #"{"text":"hello"}"#, audience: [.numbered(21), .numbered(23)]))
            #expect(try await meant.next().text == #"{"stream":"\#(captions)","event":{"text":"hello"}}"#)
            for client in [other, deaf] {
                try await client.send(#"{"id":9,"request":"echo"}"#)
                #expect(try await client.next().json["id"] as? Int == 9)
            }
        }
    }

    @Test("presence starts with the first session and ends a grace period after the last")
    func presence() async throws {
        var limits = RealtimeLimits()
        limits.presenceGrace = .milliseconds(50)
        try await LoopbackServer.with(limits: limits) { server in
            let seven: UserID = identifier(7)
            let presence = StreamName.presence(seven)
            let watcher = try await server.session(user: 8)
            try await watcher.send(#"{"id":2,"listen":{"stream":"\#(presence)"}}"#)
            #expect(try await watcher.next().text == #"{"stream":"\#(presence)","snapshot":{"online":false}}"#)
            #expect(try await watcher.next().text == #"{"id":2,"result":{"stream":"\#(presence)","position":["",0]}}"#)
            let (first, second) = (try await server.session(user: 7), try await server.session(user: 7))
            #expect(try await watcher.next().text == #"{"stream":"\#(presence)","event":{"online":true}}"#)
            #expect(server.hub.presence(of: seven) == Presence(online: true))
            try await first.close()
            server.hub.setPresenceShown(false, of: seven)
            #expect(try await watcher.next().text == #"{"stream":"\#(presence)","event":{"online":false}}"#)
            server.hub.setPresenceShown(true, of: seven)
            #expect(try await watcher.next().text == #"{"stream":"\#(presence)","event":{"online":true}}"#)
            try await second.close()
            #expect(
                try await watcher.next().text
                    == #"{"stream":"\#(presence)","event":{"online":false,"lastSeenAt":"\#(morning.text)"}}"#)
            #expect(server.hub.presence(of: seven) == Presence(online: false))
        }
    }

    @Test("shutdown sends bye to all, with different reconnection delays")
    func shutdown() async throws {
        try await LoopbackServer.with { server in
            var clients: [LoopbackClient] = []
            for user in 0..<20 { clients.append(try await server.session(user: user)) }
            async let done: Void = server.hub.shutdown()
            var times: Set<Int> = []
            for client in clients {
                let bye = try await client.next().json["bye"] as? [String: Any]
                #expect(bye?["code"] as? Int == 4000)
                times.insert(bye?["retryAfter"] as? Int ?? 0)
                #expect(try await client.closeCode() == 4000)
                try await client.write(webSocketFrame(0x88, [0x0F, 0xA0]))
            }
            await done
            #expect(times.count > 10)
            #expect(server.hub.stats.sessions == 0)
        }
    }

    @Test("many sessions that come and go while many write see every change once, in order")
    func races() async throws {
        try await LoopbackServer.with { server in
            let stream = stream
            let total = 300
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask {
                    for number in 1...total {
                        server.fake.commit(stream)
                        if number % 3 == 0 { await Task.yield() }
                    }
                }
                for user in 0..<16 {
                    group.addTask { try await Self.follow(stream, to: total, as: user, on: server) }
                }
                try await group.waitForAll()
            }
        }
    }

    /// Listens until the stream's last change, over connections that it cuts at random.
    private static func follow(_ stream: StreamName, to total: Int, as user: Int, on server: LoopbackServer)
        async throws
    {
        var generator = SeededRandom(seed: UInt64(user))
        var known: Int?
        while known != total {
            let resume = known.map { #"{"\#(stream)":["e1",\#($0)]}"# } ?? "{}"
            let client = try await server.session(user: user, endpoint: 100 + user, resume: resume)
            if known == nil { try await client.send(#"{"id":2,"listen":{"stream":"\#(stream)"}}"#) }
            for _ in 0..<Int.random(in: 1...40, using: &generator) where known != total {
                let json = try await client.next().json
                if let sequence = json["seq"] as? Int { known = sequence }
                for change in json["changes"] as? [[String: Any]] ?? [] {
                    let sequence = change["seq"] as? Int
                    #expect(sequence == known.map { $0 + 1 }, "user \(user)")
                    known = sequence
                }
            }
            try await client.close()
        }
    }

    @Test("a client that does not read is caught up from the store when it does")
    func slowReader() async throws {
        var limits = RealtimeLimits()
        limits.softQueueBytes = 16 * 1024
        try await LoopbackServer.with(limits: limits) { server in
            let client = try await server.session(user: 7)
            try await client.send(#"{"id":2,"listen":{"stream":"\#(stream)"}}"#)
            _ = try await client.next { $0["id"] as? Int == 2 }
            try await client.channel.setOption(.autoRead, value: false).get()
            let data = #"{"x":"\#(String(repeating: "x", count: 10_000))"}"#
            // More than the kernel's buffers hold, so that the session must queue, and then lag.
            for _ in 0..<1500 { server.fake.commit(stream, data) }
            try await eventually { server.hub.stats.laggingStreams == 1 }
            #expect(server.hub.stats.queuedBytes < 64 * 1024)
            let opened = server.fake.state.withLock { $0.opened }
            try await client.channel.setOption(.autoRead, value: true).get()
            var known = 0
            while known < 1500 {
                for change in try await client.next().json["changes"] as? [[String: Any]] ?? [] {
                    #expect(change["seq"] as? Int == known + 1)
                    known += 1
                }
            }
            #expect(server.fake.state.withLock { $0.opened } > opened)
            #expect(server.hub.stats.byes["slow"] == 0)
        }
    }
}

@Suite("Server-sent events", .timeLimit(.minutes(1)))
struct EventStreamTests {
    private let origin = SessionOrigin(address: "127.0.0.1")

    @Test("a session over two kinds of requests")
    func session() async throws {
        try await LoopbackServer.with { server in
            let handler = EventStreamHandler(hub: server.hub, services: server.fake.services)
            let stream = StreamName.user(identifier(7))
            let events = try await handler.open(from: origin) { ByteBuffer(string: #"{"token":"user-7"}"#) }
            var iterator = events.makeAsyncIterator()
            let hello = try Self.message(await iterator.next())
            #expect(hello["id"] as? Int == 0)
            let result = hello["result"] as? [String: Any]
            let id = try #require((result?["session"] as? String).flatMap { SessionID($0) })
            let seven = Principal(user: identifier(7))
            try await handler.post(
                ByteBuffer(string: #"{"id":2,"listen":{"stream":"\#(stream)"}}"#), to: id, principal: seven)
            #expect(try Self.message(await iterator.next())["snapshot"] != nil)
            #expect(try Self.message(await iterator.next())["id"] as? Int == 2)
            server.fake.commit(stream)
            #expect(try Self.message(await iterator.next())["changes"] != nil)
            await #expect(throws: Problem.notFound("session", field: "session")) {
                try await handler.post(ByteBuffer(string: "{}"), to: id, principal: Principal(user: identifier(8)))
            }
            server.hub.revoke(user: identifier(7))
            #expect(try Self.message(await iterator.next())["bye"] != nil)
            #expect(await iterator.next() == nil)
        }
    }

    @Test("a closed reader ends the session; an invalid token opens none")
    func endings() async throws {
        try await LoopbackServer.with { server in
            let handler = EventStreamHandler(hub: server.hub, services: server.fake.services)
            await #expect(throws: Problem.self) {
                _ = try await handler.open(from: origin) { ByteBuffer(string: #"{"token":"x"}"#) }
            }
            await #expect(throws: Problem.self) {
                _ = try await handler.open(from: origin) { ByteBuffer(string: "{}") }
            }
            do {
                let events = try await handler.open(from: origin) { ByteBuffer(string: #"{"token":"user-7"}"#) }
                for await event in events {
                    #expect(event.readableBytes > 0)
                    break
                }
            }
            try await eventually { server.hub.stats.sessions == 0 }
        }
    }

    private static func message(_ chunk: ByteBuffer?) throws -> [String: Any] {
        let text = String(buffer: try #require(chunk))
        #expect(text.hasPrefix("data: {") && text.hasSuffix("}\n\n"))
        return Message(text: String(text.dropFirst(6).dropLast(2))).json
    }
}
