import OpenSSLCrypto
import Relay
import STUN
import Testing
import Wire

@Suite("Mobility on real sockets")
struct MobilityTests {
    private func ticket(_ bytes: [UInt8]) throws -> [UInt8] {
        try #require(try Message(bytes.span.bytes).attribute(.mobilityTicket)?.copyToArray())
    }

    /// Packets to the peer and back over the client's channel.
    private func converse(
        _ client: RelayClient, _ peer: TestSocket, over relayed: TransportAddress, _ round: UInt8,
        _ numbers: Range<UInt8>
    ) throws {
        for number in numbers {
            client.sendChannel(0x4000, [round, number])
            let arrived = try #require(peer.receive())
            #expect(arrived.bytes == [round, number])
            #expect(arrived.source == relayed)
            peer.send([number, round], to: relayed)
            #expect(client.socket.receive()?.bytes == [0x40, 0, 0, 2, number, round])
        }
    }

    /// Each new port lands on one of four workers, so most moves are handed over, and so is all that follows them.
    @Test("an allocation follows its client from port to port, whichever worker the kernel chooses")
    func moves() throws {
        let running = try RunningRelay { $0.workers = 4 }
        var client = try RelayClient(running.address)
        let peer = try TestSocket(running.address.address)
        let made = try client.exchange(.allocate) { writer in
            writer.append(.requestedTransport, integer: UInt32(17) << 24)
            writer.append(.mobilityTicket, bytes: [])
        }
        let relayed = try #require(try Message(made.span.bytes).xorAddress(.xorRelayedAddress))
        var ticket = try ticket(made)
        #expect(try client.bind(0x4000, peer.address) == nil)
        for round in 0..<16 as Range<UInt8> {
            let next = try RelayClient(running.address)
            let moved = try next.exchange(.refresh) { $0.append(.mobilityTicket, bytes: ticket) }
            #expect(try Message(moved.span.bytes).errorNumber == nil)
            ticket = try self.ticket(moved)
            // Until a packet arrives from the new address, both are served.
            peer.send([round, 1], to: relayed)
            #expect(client.socket.receive()?.bytes == [0x40, 0, 0, 2, round, 1])
            try converse(next, peer, over: relayed, round, 2..<10)
            #expect(try next.permit(peer.address) == nil)
            client = next
        }
        #expect(running.server.outstanding.allocations == 1)
        #expect(running.waits { $0.allocationsMoved == 16 && $0.allocationsLive == 1 })
        #expect(try client.refresh(lifetime: 0) == nil)
        #expect(running.server.outstanding.allocations == 0)
        // The last flow is free for a new allocation.
        #expect(try client.allocate().get().address == relayed.address)
    }

    /// A session stays with the worker to which the kernel brings its datagrams, whoever owns the allocation.
    @Test("an allocation follows its client between UDP and DTLS, whichever workers the kernel chooses")
    func movesOverDTLS() throws {
        let certificate = try ServerCertificate.forTests()
        let running = try RunningRelay {
            $0.certificate = certificate
            $0.workers = 4
        }
        let first = try DTLSSocket(to: running.address)
        #expect(first.handshake())
        var client = try RelayClient(running.address, socket: first)
        let peer = try TestSocket(running.address.address)
        let made = try client.exchange(.allocate) { writer in
            writer.append(.requestedTransport, integer: UInt32(17) << 24)
            writer.append(.mobilityTicket, bytes: [])
        }
        let relayed = try #require(try Message(made.span.bytes).xorAddress(.xorRelayedAddress))
        var ticket = try ticket(made)
        #expect(try client.bind(0x4000, peer.address) == nil)
        for round in 0..<16 as Range<UInt8> {
            var session: DTLSSocket?
            if round % 4 != 0 {
                let secure = try DTLSSocket(to: running.address)
                #expect(secure.handshake())
                session = secure
            }
            let next = try RelayClient(running.address, socket: session)
            let moved = try next.exchange(.refresh) { $0.append(.mobilityTicket, bytes: ticket) }
            #expect(try Message(moved.span.bytes).errorNumber == nil)
            ticket = try self.ticket(moved)
            peer.send([round, 1], to: relayed)
            #expect(client.socket.receive()?.bytes == [0x40, 0, 0, 2, round, 1])
            try converse(next, peer, over: relayed, round, 2..<6)
            #expect(try next.permit(peer.address) == nil)
            client = next
        }
        #expect(running.waits { $0.allocationsMoved == 16 && $0.allocationsLive == 1 })
        // The last session ends, and the allocation does not.
        try #require(client.socket as? DTLSSocket).close()
        let last = try RelayClient(running.address)
        let moved = try last.exchange(.refresh) { $0.append(.mobilityTicket, bytes: ticket) }
        #expect(try Message(moved.span.bytes).errorNumber == nil)
        last.sendChannel(0x4000, [1])
        #expect(peer.receive()?.source == relayed)
        #expect(try last.refresh(lifetime: 0) == nil)
        #expect(running.server.outstanding.allocations == 0)
    }

    @Test("the owner reports a wrong password over DTLS through the session, and nothing moves")
    func refusedOverDTLS() throws {
        let certificate = try ServerCertificate.forTests()
        let running = try RunningRelay {
            $0.certificate = certificate
            $0.workers = 4
        }
        let owner = try RelayClient(running.address)
        let made = try owner.exchange(.allocate) { writer in
            writer.append(.requestedTransport, integer: UInt32(17) << 24)
            writer.append(.mobilityTicket, bytes: [])
        }
        let ticket = try ticket(made)
        for _ in 0..<8 {
            for (username, password, error) in [("alice", "guessed", 401), ("bob", "builder", 441)] {
                let socket = try DTLSSocket(to: running.address)
                #expect(socket.handshake())
                let thief = try RelayClient(
                    running.address, username: username, password: password, socket: socket)
                let refused = try thief.exchange(.refresh) { $0.append(.mobilityTicket, bytes: ticket) }
                #expect(try Message(refused.span.bytes).errorNumber.map { Int($0) } == error)
            }
        }
        #expect(try owner.refresh(lifetime: 600) == nil)
        #expect(running.server.counters.allocationsMoved == 0)
    }

    @Test("mobility can be turned off")
    func off() throws {
        let running = try RunningRelay { $0.isMobile = false }
        let client = try RelayClient(running.address)
        let refused = try client.allocate { $0.append(.mobilityTicket, bytes: []) }
        #expect(refused == .failure(RelayClient.Refused(number: 405)))
    }
}
