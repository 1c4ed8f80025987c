import Foundation
import HTTPTestSupport
import NIOHTTP1
import Synchronization
import Testing
import Webhooks
import Wire

@testable import Providers

@Suite("Sending webhooks", .timeLimit(.minutes(3)))
struct WebhookSenderTests {
    private let message = WebhookMessage(id: "event", body: Array("{}".utf8), secrets: [[1], [2]])
    private let loopback = WebhookAddressRules(allowed: [AddressRange("127.0.0.0/8")].compactMap(\.self))

    private func sender(_ clients: WebhookClients? = nil, timeout: Duration = .seconds(60)) -> WebhookSender {
        WebhookSender(loopback, clients: clients, timeout: timeout, now: { 7 })
    }

    private func failure(of sender: WebhookSender, _ url: String) async throws -> ProviderFailure? {
        let url = try #require(WebhookURL(url))
        do throws(ProviderFailure) {
            let response = try await sender.send(message, to: url)
            Issue.record("\(response)")
            return nil
        } catch {
            return error
        }
    }

    @Test("the message is signed, and the response read") func signed() async throws {
        try await ScriptedServer.run { _ in
            .response(503, "slow\ndown", [("Retry-After", "7")])
        } _: { address, server in
            let response = try await sender().send(message, to: try #require(WebhookURL(address + "/hook")))
            #expect(response == WebhookResponse(status: 503, reason: "slow down", retryAfter: .seconds(7)))
            let request = try #require(server.requests.first)
            #expect(request.path == "/hook")
            #expect(request.body == message.body)
            #expect(request.headers.first(name: "Content-Type") == "application/json")
            let signed = StandardWebhookSignature.headers(
                id: "event", timestamp: 7, body: message.body, secrets: message.secrets)
            for (name, value) in signed { #expect(request.headers.first(name: name) == value) }
        }
    }

    @Test("the status of an endless response counts") func flood() async throws {
        try await ScriptedServer.run { _ in
            .flood(1 << 30)
        } _: { address, _ in
            let response = try await sender().send(message, to: try #require(WebhookURL(address)))
            #expect(response.isSuccess)
            #expect(response.reason.count <= ProviderClient.maxReasonLength)
        }
    }

    @Test("a redirect is not followed") func redirect() async throws {
        try await ScriptedServer.run { _ in
            .response(200, "")
        } _: { target, other in
            try await ScriptedServer.run { _ in
                .response(307, "", [("Location", target)])
            } _: { address, _ in
                let response = try await sender().send(message, to: try #require(WebhookURL(address)))
                #expect(response.status == 307)
                #expect(!response.isSuccess)
            }
            #expect(other.requests.isEmpty)
        }
    }

    @Test("no response is a failure", arguments: [ScriptedServer.Reply.hang, .trickle]) func silent(
        reply: ScriptedServer.Reply
    ) async throws {
        try await ScriptedServer.run { _ in
            reply
        } _: { address, _ in
            let found = try await failure(of: sender(timeout: .seconds(1)), address)
            #expect(found == .timedOut)
        }
    }

    @Test("connections go to the checked address, which is resolved again after a minute") func rebinding() async throws
    {
        try await ScriptedServer.run { _ in
            .response(200, "")
        } _: { address, server in
            let port = try #require(URL(string: address)?.port)
            let resolutions = Mutex(0)
            let start = ContinuousClock.now
            let elapsed = Mutex(Duration.zero)
            let clients = WebhookClients(
                loopback,
                resolver: { _ in
                    // Public the first time; from the second time on an address that is not allowed.
                    resolutions.withLock {
                        $0 += 1; return $0
                    } == 1 ? ["127.0.0.1"] : ["127.0.0.1", "10.0.0.1"]
                }, now: { start + elapsed.withLock { $0 } })
            let sender = sender(clients)
            let url = "http://hook.invalid:\(port)/"
            for _ in 0..<2 {
                let response = try await sender.send(message, to: try #require(WebhookURL(url)))
                #expect(response.isSuccess)
            }
            #expect(resolutions.withLock { $0 } == 1)
            elapsed.withLock { $0 = .seconds(61) }
            // A failure is remembered for a moment.
            for _ in 0..<2 {
                let found = try await failure(of: sender, url)
                #expect(found == .addressNotAllowed("10.0.0.1"))
            }
            #expect(resolutions.withLock { $0 } == 2)
            #expect(server.requests.count == 2)
        }
    }

    @Test("clients are kept while the address stays, and forgotten beyond the limit") func reuse() async throws {
        let start = ContinuousClock.now
        let elapsed = Mutex(Duration.zero)
        var limits = WebhookClients.Limits()
        limits.hosts = 2
        let clients = WebhookClients(
            loopback, limits: limits, resolver: { _ in ["127.0.0.1"] }, now: { start + elapsed.withLock { $0 } })
        func client(_ host: String) async throws -> WebhookClient {
            let url = try #require(WebhookURL("https://\(host)/"))
            return try await clients.client(for: url, deadline: .now + .seconds(60))
        }
        let first = try await client("a.invalid")
        elapsed.withLock { $0 = .seconds(61) }
        let later = try await client("a.invalid")
        #expect(first === later)
        for (index, host) in ["b.invalid", "c.invalid"].enumerated() {
            elapsed.withLock { $0 = .seconds(62 + index) }
            _ = try await client(host)
        }
        let again = try await client("a.invalid")
        #expect(first !== again)
    }
}
