import STUN
import TURN
import TestSupport
import Testing
import Wire

@Suite("Mobility")
struct MobilityTests {
    private static let keyText = Array("ticket key".utf8)

    private func codec(worker: UInt8 = 0) -> TicketCodec {
        TicketCodec(key: Digest(Self.keyText.span.bytes), worker: worker)
    }

    private func serving(worker: UInt8 = 0) throws -> RelayHarness {
        let harness = try RelayHarness()
        harness.engine.tickets = codec(worker: worker)
        return harness
    }

    private func ticket(_ response: Response) throws -> [UInt8]? {
        try Message(response.bytes.span.bytes).attribute(.mobilityTicket)?.copyToArray()
    }

    /// An allocation with a channel to the peer, and its ticket.
    private func opened(_ harness: RelayHarness, port: UInt16 = 1000) throws -> (client: TestClient, ticket: [UInt8]) {
        var client = TestClient(port: port)
        let response = try client.allocate(harness) { $0.append(.mobilityTicket, bytes: []) }
        #expect(response.isSuccess)
        #expect(try client.bind(harness, 0x4000, RelayHarness.peer).isSuccess)
        return (client, try #require(try ticket(response)))
    }

    private func request(
        _ client: TestClient, _ harness: RelayHarness, _ ticket: [UInt8], lifetime: UInt32? = nil,
        transaction: TransactionID = TestClient.nextTransaction()
    ) -> [UInt8] {
        client.request(.refresh, harness, transaction: transaction) { writer in
            writer.append(.mobilityTicket, bytes: ticket)
            if let lifetime { writer.append(.lifetime, integer: lifetime) }
        }
    }

    /// The same person at another port, with a nonce of it.
    private func elsewhere(
        _ harness: RelayHarness, port: UInt16, username: String = "alice", password: String = "wonderland"
    ) throws
        -> TestClient
    {
        var client = TestClient(port: port, username: username, password: password)
        try client.fetchNonce(harness)
        return client
    }

    private func toClient(_ harness: RelayHarness) throws -> Flow? {
        let relay = try #require(harness.bound.keys.first)
        return harness.engine.receiveFromPeer(on: relay, from: RelayHarness.peer, byteCount: 1, at: harness.now)?.flow
    }

    @Test("a client moves: both flows are served until it sends on the new one, then the old one ends")
    func moves() throws {
        let harness = try serving()
        let (old, first) = try opened(harness)
        let new = try elsewhere(harness, port: 2000)
        let response = try Response(harness.receive(request(new, harness, first), on: new.flow))
        #expect(response.isSuccess)
        #expect(response.lifetime == 600)
        #expect(response.isSigned(by: new, .sha1, harness))
        let second = try #require(try ticket(response))
        #expect(second != first)
        #expect(harness.engine.counters.moved == 1)

        #expect(try toClient(harness) == old.flow)
        #expect(old.sendChannel(harness, 0x4000, [1]) != nil)
        #expect(try toClient(harness) == old.flow)
        #expect(new.sendChannel(harness, 0x4000, [1]) != nil)
        #expect(try toClient(harness) == new.flow)
        #expect(old.sendChannel(harness, 0x4000, [1]) == nil)
        #expect(try old.refresh(harness, lifetime: 600).error == 437)
        #expect(harness.liveAllocations == 1)
        #expect(harness.charged["alice"] == 1)
        #expect(harness.engine.allocationCount == 1)
        #expect(try new.refresh(harness, lifetime: 0).isSuccess)
        #expect(harness.liveAllocations == 0)
    }

    @Test("a request on the new flow completes the move too", arguments: 0..<4)
    func confirmed(kind: Int) throws {
        let harness = try serving()
        let (_, ticket) = try opened(harness)
        let new = try elsewhere(harness, port: 2000)
        #expect(try Response(harness.receive(request(new, harness, ticket), on: new.flow)).isSuccess)
        switch kind {
        case 0: #expect(try new.permit(harness, RelayHarness.peer).isSuccess)
        case 1: #expect(try new.bind(harness, 0x4000, RelayHarness.peer).isSuccess)
        case 2: #expect(try new.refresh(harness, lifetime: 700).isSuccess)
        default: #expect(new.send(harness, [1], to: RelayHarness.peer) != nil)
        }
        #expect(try toClient(harness) == new.flow)
    }

    @Test("a retransmitted move gets the same response, and does not complete the move")
    func retransmitted() throws {
        let harness = try serving()
        let (old, ticket) = try opened(harness)
        let new = try elsewhere(harness, port: 2000)
        let bytes = request(new, harness, ticket)
        let first = try Response(harness.receive(bytes, on: new.flow))
        #expect(try Response(harness.receive(bytes, on: new.flow)).bytes == first.bytes)
        #expect(try toClient(harness) == old.flow)
        #expect(harness.engine.counters.moved == 1)
    }

    @Test("a ticket is valid once; the previous one while the old flow lives, in case the response was lost")
    func tickets() throws {
        let harness = try serving()
        let (_, first) = try opened(harness)
        let second = try elsewhere(harness, port: 2000)
        let response = try Response(harness.receive(request(second, harness, first), on: second.flow))
        let newer = try #require(try ticket(response))
        // The response is lost, and the client has yet another address.
        let third = try elsewhere(harness, port: 3000)
        let next = try Response(harness.receive(request(third, harness, first), on: third.flow))
        #expect(next.isSuccess)
        #expect(try second.refresh(harness, lifetime: 600).error == 437)
        #expect(third.sendChannel(harness, 0x4000, [1]) != nil)
        let fourth = try elsewhere(harness, port: 4000)
        for stale in [first, newer] {
            #expect(try Response(harness.receive(request(fourth, harness, stale), on: fourth.flow)).error == 437)
        }
        #expect(harness.engine.allocationCount == 1)
    }

    @Test("chained moves leave nothing behind")
    func chained() throws {
        let harness = try serving()
        var (client, ticket) = try opened(harness)
        for step in 0..<500 as Range<UInt16> {
            let next = try elsewhere(harness, port: 2000 + step)
            let response = try Response(harness.receive(request(next, harness, ticket), on: next.flow))
            #expect(response.isSuccess)
            ticket = try #require(try self.ticket(response))
            if step % 3 == 0 { #expect(next.sendChannel(harness, 0x4000, [1]) != nil) }
            #expect(harness.engine.allocationCount == 1)
            #expect(harness.charged["alice"] == 1)
            client = next
        }
        #expect(client.sendChannel(harness, 0x4000, [1]) != nil)
        // Each flow that it left is free for another allocation.
        for step in 0..<499 as Range<UInt16> {
            let isOccupied = harness.engine.hasAllocation(on: TestClient(port: 2000 + step).flow)
            #expect(!isOccupied)
        }
    }

    @Test("only its user moves it: 441 for another, 401 for an unauthenticated client, and nothing changes")
    func others() throws {
        let harness = try serving()
        let (old, ticket) = try opened(harness)
        let bob = try elsewhere(harness, port: 2000, username: "bob", password: "builder")
        #expect(try Response(harness.receive(request(bob, harness, ticket), on: bob.flow)).error == 441)
        let mallory = try elsewhere(harness, port: 3000, password: "guessed")
        #expect(
            try Response(harness.receive(request(mallory, harness, ticket, lifetime: 0), on: mallory.flow)).error == 401
        )
        #expect(old.sendChannel(harness, 0x4000, [1]) != nil)
        #expect(harness.engine.counters.moved == 0)
    }

    @Test("no bit of a ticket can be turned")
    func brokenVariants() throws {
        let harness = try serving()
        let (_, ticket) = try opened(harness)
        #expect(ticket.count == 32)
        let new = try elsewhere(harness, port: 2000)
        for bit in 0..<ticket.count * 8 {
            let duplicate = ticket.flippingBit(bit)
            #expect(
                try Response(harness.receive(request(new, harness, duplicate), on: new.flow)).error == 437, "bit \(bit)"
            )
        }
        for count in 0..<ticket.count {
            let truncated = Array(ticket.prefix(count))
            #expect(try Response(harness.receive(request(new, harness, truncated), on: new.flow)).error == 437)
        }
        #expect(harness.engine.counters.moved == 0)
        #expect(try Response(harness.receive(request(new, harness, ticket), on: new.flow)).isSuccess)
    }

