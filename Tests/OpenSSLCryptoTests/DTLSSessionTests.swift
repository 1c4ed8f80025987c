import DTLS
import OpenSSLCrypto
import Testing
import Wire

@Suite("DTLS sessions")
struct DTLSSessionTests {
    @Test(
        "a client gets in through the door, says something and hears the answer", arguments: ["ec:P-256", "rsa:2048"])
    func conversation(algorithm: String) throws {
        let lab = try SessionLab(algorithm: algorithm)
        lab.run()
        try #require(lab.isEstablished)
        #expect(lab.door.tally == HelloTally(challenges: 1, proven: 1))
        let large = [UInt8](repeating: 3, count: 9000)
        for message in [[1], [2, 2], large] {
            #expect(lab.say(message))
        }
        lab.run()
        #expect(lab.heardByServer == [[1], [2, 2], large])
        #expect(lab.answer([9, 9]))
        lab.run()
        #expect(lab.heardByClient == [[9, 9]])
        #expect(lab.largestOfServer <= 1200)
    }

    @Test("a hello of many fragments gets in")
    func fragments() throws {
        let lab = try SessionLab(mtu: 208, name: String(repeating: "a.long.name.", count: 15) + "test")
        lab.run()
        #expect(lab.isEstablished)
        #expect(lab.hellosOfClient > 1)
        #expect(lab.door.tally.challenges == 1)
    }

    @Test("datagrams mixed up, doubled and amid junk change nothing", arguments: 1...20)
    func impaired(seed: Int) throws {
        let lab = try SessionLab(mtu: 208, seed: UInt64(seed))
        lab.run()
        try #require(lab.isEstablished, "seed \(seed)")
        for number in 0..<20 as Range<UInt8> { #expect(lab.say([number])) }
        lab.run()
        // Doubled records are one record; the order may differ.
        #expect(lab.heardByServer.sorted { $0[0] < $1[0] } == (0..<20).map { [$0] }, "seed \(seed)")
    }

    @Test("a lost flight is said again")
    func loss() throws {
        let lab = try SessionLab()
        lab.run(dropping: { $0.contains(.serverHello) })
        #expect(!lab.isEstablished)
        #expect(lab.waitAndRetransmit())
        lab.run()
        #expect(lab.isEstablished)
    }

    @Test("the end of either side is heard by the other")
    func closing() throws {
        let lab = try SessionLab()
        lab.run()
        lab.closeClient()
        lab.run()
        #expect(lab.serverEnd == .closed)

        let other = try SessionLab()
        other.run()
        other.closeServer()
        other.run()
        #expect(other.clientEnd == .closed)
    }

    @Test("buffers given back are there again for the next record")
    func buffers() throws {
        let lab = try SessionLab()
        lab.run()
        lab.releaseServerBuffers()
        #expect(lab.say([1]))
        lab.run()
        lab.releaseServerBuffers()
        #expect(lab.answer([2]))
        lab.run()
        #expect(lab.heardByServer == [[1]])
        #expect(lab.heardByClient == [[2]])
        lab.releaseServerBuffers()
        lab.closeServer()
        lab.run()
        #expect(lab.clientEnd == .closed)
    }

    @Test("before the handshake nothing can be said, and nothing that is too large ever")
    func refusals() throws {
        let lab = try SessionLab()
        #expect(!lab.say([1]))
        lab.run()
        #expect(!lab.say([]))
        #expect(!lab.say([UInt8](repeating: 1, count: 16_385)))
        #expect(lab.say([UInt8](repeating: 1, count: 16_384)))
    }

    @Test("a client that trusts other authorities does not get through")
    func authorities() throws {
        let lab = try SessionLab(trusting: try TestCertificate.make().certificate)
        lab.run()
        #expect(!lab.isEstablished)
        #expect(lab.clientEnd == .failed)
        // Its alert is plain, so anyone could have sent it: the server waits on.
        #expect(lab.serverEnd == nil)
        let right = try SessionLab(trusting: nil, trustsItself: true)
        right.run()
        #expect(right.isEstablished)
        let other = try SessionLab(trusting: nil, trustsItself: true, name: "example.test")
        other.run()
        #expect(!other.isEstablished)
    }

    @Test("what is no hello of TLS is refused by OpenSSL", arguments: [0, 1, 40, 200])
    func junkBehindACookie(count: Int) throws {
        let lab = try SessionLab()
        #expect(!lab.opens(hello: [UInt8](repeating: 0xAB, count: count)))
    }
}
