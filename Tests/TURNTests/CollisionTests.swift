import STUN
import TURN
import Testing
import Wire

/// A client moves to a 5-tuple on which another allocation still stands: that of a client that went away without a
/// word, and whose port somebody else has now. Its allocation, the occupant's and the flow's datagrams may all be at
/// different workers.
@Suite("Moving to an occupied flow")
struct CollisionTests {
    struct Assignment: CustomTestStringConvertible, Sendable {
        let flow, occupant, mover: Int
        let transport: Flow.Transport
        var testDescription: String { "\(transport) at \(flow), of \(occupant), to \(mover)" }

        /// All ways in which three workers can share the parts.
        static let all = [Flow.Transport.udp, .dtls].flatMap { transport in
            (0..<27).map { Assignment(flow: $0 / 9, occupant: $0 / 3 % 3, mover: $0 % 3, transport: transport) }
        }
    }

    /// The flow in question, with a mobile allocation of the given worker on it, and a mover.
    private func collision(_ assignment: Assignment) throws -> (
        WorkerGroupHarness, occupant: Mover, mover: Mover, port: UInt16
    ) {
        let group = try WorkerGroupHarness(3)
        let port = group.port(0, at: assignment.flow)
        var occupant: Mover
        if assignment.occupant == assignment.flow {
            occupant = try Mover(group, port: port, assignment.transport)
        } else {
            occupant = try Mover(group, port: group.port(1, at: assignment.occupant), assignment.transport)
            #expect(try occupant.move(group, to: port, assignment.transport).isSuccess)
        }
        #expect(group.channel(occupant.client) == occupant.relay)
        #expect(occupant.relay.worker == assignment.occupant)
        let mover = try Mover(group, port: group.port(2, at: assignment.mover), assignment.transport)
        #expect(mover.relay.worker == assignment.mover)
        #expect(group.inconsistencies == [])
        return (group, occupant, mover, port)
    }

