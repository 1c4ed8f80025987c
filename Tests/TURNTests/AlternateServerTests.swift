import STUN
import TURN
import Testing
import Wire

@Suite("ALTERNATE-SERVER")
struct AlternateServerTests {
    private static let ipv4 = TransportAddress(IPAddress(ipv4: 0x0505_0505), port: 3478)
    private static let ipv6 = TransportAddress(IPAddress(ipv6High: 0x2A00 << 48, low: 5), port: 3478)

    private func alternate(_ response: Response) throws -> TransportAddress? {
        try Message(response.bytes.span.bytes).plainAddress(.alternateServer)
    }

    @Test("a relay without room sends clients on, signed, to an address of their own family")
    func redirected() throws {
        let harness = try RelayHarness()
        harness.engine.alternates = [Self.ipv6, Self.ipv4]
        harness.isFull = true
        var client = TestClient()
        let response = try client.allocate(harness)
        #expect(response.error == 300)
        #expect(try alternate(response) == Self.ipv4)
        #expect(response.isSigned(by: client, .sha1, harness))
        #expect(harness.engine.counters.redirected == 1)
        #expect(harness.engine.allocationCount == 0)
        harness.isFull = false
        #expect(try client.allocate(harness).isSuccess)
    }

    @Test("without one of the family, or none at all, the response is 508")
    func none() throws {
        let harness = try RelayHarness()
        harness.engine.alternates = [Self.ipv6]
        harness.isFull = true
        var client = TestClient()
        #expect(try client.allocate(harness).error == 508)
        harness.engine.alternates = []
        #expect(try client.allocate(harness).error == 508)
    }

    @Test("a user's quota, a reserved port and an unauthenticated client are not redirected")
    func otherReasons() throws {
        let harness = try RelayHarness()
        harness.engine.alternates = [Self.ipv4]
        harness.quota = 0
        var client = TestClient()
        #expect(try client.allocate(harness).error == 486)
        harness.quota = 10
        // Another server knows nothing of a port that this one reserved.
        #expect(try client.allocate(harness) { $0.append(.reservationToken, integer: UInt64(77)) }.error == 508)
        harness.isFull = true
        var unknown = TestClient(port: 2, password: "guessed")
        #expect(try unknown.allocate(harness).error == 401)
    }
}