    @Test("is forbidden where it is turned off, and a ticket must be empty where it is asked for")
    func forbidden() throws {
        let harness = try RelayHarness()
        var client = TestClient()
        #expect(try client.allocate(harness) { $0.append(.mobilityTicket, bytes: []) }.error == 405)
        #expect(harness.engine.allocationCount == 0)
        #expect(try client.allocate(harness).isSuccess)
        #expect(try Response(harness.receive(request(client, harness, [1]), on: client.flow)).error == 405)
        harness.engine.tickets = codec()
        var other = TestClient(port: 2)
        #expect(try other.allocate(harness) { $0.append(.mobilityTicket, bytes: [1]) }.error == 400)
    }

    @Test("a client that did not move sends no ticket, and one that asked for none gets none")
    func unmoved() throws {
        let harness = try serving()
        let (client, ticket) = try opened(harness)
        #expect(try Response(harness.receive(request(client, harness, ticket), on: client.flow)).error == 400)
        var other = TestClient(port: 2)
        #expect(try self.ticket(other.allocate(harness)) == nil)
        // Another's: its allocation is not mobile and keeps the flow.
        #expect(try Response(harness.receive(request(other, harness, ticket), on: other.flow)).error == 437)
        #expect(client.sendChannel(harness, 0x4000, [1]) != nil)
    }