    private func finish(_ group: WorkerGroupHarness, _ movers: [Mover]) throws {
        for mover in movers { #expect(try group.refresh(mover.client, lifetime: 0).isSuccess) }
        group.settle()
        #expect(group.inconsistencies == [])
        #expect(group.liveAllocations == 0)
        for harness in group.workers {
            #expect(harness.engine.audit.flows.isEmpty)
            #expect(harness.engine.audit.forwardedFlows.isEmpty)
        }
    }

    @Test("a mobile occupant gives way, and goes on wherever its own ticket is brought from", arguments: Assignment.all)
    func mobileOccupant(assignment: Assignment) throws {
        var (group, occupant, mover, port) = try collision(assignment)
        #expect(try mover.move(group, to: port, assignment.transport).isSuccess)
        #expect(group.inconsistencies == [])
        #expect(group.liveAllocations == 2)
        // What the client sends belongs to the one that moved, and shows it there.
        #expect(group.channel(mover.client) == mover.relay)
        #expect(group.toClient(mover.relay) == mover.client.flow)
        #expect(try group.permit(mover.client).isSuccess)
        #expect(group.toClient(occupant.relay) != mover.client.flow)
        #expect(try occupant.move(group, to: group.port(3, at: assignment.flow), assignment.transport).isSuccess)
        #expect(group.channel(occupant.client) == occupant.relay)
        #expect(group.toClient(occupant.relay) == occupant.client.flow)
        #expect(group.channel(mover.client) == mover.relay)
        try finish(group, [mover, occupant])
    }

    @Test("the flow goes to and fro between two allocations", arguments: Assignment.all)
    func again(assignment: Assignment) throws {
        var (group, occupant, mover, port) = try collision(assignment)
        for round in 0..<6 {
            #expect(try mover.move(group, to: port, assignment.transport).isSuccess)
            if round % 2 == 0 { #expect(group.channel(mover.client) == mover.relay) }
            #expect(group.inconsistencies == [])
            swap(&mover, &occupant)
        }
        group.advance(seconds: 5000)
        group.settle()
        try finish(group, [])
    }

    @Test(
        "an occupant that was on its way elsewhere arrives there, and one that was on its way here stays where it was",
        arguments: Assignment.all)
    func movingOccupants(assignment: Assignment) throws {
        var (group, leaving, mover, port) = try collision(assignment)
        #expect(try leaving.move(group, to: group.port(5, at: assignment.mover), assignment.transport).isSuccess)
        #expect(try mover.move(group, to: port, assignment.transport).isSuccess)
        #expect(group.toClient(leaving.relay) == leaving.client.flow)
        #expect(group.inconsistencies == [])

        let incoming = try Mover(group, port: group.port(6, at: assignment.occupant), assignment.transport)
        var arriving = incoming
        #expect(try arriving.move(group, to: group.port(7, at: assignment.flow), assignment.transport).isSuccess)
        #expect(try mover.move(group, to: group.port(7, at: assignment.flow), assignment.transport).isSuccess)
        #expect(group.channel(mover.client) == mover.relay)
        #expect(group.toClient(incoming.relay) == incoming.client.flow)
        #expect(group.channel(incoming.client) == incoming.relay)
        try finish(group, [leaving, incoming, mover])
    }

    @Test(
        "an occupant that is not mobile keeps the flow: 437, as for Allocate, and nothing changes",
        arguments: Assignment.all.filter { $0.flow == $0.occupant })
    func fixedOccupant(assignment: Assignment) throws {
        let group = try WorkerGroupHarness(3)
        let port = group.port(0, at: assignment.flow)
        let fixed = try group.client(port, assignment.transport)
        let allocate = fixed.request(.allocate, group.workers[0]) {
            $0.append(.requestedTransport, integer: UInt32(17) << 24)
        }
        #expect(try group.ask(allocate, on: fixed.flow).isSuccess)
        let bind = fixed.request(.channelBind, group.workers[0]) { writer in
            writer.append(.channelNumber, integer: UInt32(0x4001) << 16)
            writer.append(.xorPeerAddress, xor: RelayHarness.peer)
        }
        #expect(try group.ask(bind, on: fixed.flow).isSuccess)
        let mover = try Mover(group, port: group.port(2, at: assignment.mover), assignment.transport)
        var moving = mover
        #expect(try moving.move(group, to: port, assignment.transport).error == 437)
        #expect(group.channel(fixed, 0x4001)?.worker == assignment.flow)
        #expect(group.channel(mover.client) == mover.relay)
        moving = mover
        #expect(try moving.move(group, to: group.port(3, at: assignment.flow), assignment.transport).isSuccess)
        #expect(group.inconsistencies == [])
    }

    @Test("before the mover is known nothing happens to the occupant", arguments: Assignment.all)
    func unproved(assignment: Assignment) throws {
        let (group, occupant, mover, port) = try collision(assignment)
        let thieves: [(error: UInt16, known: TestClient)] = [
            (401, try group.client(port, assignment.transport, password: "guessed")),
            (441, try group.client(port, assignment.transport, username: "bob", password: "builder")),
            (438, mover.client),
        ]
        for (error, known) in thieves {
            var thief = TestClient(
                port: port, username: known.username, password: known.password, transport: assignment.transport)
            thief.nonce = known.nonce
            for lifetime in [nil, 0, 600] as [UInt32?] {
                let request = Mover.request(thief, group, mover.ticket, lifetime: lifetime)
                #expect(try group.ask(request, on: thief.flow).error == error)
            }
            // Not even while the owner has not responded yet.
            group.receive(Mover.request(thief, group, mover.ticket), on: thief.flow)
            #expect(group.channel(occupant.client) == occupant.relay)
        }
        #expect(group.workers.allSatisfy { $0.engine.counters.moved <= 1 })
        #expect(group.toClient(occupant.relay) == occupant.client.flow)
        #expect(group.channel(mover.client) == mover.relay)
        try finish(group, [occupant, mover])
    }

    @Test(
        "a ticket for the very allocation of the flow stays 400, but for the last move again", arguments: Assignment.all
    )
    func sameAllocation(assignment: Assignment) throws {
        let (group, occupant, mover, port) = try collision(assignment)
        let again = try group.client(port, assignment.transport)
        let bytes = Mover.request(again, group, mover.ticket)
        let first = try group.ask(bytes, on: again.flow)
        #expect(first.isSuccess)
        #expect(try group.ask(bytes, on: again.flow).bytes == first.bytes)
        #expect(
            group.workers[assignment.mover].engine.counters.moved
                == (assignment.mover == assignment.occupant && assignment.occupant != assignment.flow ? 2 : 1))
        let ticket = try #require(try Mover.ticket(in: first))
        for wrong in [ticket, [1, 2]] {
            #expect(try group.ask(Mover.request(again, group, wrong), on: again.flow).error == 400)
        }
        // The occupant's own ticket brings it back, and sends the other away.
        #expect(try group.ask(Mover.request(again, group, occupant.ticket), on: again.flow).isSuccess)
        #expect(group.channel(again) == occupant.relay)
        #expect(group.inconsistencies == [])
    }

    @Test(
        "a Refresh of 0 takes no flow: it ends the ticket's allocation, and the occupant stays",
        arguments: Assignment.all)
    func ending(assignment: Assignment) throws {
        let (group, occupant, mover, _) = try collision(assignment)
        let client = occupant.client
        let bytes = Mover.request(client, group, mover.ticket, lifetime: 0)
        for _ in 0..<2 {
            let response = try group.ask(bytes, on: client.flow)
            #expect(response.isSuccess)
            #expect(response.lifetime == 0)
        }
        #expect(group.liveAllocations == 1)
        #expect(group.channel(client) == occupant.relay)
        #expect(group.inconsistencies == [])
    }

    @Test(
        "an occupant that came meanwhile and cannot leave keeps the flow, and the mover can go on",
        arguments: Assignment.all)
    func race(assignment: Assignment) throws {
        guard assignment.mover != assignment.flow else { return }
        let (group, occupant, mover, port) = try collision(assignment)
        #expect(try group.refresh(occupant.client, lifetime: 0).isSuccess)
        let first = try group.client(port, assignment.transport)
        // The owner has the request before the flow is occupied, and its response comes after.
        group.receive(Mover.request(first, group, mover.ticket), on: first.flow)
        for lane in group.lanes where lane.isDatagrams { group.deliverOne(lane) }
        let allocate = first.request(.allocate, group.workers[0]) {
            $0.append(.requestedTransport, integer: UInt32(17) << 24)
        }
        group.receive(allocate, on: first.flow)
        group.settle()
        let types = group.takeTypes()
        #expect(types.contains(MessageType(.success, .allocate)))
        #expect(!types.contains(MessageType(.success, .refresh)))
        #expect(group.inconsistencies == [])
        #expect(group.channel(mover.client) == mover.relay)
    }

    @Test("when the session of a forwarded flow ends, its allocation can be resumed", arguments: Assignment.all)
    func closed(assignment: Assignment) throws {
        guard assignment.transport == .dtls else { return }
        var (group, occupant, mover, _) = try collision(assignment)
        #expect(group.workers[assignment.flow].engine.hasAllocation(on: occupant.client.flow) == true)
        group.close(occupant.client.flow)
        group.settle()
        #expect(group.inconsistencies == [])
        #expect(group.toClient(occupant.relay) != occupant.client.flow)
        #expect(group.workers[assignment.flow].engine.hasAllocation(on: occupant.client.flow) == false)
        #expect(try occupant.move(group, to: group.port(4, at: assignment.mover), .udp).isSuccess)
        #expect(group.channel(occupant.client) == occupant.relay)
        #expect(try mover.move(group, to: group.port(5, at: assignment.flow), .dtls).isSuccess)
        try finish(group, [occupant, mover])
    }
}
