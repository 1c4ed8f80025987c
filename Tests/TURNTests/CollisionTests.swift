import STUN
import TURN
import Testing
import Wire

/// A client moves to a 5-tuple on which another allocation still stands: that of a client that went away without a word,
/// and whose port somebody else has now. Its allocation, the occupant's and the flow's datagrams may all be at different
/// workers.
@Suite("Moving to a flow that is taken")
struct CollisionTests {
    struct Places: CustomTestStringConvertible, Sendable {
        let flow, occupant, mover: Int
        let transport: Flow.Transport
        var testDescription: String { "\(transport) at \(flow), of \(occupant), to \(mover)" }

        /// All ways in which three workers can share the parts.
        static let all = [Flow.Transport.udp, .dtls].flatMap { transport in
            (0..<27).map { Places(flow: $0 / 9, occupant: $0 / 3 % 3, mover: $0 % 3, transport: transport) }
        }
    }

    /// The flow in question, with a mobile allocation of the wanted worker on it, and a mover.
    private func collision(_ places: Places) throws -> (Crew, occupant: Mover, mover: Mover, port: UInt16) {
        let crew = try Crew(3)
        let port = crew.port(0, at: places.flow)
        var occupant: Mover
        if places.occupant == places.flow {
            occupant = try Mover(crew, port: port, places.transport)
        } else {
            occupant = try Mover(crew, port: crew.port(1, at: places.occupant), places.transport)
            #expect(try occupant.move(crew, to: port, places.transport).isSuccess)
        }
        #expect(crew.channel(occupant.client) == occupant.relay)
        #expect(occupant.relay.worker == places.occupant)
        let mover = try Mover(crew, port: crew.port(2, at: places.mover), places.transport)
        #expect(mover.relay.worker == places.mover)
        #expect(crew.contradictions == [])
        return (crew, occupant, mover, port)
    }

