import SDP

/// A leg whose gateway side is always the same.
struct TestLeg {
    var negotiation = LegNegotiation(session: 77)
    var capabilities = GatewayCapabilities()
    var generation = 0
    var slots: UInt32 = 0

    static let fingerprint = FingerprintAttribute(algorithm: "sha-256", digest: (0..<32).map { UInt8($0) })
    static let candidates = [
        Candidate(
            foundation: "1", transport: "udp", priority: 2_130_706_431, address: "127.0.0.1", port: 3480, type: "host"),
        Candidate(
            foundation: "2", transport: "tcp", priority: 2_105_524_479, address: "127.0.0.1", port: 3480, type: "host",
            tcpType: "passive"),
    ]

    mutating func answer(_ offer: SessionDescription) throws -> NegotiatedLeg {
        generation += 1
        let transport = GatewayTransport(
            fingerprints: [Self.fingerprint], candidates: Self.candidates,
            freshCredentials: ICECredentials(
                ufrag: "gate\(generation)", password: "passwordOfTheGateway\(generation)234"))
        var made = slots
        let leg = try negotiation.answer(offer, capabilities, transport) { kind in
            made += 1
            return SlotIdentity(
                ssrc: 1000 + made, retransmissionSSRC: 2000 + made, cname: "slot\(made)",
                stream: "\(kind)-slot-\(made)",
                track: "\(kind)-slot-\(made)")
        }
        slots = made
        return leg
    }
}
