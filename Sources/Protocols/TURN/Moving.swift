import BasicContainers
import STUN
package import Wire

// Mobility: RFC 8016. An allocation whose client has a new address goes on there.
//
// A Refresh from a new flow that brings the allocation's ticket makes that flow its second one. Until the client is heard
// there, packets from peers go on to the old flow and both are served; then the old flow ends. A ticket is replaced each
// time that it is used, and the one before is good until the old flow ends, in case its answer was lost.
//
// The kernel hands a flow to the worker that it pleases. A ticket names the worker that owns the allocation, and the one
// that received it hands over the request and, from then on, every datagram of the flow: it remembers a stranger, the
// owner a guest. The owner answers from its own socket, which is bound to the same address.

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
    /// Flows of other workers' allocations that this worker remembers: far more than clients that move in an hour.
    static let maximumStrangers = 65_536

    enum TicketHolder {
        /// The slot of the allocation that the ticket is for.
        case own(Int)
        /// The request belongs to this worker.
        case elsewhere(UInt8)
        case nobody
    }

    /// Whose allocation a Refresh on a flow without one is for.
    func holder(of message: borrowing Message, on flow: Flow) -> TicketHolder {
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

    /// Hands a Refresh with another worker's ticket over to it. Only datagrams can be: a connection stays where it is. The
    /// nonce has been to this address and back, so what is remembered of the flow is no forger's; the owner says
    /// whether it is to be kept.
    mutating func handOver(
        _ message: borrowing Message, to worker: UInt8, on flow: Flow, at now: Instant,
        into outbox: inout some RelayOutbox & ~Copyable
    ) -> Bool {
        guard flow.transport == .udp, !isHandedOver, strangers.count < Self.maximumStrangers,
            message.integrityToCheck != nil, let nonce = message.attribute(.nonce),
            nonces.isValid(nonce, for: flow.remote, at: now, authentication)
        else { return false }
        strangers[flow] = worker
        outbox.handOver(message.bytes, on: flow, to: worker)
        return true
    }

    /// A datagram that another worker received and handed over. What it returns is to be sent to a peer.
    package mutating func receiveHandedOver(
        _ bytes: RawSpan, on flow: Flow, from worker: UInt8, at now: Instant,
        into outbox: inout some RelayOutbox & ~Copyable
    ) -> ToPeer? {
        deliverer = worker
        defer { deliverer = nil }
        guard flows[flow] != nil || isRefreshWithTicket(bytes) else {
            // Its allocation ended in the meantime.
            outbox.forget(flow, at: worker)
            return nil
        }
        let forward = receive(bytes, on: flow, at: now, into: &outbox)
        if flows[flow] == nil { outbox.forget(flow, at: worker) }
        return forward
    }

    private func isRefreshWithTicket(_ bytes: RawSpan) -> Bool {
        guard let message = try? Message(bytes) else { return false }
        return message.type == MessageType(.request, .refresh) && message.has(.mobilityTicket)
    }

    /// The owner keeps a flow whose datagrams arrive here.
    package mutating func keepStranger(_ flow: Flow, of worker: UInt8) {
        strangers[flow] = worker
    }

    /// The owner has no more use for a flow whose datagrams arrive here.
    package mutating func forgetStranger(_ flow: Flow, of worker: UInt8) {
        if strangers[flow] == worker { strangers[flow] = nil }
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
        mobility.pending = request.flow
        mobility.serial &+= 1
        mobility.lastMove = (transaction, lifetime)
        allocations[slot].mobility = mobility
        allocations[slot].isMoving = true
        flows[request.flow] = UInt32(truncatingIfNeeded: slot)
        if let deliverer {
            guests[request.flow] = deliverer
            outbox.keep(request.flow, at: deliverer)
        }
        tally.moved &+= 1
        // The old connection is closed already.
        if allocations[slot].flow == .none { arrive(slot: slot) }
        settleDepartures(into: &outbox)
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
        if let worker = guests.removeValue(forKey: flow) { departures.append((flow, worker)) }
    }

    /// Tells other workers of guests that have gone.
    mutating func settleDepartures(into outbox: inout some RelayOutbox & ~Copyable) {
        guard !departures.isEmpty else { return }
        for (flow, worker) in departures { outbox.forget(flow, at: worker) }
        departures = []
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