    private func finish(_ crew: Crew, _ movers: [Mover]) throws {
        for mover in movers { #expect(try crew.refresh(mover.client, lifetime: 0).isSuccess) }
        crew.settle()
        #expect(crew.contradictions == [])
        #expect(crew.liveAllocations == 0)
        for lab in crew.labs {
            #expect(lab.engine.audit.flows.isEmpty)
            #expect(lab.engine.audit.strangers.isEmpty)
        }
    }

    @Test("a mobile occupant gives way, and goes on wherever its own ticket is brought from", arguments: Places.all)
    func mobileOccupant(places: Places) throws {
        var (crew, occupant, mover, port) = try collision(places)
        #expect(try mover.move(crew, to: port, places.transport).isSuccess)
        #expect(crew.contradictions == [])
        #expect(crew.liveAllocations == 2)
        // What the client sends belongs to the one that moved, and shows it there.
        #expect(crew.channel(mover.client) == mover.relay)
        #expect(crew.toClient(mover.relay) == mover.client.flow)
        #expect(try crew.permit(mover.client).isSuccess)
        #expect(crew.toClient(occupant.relay) != mover.client.flow)
        #expect(try occupant.move(crew, to: crew.port(3, at: places.flow), places.transport).isSuccess)
        #expect(crew.channel(occupant.client) == occupant.relay)
        #expect(crew.toClient(occupant.relay) == occupant.client.flow)
        #expect(crew.channel(mover.client) == mover.relay)
        try finish(crew, [mover, occupant])
    }

    @Test("the flow goes to and fro between two allocations", arguments: Places.all)
    func again(places: Places) throws {
        var (crew, occupant, mover, port) = try collision(places)
        for round in 0..<6 {
            #expect(try mover.move(crew, to: port, places.transport).isSuccess)
            if round % 2 == 0 { #expect(crew.channel(mover.client) == mover.relay) }
            #expect(crew.contradictions == [])
            swap(&mover, &occupant)
        }
        crew.advance(seconds: 5000)
        crew.settle()
        try finish(crew, [])
    }

    @Test(
        "an occupant that was on its way elsewhere arrives there, and one that was on its way here stays where it was",
        arguments: Places.all)
    func movingOccupants(places: Places) throws {
        var (crew, leaving, mover, port) = try collision(places)
        #expect(try leaving.move(crew, to: crew.port(5, at: places.mover), places.transport).isSuccess)
        #expect(try mover.move(crew, to: port, places.transport).isSuccess)
        #expect(crew.toClient(leaving.relay) == leaving.client.flow)
        #expect(crew.contradictions == [])

        let coming = try Mover(crew, port: crew.port(6, at: places.occupant), places.transport)
        var arriving = coming
        #expect(try arriving.move(crew, to: crew.port(7, at: places.flow), places.transport).isSuccess)
        #expect(try mover.move(crew, to: crew.port(7, at: places.flow), places.transport).isSuccess)
        #expect(crew.channel(mover.client) == mover.relay)
        #expect(crew.toClient(coming.relay) == coming.client.flow)
        #expect(crew.channel(coming.client) == coming.relay)
        try finish(crew, [leaving, coming, mover])
    }

    @Test(
        "an occupant that is not mobile keeps the flow: 437, as for Allocate, and nothing changes",
        arguments: Places.all.filter { $0.flow == $0.occupant })
    func fixedOccupant(places: Places) throws {
        let crew = try Crew(3)
        let port = crew.port(0, at: places.flow)
        let fixed = try crew.client(port, places.transport)
        let allocate = fixed.request(.allocate, crew.labs[0]) {
            $0.append(.requestedTransport, integer: UInt32(17) << 24)
        }
        #expect(try crew.ask(allocate, on: fixed.flow).isSuccess)
        let bind = fixed.request(.channelBind, crew.labs[0]) { writer in
            writer.append(.channelNumber, integer: UInt32(0x4001) << 16)
            writer.append(.xorPeerAddress, xor: Lab.peer)
        }
        #expect(try crew.ask(bind, on: fixed.flow).isSuccess)
        let mover = try Mover(crew, port: crew.port(2, at: places.mover), places.transport)
        var moving = mover
        #expect(try moving.move(crew, to: port, places.transport).error == 437)
        #expect(crew.channel(fixed, 0x4001)?.worker == places.flow)
        #expect(crew.channel(mover.client) == mover.relay)
        moving = mover
        #expect(try moving.move(crew, to: crew.port(3, at: places.flow), places.transport).isSuccess)
        #expect(crew.contradictions == [])
    }

    @Test("before the mover is known nothing happens to the occupant", arguments: Places.all)
    func unproved(places: Places) throws {
        let (crew, occupant, mover, port) = try collision(places)
        let thieves: [(error: UInt16, known: LabClient)] = [
            (401, try crew.client(port, places.transport, password: "guessed")),
            (441, try crew.client(port, places.transport, username: "bob", password: "builder")),
            (438, mover.client),
        ]
        for (error, known) in thieves {
            var thief = LabClient(
                port: port, username: known.username, password: known.password, transport: places.transport)
            thief.nonce = known.nonce
            for lifetime in [nil, 0, 600] as [UInt32?] {
                let request = Mover.request(thief, crew, mover.ticket, lifetime: lifetime)
                #expect(try crew.ask(request, on: thief.flow).error == error)
            }
            // Not even while the owner has not answered yet.
            crew.receive(Mover.request(thief, crew, mover.ticket), on: thief.flow)
            #expect(crew.channel(occupant.client) == occupant.relay)
        }
        #expect(crew.labs.allSatisfy { $0.engine.tally.moved <= 1 })
        #expect(crew.toClient(occupant.relay) == occupant.client.flow)
        #expect(crew.channel(mover.client) == mover.relay)
        try finish(crew, [occupant, mover])
    }

    @Test("a ticket for the very allocation of the flow stays 400, but for the last move again", arguments: Places.all)
    func sameAllocation(places: Places) throws {
        let (crew, occupant, mover, port) = try collision(places)
        let again = try crew.client(port, places.transport)
        let bytes = Mover.request(again, crew, mover.ticket)
        let first = try crew.ask(bytes, on: again.flow)
        #expect(first.isSuccess)
        #expect(try crew.ask(bytes, on: again.flow).bytes == first.bytes)
        #expect(
            crew.labs[places.mover].engine.tally.moved
                == (places.mover == places.occupant && places.occupant != places.flow ? 2 : 1))
        let ticket = try #require(try Mover.ticket(in: first))
        for wrong in [ticket, [1, 2]] {
            #expect(try crew.ask(Mover.request(again, crew, wrong), on: again.flow).error == 400)
        }
        // The occupant's own ticket brings it back, and sends the other away.
        #expect(try crew.ask(Mover.request(again, crew, occupant.ticket), on: again.flow).isSuccess)
        #expect(crew.channel(again) == occupant.relay)
        #expect(crew.contradictions == [])
    }

    @Test(
        "a Refresh of 0 takes no flow: it ends the ticket's allocation, and the occupant stays", arguments: Places.all)
    func ending(places: Places) throws {
        let (crew, occupant, mover, _) = try collision(places)
        let client = occupant.client
        let bytes = Mover.request(client, crew, mover.ticket, lifetime: 0)
        for _ in 0..<2 {
            let answer = try crew.ask(bytes, on: client.flow)
            #expect(answer.isSuccess)
            #expect(answer.lifetime == 0)
        }
        #expect(crew.liveAllocations == 1)
        #expect(crew.channel(client) == occupant.relay)
        #expect(crew.contradictions == [])
    }

    @Test(
        "an occupant that came meanwhile and cannot leave keeps the flow, and the mover can go on",
        arguments: Places.all)
    func race(places: Places) throws {
        guard places.mover != places.flow else { return }
        let (crew, occupant, mover, port) = try collision(places)
        #expect(try crew.refresh(occupant.client, lifetime: 0).isSuccess)
        let first = try crew.client(port, places.transport)
        // The owner has the request before the flow is taken, and its answer comes after.
        crew.receive(Mover.request(first, crew, mover.ticket), on: first.flow)
        for lane in crew.lanes where lane.isDatagrams { crew.deliverOne(lane) }
        let allocate = first.request(.allocate, crew.labs[0]) {
            $0.append(.requestedTransport, integer: UInt32(17) << 24)
        }
        crew.receive(allocate, on: first.flow)
        crew.settle()
        let types = crew.takeTypes()
        #expect(types.contains(MessageType(.success, .allocate)))
        #expect(!types.contains(MessageType(.success, .refresh)))
        #expect(crew.contradictions == [])
        #expect(crew.channel(mover.client) == mover.relay)
    }

    @Test("when the session of a guest ends, its allocation is free to be resumed", arguments: Places.all)
    func closed(places: Places) throws {
        guard places.transport == .dtls else { return }
        var (crew, occupant, mover, _) = try collision(places)
        #expect(crew.labs[places.flow].engine.hasAllocation(on: occupant.client.flow) == true)
        crew.close(occupant.client.flow)
        crew.settle()
        #expect(crew.contradictions == [])
        #expect(crew.toClient(occupant.relay) != occupant.client.flow)
        #expect(crew.labs[places.flow].engine.hasAllocation(on: occupant.client.flow) == false)
        #expect(try occupant.move(crew, to: crew.port(4, at: places.mover), .udp).isSuccess)
        #expect(crew.channel(occupant.client) == occupant.relay)
        #expect(try mover.move(crew, to: crew.port(5, at: places.flow), .dtls).isSuccess)
        try finish(crew, [occupant, mover])
    }
}
