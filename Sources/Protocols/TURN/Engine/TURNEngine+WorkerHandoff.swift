import BasicContainers
import STUN
package import Wire

// Moves between workers. The kernel hands a flow to the worker that it pleases, and always to the same. A ticket names the
// worker that owns the allocation. A connection goes there whole: see `workerOfTicket`. A datagram is handed over, and
// once the owner has authenticated its Refresh, so is every further datagram of the flow.
//
//     the flow's worker                                  the allocation's owner
//       Refresh with ticket  -------- handOver ------->   authenticates
//       keepStranger         <-- keep(claim), answer --   guests[flow] = claim
//       strangers[flow] = claim, the answer leaves
//       datagrams            -------- handOver ------->
//       forgetStranger       <----- forget(claim) -----   moved on or ended
//       somebody else's now  ------ evict(claim) ----->   loseGuest
//
// The flow's worker decides whose a flow is; nothing is remembered or taken from anybody before the owner has agreed.
// Each claim has a number, and messages between two workers keep their order. So a claim that one side has given up and a
// newer one for the same flow are never confused, and when all messages have arrived both sides remember the same.
//
// A worker answers a UDP guest from its own socket, which is bound to the same address. A DTLS session stays with the
// flow's worker, which decrypts before it hands over, and encrypts what the owner sends through it. The session itself
// could not move as well: hellos and records that the kernel brings would have to be told apart by two workers.

/// A flow of an allocation at another worker, in the numbers of that worker.
package struct Claim: Hashable, Sendable {
    package let rawValue: UInt32

    package init(rawValue: UInt32) {
        self.rawValue = rawValue
    }

    func next() -> Claim {
        Claim(rawValue: rawValue &+ 1)
    }
}

/// Whose the datagrams of a flow are that arrive here.
struct Stranger {
    let owner: UInt8
    let claim: Claim
}

/// Where the datagrams arrive of a flow that an allocation here has.
struct Guest {
    let host: UInt8
    let claim: Claim
}

/// How a datagram came that another worker handed over.
struct Delivery {
    let worker: UInt8
    let flow: Flow
    /// An allocation of that worker has the flow and cannot leave it.
    let isTaken: Bool
}

extension TURNEngine {
    /// Flows of other workers' allocations that this worker remembers: far more than clients that move in an hour.
    static let maximumStrangers = 65_536

    /// Hands a Refresh with another worker's ticket over to it. The nonce has been to this address and back, so whoever
    /// sends this is where he says.
    mutating func handOver(
        _ message: borrowing Message, to worker: UInt8, on flow: Flow, at now: Instant,
        into outbox: inout some RelayOutbox & ~Copyable
    ) -> Bool {
        guard !flow.transport.isStream, delivery == nil, strangers.count < Self.maximumStrangers,
            hasNonce(message, on: flow, at: now)
        else { return false }
        let isTaken = flows[flow].map { !canLeave(Int($0)) } ?? false
        outbox.handOver(message.bytes, on: flow, to: worker, isTaken: isTaken)
        return true
    }

    private func hasNonce(_ message: borrowing Message, on flow: Flow, at now: Instant) -> Bool {
        guard message.integrityToCheck != nil, let nonce = message.attribute(.nonce) else { return false }
        return nonces.isValid(nonce, for: flow.noncedSource, at: now, authentication)
    }

    /// The worker to which a connection is to be brought, whole and with this message: a Refresh with another worker's
    /// ticket and a good nonce. A connection that has an allocation stays where it is; a client that moves has a new one.
    package func workerOfTicket(in bytes: RawSpan, on flow: Flow, at now: Instant) -> UInt8? {
        guard flow.transport.isStream, flows[flow] == nil, isRefresh(bytes), let message = try? Message(bytes),
            case .elsewhere(let worker) = holder(of: message), hasNonce(message, on: flow, at: now)
        else { return nil }
        return worker
    }

