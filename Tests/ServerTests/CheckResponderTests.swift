import MediaGateway
import Model
import Notifications
import Services
import TestSupport
import Testing
import Webhooks
import Wire

@testable import Server

@Suite("The server's side of switchboard check")
struct CheckResponderTests {
    private let clock = ManualClock<Timestamp>()

    private func responder(_ gateway: GatewayLegs? = nil) -> CheckResponder {
        CheckResponder(roles: Set(ServerRole.allCases), gateway: gateway, keys: { [] }, clock: { [clock] in clock.now })
    }

    private func gateway() throws -> GatewayLegs {
        var configuration = GatewayConfiguration()
        configuration.listen = [IPAddress(ipv4: 0x7F00_0001)]
        configuration.port = 0
        configuration.workers = 1
        return try GatewayLegs(
            configuration, LegRegistry(sessions: WHIPRegistry(), timers: CallTimers(leaseSeconds: 30)))
    }

    /// A server that is asked directly; `change` sees each response.
    private func server(
        _ responder: CheckResponder, _ change: @escaping @Sendable (String) -> String = { $0 }
    ) -> RunningServer {
        RunningServer(state: .running(Set(ServerRole.allCases))) { request in
            guard case .check(let check) = request else { return nil }
            var response = await responder.handle(check)
            response.lines = response.lines.map(change)
            return response
        }
    }

    /// On a thread of its own: the gateway ends a leg after half a minute without ICE checks.
    private func run(_ probe: GatewayProbe) async -> CheckOutcome {
        await withTaskExecutorPreference(ThreadExecutor()) { await probe.run() }
    }

    @Test("a push goes to the subscription of a check, and to nothing else") func push() async throws {
        let pushed = Shared<[WebPushAddress]>([])
        let outcome = Shared(PushOutcome.delivered)
        let responder = CheckResponder(
            roles: Set(ServerRole.allCases), gateway: nil, keys: { [] },
            pusher: { address, text in
                #expect(text == "text")
                pushed.update { $0.append(address) }
                return outcome.value
            }, clock: { [clock] in clock.now })
        func push(
            _ endpoint: String = "https://push.example.org/1", key: Int = 65, secret: Int = 16, text: String = "text"
        ) async -> ControlResponse {
            await responder.handle(
                .webPush(
                    endpoint: endpoint, publicKey: [UInt8](repeating: 4, count: key),
                    authSecret: [UInt8](repeating: 1, count: secret), text: text))
        }
        let taken = await push()
        #expect(taken.lines.isEmpty && taken.error == nil)
        #expect(pushed.value.map(\.endpoint.text) == ["https://push.example.org/1"])
        outcome.update { $0 = .gone("Its response was 410.") }
        #expect(await push().lines == ["Its response was 410."])
        for wrong in [
            await push("file:///etc/passwd"), await push(key: 64), await push(secret: 0),
            await push(text: String(repeating: "a", count: 257)),
        ] { #expect(wrong.error != nil) }
        #expect(pushed.value.count == 2)
        let without = CheckResponder(roles: [.relay], gateway: nil, keys: { [] }, clock: { [clock] in clock.now })
        let refused = await without.handle(
            .webPush(endpoint: "https://a.example", publicKey: [], authSecret: [], text: ""))
        #expect(refused.error != nil)
    }

    @Test("a token is good for one hello, for half a minute") func tokens() async throws {
        let responder = responder()
        let token = try #require(await responder.handle(.helloToken).lines.first)
        #expect(token.utf8.count == "check-".utf8.count + 64)
        let admitted = try #require(responder.admit(token))
        #expect(admitted.principal.signIn == nil && admitted.expiresAt > clock.now)
        #expect(responder.admit(token) == nil)
        let late = try #require(await responder.handle(.helloToken).lines.first)
        #expect(late != token)
        clock.advance(seconds: 31)
        #expect(responder.admit(late) == nil)
        #expect(responder.admit("check-") == nil && responder.admit("") == nil)
    }

    @Test("unused tokens are bounded, and expire") func manyTokens() async {
        let responder = responder()
        for _ in 0..<32 { #expect(await responder.handle(.helloToken).error == nil) }
        #expect(await responder.handle(.helloToken).error != nil)
        clock.advance(seconds: 31)
        #expect(await responder.handle(.helloToken).error == nil)
    }

    @Test("the roles are those that run") func roles() async throws {
        #expect(await responder().handle(.roles).lines == ["api", "relay"])
        let gateway = try gateway()
        defer { gateway.stop() }
        #expect(await responder(gateway).handle(.roles).lines == ["api", "relay", "gateway"])
    }

    @Test("a packet goes from one leg to the other, and no leg is left") func legs() async throws {
        let gateway = try gateway()
        defer { gateway.stop() }
        let outcome = await run(GatewayProbe(server: server(responder(gateway))))
        guard case .passed(let detail, let warnings) = outcome else {
            Issue.record("The check of the gateway: \(outcome)")
            return
        }
        #expect(detail.hasPrefix("ICE, DTLS and ") && detail.contains(" ms over UDP 127.0.0.1:") && warnings.isEmpty)
        // The statistics are a fraction of a second old.
        try await eventually { gateway.stats.handshakes >= 2 && gateway.stats.legs == 0 }
        let stats = gateway.stats
        #expect(stats.handshakes == 2 && stats.legs == 0 && stats.calls == 0 && stats.ufrags == 0 && stats.flows == 0)
    }

    @Test("a gateway whose UDP port is closed") func closedPort() async throws {
        let gateway = try gateway()
        defer { gateway.stop() }
        // Port 9, discard, which nobody has.
        let probe = GatewayProbe(
            server: server(responder(gateway)) { line in
                line.replacing(#/(a=candidate:\S+ 1 udp \d+ \S+) \d+/#) { "\($0.output.1) 9" }
            })
        guard case .failed(let problem) = await run(probe) else {
            Issue.record("The check works without the gateway's port.")
            return
        }
        #expect(problem.detail == "nothing listens on UDP 127.0.0.1:9")
        #expect(problem.remedy?.contains("gateway.port") == true)
    }

    @Test("a gateway with another certificate than its answer") func wrongCertificate() async throws {
        let gateway = try gateway()
        defer { gateway.stop() }
        let other = (0..<32).map { _ in "AA" }.joined(separator: ":")
        let probe = GatewayProbe(
            server: server(responder(gateway)) { line in
                line.replacing(#/a=fingerprint:sha-256 [0-9A-Fa-f:]+/#) { _ in "a=fingerprint:sha-256 \(other)" }
            })
        guard case .failed(let problem) = await run(probe) else {
            Issue.record("The check trusts any certificate.")
            return
        }
        #expect(problem.detail.contains("another certificate than the gateway's answer"))
    }

    @Test("offers that cannot be answered are errors, and leave no leg") func badOffers() async throws {
        let gateway = try gateway()
        defer { gateway.stop() }
        let responder = responder(gateway)
        #expect(await responder.handle(.leg(call: "c", leg: "0", sdp: "nonsense")).error != nil)
        #expect(
            await responder.handle(.leg(call: "c", leg: "0", sdp: String(repeating: "a", count: 70_000))).error != nil)
        #expect(await self.responder().handle(.leg(call: "c", leg: "0", sdp: "")).error != nil)
        #expect(gateway.stats.legs == 0)
        #expect(await run(GatewayProbe(server: server(self.responder()))).status == .failed)
    }
}
