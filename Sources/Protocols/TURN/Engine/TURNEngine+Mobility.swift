import BasicContainers
import STUN
import Wire

// Mobility: RFC 8016. An allocation whose client has a new address goes on there.
//
// A Refresh from a new flow that brings the allocation's ticket makes that flow its second one. Until the client is heard
// there, packets from peers go on to the old flow and both are served; then the old flow ends. A ticket is replaced each
// time that it is used, and the one before is good until the old flow ends, in case its answer was lost.
//
// The new flow may have an allocation: of a client that went away without a word, and whose port somebody else has now.
// That is no reason to refuse, as it is where the ticket is for that very allocation (section 3.2.2). Once the request is
// authenticated, as for the ticket's allocation, the occupant leaves as if its connection were closed, and goes on when
// its own client brings its ticket. One that is not mobile could not go on: it keeps the flow, and the answer is 437.

/// How an allocation moves.
struct Mobility {
    /// The flow that it moves to.
    var pending: Flow?
    /// How often the ticket was replaced.
    var serial: UInt32 = 0
    /// The Refresh that moved it last, and the lifetime that it was granted: a retransmission gets the same answer.
    var lastMove: (transaction: TransactionID, lifetime: UInt32)?
}

extension TURNEngine {
    enum TicketHolder {
        /// The slot of the allocation that the ticket is for.
        case own(Int)
        /// The request belongs to this worker.
        case elsewhere(UInt8)
        case nobody
    }

    /// Whose allocation a Refresh with a ticket is for.
    func holder(of message: borrowing Message) -> TicketHolder {
        guard message.type.method == .refresh, let tickets, let text = message.attribute(.mobilityTicket),
            let ticket = tickets.read(text, authentication)
        else { return .nobody }
        guard ticket.worker == tickets.worker else { return .elsewhere(ticket.worker) }
        let slot = Int(ticket.slot)
        guard slot < allocations.count, allocations[slot].generation == ticket.generation, allocations[slot].isOpen,
            let mobility = allocations[slot].mobility,
            ticket.serial == mobility.serial || mobility.pending != nil && ticket.serial &+ 1 == mobility.serial
        else { return .nobody }
        return .own(slot)
    }

    /// Whether an allocation may move to this flow: nobody is there, or one that can go on elsewhere.
    func mayTake(_ flow: Flow) -> Bool {
        if let delivery, delivery.isTaken { return false }
        guard let occupant = flows[flow] else { return true }
        return canLeave(Int(occupant))
    }

    func canLeave(_ slot: Int) -> Bool {
        allocations[slot].isOpen && allocations[slot].mobility != nil
    }

    /// Makes the request's flow the one that the allocation moves to, under a new ticket.
    mutating func move(
        slot: Int, _ transaction: TransactionID, lifetime: UInt32, _ request: Request,
        into outbox: inout some RelayOutbox & ~Copyable
    ) {
        guard var mobility = allocations[slot].mobility else { return }
        // It may have left this very flow a moment ago: that is told before it is kept again.
        settleDepartures(into: &outbox)
        if let abandoned = mobility.pending { unmap(abandoned, of: slot) }
        clear(request.flow, into: &outbox)
        mobility.pending = request.flow
        mobility.serial &+= 1
        mobility.lastMove = (transaction, lifetime)
        allocations[slot].mobility = mobility
        allocations[slot].isMoving = true
        flows[request.flow] = UInt32(truncatingIfNeeded: slot)
        tally.moved &+= 1
        // The old connection is closed already.
        if allocations[slot].flow == .none { arrive(slot: slot) }
    }

    /// Whoever has the flow leaves it.
    private mutating func clear(_ flow: Flow, into outbox: inout some RelayOutbox & ~Copyable) {
        if let occupant = flows[flow] { detach(slot: Int(occupant), from: flow) }
        if let stranger = strangers.removeValue(forKey: flow) {
            outbox.evict(flow, stranger.claim, at: stranger.owner)
        }
    }

    /// The answer to a move, with the ticket that is good now. When another worker has the flow's datagrams, it agrees to
    /// the move first: so the client says nothing yet that would go to who was there before.
    mutating func answerMove(
        _ transaction: TransactionID, lifetime: UInt32, _ request: Request, _ slot: Int,
        into outbox: inout some RelayOutbox & ~Copyable
    ) {
        writer.begin(MessageType(.success, .refresh), transaction)
        writer.append(.lifetime, integer: lifetime)
        if let ticket = ticket(of: slot) { writer.append(.mobilityTicket, bytes: ticket) }
        guard sign(request.shape) else { return }
        guard let delivery else {
            outbox.send(writer.bytes.span.bytes, on: request.flow)
            return
        }
        let claim = lastClaim.next()
        lastClaim = claim
        guests[request.flow] = Guest(host: delivery.worker, claim: claim)
        outbox.keep(request.flow, claim, at: delivery.worker, answer: writer.bytes.span.bytes)
    }

    /// The client was heard on the flow that its allocation moves to: the old flow ends.
    mutating func arrive(slot: Int) {
        guard let flow = allocations[slot].mobility?.pending else { return }
        unmap(allocations[slot].flow, of: slot)
        allocations[slot].flow = flow
        allocations[slot].mobility?.pending = nil
        allocations[slot].isMoving = false
    }

    /// A mobile allocation survives its connection until it expires.
    mutating func detach(slot: Int, from flow: Flow) {
        if allocations[slot].mobility?.pending == flow {
            unmap(flow, of: slot)
            allocations[slot].mobility?.pending = nil
            allocations[slot].isMoving = false
        } else if allocations[slot].isMoving {
            arrive(slot: slot)
        } else {
            unmap(flow, of: slot)
            allocations[slot].flow = .none
        }
    }

    mutating func unmap(_ flow: Flow, of slot: Int) {
        // A new connection may have the flow of one that was closed while its relay was being opened.
        guard flows[flow] == UInt32(truncatingIfNeeded: slot) else { return }
        flows[flow] = nil
        if let guest = guests.removeValue(forKey: flow) { departures.append((flow, guest)) }
    }

    /// The ticket that is good now, for an answer.
    func ticket(of slot: Int) -> [UInt8]? {
        guard let serial = allocations[slot].mobility?.serial else { return nil }
        return tickets?.ticket(
            slot: slot, generation: allocations[slot].generation, serial: serial, authentication)
    }
}

extension Flow {
    /// No client's.
    static let none = Flow(
        .udp, local: TransportAddress(IPAddress(ipv4: 0), port: 0),
        remote: TransportAddress(IPAddress(ipv4: 0), port: 0))
}
