import MediaGateway
import Testing
import Wire

@Suite("Handshakes that wait for their turn")
struct HandshakeTurnTests {
    /// Each datagram that is served is the last one until time goes by.
    private static let narrow = WorkBudget(perSecond: 250_000_000, burst: 1)

    @Test("nobody is rejected, however long it takes")
    func crowd() throws {
        let harness = try MediaGatewayHarness(handshakes: Self.narrow)
        var clients: [LegClient] = []
        for number in 0..<6 as Range<UInt32> {
            let client = try LegClient("client \(number)", ssrc: 100 + number, to: harness.address)
            try harness.open(client)
            client.check(nominates: true)
            harness.settle([client])
            clients.append(client)
        }
        for client in clients { client.startHandshake() }
        harness.settle(clients)
        #expect(harness.stats.connectedLegs == 0)
        var steps = 0
        while clients.contains(where: { !$0.isConnected }), steps < 1000 {
            harness.pass(milliseconds: 10)
            harness.settle(clients)
            steps += 1
        }
        harness.pass(milliseconds: 300)
        #expect(harness.stats.connectedLegs == 6)
        #expect(harness.stats.handshakesDelayed >= 5)
        #expect(harness.stats.ended.isEmpty)
    }
}
