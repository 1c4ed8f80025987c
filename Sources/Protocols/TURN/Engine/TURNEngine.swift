import BasicContainers
import STUN
package import Wire

/// A TURN server (RFC 8656) and STUN server (RFC 8489) without a socket or a clock.
///
/// Datagrams of clients go into `receive`, those of peers into `receiveFromPeer`. Both return where a packet's payload
/// is to go, so that the host forwards it from the buffer it arrived in; everything slower leaves through the outbox.
/// One engine belongs to one worker: it knows only the flows that the kernel hands to that worker.
///
/// State is what authenticated clients made: `allocations` in slots, and `flows` to find a client's slot. Binding, 400,
/// 401 and 438 are answered with nothing kept. Expired things are passed over by whoever meets them, and reclaimed by
/// `advance`, which sweeps a part of the table at a time.
package struct TURNEngine: ~Copyable {
    /// Shortest and default, and longest lifetime of an allocation in seconds (RFC 8656 section 3.2 and 7.2).
    static let defaultLifetime: UInt32 = 600
    static let maximumLifetime: UInt32 = 3600
    /// How long an allocation's own key refreshes it, in seconds: then its credentials must be good again.
    static let keyLifetime: UInt32 = 86_400
    /// Bounds of one allocation's state, far above what a call needs.
    static let maximumPermissions = 256
    static let maximumChannels = 256

    package var credentials: Credentials {
        didSet { userHashes = UserHashes(credentials, authentication) }
    }
    package var policy: PeerPolicy
    package var nonces: NonceMint
    /// What each allocation may relay, from now on.
    package var limits = AllocationLimits() {
        didSet { limitAllocations() }
    }
    /// Whether the host can set the IP header's DF bit; if not, DONT-FRAGMENT is unknown (RFC 8656 section 7.2).
    package var setsDontFragment = true
    /// Where clients find another relay while this one has no room, at most one of each family (RFC 8489 section 10).
    package var alternates: [TransportAddress] = []
    /// Where RFC 5780 is served.
    package var discoveries: [NATDiscovery] = []
    /// What opens the access tokens of RFC 7635; without it none is good.
    package var decryption: (any AuthenticatedDecryption)?
    /// What makes mobility tickets, and tells this worker's from others'; without it mobility is forbidden.
    package var tickets: TicketMint?
    /// This engine's number among those of the host, which the numbers of TCP connections name; nil when the host relays
    /// no TCP.
    package var worker: UInt8?
    /// What was dropped and answered. The host publishes it.
    package internal(set) var tally = TURNTally()

    let authentication: any MessageAuthentication
    var limiter: AnswerLimiter
    var allocations = UniqueArray<Allocation>()
    var freeSlots: [UInt32] = []
    var flows: [Flow: UInt32] = [:]
    var userHashes: UserHashes
    var endings = EndedAllocations()
    /// Slots that are not free.
    var occupied = 0
    /// Flows whose datagrams arrive here and belong to another worker, and flows of this worker's allocations whose
    /// datagrams arrive at another.
    var strangers: [Flow: Stranger] = [:]
    var guests: [Flow: Guest] = [:]
    var departures: [(Flow, Guest)] = []
    var lastClaim = Claim(rawValue: 0)
    /// Where the datagram comes from that is being received, if another worker handed it over.
    var delivery: Delivery?
    /// Numbers the indications that the engine sends by itself.
    var errorSerial: UInt32 = 0
    /// Connections of TCP allocations to peers.
    var peerConnections: [PeerConnectionID: PeerConnection] = [:]
    var connectionSerial: UInt32 = 0
    var writer = MessageWriter()
    /// Unix time at `Instant` 0, since the expiry of credentials is wall-clock time.
    var unixSecondsAtZero: Int64 = 0
    private var sweep = Sweep()
    var revocations = Revocations()
    var owners = AllocationOwners()
    /// What all allocations of the relay may carry together; nil where nothing bounds that.
    package var supply: (any ByteSupply)? {
        get { ofAll.supply }
        set { ofAll.supply = newValue }
    }
    /// This engine's slice of it.
    var ofAll = ByteSlice()
    private var counted = TransportCounts()
    /// Open allocations by the transport of their client, as they were when the table was last gone through.
    package private(set) var allocationsByTransport = TransportCounts()

    package init(
        credentials: Credentials, policy: PeerPolicy, nonces: NonceMint, limiter: AnswerLimiter,
        authentication: any MessageAuthentication
    ) {
        self.credentials = credentials
        self.policy = policy
        self.nonces = nonces
        self.limiter = limiter
        self.authentication = authentication
        userHashes = UserHashes(credentials, authentication)
    }

    /// Allocations that are open or being opened.
    package var allocationCount: Int {
        occupied
    }

    /// Tells the engine what the wall clock shows now.
    package mutating func setWallClock(unixSeconds: Int64, at now: Instant) {
        unixSecondsAtZero = unixSeconds - Int64(clamping: now.nanoseconds / 1_000_000_000)
    }

    func unixSeconds(at now: Instant) -> Int64 {
        unixSecondsAtZero + Int64(clamping: now.nanoseconds / 1_000_000_000)
    }

    /// A datagram from a client. What it returns is to be sent to a peer from the datagram's own bytes.
    package mutating func receive(
        _ bytes: RawSpan, on flow: Flow, at now: Instant, into outbox: inout some RelayOutbox & ~Copyable
    ) -> ToPeer? {
        guard let first = bytes.byte(at: 0) else {
            tally.malformed &+= 1
            return nil
        }
        if !strangers.isEmpty, delivery == nil, let owner = strangers[flow]?.owner, !isForAnother(bytes, than: owner) {
            outbox.handOver(bytes, on: flow, to: owner, isTaken: false)
            return nil
        }
        if first & 0xC0 == 0x40 {
            return forwardChannelData(bytes, on: flow, at: now)
        }
        do {
            let message = try Message(bytes)
            return receive(message, on: flow, at: now, into: &outbox)
        } catch {
            tally.malformed &+= 1
            return nil
        }
    }

    private mutating func receive(
        _ message: borrowing Message, on flow: Flow, at now: Instant, into outbox: inout some RelayOutbox & ~Copyable
    ) -> ToPeer? {
        switch (message.type.messageClass, message.type.method) {
        case (.indication, .send):
            return forwardSend(message, on: flow, at: now)
        case (.request, .binding), (.request, .allocate), (.request, .refresh), (.request, .createPermission),
            (.request, .channelBind), (.request, .connect), (.request, .connectionBind):
            // A relay's port is one of UDP: that a TCP client has the same number means nothing.
            guard flow.transport.isStream || !policy.isLiveRelay(flow.remote) else {
                tally.loops &+= 1
                return nil
            }
            answer(message, on: flow, at: now, into: &outbox)
            return nil
        default:
            // Responses, other indications and unknown methods (RFC 8489 section 6.3): nobody waits for an answer.
            tally.unexpected &+= 1
            return nil
        }
    }

    private mutating func answer(
        _ message: borrowing Message, on flow: Flow, at now: Instant, into outbox: inout some RelayOutbox & ~Copyable
    ) {
        guard message.type.method != .binding else {
            answerBinding(message, on: flow, at: now, into: &outbox)
            return
        }
        var slot = flows[flow].map { Int($0) }
        switch holder(of: message) {
        case .own(let held): slot = held
        case .elsewhere(let worker):
            if handOver(message, to: worker, on: flow, at: now, into: &outbox) { return }
            // Not one of this worker's, whatever the flow has.
            slot = nil
        case .nobody: break
        }
        let credential: Credential
        switch authenticate(message, on: flow, of: slot, at: now) {
        case .failure(let refusal):
            challenge(message, refusal, on: flow, at: now, into: &outbox)
            return
        case .success(let accepted):
            credential = accepted
        }
        let request = Request(flow: flow, now: now, credential: credential, hasFingerprint: message.hasFingerprint)
        switch message.type.method {
        case .allocate: allocate(message, request, into: &outbox)
        case .refresh: refresh(message, request, slot.map { UInt32(truncatingIfNeeded: $0) }, into: &outbox)
        case .createPermission: createPermission(message, request, into: &outbox)
        case .connect: connect(message, request, into: &outbox)
        case .connectionBind: bindConnection(message, request, into: &outbox)
        default: bindChannel(message, request, into: &outbox)
        }
        settleDepartures(into: &outbox)
    }

    /// When `advance` has something to do next.
    package var deadline: Instant? {
        occupied == 0 ? nil : sweep.next
    }

    /// Reclaims what has expired. Each call looks at a part of the table, all of it within a second.
    package mutating func advance(to now: Instant, into outbox: inout some RelayOutbox & ~Copyable) {
        settleDepartures(into: &outbox)
        guard now >= sweep.next else { return }
        closeOverdueConnections(at: now, into: &outbox)
        let slots = sweep.slots(of: allocations.count, at: now)
        for slot in slots { reclaim(slot: slot, at: now, into: &outbox) }
        if slots.upperBound == allocations.count {
            allocationsByTransport = counted
            counted = TransportCounts()
            revocations.forget(before: unixSeconds(at: now))
        }
        settleDepartures(into: &outbox)
    }

    private mutating func reclaim(slot: Int, at now: Instant, into outbox: inout some RelayOutbox & ~Copyable) {
        guard allocations[slot].isOpen else { return }
        if allocations[slot].expiry <= now {
            tally.expired &+= 1
            end(slot: slot, into: &outbox)
            return
        }
        counted[allocations[slot].flow.transport] &+= 1
        allocations[slot].permissions.removeAll { $0.expiry <= now }
        allocations[slot].channels.removeAll { $0.expiry <= now }
    }

    /// Ends every allocation that one of these names made: a whole user name, the user in it, a call, or a user in a call.
    ///
    /// Its ephemeral credentials that expire until `unixSeconds` make no new one, unless they name a later moment than
    /// `issuedUntil` (milliseconds since 1970) at which they were issued.
    package mutating func revoke(
        _ name: RevokedName, voidingUntil unixSeconds: Int64 = 0, issuedUntil milliseconds: Int64 = .max,
        into outbox: inout some RelayOutbox & ~Copyable
    ) {
        if unixSeconds > 0 { revocations.void(name, until: unixSeconds, issuedUntil: milliseconds) }
        for slot in owners.slots(of: name).map({ Int($0) })
        where allocations[slot].isOpen && name.matches(allocations[slot].username, allocations[slot].name) {
            tally.revoked &+= 1
            end(slot: slot, into: &outbox)
        }
        settleDepartures(into: &outbox)
    }

    private mutating func limitAllocations() {
        for slot in 0..<allocations.count {
            allocations[slot].toPeers.limit(to: limits)
            allocations[slot].toClient.limit(to: limits)
            allocations[slot].newPeers.limit(to: limits.newPeers)
        }
    }

    /// The client's connection is closed, and its allocation with it (RFC 8656 section 3.1).
    package mutating func flowClosed(_ flow: Flow, into outbox: inout some RelayOutbox & ~Copyable) {
        if let stranger = strangers.removeValue(forKey: flow) {
            outbox.evict(flow, stranger.claim, at: stranger.owner)
        }
        guard let slot = flows[flow].map({ Int($0) }) else { return }
        guard allocations[slot].isOpen else {
            // Its relay is on its way: `relayOpened` gives it back.
            allocations[slot].isAbandoned = true
            flows[flow] = nil
            return
        }
        guard allocations[slot].mobility == nil else {
            detach(slot: slot, from: flow)
            settleDepartures(into: &outbox)
            return
        }
        tally.closed &+= 1
        end(slot: slot, into: &outbox)
    }

    /// No datagram arrives on these ports of the server any more, so what was made through them ends like a connection.
    package mutating func portsClosed(_ ports: Set<UInt16>, into outbox: inout some RelayOutbox & ~Copyable) {
        for slot in 0..<allocations.count {
            let flow = allocations[slot].flow
            if !flow.transport.isStream, ports.contains(flow.local.port), flows[flow].map({ Int($0) }) == slot {
                flowClosed(flow, into: &outbox)
            }
        }
    }

    /// Whether a source that has not authenticated may be answered now. For what the host answers by itself, such as a hello
    /// of DTLS: all such answers share one limit for each prefix.
    package mutating func allowsAnswer(to source: IPAddress, at now: Instant) -> Bool {
        guard limiter.allows(source, at: now) else {
            tally.limited &+= 1
            return false
        }
        return true
    }

    /// Whether a client on this flow has authenticated and holds an allocation, here or at another worker.
    package func hasAllocation(on flow: Flow) -> Bool {
        flows[flow] != nil || !strangers.isEmpty && strangers[flow] != nil
    }

    /// Gives up every allocation, when the host stops.
    package mutating func endAll(into outbox: inout some RelayOutbox & ~Copyable) {
        for slot in 0..<allocations.count where allocations[slot].isOpen {
            end(slot: slot, into: &outbox)
        }
    }
}

/// Walks the table once a second, in parts that take well under a millisecond.
private struct Sweep {
    private static let part = 1024
    private static let period: UInt64 = 1_000_000_000
    private(set) var next = Instant(nanoseconds: 0)
    private var cursor = 0

    mutating func slots(of count: Int, at now: Instant) -> Range<Int> {
        let start = cursor < count ? cursor : 0
        let end = min(start + Self.part, count)
        cursor = end
        let parts = UInt64(max(1, (count + Self.part - 1) / Self.part))
        next = now.adding(nanoseconds: Self.period / parts)
        return start..<end
    }
}
