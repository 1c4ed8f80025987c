import OpenSSLCrypto
import SecureMedia
import Testing
import Wire

@Suite("DTLS handshakes for media")
struct MediaHandshakeTests {
    @Test("both ends get the same keys, for each profile", arguments: SRTPProfile.allCases)
    func agreement(profile: SRTPProfile) throws {
        let lab = try MediaLab(server: [profile])
        lab.run()
        try #require(lab.isEstablished)
        let material = try #require(lab.serverMaterial)
        #expect(material.client.profile == profile)
        #expect(lab.clientMaterial == material)
        #expect(material.client != material.server)
        #expect(lab.largest <= 1200)
        let (client, server) = (try Ends(material.client), try Ends(material.client))
        var generator = SeededRandom(seed: 5)
        let packet = generator.rtp(source: 1, sequence: 1)
        #expect(server.unprotectRTP(try client.protectRTP(packet).get()) == .success(packet))
    }

    @Test("the server's order of profiles decides")
    func order() throws {
        let lab = try MediaLab(
            server: [.aeadAES256, .aeadAES128], client: [.aes128CounterSHA1, .aeadAES128, .aeadAES256])
        lab.run()
        #expect(lab.serverMaterial?.client.profile == .aeadAES256)
        #expect(lab.clientMaterial?.client.profile == .aeadAES256)
    }

    @Test("without a profile in common there are no keys")
    func noProfile() throws {
        let lab = try MediaLab(server: [.aeadAES256], client: [.aes128CounterSHA1])
        lab.run()
        #expect(lab.atServer == [.failed(.noProfile)])
        #expect(lab.serverMaterial == nil && lab.clientMaterial == nil)
    }

    @Test("a peer with another certificate than the signalled one gets no keys")
    func wrongCertificate() throws {
        let other = try #require(MediaIdentity.make())
        let stranger = try #require(other.fingerprint())
        for expected in [[stranger], []] {
            let lab = try MediaLab(expected: expected)
            lab.run()
            #expect(lab.atServer == [.failed(.wrongCertificate)])
            #expect(lab.serverMaterial == nil)
        }
    }

    @Test("a hello in many fragments, one a datagram, in any order and twice", arguments: 1...20)
    func fragmentedHello(seed: Int) throws {
        var generator = SeededRandom(seed: UInt64(seed))
        let lab = try MediaLab()
        let hello = try #require(lab.takeFromClient().first)
        let parts = fragments(of: hello, byteCount: .random(in: 20...100, using: &generator))
        #expect(parts.count > 1)
        lab.addedRecords = UInt8(parts.count - 1)
        for part in (parts + parts).shuffled(using: &generator) { lab.deliverToServer(part) }
        lab.run()
        #expect(lab.isEstablished, "seed \(seed)")
    }

    @Test("loss, doubles, disorder and junk delay the keys and change nothing", arguments: 1...12)
    func impaired(seed: Int) throws {
        let lab = try MediaLab(seed: UInt64(seed))
        lab.runToTheEnd()
        try #require(lab.isEstablished, "seed \(seed)")
        #expect(lab.serverMaterial == lab.clientMaterial)
        #expect(lab.refusedByServer > 0)
        #expect(lab.atServer.count == 1 && lab.atClient.count == 1)
    }

    @Test("what comes after the handshake is counted, and goodbye is heard")
    func afterwards() throws {
        let lab = try MediaLab()
        lab.run()
        try #require(lab.isEstablished)
        let before = lab.refusedByServer
        lab.deliverToServer([22, 0xFE, 0xFD, 0, 0, 0, 0, 0, 0, 0, 9, 0, 1, 1])
        lab.deliverToServer([23, 0xFE, 0xFD, 0, 1, 0, 0, 0, 0, 0, 9, 0, 1, 1])
        lab.deliverToServer([1, 2, 3])
        #expect(lab.refusedByServer == before + 3)
        lab.deliverToServer([23, 0xFE, 0xFD, 0, 1, 0, 0, 0, 0, 0, 9, 0, 30] + [UInt8](repeating: 6, count: 30))
        #expect(lab.idleAtServer == 1)
        #expect(lab.isEstablished)
        lab.closeServer()
        lab.run()
        #expect(lab.atClient.last == .closed)
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
