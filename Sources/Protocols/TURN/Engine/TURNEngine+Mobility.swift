import BasicContainers
import STUN
import Wire

// Mobility: RFC 8016. An allocation continues at its client's new address.
//
// A Refresh from a new flow with the allocation's ticket makes that flow its second one. Until the client sends
// something else there, packets from peers go to the old flow and both are served; then the old flow ends. A ticket is
// replaced each time that it is used, and the previous one stays valid until the old flow ends, in case the response
// was lost.
//
// The new flow may have an allocation already: of a client that disappeared, and whose port another client has now.
// That is no error, unless the ticket is for that same allocation (section 3.2.2). Once the request is authenticated
// for the ticket's allocation, the occupant is detached as if its connection were closed, and continues when its own
// client sends its ticket. One that is not mobile could not continue: it keeps the flow, and the response is 437.

/// The state of a mobile allocation.
struct Mobility {
    /// The flow that it moves to.
    var pending: Flow?
    /// How often the ticket was replaced.
    var serial: UInt32 = 0
    /// The Refresh that moved it last, and the lifetime that it was granted: a retransmission gets the same response.
    var lastMove: (transaction: TransactionID, lifetime: UInt32)?
}

extension TURNEngine {
    enum TicketOwner {
        /// The slot of the ticket's allocation.
        case local(Int)
        /// The worker of the ticket's allocation.
        case remote(UInt8)
        case unknown
    }

    /// The owner of the allocation that a Refresh with a ticket is for.
    func ticketOwner(of message: borrowing Message) -> TicketOwner {
        guard message.type.method == .refresh, let tickets, let text = message.attribute(.mobilityTicket),
            let ticket = tickets.decode(text, authentication)
        else { return .unknown }
        guard ticket.worker == tickets.worker else { return .remote(ticket.worker) }
        let slot = Int(ticket.slot)
        guard slot < allocations.count, allocations[slot].generation == ticket.generation, allocations[slot].isOpen,
            let mobility = allocations[slot].mobility,
            ticket.serial == mobility.serial || mobility.pending != nil && ticket.serial &+ 1 == mobility.serial
        else { return .unknown }
        return .local(slot)
    }

    /// Whether an allocation may move to this flow: it is free, or its allocation can continue elsewhere.
    func canMove(to flow: Flow) -> Bool {
        if let delivery, delivery.isOccupied { return false }
        guard let occupant = flows[flow] else { return true }
        return canDetach(Int(occupant))
    }

    func canDetach(_ slot: Int) -> Bool {
        allocations[slot].isOpen && allocations[slot].mobility != nil
    }

    /// Makes the request's flow the allocation's pending one, with a new ticket.
    mutating func move(
        slot: Int, _ transaction: TransactionID, lifetime: UInt32, _ request: Request,
        into outbox: inout some RelayOutbox & ~Copyable
    ) {
        guard var mobility = allocations[slot].mobility else { return }
        // It may have released this same flow a moment ago: other workers learn that before it is claimed again.
        flushReleases(into: &outbox)
        if let abandoned = mobility.pending { unmap(abandoned, of: slot) }
        clear(request.flow, into: &outbox)
        mobility.pending = request.flow
        mobility.serial &+= 1
        mobility.lastMove = (transaction, lifetime)
        allocations[slot].mobility = mobility
        allocations[slot].isMoving = true
        flows[request.flow] = UInt32(truncatingIfNeeded: slot)
        counters.moved &+= 1
        // The old connection is closed already.
        if allocations[slot].flow == .none { completeMove(slot: slot) }
    }

    /// Detaches the flow's allocation, here or at another worker.
    private mutating func clear(_ flow: Flow, into outbox: inout some RelayOutbox & ~Copyable) {
        if let occupant = flows[flow] { detach(slot: Int(occupant), from: flow) }
        if let forwardedFlow = forwardedFlows.removeValue(forKey: flow) {
            outbox.evict(flow, forwardedFlow.claim, at: forwardedFlow.owner)
        }
    }

    /// Responds to a move, with the new ticket. When the flow's datagrams arrive at another worker, that worker sends
    /// the response once it has agreed: before that, what the client sends would go to the flow's previous allocation.
    mutating func sendMoveResponse(
        _ transaction: TransactionID, lifetime: UInt32, _ request: Request, _ slot: Int,
        into outbox: inout some RelayOutbox & ~Copyable
    ) {
        writer.begin(MessageType(.success, .refresh), transaction)
        writer.append(.lifetime, integer: lifetime)
        if let ticket = ticket(of: slot) { writer.append(.mobilityTicket, bytes: ticket) }
        guard sign(request.signing) else { return }
        guard let delivery else {
            outbox.send(writer.bytes.span.bytes, on: request.flow)
            return
        }
        let claim = lastClaim.next()
        lastClaim = claim
        ingresses[request.flow] = FlowIngress(host: delivery.worker, claim: claim)
        outbox.keep(request.flow, claim, at: delivery.worker, response: writer.bytes.span.bytes)
    }

    /// The pending flow becomes the allocation's flow, and the old one ends.
    mutating func completeMove(slot: Int) {
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
            completeMove(slot: slot)
        } else {
            unmap(flow, of: slot)
            allocations[slot].flow = .none
        }
    }

    mutating func unmap(_ flow: Flow, of slot: Int) {
        // A new connection may have the flow of one that was closed while its relay was being opened.
        guard flows[flow] == UInt32(truncatingIfNeeded: slot) else { return }
        flows[flow] = nil
        if let ingress = ingresses.removeValue(forKey: flow) { pendingReleases.append((flow, ingress)) }
    }

    /// The current ticket, for a response.
    func ticket(of slot: Int) -> [UInt8]? {
        guard let serial = allocations[slot].mobility?.serial else { return nil }
        return tickets?.encode(
            slot: slot, generation: allocations[slot].generation, serial: serial, authentication)
    }
}

extension Flow {
    /// The flow of no client.
    static let none = Flow(
        .udp, local: TransportAddress(IPAddress(ipv4: 0), port: 0),
        remote: TransportAddress(IPAddress(ipv4: 0), port: 0))
}
