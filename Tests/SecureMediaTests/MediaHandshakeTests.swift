import OpenSSLCrypto
import SecureMedia
import Testing
import Wire

@Suite("DTLS handshakes for media")
struct MediaHandshakeTests {
    @Test("both ends get the same keys, for each profile", arguments: SRTPProfile.allCases)
    func agreement(profile: SRTPProfile) throws {
        let harness = try SecureMediaHarness(server: [profile])
        harness.run()
        try #require(harness.isEstablished)
        let material = try #require(harness.serverMaterial)
        #expect(material.client.profile == profile)
        #expect(harness.clientMaterial == material)
        #expect(material.client != material.server)
        #expect(harness.largest <= 1200)
        let (client, server) = (try Ends(material.client), try Ends(material.client))
        var generator = SeededRandom(seed: 5)
        let packet = generator.rtp(source: 1, sequence: 1)
        #expect(server.unprotectRTP(try client.protectRTP(packet).get()) == .success(packet))
    }

    @Test("the server's order of profiles decides")
    func order() throws {
        let harness = try SecureMediaHarness(
            server: [.aeadAES256, .aeadAES128], client: [.aes128CounterSHA1, .aeadAES128, .aeadAES256])
        harness.run()
        #expect(harness.serverMaterial?.client.profile == .aeadAES256)
        #expect(harness.clientMaterial?.client.profile == .aeadAES256)
    }

    @Test("without a profile in common there are no keys")
    func noProfile() throws {
        let harness = try SecureMediaHarness(server: [.aeadAES256], client: [.aes128CounterSHA1])
        harness.run()
        #expect(harness.atServer == [.failed(.noProfile)])
        #expect(harness.serverMaterial == nil && harness.clientMaterial == nil)
    }

    @Test("a peer with another certificate than the signalled one gets no keys")
    func wrongCertificate() throws {
        let other = try #require(MediaIdentity.make())
        let forwardedFlow = try #require(other.fingerprint())
        for expected in [[forwardedFlow], []] {
            let harness = try SecureMediaHarness(expected: expected)
            harness.run()
            #expect(harness.atServer == [.failed(.wrongCertificate)])
            #expect(harness.serverMaterial == nil)
        }
    }

    @Test("a hello in many fragments, one a datagram, in any order and twice", arguments: 1...20)
    func fragmentedHello(seed: Int) throws {
        var generator = SeededRandom(seed: UInt64(seed))
        let harness = try SecureMediaHarness()
        let hello = try #require(harness.takeFromClient().first)
        let parts = fragments(of: hello, byteCount: .random(in: 20...100, using: &generator))
        #expect(parts.count > 1)
        harness.addedRecords = UInt8(parts.count - 1)
        for part in (parts + parts).shuffled(using: &generator) { harness.deliverToServer(part) }
        harness.run()
        #expect(harness.isEstablished, "seed \(seed)")
    }

    @Test("loss, duplicates, reordering and junk only delay the keys", arguments: 1...12)
    func impaired(seed: Int) throws {
        let harness = try SecureMediaHarness(seed: UInt64(seed))
        harness.runToTheEnd()
        try #require(harness.isEstablished, "seed \(seed)")
        #expect(harness.serverMaterial == harness.clientMaterial)
        #expect(harness.rejectedByServer > 0)
        #expect(harness.atServer.count == 1 && harness.atClient.count == 1)
    }

    @Test("records after the handshake are counted, and close_notify ends the session")
    func afterwards() throws {
        let harness = try SecureMediaHarness()
        harness.run()
        try #require(harness.isEstablished)
        let before = harness.rejectedByServer
        harness.deliverToServer([22, 0xFE, 0xFD, 0, 0, 0, 0, 0, 0, 0, 9, 0, 1, 1])
        harness.deliverToServer([23, 0xFE, 0xFD, 0, 1, 0, 0, 0, 0, 0, 9, 0, 1, 1])
        harness.deliverToServer([1, 2, 3])
        #expect(harness.rejectedByServer == before + 3)
        harness.deliverToServer([23, 0xFE, 0xFD, 0, 1, 0, 0, 0, 0, 0, 9, 0, 30] + [UInt8](repeating: 6, count: 30))
        #expect(harness.idleAtServer == 1)
        #expect(harness.isEstablished)
        harness.closeServer()
        harness.run()
        #expect(harness.atClient.last == .closed)
    }

    @Test("fingerprints are read and written as SDP has them; SHA-1 does not count")
    func fingerprints() throws {
        let identity = try #require(MediaIdentity.make())
        for function in FingerprintFunction.allCases {
            let fingerprint = try #require(identity.fingerprint(function))
            #expect(CertificateFingerprint(fingerprint.description) == fingerprint)
            #expect(CertificateFingerprint(fingerprint.description.lowercased()) == fingerprint)
            #expect(CertificateFingerprint(String(fingerprint.description.dropLast(3))) == nil)
        }
        #expect(CertificateFingerprint("sha-1 " + Array(repeating: "AB", count: 20).joined(separator: ":")) == nil)
        #expect(CertificateFingerprint("sha-256 " + Array(repeating: "+B", count: 32).joined(separator: ":")) == nil)
        #expect(CertificateFingerprint("") == nil)
    }
}
