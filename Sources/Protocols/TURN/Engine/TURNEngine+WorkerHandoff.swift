import BasicContainers
import STUN
package import Wire

// Handoffs between workers. The kernel assigns each flow to one of the workers, and always to the same. A ticket names
// the worker that owns the allocation. A connection is handed to it as a whole: see `workerOfTicket`. A datagram is
// forwarded, and once the owner has authenticated its Refresh, so is every further datagram of the flow.
//
//     the flow's worker (ingress)                          the allocation's owner
//       Refresh with ticket     -------- forward ------->   authenticates
//       keepForwardedFlow       < keep(claim), response -   ingresses[flow] = claim
//       forwardedFlows[flow] = claim, sends the response
//       datagrams               -------- forward ------->
//       forgetForwardedFlow     <---- forget(claim) -----   moved on or ended
//       another client's flow   ----- evict(claim) ----->   removeIngress
//
// The flow's worker decides which allocation has the flow; it changes nothing before the owner has authenticated the
// request. Each claim has a number, and messages between two workers keep their order. So a released claim and a newer
// one for the same flow are never confused, and both sides agree when all messages have arrived.
//
// For a UDP flow the owner sends from its own socket, which is bound to the same address. A DTLS session stays with the
// flow's worker, which decrypts before it forwards, and encrypts what the owner sends through it. The session itself
// could not be handed off as well: two workers would have to tell apart the hellos and records that the kernel
// delivers.

/// The number of an owner's claim to a flow whose datagrams arrive at another worker, counted by the owner.
package struct Claim: Hashable, Sendable {
    package let rawValue: UInt32

    package init(rawValue: UInt32) {
        self.rawValue = rawValue
    }

    func next() -> Claim {
        Claim(rawValue: rawValue &+ 1)
    }
}

/// Which worker owns the allocation of a flow whose datagrams arrive here.
struct ForwardedFlow {
    let owner: UInt8
    let claim: Claim
}

/// At which worker the datagrams of a flow arrive whose allocation is here.
struct FlowIngress {
    let host: UInt8
    let claim: Claim
}

/// Where a datagram comes from that another worker forwarded.
struct Delivery {
    let worker: UInt8
    let flow: Flow
    /// An allocation of that worker has the flow and cannot be detached from it.
    let isOccupied: Bool
}

extension TURNEngine {
    /// At most so many flows are forwarded to other workers: far more than clients move in an hour.
    static let maximumForwardedFlows = 65_536

    /// Forwards a Refresh with another worker's ticket to that worker. Its nonce proves that the source address is not
    /// spoofed.
    mutating func forward(
        _ message: borrowing Message, to worker: UInt8, on flow: Flow, at now: Instant,
        into outbox: inout some RelayOutbox & ~Copyable
    ) -> Bool {
        guard !flow.transport.isStream, delivery == nil, forwardedFlows.count < Self.maximumForwardedFlows,
            hasNonce(message, on: flow, at: now)
        else { return false }
        let isOccupied = flows[flow].map { !canDetach(Int($0)) } ?? false
        outbox.forward(message.bytes, on: flow, to: worker, isOccupied: isOccupied)
        return true
    }

    private func hasNonce(_ message: borrowing Message, on flow: Flow, at now: Instant) -> Bool {
        guard message.integrityToCheck != nil, let nonce = message.attribute(.nonce) else { return false }
        return nonces.isValid(nonce, for: flow.noncedSource, at: now, authentication)
    }

    /// The worker to which a connection must be handed as a whole, with this message: a Refresh with another worker's
    /// ticket and a valid nonce. A connection that has an allocation stays; a client that moves makes a new one.
    package func workerOfTicket(in bytes: RawSpan, on flow: Flow, at now: Instant) -> UInt8? {
        guard flow.transport.isStream, flows[flow] == nil, isRefresh(bytes), let message = try? Message(bytes),
            case .remote(let worker) = ticketOwner(of: message), hasNonce(message, on: flow, at: now)
        else { return nil }
        return worker
    }

    /// Whether a datagram of a forwarded flow is a Refresh with a ticket that is not its owner's. An expired ticket of
    /// this worker counts too: only this worker knows the state of its allocation.
    func carriesTicket(_ bytes: RawSpan, ofOtherThan owner: UInt8) -> Bool {
        guard isRefresh(bytes), let tickets, let message = try? Message(bytes),
            let text = message.attribute(.mobilityTicket), let ticket = tickets.decode(text, authentication)
        else { return false }
        return ticket.worker != owner
    }