    @Test("a ticket of an allocation that ended finds nobody, also in the slot's next life")
    func ended() throws {
        let harness = try serving()
        let (client, ticket) = try opened(harness)
        #expect(try client.refresh(harness, lifetime: 0).isSuccess)
        let (_, fresh) = try opened(harness, port: 1001)
        let new = try elsewhere(harness, port: 2000)
        #expect(try Response(harness.receive(request(new, harness, ticket), on: new.flow)).error == 437)
        #expect(try Response(harness.receive(request(new, harness, fresh, lifetime: 0), on: new.flow)).lifetime == 0)
        #expect(harness.liveAllocations == 0)
        #expect(harness.engine.allocationCount == 0)
    }

    @Test("a closed connection does not end a mobile allocation, which goes on elsewhere or expires")
    func connection() throws {
        let harness = try serving()
        for goesOn in [true, false] {
            var client = TestClient(port: 1000, transport: .tcp)
            let response = try client.allocate(harness) { $0.append(.mobilityTicket, bytes: []) }
            let ticket = try #require(try ticket(response))
            #expect(try client.bind(harness, 0x4000, RelayHarness.peer).isSuccess)
            harness.close(client.flow)
            #expect(harness.liveAllocations == 1)
            #expect(try toClient(harness) == .init(.udp, local: .zero, remote: .zero))
            if goesOn {
                let new = try elsewhere(harness, port: 2000)
                #expect(try Response(harness.receive(request(new, harness, ticket), on: new.flow)).isSuccess)
                // Nothing is lost by sending there at once.
                #expect(try toClient(harness) == new.flow)
                #expect(try new.refresh(harness, lifetime: 0).isSuccess)
            } else {
                harness.advance(seconds: 600)
            }
            #expect(harness.liveAllocations == 0)
            #expect(harness.engine.allocationCount == 0)
        }
    }

    // Two workers --------------------------------------------------------------------------------------------------

    @Test(
        "a move that lands on another worker goes to the owner, and so does all that follows", arguments: Self.datagrams
    )
    func handedOver(transport: Flow.Transport) throws {
        let group = try WorkerGroupHarness(2)
        var mover = try Mover(group, port: group.port(0, at: 0), transport)
        #expect(try mover.move(group, to: group.port(1, at: 1), transport).isSuccess)
        #expect(group.workers[1].engine.audit.forwardedFlows == [mover.client.flow: 0])
        #expect(group.channel(mover.client) == mover.relay)
        #expect(group.toClient(mover.relay) == mover.client.flow)
        #expect(try group.refresh(mover.client, lifetime: 0).lifetime == 0)
        #expect(group.inconsistencies == [])
        // The flow is its worker's own again.
        #expect(try Mover(group, port: group.port(1, at: 1), transport).relay.worker == 1)
        #expect(group.workers[0].liveAllocations == 0)
    }

    private static let datagrams = [Flow.Transport.udp, .dtls]

    @Test("no flow is forwarded before the owner has agreed, and only requests with a valid nonce reach it")
    func refusedByOwner() throws {
        let group = try WorkerGroupHarness(2)
        let mover = try Mover(group, port: group.port(0, at: 0))
        var thief = TestClient(port: group.port(1, at: 1), username: "bob", password: "builder")
        thief.nonce = mover.client.nonce
        #expect(try group.ask(Mover.request(thief, group, mover.ticket), on: thief.flow).error == 438)
        #expect(group.postCount == 0)
        try group.fetchNonce(&thief)
        #expect(try group.ask(Mover.request(thief, group, mover.ticket), on: thief.flow).error == 441)
        #expect(group.workers[1].engine.audit.forwardedFlows.isEmpty)
        #expect(group.postCount > 0)
        group.postCount = 0
        // A forged ticket never leaves the worker.
        let other = try serving()
        other.engine.tickets = TicketCodec(key: Digest([UInt8](repeating: 9, count: 32).span.bytes), worker: 0)
        let (_, wrong) = try opened(other)
        for forged in [wrong, [1, 2]] {
            #expect(try group.ask(Mover.request(thief, group, forged), on: thief.flow).error == 437)
            #expect(group.postCount == 0)
        }
    }

