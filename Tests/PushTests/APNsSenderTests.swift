import Crypto
import Foundation
import HTTPTestSupport
import NIOHTTP1
import Notifications
import Synchronization
import Testing
import Tokens

@testable import Push

@Suite("Sending by APNs", .timeLimit(.minutes(5))) struct APNsSenderTests {
    private struct Harness {
        let sender: APNsSender
        let server: ScriptedServer
        let clock: TestClock
    }

    private static func run(
        timeout: Duration = .seconds(60), isTrusted: Bool = true, _ script: @escaping ScriptedServer.Script,
        _ body: (Harness) async throws -> Void
    ) async throws {
        let file = FileManager.default.temporaryDirectory.appending(path: "key-\(UUID().uuidString).p8")
        try Data(P256.Signing.PrivateKey().pemRepresentation.utf8).write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        let key = try APNsKey(file: file.path, id: "ABC123DEFG", team: "DEF123GHIJ")
        try await PushServiceServer.run(script) { address, authorities, server in
            var addresses = APNsSender.Addresses()
            (addresses.production, addresses.sandbox) = (address, address + "/sandbox")
            let clock = TestClock()
            let sender = APNsSender(
                key, topic: "org.example.app", addresses: addresses, authorities: isTrusted ? authorities : nil,
                timeout: timeout
            ) { clock.now }
            try await body(Harness(sender: sender, server: server, clock: clock))
        }
    }

    private static func message(
        isVoIP: Bool = false, _ environment: APNsAddress.Environment = .production, isUrgent: Bool = false
    ) -> PushMessage {
        let address = APNsAddress(token: "00ff", environment: environment, isVoIP: isVoIP)
        return PushMessage(
            address: .apns(address), payload: Array(#"{"kind":"ring","user":"u","call":"c"}"#.utf8), secondsToLive: 45,
            isUrgent: isUrgent, topic: "c")
    }

    private static func error(_ status: Int, _ code: String) -> ScriptedServer.Reply {
        .response(status, #"{"reason":"\#(code)"}"#)
    }

    private static let taken = ScriptedServer.Reply.response(200, "")

    @Test("each environment has its address, and PushKit its topic") func requests() async throws {
        try await Self.run { _ in
            Self.taken
        } _: { harness in
            #expect(await harness.sender.send(Self.message()) == .delivered)
            #expect(await harness.sender.send(Self.message(isVoIP: true, .sandbox)) == .delivered)
            let (alert, voip) = (harness.server.requests[0], harness.server.requests[1])
            #expect(alert.path == "/3/device/00ff" && voip.path == "/sandbox/3/device/00ff")
            #expect(alert.headers.first(name: "apns-topic") == "org.example.app")
            #expect(voip.headers.first(name: "apns-topic") == "org.example.app.voip")
            #expect(voip.headers.first(name: "apns-push-type") == "voip")
            #expect(voip.headers.first(name: "apns-expiration") == "1800000045")
            #expect(alert.headers["authorization"] == voip.headers["authorization"])
            #expect(alert.port != voip.port, "one that hangs keeps the other waiting")
        }
    }

    @Test("a refused token is replaced once, and not before Apple permits it") func refusedToken() async throws {
        try await Self.run { _ in
            Self.error(403, "ExpiredProviderToken")
        } _: { harness in
            let outcome = PushOutcome.retry(after: nil, "Its response was 403, ExpiredProviderToken.")
            #expect(await harness.sender.send(Self.message(isUrgent: true)) == outcome)
            #expect(harness.server.requests.count == 1)
            harness.clock.advance(seconds: 20 * 60)
            #expect(await harness.sender.send(Self.message(isUrgent: true)) == outcome)
            let tokens = harness.server.requests.map { $0.headers["authorization"] }
            #expect(tokens.count == 3 && tokens[0] == tokens[1] && tokens[1] != tokens[2])
        }
    }

    @Test("a wrong environment ends no registration") func environments() async throws {
        try await Self.run { request in
            request.path.hasPrefix("/sandbox") ? Self.taken : Self.error(400, "BadDeviceToken")
        } _: { harness in
            #expect(await harness.sender.send(Self.message(.sandbox)) == .delivered)
            let outcome = PushOutcome.retry(after: .seconds(60), "Its response was 400, BadDeviceToken.")
            #expect(await harness.sender.send(Self.message()) == outcome)
            #expect(await harness.sender.check().problem == nil)
        }
        // One that has taken a notification is the right one.
        let requests = Atomic(0)
        try await Self.run { _ in
            requests.add(1, ordering: .relaxed).oldValue == 0 ? Self.taken : Self.error(400, "BadDeviceToken")
        } _: { harness in
            #expect(await harness.sender.send(Self.message()) == .delivered)
            #expect(await harness.sender.send(Self.message()) == .gone("Its response was 400, BadDeviceToken."))
        }
    }

    @Test("a page is no delivery, and nothing that a check takes for Apple's") func page() async throws {
        try await Self.run { _ in
            .response(200, "<html>Welcome</html>")
        } _: { harness in
            #expect(await harness.sender.send(Self.message()) == .retry(after: .seconds(60), "Its response was 200."))
            #expect(await harness.sender.check().problem == "Its response was 200.")
        }
        try await Self.run { _ in
            Self.error(403, "InvalidProviderToken")
        } _: { harness in
            #expect(await harness.sender.check().problem == "Its response was 403, InvalidProviderToken.")
        }
    }

    @Test("no response is tried again, on another connection, and a cancelled attempt says so") func silent()
        async throws
    {
        try await Self.run(timeout: .seconds(1)) { _ in
            .hang
        } _: { harness in
            for _ in 0..<2 {
                #expect(await harness.sender.send(Self.message()) == .unreachable("It did not respond in time."))
            }
            #expect(Set(harness.server.requests.map(\.port)).count == harness.server.requests.count)
        }
        try await Self.run { _ in
            .hang
        } _: { harness in
            let task = Task { await harness.sender.send(Self.message()) }
            while harness.server.requests.isEmpty { try await Task.sleep(for: .milliseconds(5)) }
            task.cancel()
            #expect(await task.value == .cancelled)
        }
    }

    @Test("a certificate that is not trusted is named, and no file of the machine that built this") func untrusted()
        async throws
    {
        try await Self.run(isTrusted: false) { _ in
            Self.taken
        } _: { harness in
            let outcome = await harness.sender.send(Self.message())
            #expect(outcome == .unreachable("It cannot be reached: its certificate is not trusted."))
            #expect(harness.server.requests.isEmpty)
        }
    }

    @Test("what is too large is not sent") func large() async throws {
        try await Self.run { _ in
            Self.taken
        } _: { harness in
            var message = Self.message()
            message.payload = Array(#"{"kind":"ring","a":"\#(String(repeating: "x", count: 4_096))"}"#.utf8)
            #expect(await harness.sender.send(message) == .rejected("It has more than 4096 bytes."))
            #expect(harness.server.requests.isEmpty)
        }
    }
}
