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
        #expect(try Answer(lab.receive(request(other, lab, ticket), on: other.flow)).error == 400)
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

    /// Delivers what workers hand to each other.
    private func deliver(_ outcome: Lab.Outcome, _ labs: [Lab], from worker: UInt8) -> [Lab.Outcome] {
        outcome.handedOver.map { handed in
            labs[Int(handed.worker)].receiveHandedOver(handed.bytes, on: handed.flow, from: worker)
        }
    }

    private func settle(_ outcome: Lab.Outcome, _ labs: [Lab], owner: UInt8) {
        for guest in outcome.guests {
            if guest.isKept {
                labs[Int(guest.worker)].engine.keepStranger(guest.flow, of: owner)
            } else {
                labs[Int(guest.worker)].engine.forgetStranger(guest.flow, of: owner)
            }
        }
    }

    @Test("a move that lands on another worker goes to the owner, and so does all that follows")
    func handedOver() throws {
        let labs = [try serving(worker: 0), try serving(worker: 1)]
        let (_, ticket) = try opened(labs[0])
        let new = try elsewhere(labs[1], port: 2000)
        let landed = labs[1].receive(request(new, labs[1], ticket), on: new.flow)
        #expect(landed.messages.isEmpty)
        let moved = try #require(deliver(landed, labs, from: 1).first)
        #expect(try Answer(moved).isSuccess)
        #expect(moved.messages.first?.flow == new.flow)
        #expect(moved.guests.map { $0.isKept } == [true])
        settle(moved, labs, owner: 0)

        var bytes: [UInt8] = []
        bytes.append(bigEndian: UInt16(0x4000))
        bytes.append(bigEndian: UInt16(2))
        let data = labs[1].receive(bytes + [8, 9], on: new.flow)
        #expect(data.toPeer == nil)
        #expect(deliver(data, labs, from: 1).first?.toPeer?.payload == 4..<6)
        #expect(try toClient(labs[0]) == new.flow)

        let refresh = labs[1].receive(
            new.request(.refresh, labs[1]) { $0.append(.lifetime, integer: UInt32(0)) }, on: new.flow)
        let ended = try #require(deliver(refresh, labs, from: 1).first)
        #expect(try Answer(ended).lifetime == 0)
        #expect(ended.guests.map { $0.isKept } == [false])
        settle(ended, labs, owner: 0)
        // The flow is this worker's own again.
        var again = new
        #expect(try again.allocate(labs[1]).isSuccess)
        #expect(labs[0].liveAllocations == 0)
    }

    @Test("what the owner does not take is forgotten, and only who has a good nonce is handed over at all")
    func refusedByOwner() throws {
        let labs = [try serving(worker: 0), try serving(worker: 1)]
        let (client, ticket) = try opened(labs[0])
        var thief = LabClient(port: 2000, username: "bob", password: "builder")
        thief.nonce = client.nonce
        let unproved = labs[1].receive(request(thief, labs[1], ticket), on: thief.flow)
        #expect(unproved.handedOver.isEmpty)
        #expect(try Answer(unproved).error == 438)

        try thief.learnNonce(labs[1])
        let landed = labs[1].receive(request(thief, labs[1], ticket), on: thief.flow)
        let refused = try #require(deliver(landed, labs, from: 1).first)
        #expect(try Answer(refused).error == 441)
        #expect(refused.guests.map { $0.isKept } == [false])
        settle(refused, labs, owner: 0)
        #expect(labs[1].receive(request(thief, labs[1], [1, 2]), on: thief.flow).handedOver.isEmpty)
        // A forged ticket never leaves the worker.
        let forged = TicketMint(key: Digest([UInt8](repeating: 9, count: 32).span.bytes), worker: 0)
        let other = try serving()
        other.engine.tickets = forged
        let (_, wrong) = try opened(other)
        #expect(labs[1].receive(request(thief, labs[1], wrong), on: thief.flow).handedOver.isEmpty)
    }

    @Test("a guest that moves away, and one whose allocation expires, are given back")
    func departures() throws {
        let labs = [try serving(worker: 0), try serving(worker: 1)]
        let (_, first) = try opened(labs[0])
        let guest = try elsewhere(labs[1], port: 2000)
        let landed = labs[1].receive(request(guest, labs[1], first), on: guest.flow)
        let moved = try #require(deliver(landed, labs, from: 1).first)
        settle(moved, labs, owner: 0)
        let second = try #require(try ticket(Answer(moved)))
        let home = try elsewhere(labs[0], port: 3000)
        let back = labs[0].receive(request(home, labs[0], second), on: home.flow)
        #expect(try Answer(back).isSuccess)
        #expect(back.guests.map { $0.flow } == [guest.flow])
        #expect(home.sendChannel(labs[0], 0x4000, [1]) != nil)
        labs[0].advance(seconds: 700)
        #expect(labs[0].liveAllocations == 0)
    }

    @Test("datagrams of a flow whose allocation is gone are not taken for requests of it")
    func late() throws {
        let lab = try serving()
        let client = try elsewhere(lab, port: 2000)
        let allocate = client.request(.allocate, lab) { $0.append(.requestedTransport, integer: UInt32(17) << 24) }
        let outcome = lab.receiveHandedOver(allocate, on: client.flow, from: 1)
        #expect(outcome.messages.isEmpty)
        #expect(outcome.guests.map { $0.isKept } == [false])
        #expect(lab.engine.allocationCount == 0)
    }

    @Test("a connection stays with its worker: another's ticket is nobody's there")
    func connectionElsewhere() throws {
        let labs = [try serving(worker: 0), try serving(worker: 1)]
        let (_, ticket) = try opened(labs[0])
        var client = LabClient(port: 2000, transport: .tcp)
        try client.learnNonce(labs[1])
        let outcome = labs[1].receive(request(client, labs[1], ticket), on: client.flow)
        #expect(outcome.handedOver.isEmpty)
        #expect(try Answer(outcome).error == 437)
    }
}

extension TransportAddress {
    fileprivate static let zero = TransportAddress(IPAddress(ipv4: 0), port: 0)
}
