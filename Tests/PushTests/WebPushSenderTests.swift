import HTTPTestSupport
import Model
import NIOHTTP1
import Notifications
import Providers
import Testing
import Tokens
import Webhooks
import Wire

@testable import Push

@Suite("Sending Web Push", .timeLimit(.minutes(3)))
struct WebPushSenderTests {
    private let key = VAPIDKey.ephemeral(subject: "mailto:ops@example.org")
    private let subscription = Subscription()
    private let loopback = WebhookAddressRules(allowed: [AddressRange("127.0.0.0/8")].compactMap(\.self))
    private let now = Timestamp(milliseconds: 1_800_000_000_000)

    private func sender(
        rules: WebhookAddressRules? = nil, clients: WebhookClients? = nil, timeout: Duration = .seconds(60)
    ) -> WebPushSender {
        let now = now
        return WebPushSender(key, rules: rules ?? loopback, clients: clients, timeout: timeout) { now }
    }

    private func send(
        to url: String, by sender: WebPushSender? = nil, payload: [UInt8]? = nil
    ) async throws -> PushOutcome {
        var message = subscription.message(to: try #require(WebhookURL(url)))
        if let payload { message.payload = payload }
        return await (sender ?? self.sender()).send(message)
    }

    @Test("a push service can check the request, and the browser decrypt it") func delivered() async throws {
        try await ScriptedServer.run { _ in
            .response(201, "")
        } _: { address, server in
            let sender = sender()
            for _ in 0..<2 { #expect(try await send(to: address + "/wpush/v2/abc", by: sender) == .delivered) }
            let request = try #require(server.requests.first)
            #expect(request.path == "/wpush/v2/abc")
            #expect(request.headers.first(name: "TTL") == "60")
            #expect(request.headers.first(name: "Urgency") == "high")
            #expect(request.headers.first(name: "Content-Encoding") == "aes128gcm")
            let authorization = try key.authorization(for: address, at: now)
            #expect(request.headers.first(name: "Authorization") == authorization)
            let payload = Array(#"{"kind":"test"}"#.utf8)
            let plaintext = try subscription.open(request.body)
            #expect(plaintext.starts(with: payload + [2]))
            // The connection was kept.
            #expect(Set(server.requests.map(\.port)).count == 1 && server.requests.count == 2)
        }
    }

    @Test("what is not urgent says so, and a time to live is never negative") func plain() async throws {
        try await ScriptedServer.run { _ in
            .response(201, "")
        } _: { address, server in
            var message = subscription.message(to: try #require(WebhookURL(address)))
            (message.isUrgent, message.secondsToLive) = (false, -1)
            #expect(await sender().send(message) == .delivered)
            let headers = try #require(server.requests.first?.headers)
            #expect(headers.first(name: "Urgency") == "normal")
            #expect(headers.first(name: "TTL") == "0")
        }
    }

    @Test("a topic is the same for one subscription, and tells a push service nothing") func topics() async throws {
        try await ScriptedServer.run { _ in
            .response(201, "")
        } _: { address, server in
            let url = try #require(WebhookURL(address))
            let long = String(repeating: "a long topic / ", count: 20)
            for message in [
                subscription.message(to: url), subscription.message(to: url),
                subscription.message(to: url, topic: long),
                Subscription().message(to: url),
            ] {
                #expect(await sender().send(message) == .delivered)
            }
            let topics = server.requests.compactMap { $0.headers.first(name: "Topic") }
            #expect(topics.allSatisfy { $0.wholeMatch(of: /[A-Za-z0-9_-]{32}/) != nil })
            #expect(topics.count == 4 && topics[0] == topics[1] && Set(topics).count == 3)
        }
    }

    @Test(
        "the status decides the outcome",
        arguments: [
            (201, PushOutcome.delivered), (200, .delivered), (202, .delivered),
            (404, .gone("Its response was 404. No such subscription")),
            (410, .gone("Its response was 410. No such subscription")),
            (400, .rejected("Its response was 400. No such subscription")),
            (401, .rejected("Its response was 401. No such subscription")),
            (403, .rejected("Its response was 403. No such subscription")),
            (413, .rejected("Its response was 413. No such subscription")),
            (307, .rejected("Its response was 307. No such subscription")),
            (429, .retry(after: .seconds(7), "Its response was 429. No such subscription")),
            (500, .retry(after: .seconds(7), "Its response was 500. No such subscription")),
            (503, .retry(after: .seconds(7), "Its response was 503. No such subscription")),
        ]) func outcomes(status: Int, outcome: PushOutcome) async throws
    {
        try await ScriptedServer.run { _ in
            .response(status, #"{"code":0,"message":"No such\nsubscription"}"#, [("Retry-After", "7")])
        } _: { address, _ in
            let found = try await send(to: address)
            #expect(found == outcome)
        }
    }

    @Test("a reason contains nothing of the endpoint, keys or tokens", arguments: [4, 30]) func reasons(
        count: Int
    ) async throws {
        try await ScriptedServer.run { request in
            let secrets = [request.path] + request.headers.map(\.value)
            return .response(400, "No \(secrets.joined(separator: " or ")), please")
        } _: { address, _ in
            let path = "/wpush/" + String(repeating: "gAAAAAB", count: count)
            guard case .rejected(let reason) = try await send(to: address + path) else {
                Issue.record("It was accepted.")
                return
            }
            #expect(reason.hasPrefix("Its response was 400. No …"))
            for secret in ["gAAAAAB", "wpush", "eyJ", String(Base64URL.encode(key.publicKey).prefix(10))] {
                #expect(!reason.contains(secret))
            }
        }
    }

    @Test("a redirect is not followed") func redirect() async throws {
        try await ScriptedServer.run { _ in
            .response(201, "")
        } _: { target, other in
            try await ScriptedServer.run { _ in
                .response(307, "", [("Location", target)])
            } _: { address, _ in
                let outcome = try await send(to: address)
                #expect(outcome == .rejected("Its response was 307."))
            }
            #expect(other.requests.isEmpty)
        }
    }

    @Test("no response is tried again", arguments: [ScriptedServer.Reply.hang, .trickle]) func silent(
        reply: ScriptedServer.Reply
    ) async throws {
        try await ScriptedServer.run { _ in
            reply
        } _: { address, _ in
            let outcome = try await send(to: address, by: sender(timeout: .seconds(1)))
            #expect(outcome == .unreachable("It did not respond in time."))
        }
    }

    @Test("a lost or refused connection is tried again") func unreachable() async throws {
        try await ScriptedServer.run { _ in
            .hangUp
        } _: { address, _ in
            let outcome = try await send(to: address)
            #expect(outcome == .unreachable("It cannot be reached: it closed the connection."))
        }
        guard case .unreachable = try await send(to: "http://127.0.0.1:9/") else {
            Issue.record("It is not tried again.")
            return
        }
    }

    @Test("the status of an endless response counts") func flood() async throws {
        try await ScriptedServer.run { _ in
            .flood(1 << 30)
        } _: { address, _ in
            let outcome = try await send(to: address)
            #expect(outcome == .delivered)
        }
    }

    @Test("a cancelled attempt says so") func cancelled() async throws {
        try await ScriptedServer.run { _ in
            .hang
        } _: { address, server in
            let task = Task { try await send(to: address) }
            while server.requests.isEmpty { try await Task.sleep(for: .milliseconds(5)) }
            task.cancel()
            #expect(try await task.value == .cancelled)
        }
    }

    @Test("addresses that are not public are refused") func addresses() async throws {
        try await ScriptedServer.run { _ in
            .response(201, "")
        } _: { address, server in
            let rules = WebhookAddressRules()
            let outcome = try await send(to: address, by: sender(rules: rules))
            #expect(outcome == .rejected("It has the address 127.0.0.1, which is not allowed."))
            let clients = WebhookClients(rules, resolver: { _ in ["10.0.0.1"] })
            let named = try await send(to: "https://push.invalid/", by: sender(clients: clients))
            #expect(named == .rejected("It has the address 10.0.0.1, which is not allowed."))
            #expect(server.requests.isEmpty)
        }
    }

    @Test("what cannot be encrypted is not sent") func invalid() async throws {
        try await ScriptedServer.run { _ in
            .response(201, "")
        } _: { address, server in
            let large = try await send(to: address, payload: [UInt8](repeating: 0, count: 3994))
            #expect(large == .rejected("The push has more than 3993 bytes."))
            let endpoint = try #require(WebhookURL(address))
            var message = subscription.message(to: endpoint)
            var offCurve = subscription.publicKey
            offCurve[64] ^= 1
            message.address = .web(
                WebPushAddress(endpoint: endpoint, publicKey: offCurve, authSecret: subscription.authSecret))
            let off = await sender().send(message)
            #expect(off == .rejected("The public key of the subscription is not valid."))
            let tooShort: [UInt8] = subscription.authSecret.dropLast()
            message.address = .web(
                WebPushAddress(endpoint: endpoint, publicKey: subscription.publicKey, authSecret: tooShort))
            let short = await sender().send(message)
            #expect(short == .rejected("The secret of the subscription is not valid."))
            #expect(server.requests.isEmpty)
        }
    }
}
