import STUN
import TURN
import Testing
import Wire

@Suite("Mobility")
struct MobilityTests {
    private static let keyText = Array("ticket key".utf8)

    private func mint(worker: UInt8 = 0) -> TicketMint {
        TicketMint(key: Digest(Self.keyText.span.bytes), worker: worker)
    }

    private func serving(worker: UInt8 = 0) throws -> Lab {
        let lab = try Lab()
        lab.engine.tickets = mint(worker: worker)
        return lab
    }

    private func ticket(_ answer: Answer) throws -> [UInt8]? {
        try Message(answer.bytes.span.bytes).attribute(.mobilityTicket)?.copyToArray()
    }

    /// An allocation with a channel to the peer, and its ticket.
    private func opened(_ lab: Lab, port: UInt16 = 1000) throws -> (client: LabClient, ticket: [UInt8]) {
        var client = LabClient(port: port)
        let answer = try client.allocate(lab) { $0.append(.mobilityTicket, bytes: []) }
        #expect(answer.isSuccess)
        #expect(try client.bind(lab, 0x4000, Lab.peer).isSuccess)
        return (client, try #require(try ticket(answer)))
    }

    private func request(
        _ client: LabClient, _ lab: Lab, _ ticket: [UInt8], lifetime: UInt32? = nil,
        transaction: TransactionID = LabClient.nextTransaction()
    ) -> [UInt8] {
        client.request(.refresh, lab, transaction: transaction) { writer in
            writer.append(.mobilityTicket, bytes: ticket)
            if let lifetime { writer.append(.lifetime, integer: lifetime) }
        }
    }

    /// The same person at another port, with a nonce of it.
    private func elsewhere(_ lab: Lab, port: UInt16, username: String = "alice", password: String = "wonderland") throws
        -> LabClient
    {
        var client = LabClient(port: port, username: username, password: password)
        try client.learnNonce(lab)
        return client
    }

    private func toClient(_ lab: Lab) throws -> Flow? {
        let relay = try #require(lab.bound.keys.first)
        return lab.engine.receiveFromPeer(on: relay, from: Lab.peer, byteCount: 1, at: lab.now)?.flow
    }

    @Test("a client moves: both flows are served until it is heard on the new one, then the old one ends")
    func moves() throws {
        let lab = try serving()
        let (old, first) = try opened(lab)
        let new = try elsewhere(lab, port: 2000)
        let answer = try Answer(lab.receive(request(new, lab, first), on: new.flow))
        #expect(answer.isSuccess)
        #expect(answer.lifetime == 600)
        #expect(answer.isSigned(by: new, .sha1, lab))
        let second = try #require(try ticket(answer))
        #expect(second != first)
        #expect(lab.engine.tally.moved == 1)

        #expect(try toClient(lab) == old.flow)
        #expect(old.sendChannel(lab, 0x4000, [1]) != nil)
        #expect(try toClient(lab) == old.flow)
        #expect(new.sendChannel(lab, 0x4000, [1]) != nil)
        #expect(try toClient(lab) == new.flow)
        #expect(old.sendChannel(lab, 0x4000, [1]) == nil)
        #expect(try old.refresh(lab, lifetime: 600).error == 437)
        #expect(lab.liveAllocations == 1)
        #expect(lab.charged["alice"] == 1)
        #expect(lab.engine.allocationCount == 1)
        #expect(try new.refresh(lab, lifetime: 0).isSuccess)
        #expect(lab.liveAllocations == 0)
    }

    @Test("a request on the new flow shows the client there as well", arguments: 0..<4)
    func heard(kind: Int) throws {
        let lab = try serving()
        let (_, ticket) = try opened(lab)
        let new = try elsewhere(lab, port: 2000)
        #expect(try Answer(lab.receive(request(new, lab, ticket), on: new.flow)).isSuccess)
        switch kind {
        case 0: #expect(try new.permit(lab, Lab.peer).isSuccess)
        case 1: #expect(try new.bind(lab, 0x4000, Lab.peer).isSuccess)
        case 2: #expect(try new.refresh(lab, lifetime: 700).isSuccess)
        default: #expect(new.send(lab, [1], to: Lab.peer) != nil)
        }
        #expect(try toClient(lab) == new.flow)
    }

    @Test("a retransmitted move gets the same answer, and is no sign of the client")
    func retransmitted() throws {
        let lab = try serving()
        let (old, ticket) = try opened(lab)
        let new = try elsewhere(lab, port: 2000)
        let bytes = request(new, lab, ticket)
        let first = try Answer(lab.receive(bytes, on: new.flow))
        #expect(try Answer(lab.receive(bytes, on: new.flow)).bytes == first.bytes)
        #expect(try toClient(lab) == old.flow)
        #expect(lab.engine.tally.moved == 1)
    }

    @Test("a ticket is good once; the one before only while the old flow lives, should its answer be lost")
    func tickets() throws {
        let lab = try serving()
        let (_, first) = try opened(lab)
        let second = try elsewhere(lab, port: 2000)
        let answer = try Answer(lab.receive(request(second, lab, first), on: second.flow))
        let newer = try #require(try ticket(answer))
        // The answer is lost, and the client has yet another address.
        let third = try elsewhere(lab, port: 3000)
        let next = try Answer(lab.receive(request(third, lab, first), on: third.flow))
        #expect(next.isSuccess)
        #expect(try second.refresh(lab, lifetime: 600).error == 437)
        #expect(third.sendChannel(lab, 0x4000, [1]) != nil)
        let fourth = try elsewhere(lab, port: 4000)
        for stale in [first, newer] {
            #expect(try Answer(lab.receive(request(fourth, lab, stale), on: fourth.flow)).error == 437)
        }
        #expect(lab.engine.allocationCount == 1)
    }

    @Test("chained moves leave nothing behind")
    func chained() throws {
        let lab = try serving()
        var (client, ticket) = try opened(lab)
        for step in 0..<500 as Range<UInt16> {
            let next = try elsewhere(lab, port: 2000 + step)
            let answer = try Answer(lab.receive(request(next, lab, ticket), on: next.flow))
            #expect(answer.isSuccess)
            ticket = try #require(try self.ticket(answer))
            if step % 3 == 0 { #expect(next.sendChannel(lab, 0x4000, [1]) != nil) }
            #expect(lab.engine.allocationCount == 1)
            #expect(lab.charged["alice"] == 1)
            client = next
        }
        #expect(client.sendChannel(lab, 0x4000, [1]) != nil)
        // Each flow that it left is free for another allocation.
        for step in 0..<499 as Range<UInt16> {
            let isTaken = lab.engine.hasAllocation(on: LabClient(port: 2000 + step).flow)
            #expect(!isTaken)
        }
    }

    @Test("only its user moves it: 441 for another, 401 for a stranger, and nothing changes")
    func others() throws {
        let lab = try serving()
        let (old, ticket) = try opened(lab)
        let bob = try elsewhere(lab, port: 2000, username: "bob", password: "builder")
        #expect(try Answer(lab.receive(request(bob, lab, ticket), on: bob.flow)).error == 441)
        let mallory = try elsewhere(lab, port: 3000, password: "guessed")
        #expect(try Answer(lab.receive(request(mallory, lab, ticket, lifetime: 0), on: mallory.flow)).error == 401)
        #expect(old.sendChannel(lab, 0x4000, [1]) != nil)
        #expect(lab.engine.tally.moved == 0)
    }

    @Test("no bit of a ticket can be turned")
    func brokenTwins() throws {
        let lab = try serving()
        let (_, ticket) = try opened(lab)
        #expect(ticket.count == 32)
        let new = try elsewhere(lab, port: 2000)
        for bit in 0..<ticket.count * 8 {
            var twin = ticket
            twin[bit / 8] ^= 0x80 >> UInt8(bit % 8)
            #expect(try Answer(lab.receive(request(new, lab, twin), on: new.flow)).error == 437, "bit \(bit)")
        }
        for count in 0..<ticket.count {
            let cut = Array(ticket.prefix(count))
            #expect(try Answer(lab.receive(request(new, lab, cut), on: new.flow)).error == 437)
        }
        #expect(lab.engine.tally.moved == 0)
        #expect(try Answer(lab.receive(request(new, lab, ticket), on: new.flow)).isSuccess)
    }

    @Test("is forbidden where it is turned off, and a ticket must be empty where it is asked for")
    func forbidden() throws {
        let lab = try Lab()
        var client = LabClient()
        #expect(try client.allocate(lab) { $0.append(.mobilityTicket, bytes: []) }.error == 405)
        #expect(lab.engine.allocationCount == 0)
        #expect(try client.allocate(lab).isSuccess)
        #expect(try Answer(lab.receive(request(client, lab, [1]), on: client.flow)).error == 405)
        lab.engine.tickets = mint()
        var other = LabClient(port: 2)
        #expect(try other.allocate(lab) { $0.append(.mobilityTicket, bytes: [1]) }.error == 400)
    }

    @Test("a client that did not move sends no ticket, and one that asked for none gets none")
    func unmoved() throws {
        let lab = try serving()
        let (client, ticket) = try opened(lab)
        #expect(try Answer(lab.receive(request(client, lab, ticket), on: client.flow)).error == 400)
        var other = LabClient(port: 2)
        #expect(try self.ticket(other.allocate(lab)) == nil)
        // Another's: its allocation is not mobile and keeps the flow.
        #expect(try Answer(lab.receive(request(other, lab, ticket), on: other.flow)).error == 437)
        #expect(client.sendChannel(lab, 0x4000, [1]) != nil)
    }

    @Test("a ticket of an allocation that ended finds nobody, also in the slot's next life")
    func ended() throws {
        let lab = try serving()
        let (client, ticket) = try opened(lab)
        #expect(try client.refresh(lab, lifetime: 0).isSuccess)
        let (_, fresh) = try opened(lab, port: 1001)
        let new = try elsewhere(lab, port: 2000)
        #expect(try Answer(lab.receive(request(new, lab, ticket), on: new.flow)).error == 437)
        #expect(try Answer(lab.receive(request(new, lab, fresh, lifetime: 0), on: new.flow)).lifetime == 0)
        #expect(lab.liveAllocations == 0)
        #expect(lab.engine.allocationCount == 0)
    }

    @Test("a closed connection does not end a mobile allocation, which goes on elsewhere or expires")
    func connection() throws {
        let lab = try serving()
        for goesOn in [true, false] {
            var client = LabClient(port: 1000, transport: .tcp)
            let answer = try client.allocate(lab) { $0.append(.mobilityTicket, bytes: []) }
            let ticket = try #require(try ticket(answer))
            #expect(try client.bind(lab, 0x4000, Lab.peer).isSuccess)
            lab.close(client.flow)
            #expect(lab.liveAllocations == 1)
            #expect(try toClient(lab) == .init(.udp, local: .zero, remote: .zero))
            if goesOn {
                let new = try elsewhere(lab, port: 2000)
                #expect(try Answer(lab.receive(request(new, lab, ticket), on: new.flow)).isSuccess)
                // Nothing is lost by sending there at once.
                #expect(try toClient(lab) == new.flow)
                #expect(try new.refresh(lab, lifetime: 0).isSuccess)
            } else {
                lab.advance(seconds: 600)
            }
            #expect(lab.liveAllocations == 0)
            #expect(lab.engine.allocationCount == 0)
        }
    }

    // Two workers --------------------------------------------------------------------------------------------------

    @Test(
        "a move that lands on another worker goes to the owner, and so does all that follows", arguments: Self.datagrams
    )
    func handedOver(transport: Flow.Transport) throws {
        let crew = try Crew(2)
        var mover = try Mover(crew, port: crew.port(0, at: 0), transport)
        #expect(try mover.move(crew, to: crew.port(1, at: 1), transport).isSuccess)
        #expect(crew.labs[1].engine.audit.strangers == [mover.client.flow: 0])
        #expect(crew.channel(mover.client) == mover.relay)
        #expect(crew.toClient(mover.relay) == mover.client.flow)
        #expect(try crew.refresh(mover.client, lifetime: 0).lifetime == 0)
        #expect(crew.contradictions == [])
        // The flow is its worker's own again.
        #expect(try Mover(crew, port: crew.port(1, at: 1), transport).relay.worker == 1)
        #expect(crew.labs[0].liveAllocations == 0)
    }

    private static let datagrams = [Flow.Transport.udp, .dtls]

    @Test("nothing is remembered of a flow before the owner has agreed, and only who has a good nonce is handed over")
    func refusedByOwner() throws {
        let crew = try Crew(2)
        let mover = try Mover(crew, port: crew.port(0, at: 0))
        var thief = LabClient(port: crew.port(1, at: 1), username: "bob", password: "builder")
        thief.nonce = mover.client.nonce
        #expect(try crew.ask(Mover.request(thief, crew, mover.ticket), on: thief.flow).error == 438)
        #expect(crew.mailCount == 0)
        try crew.learnNonce(&thief)
        #expect(try crew.ask(Mover.request(thief, crew, mover.ticket), on: thief.flow).error == 441)
        #expect(crew.labs[1].engine.audit.strangers.isEmpty)
        #expect(crew.mailCount > 0)
        crew.mailCount = 0
        // A forged ticket never leaves the worker.
        let other = try serving()
        other.engine.tickets = TicketMint(key: Digest([UInt8](repeating: 9, count: 32).span.bytes), worker: 0)
        let (_, wrong) = try opened(other)
        for forged in [wrong, [1, 2]] {
            #expect(try crew.ask(Mover.request(thief, crew, forged), on: thief.flow).error == 437)
            #expect(crew.mailCount == 0)
        }
    }

    @Test("a guest that moves away, and one whose allocation expires, are given back", arguments: Self.datagrams)
    func departures(transport: Flow.Transport) throws {
        let crew = try Crew(2)
        var mover = try Mover(crew, port: crew.port(0, at: 0), transport)
        for step in 1...6 {
            #expect(try mover.move(crew, to: crew.port(step, at: step % 2), transport).isSuccess)
            #expect(crew.channel(mover.client) == mover.relay)
            crew.advance(seconds: 1)
            crew.settle()
            #expect(crew.contradictions == [])
            #expect(crew.labs[1].engine.audit.strangers.count == step % 2)
        }
        #expect(try mover.move(crew, to: crew.port(7, at: 1), transport).isSuccess)
        crew.advance(seconds: 700)
        crew.settle()
        #expect(crew.contradictions == [])
        #expect(crew.labs[1].engine.audit.strangers.isEmpty)
        #expect(crew.liveAllocations == 0)
    }

    @Test("datagrams of a flow whose allocation is gone are not taken for requests of it")
    func late() throws {
        let lab = try serving()
        let client = try elsewhere(lab, port: 2000)
        let allocate = client.request(.allocate, lab) { $0.append(.requestedTransport, integer: UInt32(17) << 24) }
        let outcome = lab.receive(.datagram(allocate, client.flow, isTaken: false), from: 1)
        #expect(outcome.messages.isEmpty)
        #expect(outcome.posts.isEmpty)
        #expect(lab.engine.allocationCount == 0)
    }

    @Test("a connection is brought to the worker that its ticket names, if its nonce is good and it has no allocation")
    func connections() throws {
        let crew = try Crew(2)
        let mover = try Mover(crew, port: crew.port(0, at: 0))
        var client = try crew.client(crew.port(1, at: 1), .tcp)
        let good = Mover.request(client, crew, mover.ticket)
        func worker(_ bytes: [UInt8], at home: Int = 1) -> UInt8? {
            crew.labs[home].engine.workerOfTicket(in: bytes.span.bytes, on: client.flow, at: crew.labs[home].now)
        }
        #expect(worker(good) == 0)
        #expect(worker(good, at: 0) == nil)
        #expect(worker(Mover.request(client, crew, [1, 2])) == nil)
        #expect(worker(client.request(.allocate, crew.labs[0])) == nil)
        // Where it came anyway, it is nobody's.
        #expect(try crew.ask(good, on: client.flow).error == 437)
        let nonce = client.nonce
        client.nonce[20] ^= 1
        #expect(worker(Mover.request(client, crew, mover.ticket)) == nil)
        client.nonce = nonce
        #expect(try client.allocate(crew.labs[1]).isSuccess)
        #expect(worker(good) == nil)
        #expect(try crew.ask(good, on: client.flow).error == 437)
    }

    @Test("an allocation for TCP moves to connections only")
    func connectionsOnly() throws {
        let lab = try serving()
        lab.engine.worker = 0
        var client = LabClient(port: 1000, transport: .tcp)
        try client.learnNonce(lab)
        let allocate = client.request(.allocate, lab) { writer in
            writer.append(.requestedTransport, integer: UInt32(6) << 24)
            writer.append(.mobilityTicket, bytes: [])
        }
        let ticket = try #require(try ticket(Answer(lab.receive(allocate, on: client.flow))))
        let datagrams = try elsewhere(lab, port: 2000)
        #expect(try Answer(lab.receive(request(datagrams, lab, ticket), on: datagrams.flow)).error == 400)
        var connection = LabClient(port: 3000, transport: .tls)
        try connection.learnNonce(lab)
        #expect(try Answer(lab.receive(request(connection, lab, ticket), on: connection.flow)).isSuccess)
    }
}

extension TransportAddress {
    fileprivate static let zero = TransportAddress(IPAddress(ipv4: 0), port: 0)
}