    /// Whether a datagram of a stranger is a Refresh with a ticket that is not its owner's. A ticket of this worker that is
    /// no longer good counts too: this one knows what became of its allocation.
    func isForAnother(_ bytes: RawSpan, than owner: UInt8) -> Bool {
        guard isRefresh(bytes), let tickets, let message = try? Message(bytes),
            let text = message.attribute(.mobilityTicket), let ticket = tickets.read(text, authentication)
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

    /// A datagram that another worker received and handed over. What it returns is to be sent to a peer. With `isTaken`,
    /// that worker has an allocation on the flow that cannot leave it.
    package mutating func receiveHandedOver(
        _ bytes: RawSpan, on flow: Flow, from worker: UInt8, isTaken: Bool, at now: Instant,
        into outbox: inout some RelayOutbox & ~Copyable
    ) -> ToPeer? {
        // Else its allocation ended in the meantime, which that worker will hear or has heard.
        guard flows[flow] != nil || isRefreshWithTicket(bytes) else {
            tally.unexpected &+= 1
            return nil
        }
        delivery = Delivery(worker: worker, flow: flow, isTaken: isTaken)
        defer { delivery = nil }
        return receive(bytes, on: flow, at: now, into: &outbox)
    }

    /// The owner of an allocation wants a flow whose datagrams arrive here. Whether it gets it: then its answer may leave.
    package mutating func keepStranger(
        _ flow: Flow, of worker: UInt8, _ claim: Claim, into outbox: inout some RelayOutbox & ~Copyable
    ) -> Bool {
        let known = strangers[flow]
        let occupant = flows[flow].map { Int($0) }
        guard occupant.map({ canLeave($0) }) ?? true, known != nil || strangers.count < Self.maximumStrangers else {
            outbox.evict(flow, claim, at: worker)
            return false
        }
        if let occupant { detach(slot: occupant, from: flow) }
        if let known, known.owner != worker { outbox.evict(flow, known.claim, at: known.owner) }
        strangers[flow] = Stranger(owner: worker, claim: claim)
        settleDepartures(into: &outbox)
        return true
    }

    /// The owner has no more use for a flow whose datagrams arrive here.
    package mutating func forgetStranger(_ flow: Flow, of worker: UInt8, _ claim: Claim) {
        guard let stranger = strangers[flow], stranger.owner == worker, stranger.claim == claim else { return }
        strangers[flow] = nil
    }

    /// The worker to which a flow's datagrams come has given it to somebody else, or the flow is closed.
    package mutating func loseGuest(_ flow: Flow, _ claim: Claim, into outbox: inout some RelayOutbox & ~Copyable) {
        guard let guest = guests[flow], guest.claim == claim else { return }
        guests[flow] = nil
        if let slot = flows[flow] { detach(slot: Int(slot), from: flow) }
        settleDepartures(into: &outbox)
    }

    /// Tells other workers of guests that have gone.
    mutating func settleDepartures(into outbox: inout some RelayOutbox & ~Copyable) {
        guard !departures.isEmpty else { return }
        for (flow, guest) in departures { outbox.forget(flow, guest.claim, at: guest.host) }
        departures = []
    }

    /// The worker that has to send what is for this flow, nil for this one.
    func host(of flow: Flow) -> UInt8? {
        guard flow.transport == .dtls else { return nil }
        if let delivery, delivery.flow == flow { return delivery.worker }
        return guests.isEmpty ? nil : guests[flow]?.host
    }

    /// Whether what another worker wants sent through this one may leave: packets only on a flow that is its, since there
    /// may be another client on it by now; answers always, since only who asked makes something of them.
    package func mayPass(_ message: RawSpan, on flow: Flow, of worker: UInt8) -> Bool {
        if strangers[flow]?.owner == worker { return true }
        guard let message = try? Message(message) else { return false }
        return message.type.messageClass == .success || message.type.messageClass == .failure
    }
}
