import MediaGateway
import Testing
import Wire

@Suite("Handshakes that wait for their turn")
struct HandshakeTurnTests {
    /// Each datagram that is served is the last one until time goes by.
    private static let narrow = WorkBudget(perSecond: 250_000_000, burst: 1)

    @Test("nobody is refused, however long it takes")
    func crowd() throws {
        let lab = try GatewayLab(handshakes: Self.narrow)
        var clients: [LegClient] = []
        for number in 0..<6 as Range<UInt32> {
            let client = try LegClient("client \(number)", ssrc: 100 + number, to: lab.address)
            try lab.open(client)
            client.check(nominates: true)
            lab.settle([client])
            clients.append(client)
        }
        for client in clients { client.greet() }
        lab.settle(clients)
        #expect(lab.figures.connectedLegs == 0)
        var steps = 0
        while clients.contains(where: { !$0.isConnected }), steps < 1000 {
            lab.pass(milliseconds: 10)
            lab.settle(clients)
            steps += 1
        }
        lab.pass(milliseconds: 300)
        #expect(lab.figures.connectedLegs == 6)
        #expect(lab.figures.handshakesDelayed >= 5)
        #expect(lab.figures.ended.isEmpty)
    }
}
