import Relay
import STUN
import TURN
import Testing
import Wire

@Suite("A full or draining relay")
struct AlternateServerTests {
    private static let alternate = TransportAddress(IPAddress(ipv4: 0x0505_0505), port: 3478)

    /// The error number of an Allocate, and where it was redirected to.
    private func redirected(_ client: RelayClient) throws -> (UInt16?, TransportAddress?) {
        let bytes = try client.exchange(.allocate) { $0.append(.requestedTransport, integer: UInt32(17) << 24) }
        let message = try Message(bytes.span.bytes)
        return (message.errorNumber, message.plainAddress(.alternateServer))
    }

    @Test("redirects clients while it drains, and keeps existing allocations")
    func draining() throws {
        let running = try RunningRelay { $0.alternates = [Self.alternate] }
        let kept = try RelayClient(running.address)
        _ = try kept.allocate().get()
        running.server.isDraining = true
        #expect(try redirected(RelayClient(running.address)) == (300, Self.alternate))
        #expect(try kept.refresh(lifetime: 600) == nil)
        #expect(running.waits { $0.allocationsRedirected == 1 && $0.allocationsLive == 1 })
        running.server.isDraining = false
        #expect(try RelayClient(running.address).allocate().get().port > 0)
    }

    @Test("redirects clients while it is full, but not when a user's quota is reached")
    func full() throws {
        let running = try RunningRelay {
            $0.alternates = [Self.alternate]
            $0.limits.allocations = 2
            $0.limits.allocationsPerUser = 1
        }
        _ = try RelayClient(running.address).allocate().get()
        #expect(try redirected(RelayClient(running.address)) == (486, nil))
        _ = try RelayClient(running.address, username: "bob", password: "builder").allocate().get()
        let ephemeral = try #require(
            EphemeralCredential.make(
                secret: "a secret of the tests", user: "carol", expiresAt: 4_000_000_000))
        let carol = try RelayClient(running.address, username: ephemeral.username, password: ephemeral.password)
        #expect(try redirected(carol) == (300, Self.alternate))
    }

    @Test("two alternates of one family are rejected")
    func configuration() throws {
        var configuration = RelayConfiguration()
        configuration.alternates = [Self.alternate, Self.alternate]
        #expect(throws: RelayError.self) { try RelayServer(configuration: configuration) }
        configuration.alternates = []
        configuration.tokenKeys = ["short": [1, 2, 3]]
        #expect(throws: RelayError.self) { try RelayServer(configuration: configuration) }
        configuration.tokenKeys = [:]
        configuration.listen = [IPAddress(ipv4: 0x7F00_0001)]
        configuration.port = 0
        configuration.servesDiscovery = true
        let server = try RelayServer(configuration: configuration)
        #expect(throws: RelayError.self) { try server.start() }
    }
}