    @Test(
        "a forwarded flow is released when its client moves away or its allocation expires", arguments: Self.datagrams)
    func releases(transport: Flow.Transport) throws {
        let group = try WorkerGroupHarness(2)
        var mover = try Mover(group, port: group.port(0, at: 0), transport)
        for step in 1...6 {
            #expect(try mover.move(group, to: group.port(step, at: step % 2), transport).isSuccess)
            #expect(group.channel(mover.client) == mover.relay)
            group.advance(seconds: 1)
            group.settle()
            #expect(group.inconsistencies == [])
            #expect(group.workers[1].engine.audit.forwardedFlows.count == step % 2)
        }
        #expect(try mover.move(group, to: group.port(7, at: 1), transport).isSuccess)
        group.advance(seconds: 700)
        group.settle()
        #expect(group.inconsistencies == [])
        #expect(group.workers[1].engine.audit.forwardedFlows.isEmpty)
        #expect(group.liveAllocations == 0)
    }

    @Test("datagrams of a flow whose allocation is gone are not taken for requests of it")
    func late() throws {
        let harness = try serving()
        let client = try elsewhere(harness, port: 2000)
        let allocate = client.request(.allocate, harness) { $0.append(.requestedTransport, integer: UInt32(17) << 24) }
        let outcome = harness.receive(.datagram(allocate, client.flow, isOccupied: false), from: 1)
        #expect(outcome.messages.isEmpty)
        #expect(outcome.posts.isEmpty)
        #expect(harness.engine.allocationCount == 0)
    }

    @Test("a connection is brought to the worker that its ticket names, if its nonce is good and it has no allocation")
    func connections() throws {
        let group = try WorkerGroupHarness(2)
        let mover = try Mover(group, port: group.port(0, at: 0))
        var client = try group.client(group.port(1, at: 1), .tcp)
        let good = Mover.request(client, group, mover.ticket)
        func worker(_ bytes: [UInt8], at home: Int = 1) -> UInt8? {
            group.workers[home].engine.workerOfTicket(
                in: bytes.span.bytes, on: client.flow, at: group.workers[home].now)
        }
        #expect(worker(good) == 0)
        #expect(worker(good, at: 0) == nil)
        #expect(worker(Mover.request(client, group, [1, 2])) == nil)
        #expect(worker(client.request(.allocate, group.workers[0])) == nil)
        // Where it came anyway, it is nobody's.
        #expect(try group.ask(good, on: client.flow).error == 437)
        let nonce = client.nonce
        client.nonce[20] ^= 1
        #expect(worker(Mover.request(client, group, mover.ticket)) == nil)
        client.nonce = nonce
        #expect(try client.allocate(group.workers[1]).isSuccess)
        #expect(worker(good) == nil)
        #expect(try group.ask(good, on: client.flow).error == 437)
    }

    @Test("an allocation for TCP moves to connections only")
    func connectionsOnly() throws {
        let harness = try serving()
        harness.engine.worker = 0
        var client = TestClient(port: 1000, transport: .tcp)
        try client.fetchNonce(harness)
        let allocate = client.request(.allocate, harness) { writer in
            writer.append(.requestedTransport, integer: UInt32(6) << 24)
            writer.append(.mobilityTicket, bytes: [])
        }
        let ticket = try #require(try ticket(Response(harness.receive(allocate, on: client.flow))))
        let datagrams = try elsewhere(harness, port: 2000)
        #expect(try Response(harness.receive(request(datagrams, harness, ticket), on: datagrams.flow)).error == 400)
        var connection = TestClient(port: 3000, transport: .tls)
        try connection.fetchNonce(harness)
        #expect(try Response(harness.receive(request(connection, harness, ticket), on: connection.flow)).isSuccess)
    }
}

extension TransportAddress {
    fileprivate static let zero = TransportAddress(IPAddress(ipv4: 0), port: 0)
}
