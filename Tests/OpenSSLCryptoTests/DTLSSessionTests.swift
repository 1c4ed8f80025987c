import DTLS
import OpenSSLCrypto
import TestSupport
import Testing
import Wire

@Suite("DTLS sessions")
struct DTLSSessionTests {
    @Test(
        "a client passes the hello verifier, sends data and receives the response", arguments: ["ec:P-256", "rsa:2048"])
    func conversation(algorithm: String) throws {
        let harness = try DTLSSessionHarness(algorithm: algorithm)
        harness.run()
        try #require(harness.isEstablished)
        #expect(harness.verifier.counters == HelloCounters(challenges: 1, verified: 1))
        let large = [UInt8](repeating: 3, count: 9000)
        for message in [[1], [2, 2], large] {
            #expect(harness.sendFromClient(message))
        }
        harness.run()
        #expect(harness.receivedByServer == [[1], [2, 2], large])
        #expect(harness.respond([9, 9]))
        harness.run()
        #expect(harness.receivedByClient == [[9, 9]])
        #expect(harness.largestOfServer <= 1200)
    }

    @Test("a ClientHello of many fragments is accepted")
    func fragments() throws {
        let harness = try DTLSSessionHarness(mtu: 208, name: String(repeating: "a.long.name.", count: 15) + "test")
        harness.run()
        #expect(harness.isEstablished)
        #expect(harness.hellosOfClient > 1)
        #expect(harness.verifier.counters.challenges == 1)
    }

    @Test("reordered and duplicated datagrams and junk change nothing", arguments: 1...20)
    func impaired(seed: Int) throws {
        let harness = try DTLSSessionHarness(mtu: 208, seed: UInt64(seed))
        harness.run()
        try #require(harness.isEstablished, "seed \(seed)")
        for number in 0..<20 as Range<UInt8> { #expect(harness.sendFromClient([number])) }
        harness.run()
        // Doubled records are one record; the order may differ.
        #expect(harness.receivedByServer.sorted { $0[0] < $1[0] } == (0..<20).map { [$0] }, "seed \(seed)")
    }

    @Test("a lost flight is retransmitted")
    func loss() throws {
        let harness = try DTLSSessionHarness()
        harness.run(dropping: { $0.contains(.serverHello) })
        #expect(!harness.isEstablished)
        #expect(harness.waitAndRetransmit())
        harness.run()
        #expect(harness.isEstablished)
    }

    @Test("each side is notified when the other closes")
    func closing() throws {
        let harness = try DTLSSessionHarness()
        harness.run()
        harness.closeClient()
        harness.run()
        #expect(harness.serverEnd == .closed)

        let other = try DTLSSessionHarness()
        other.run()
        other.closeServer()
        other.run()
        #expect(other.clientEnd == .closed)
    }

    @Test("released buffers are allocated again for the next record")
    func buffers() throws {
        let harness = try DTLSSessionHarness()
        harness.run()
        harness.releaseServerBuffers()
        #expect(harness.sendFromClient([1]))
        harness.run()
        harness.releaseServerBuffers()
        #expect(harness.respond([2]))
        harness.run()
        #expect(harness.receivedByServer == [[1]])
        #expect(harness.receivedByClient == [[2]])
        harness.releaseServerBuffers()
        harness.closeServer()
        harness.run()
        #expect(harness.clientEnd == .closed)
    }

    @Test("nothing can be sent before the handshake, and nothing too large ever")
    func rejections() throws {
        let harness = try DTLSSessionHarness()
        #expect(!harness.sendFromClient([1]))
        harness.run()
        #expect(!harness.sendFromClient([]))
        #expect(!harness.sendFromClient([UInt8](repeating: 1, count: 16_385)))
        #expect(harness.sendFromClient([UInt8](repeating: 1, count: 16_384)))
    }

    @Test("a client that trusts other CAs does not connect")
    func authorities() throws {
        let harness = try DTLSSessionHarness(trusting: try TestCertificate.make().certificate)
        harness.run()
        #expect(!harness.isEstablished)
        #expect(harness.clientEnd == .failed)
        // Its alert is plain, so anyone could have sent it: the server waits on.
        #expect(harness.serverEnd == nil)
        let right = try DTLSSessionHarness(trusting: nil, trustsItself: true)
        right.run()
        #expect(right.isEstablished)
        let other = try DTLSSessionHarness(trusting: nil, trustsItself: true, name: "example.test")
        other.run()
        #expect(!other.isEstablished)
    }

    @Test("an invalid ClientHello is rejected by OpenSSL", arguments: [0, 1, 40, 200])
    func junkBehindACookie(count: Int) throws {
        let harness = try DTLSSessionHarness()
        #expect(!harness.opens(hello: [UInt8](repeating: 0xAB, count: count)))
    }
}