    private func isRefresh(_ bytes: RawSpan) -> Bool {
        bytes.integer(at: 0, as: UInt16.self) == MessageType(.request, .refresh).bits
    }

    private func isRefreshWithTicket(_ bytes: RawSpan) -> Bool {
        guard isRefresh(bytes), let message = try? Message(bytes) else { return false }
        return message.has(.mobilityTicket)
    }

    /// Handles a datagram that another worker received and forwarded. The packet that it returns is sent to a peer.
    /// With `isOccupied`, that worker has an allocation that cannot be detached from the flow.
    package mutating func receiveForwarded(
        _ bytes: RawSpan, on flow: Flow, from worker: UInt8, isOccupied: Bool, at now: Instant,
        into outbox: inout some RelayOutbox & ~Copyable
    ) -> ToPeer? {
        // Otherwise its allocation ended in the meantime, and that worker gets or got a `forget`.
        guard flows[flow] != nil || isRefreshWithTicket(bytes) else {
            counters.unexpected &+= 1
            return nil
        }
        delivery = Delivery(worker: worker, flow: flow, isOccupied: isOccupied)
        defer { delivery = nil }
        return receive(bytes, on: flow, at: now, into: &outbox)
    }

    /// The owner of an allocation claims a flow whose datagrams arrive here. True when it gets it: then its response
    /// may be sent.
    package mutating func keepForwardedFlow(
        _ flow: Flow, of worker: UInt8, _ claim: Claim, into outbox: inout some RelayOutbox & ~Copyable
    ) -> Bool {
        let known = forwardedFlows[flow]
        let occupant = flows[flow].map { Int($0) }
        guard occupant.map({ canDetach($0) }) ?? true,
            known != nil || forwardedFlows.count < Self.maximumForwardedFlows
        else {
            outbox.evict(flow, claim, at: worker)
            return false
        }
        if let occupant { detach(slot: occupant, from: flow) }
        if let known, known.owner != worker { outbox.evict(flow, known.claim, at: known.owner) }
        forwardedFlows[flow] = ForwardedFlow(owner: worker, claim: claim)
        flushReleases(into: &outbox)
        return true
    }

    /// The owner releases a flow whose datagrams arrive here.
    package mutating func forgetForwardedFlow(_ flow: Flow, of worker: UInt8, _ claim: Claim) {
        guard let forwardedFlow = forwardedFlows[flow], forwardedFlow.owner == worker, forwardedFlow.claim == claim
        else { return }
        forwardedFlows[flow] = nil
    }

    /// The worker at which a flow's datagrams arrive gave it to another allocation, or the flow was closed.
    package mutating func removeIngress(_ flow: Flow, _ claim: Claim, into outbox: inout some RelayOutbox & ~Copyable) {
        guard let ingress = ingresses[flow], ingress.claim == claim else { return }
        ingresses[flow] = nil
        if let slot = flows[flow] { detach(slot: Int(slot), from: flow) }
        flushReleases(into: &outbox)
    }

    /// Notifies other workers of flows that were released.
    mutating func flushReleases(into outbox: inout some RelayOutbox & ~Copyable) {
        guard !pendingReleases.isEmpty else { return }
        for (flow, ingress) in pendingReleases { outbox.forget(flow, ingress.claim, at: ingress.host) }
        pendingReleases = []
    }

    /// The worker that must send to this flow, nil for this one.
    func host(of flow: Flow) -> UInt8? {
        guard flow.transport == .dtls else { return nil }
        if let delivery, delivery.flow == flow { return delivery.worker }
        return ingresses.isEmpty ? nil : ingresses[flow]?.host
    }

    /// Whether a message of another worker may be sent through this one: relayed packets only on a flow that it owns,
    /// since another client may have the flow by now; responses always, since only the client that made the request
    /// accepts them.
    package func mayPass(_ message: RawSpan, on flow: Flow, of worker: UInt8) -> Bool {
        if forwardedFlows[flow]?.owner == worker { return true }
        guard let message = try? Message(message) else { return false }
        return message.type.messageClass == .success || message.type.messageClass == .failure
    }
}
