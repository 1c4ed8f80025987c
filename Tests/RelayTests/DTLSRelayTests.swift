import DTLS
import OpenSSLCrypto
import Relay
import STUN
import Testing
import Wire

@Suite("The relay over DTLS")
struct DTLSRelayTests {
    private func running(_ change: (inout RelayConfiguration) -> Void = { _ in }) throws -> RunningRelay {
        let certificate = try ServerCertificate.forTests()
        return try RunningRelay {
            $0.certificate = certificate
            change(&$0)
        }
    }

    @Test("a channel and indications carry packets both ways, also after a fragmented hello", arguments: [1200, 228])
    func relays(mtu: Int) throws {
        let running = try running()
        let socket = try DTLSSocket(to: running.address, mtu: mtu)
        #expect(socket.handshake())
        let client = try RelayClient(running.address, socket: socket)
        let peer = try TestSocket(running.address.address)
        let relayed = try client.allocate().get()

        #expect(try client.permit(peer.address) == nil)
        client.send([1, 2, 3], to: peer.address)
        #expect(peer.receive()?.bytes == [1, 2, 3])
        peer.send([4, 5], to: relayed)
        let indication = try #require(socket.receive()).bytes
        let content = try Message(indication.span.bytes).attribute(.data)?.copyToArray()
        #expect(content == [4, 5])

        #expect(try client.bind(0x4001, peer.address) == nil)
        let large = [UInt8](repeating: 9, count: 4000)
        client.sendChannel(0x4001, large)
        #expect(peer.receive()?.bytes == large)
        peer.send(large, to: relayed)
        #expect(socket.receive()?.bytes == [0x40, 0x01, 0x0F, 0xA0] + large)
        #expect(running.waits { $0.sessionsLive == 1 && $0.handshakesCompleted == 1 && $0.allocationsLive == 1 })
        #expect(running.waits { $0.packetsToPeers == 2 && $0.packetsToClients == 2 })

        socket.close()
        #expect(running.waits { $0.sessionsLive == 0 && $0.allocationsLive == 0 })
        #expect(running.server.outstanding.allocations == 0)
    }

    @Test("plain clients and DTLS clients reach each other on one port")
    func bothKinds() throws {
        let running = try running()
        let socket = try DTLSSocket(to: running.address)
        #expect(socket.handshake())
        let alice = try RelayClient(running.address, socket: socket)
        let bob = try RelayClient(running.address, username: "bob", password: "builder")
        let atAlice = try alice.allocate().get()
        let atBob = try bob.allocate().get()
        #expect(try alice.bind(0x4000, atBob) == nil)
        #expect(try bob.bind(0x4000, atAlice) == nil)
        for number in 0..<100 as Range<UInt8> {
            alice.sendChannel(0x4000, [number])
            #expect(bob.socket.receive()?.bytes == [0x40, 0, 0, 1, number])
            bob.sendChannel(0x4000, [number])
            #expect(socket.receive()?.bytes == [0x40, 0, 0, 1, number])
        }
    }

    @Test("without a certificate DTLS is dropped")
    func noCertificate() throws {
        let running = try RunningRelay()
        let socket = try DTLSSocket(to: running.address)
        #expect(running.waits { $0.droppedMalformed == 1 })
        #expect(running.server.counters.hellosAnswered == 0)
        _ = socket
    }

    @Test("hellos without a cookie, with an old or a forged one leave no state")
    func forwardedFlows() throws {
        let running = try running { $0.limits.responsesPerSecond = 0 }
        let honest = try DTLSSocket(to: running.address)
        #expect(honest.handshake())
        let forwardedFlow = try TestSocket(running.address.address)
        for _ in 0..<50 { for datagram in honest.sent { forwardedFlow.send(datagram, to: running.address) } }
        // A first hello gets a response; one with a cookie, and what follows it, is ignored from another port.
        // Each worker publishes its counters by itself.
        #expect(running.waits { $0.hellosAnswered == 51 && $0.cookiesRejected == 50 && $0.sessionsLive == 1 })
        #expect(running.server.counters.handshakesFailed == 0)
    }

    @Test("responses to hellos share the limit of their prefix")
    func limited() throws {
        let running = try running {
            $0.limits.responsesPerSecond = 1
            $0.limits.responseBurst = 5
            $0.workers = 1
        }
        let honest = try DTLSSocket(to: running.address)
        for _ in 0..<50 { honest.sendRaw(honest.sent[0]) }
        #expect(running.waits { $0.droppedLimited >= 40 })
        #expect(running.server.counters.hellosAnswered < 11)
    }

