import STUN
import TURN
import Testing
import Wire

@Suite("ALTERNATE-SERVER")
struct AlternateServerTests {
    private static let ipv4 = TransportAddress(IPAddress(ipv4: 0x0505_0505), port: 3478)
    private static let ipv6 = TransportAddress(IPAddress(ipv6High: 0x2A00 << 48, low: 5), port: 3478)

    private func alternate(_ answer: Answer) throws -> TransportAddress? {
        try Message(answer.bytes.span.bytes).plainAddress(.alternateServer)
    }

    @Test("a relay without room sends clients on, signed, to an address of their own family")
    func redirected() throws {
        let lab = try Lab()
        lab.engine.alternates = [Self.ipv6, Self.ipv4]
        lab.isFull = true
        var client = LabClient()
        let answer = try client.allocate(lab)
        #expect(answer.error == 300)
        #expect(try alternate(answer) == Self.ipv4)
        #expect(answer.isSigned(by: client, .sha1, lab))
        #expect(lab.engine.tally.redirected == 1)
        #expect(lab.engine.allocationCount == 0)
        lab.isFull = false
        #expect(try client.allocate(lab).isSuccess)
    }

    @Test("without one of the family, or none at all, the answer is 508")
    func none() throws {
        let lab = try Lab()
        lab.engine.alternates = [Self.ipv6]
        lab.isFull = true
        var client = LabClient()
        #expect(try client.allocate(lab).error == 508)
        lab.engine.alternates = []
        #expect(try client.allocate(lab).error == 508)
    }

    @Test("a user's quota, a reserved port and a stranger are no reason")
    func otherReasons() throws {
        let lab = try Lab()
        lab.engine.alternates = [Self.ipv4]
        lab.quota = 0
        var client = LabClient()
        #expect(try client.allocate(lab).error == 486)
        lab.quota = 10
        // Another server knows nothing of a port that this one reserved.
        #expect(try client.allocate(lab) { $0.append(.reservationToken, integer: UInt64(77)) }.error == 508)
        lab.isFull = true
        var stranger = LabClient(port: 2, password: "guessed")
        #expect(try stranger.allocate(lab).error == 401)
    }
}