    @Test("replayed datagrams change nothing")
    func replays() throws {
        let running = try running()
        let socket = try DTLSSocket(to: running.address)
        #expect(socket.handshake())
        let client = try RelayClient(running.address, socket: socket)
        let peer = try TestSocket(running.address.address)
        _ = try client.allocate().get()
        #expect(try client.bind(0x4001, peer.address) == nil)
        client.sendChannel(0x4001, [7])
        #expect(peer.receive()?.bytes == [7])
        // Everything again, both hellos too: neither gets a response in the middle of the session.
        for datagram in socket.sent { socket.sendRaw(datagram) }
        client.sendChannel(0x4001, [8])
        #expect(peer.receive()?.bytes == [8])
        #expect(running.waits { $0.packetsToPeers == 2 })
        let counters = running.server.counters
        #expect(counters.hellosAnswered == 1)
        #expect(counters.handshakesCompleted == 1 && counters.handshakesFailed == 0)
        #expect(counters.sessionsLive == 1 && counters.allocationsLive == 1)
    }

    @Test("junk between the packets of a handshake is ignored")
    func junk() throws {
        let running = try running()
        let socket = try DTLSSocket(to: running.address)
        let junk: [[UInt8]] = [
            [21, 0xFE, 0xFD, 0, 0, 0, 0, 0, 0, 0, 9, 0, 2, 2, 40], [20, 0xFE, 0xFD, 0, 0, 0, 0, 0, 0, 0, 9, 0, 1, 2],
            [22, 0xFE, 0xFD, 0, 1, 0, 0, 0, 0, 0, 9, 0, 3, 1, 2, 3],
            [22, 0xFE, 0xFD, 0, 1, 0, 0, 0, 0, 0, 9, 0, 30] + [UInt8](repeating: 1, count: 30),
            [23, 0xFE, 0xFD, 0, 0, 0, 0, 0, 0, 0, 9, 0, 1, 1],
            [22, 0xFE, 0xFD, 0, 0, 0, 0, 0, 0, 0, 9, 0, 12, 14, 0, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0], [22], [63, 1, 2],
            [20],
        ]
        for datagram in junk { socket.sendRaw(datagram) }
        // A handshake step, junk, the next step.
        while let (bytes, _) = socket.receiveRaw(milliseconds: 2000) {
            for datagram in junk { socket.sendRaw(datagram) }
            socket.takeRaw(bytes)
            if socket.isEstablished { break }
        }
        #expect(socket.isEstablished)
        #expect(try RelayClient(running.address, socket: socket).allocate().get().port > 0)
        #expect(running.server.counters.handshakesFailed == 0)
    }

    @Test("a new session of a client replaces the old one when its handshake is complete, and not before")
    func replacing() throws {
        let running = try running()
        let socket = try DTLSSocket(to: running.address)
        #expect(socket.handshake())
        let client = try RelayClient(running.address, socket: socket)
        let peer = try TestSocket(running.address.address)
        _ = try client.allocate().get()
        #expect(try client.bind(0x4001, peer.address) == nil)

        // An attacker who knows only the address gets no further than a hello; the session goes on.
        let first = socket.sent.count
        let before = socket.keepSession()
        try socket.begin()
        #expect(running.waits { $0.hellosAnswered == 2 })
        socket.restoreSession(before)
        client.sendChannel(0x4001, [7])
        #expect(peer.receive()?.bytes == [7])
        #expect(socket.sent.count > first)

        // The client itself gets through; its old allocation is gone and a new one is accepted.
        while socket.receiveRaw(milliseconds: 50) != nil {}
        try socket.begin()
        #expect(socket.handshake())
        #expect(running.waits { $0.handshakesCompleted == 2 && $0.sessionsLive == 1 && $0.allocationsLive == 0 })
        #expect(try client.allocate().get().port > 0)
        client.sendChannel(0x4001, [9])
        #expect(running.waits { $0.droppedUnpermittedFromClient == 1 })
    }

    @Test("the rate of handshakes of a source is limited")
    func handshakeLimit() throws {
        let running = try running {
            $0.limits.handshakesPerSecond = 1
            $0.limits.handshakeBurst = 3
            $0.workers = 1
        }
        var sockets: [DTLSSocket] = []
        for _ in 0..<3 {
            let socket = try DTLSSocket(to: running.address)
            #expect(socket.handshake())
            sockets.append(socket)
        }
        let refused = try DTLSSocket(to: running.address)
        let (response, _) = try #require(refused.receiveRaw(milliseconds: 2000))
        refused.takeRaw(response)
        #expect(running.waits { $0.droppedSessionLimit >= 1 || $0.handshakesCompleted == 4 })
        #expect(running.server.counters.sessionsLive <= 4)
    }

    @Test("the relay sends close_notify when it stops")
    func closeNotify() throws {
        let running = try running()
        let socket = try DTLSSocket(to: running.address)
        #expect(socket.handshake())
        running.server.stop()
        #expect(socket.receive() == nil)
        #expect(socket.end == .closed)
    }
}
