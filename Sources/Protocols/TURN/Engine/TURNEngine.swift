import BasicContainers
import STUN
package import Wire

/// A TURN server (RFC 8656) and STUN server (RFC 8489) without a socket or a clock.
///
/// Datagrams from clients go into `receive`, those from peers into `receiveFromPeer`. Both return the destination of
/// the payload, so that the host forwards it from the buffer it arrived in; everything slower leaves through the
/// outbox. One engine belongs to one worker: it knows only the flows that the kernel delivers to that worker.
///
/// Only authenticated clients create state: `allocations` in slots, and `flows` to find a client's slot. Responses to
/// Binding and 400, 401 and 438 keep nothing. Expired entries are ignored by lookups, and reclaimed by `advance`, which
/// sweeps a part of the table at a time.
package struct TURNEngine: ~Copyable {
    /// Shortest and default, and longest lifetime of an allocation in seconds (RFC 8656 section 3.2 and 7.2).
    static let defaultLifetime: UInt32 = 600
    static let maximumLifetime: UInt32 = 3600
    /// How long an allocation's own key refreshes it, in seconds: after that its credentials must be valid again.
    static let keyLifetime: UInt32 = 86_400
    /// Bounds of one allocation's state, far above what a call needs.
    static let maximumPermissions = 256
    static let maximumChannels = 256

    package var credentials: Credentials {
        didSet { userHashes = UserHashes(credentials, authentication) }
    }
    package var policy: PeerPolicy
    package var nonces: NonceGenerator
    /// The rate limits of each allocation, from now on.
    package var limits = AllocationLimits() {
        didSet { limitAllocations() }
    }
    /// Whether the host can set the IP header's DF bit; if not, DONT-FRAGMENT is an unknown attribute (RFC 8656 section
    /// 7.2).
    package var setsDontFragment = true
    /// The alternate servers for clients while this one has no capacity, at most one of each family (RFC 8489 section
    /// 10).
    package var alternates: [TransportAddress] = []
    /// The addresses that serve RFC 5780.
    package var discoveries: [NATDiscovery] = []
    /// Decrypts the access tokens of RFC 7635; without it every token is invalid.
    package var decryption: (any AuthenticatedDecryption)?
    /// Encodes mobility tickets, and decodes those of all workers; without it mobility is forbidden.
    package var tickets: TicketCodec?
    /// This engine's number among those of the host, which the ids of TCP connections contain; nil when the host relays
    /// no TCP.
    package var worker: UInt8?
    package internal(set) var counters = TURNCounters()

    let authentication: any MessageAuthentication
    var limiter: ResponseLimiter
    var allocations = UniqueArray<Allocation>()
    var freeSlots: [UInt32] = []
    var flows: [Flow: UInt32] = [:]
    var userHashes: UserHashes
    var endings = EndedAllocations()
    /// Slots that are not free.
    var occupied = 0
    /// Flows whose datagrams arrive here and belong to an allocation of another worker, and flows of this worker's
    /// allocations whose datagrams arrive at another.
    var forwardedFlows: [Flow: ForwardedFlow] = [:]
    var ingresses: [Flow: FlowIngress] = [:]
    var pendingReleases: [(Flow, FlowIngress)] = []
    var lastClaim = Claim(rawValue: 0)
    /// The origin of the datagram that is being received, if another worker forwarded it.
    var delivery: Delivery?
    /// For the transaction ids of the indications that the engine sends by itself.
    var errorSerial: UInt32 = 0
    /// Connections of TCP allocations to peers.
    var peerConnections: [PeerConnectionID: PeerConnection] = [:]
    var connectionSerial: UInt32 = 0
    var writer = MessageWriter()
    /// Unix time at `Instant` 0, since the expiry of credentials is wall-clock time.
    var unixMillisecondsAtZero: Int64 = 0
    private var sweep = Sweep()
    var revocations = Revocations()
    var owners = AllocationOwners()
    /// The bandwidth that all allocations of the relay share; nil when it is unlimited.
    package var supply: (any ByteSupply)? {
        get { totalBudget.supply }
        set { totalBudget.supply = newValue }
    }
    /// This engine's slice of it.
    var totalBudget = ByteSlice()
    private var counted = TransportCounts()
    /// Open allocations by the transport of their client, as of the last full sweep of the table.
    package private(set) var allocationsByTransport = TransportCounts()

    package init(
        credentials: Credentials, policy: PeerPolicy, nonces: NonceGenerator, limiter: ResponseLimiter,
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

    /// Sets the wall clock, which the expiry of credentials is compared with.
    ///
    /// In milliseconds: two clocks in whole seconds would differ by up to one, and credentials outlive their expiry.
    package mutating func setWallClock(unixMilliseconds: Int64, at now: Instant) {
        unixMillisecondsAtZero = unixMilliseconds - Int64(clamping: now.nanoseconds / 1_000_000)
    }

    func unixSeconds(at now: Instant) -> Int64 {
        (unixMillisecondsAtZero + Int64(clamping: now.nanoseconds / 1_000_000)) / 1000
    }

    /// Handles a datagram from a client. The packet that it returns is sent to a peer from the datagram's own bytes.
    package mutating func receive(
        _ bytes: RawSpan, on flow: Flow, at now: Instant, into outbox: inout some RelayOutbox & ~Copyable
    ) -> ToPeer? {
        guard let first = bytes.byte(at: 0) else {
            counters.malformed &+= 1
            return nil
        }
        if !forwardedFlows.isEmpty, delivery == nil, let owner = forwardedFlows[flow]?.owner,
            !carriesTicket(bytes, ofOtherThan: owner)
        {
            outbox.forward(bytes, on: flow, to: owner, isOccupied: false)
            return nil
        }
        if first & 0xC0 == 0x40 {
            return forwardChannelData(bytes, on: flow, at: now)
        }
        do {
            let message = try Message(bytes)
            return receive(message, on: flow, at: now, into: &outbox)
        } catch {
            counters.malformed &+= 1
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
            // Relay ports are UDP: a TCP client with the same port number is no loop.
            guard flow.transport.isStream || !policy.isLiveRelay(flow.remote) else {
                counters.loops &+= 1
                return nil
            }
            handle(message, on: flow, at: now, into: &outbox)
            return nil
        default:
            // Responses, other indications and unknown methods (RFC 8489 section 6.3): no response is expected.
            counters.unexpected &+= 1
            return nil
        }
    }

    private mutating func handle(
        _ message: borrowing Message, on flow: Flow, at now: Instant, into outbox: inout some RelayOutbox & ~Copyable
    ) {
        guard message.type.method != .binding else {
            handleBinding(message, on: flow, at: now, into: &outbox)
            return
        }
        var slot = flows[flow].map { Int($0) }
        switch ticketOwner(of: message) {
        case .local(let owned): slot = owned
        case .remote(let worker):
            if forward(message, to: worker, on: flow, at: now, into: &outbox) { return }
            // The ticket names an allocation of another worker, so the flow's own allocation is not meant.
            slot = nil
        case .unknown: break
        }
        let credential: Credential
        switch authenticate(message, on: flow, of: slot, at: now) {
        case .failure(let error):
            challenge(message, error, on: flow, at: now, into: &outbox)
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
        flushReleases(into: &outbox)
    }

    /// When `advance` is due.
    package var deadline: Instant? {
        occupied == 0 ? nil : sweep.next
    }

    /// Reclaims expired entries. Each call sweeps a part of the table, all of it within a second.
    package mutating func advance(to now: Instant, into outbox: inout some RelayOutbox & ~Copyable) {
        flushReleases(into: &outbox)
        guard now >= sweep.next else { return }
        closeTimedOutConnections(at: now, into: &outbox)
        let slots = sweep.slots(of: allocations.count, at: now)
        for slot in slots { reclaim(slot: slot, at: now, into: &outbox) }
        if slots.upperBound == allocations.count {
            allocationsByTransport = counted
            counted = TransportCounts()
            revocations.forget(before: unixSeconds(at: now))
        }
        flushReleases(into: &outbox)
    }

    private mutating func reclaim(slot: Int, at now: Instant, into outbox: inout some RelayOutbox & ~Copyable) {
        guard allocations[slot].isOpen else { return }
        if allocations[slot].expiry <= now {
            counters.expired &+= 1
            end(slot: slot, into: &outbox)
            return
        }
        counted[allocations[slot].flow.transport] &+= 1
        allocations[slot].permissions.removeAll { $0.expiry <= now }
        allocations[slot].channels.removeAll { $0.expiry <= now }
    }

    /// Ends every allocation that was made with a matching name: a whole user name, the user in it, a call, or a user
    /// in a call.
    ///
    /// Ephemeral credentials of that name that expire by `unixSeconds` make no new allocation, unless they were issued
    /// after `issuedUntil` (milliseconds since 1970).
    package mutating func revoke(
        _ name: RevokedName, voidingUntil unixSeconds: Int64 = 0, issuedUntil milliseconds: Int64 = .max,
        into outbox: inout some RelayOutbox & ~Copyable
    ) {
        if unixSeconds > 0 { revocations.void(name, until: unixSeconds, issuedUntil: milliseconds) }
        for slot in owners.slots(of: name).map({ Int($0) })
        where allocations[slot].isOpen && name.matches(allocations[slot].username, allocations[slot].name) {
            counters.revoked &+= 1
            end(slot: slot, into: &outbox)
        }
        flushReleases(into: &outbox)
    }

    private mutating func limitAllocations() {
        for slot in 0..<allocations.count {
            allocations[slot].toPeers.limit(to: limits)
            allocations[slot].toClient.limit(to: limits)
            allocations[slot].newPeers.limit(to: limits.newPeers)
        }
    }

    /// Ends the allocation of a client whose connection was closed (RFC 8656 section 3.1).
    package mutating func flowClosed(_ flow: Flow, into outbox: inout some RelayOutbox & ~Copyable) {
        if let forwardedFlow = forwardedFlows.removeValue(forKey: flow) {
            outbox.evict(flow, forwardedFlow.claim, at: forwardedFlow.owner)
        }
        guard let slot = flows[flow].map({ Int($0) }) else { return }
        guard allocations[slot].isOpen else {
            // The host is still opening its relay: `relayOpened` closes it.
            allocations[slot].isAbandoned = true
            flows[flow] = nil
            return
        }
        guard allocations[slot].mobility == nil else {
            detach(slot: slot, from: flow)
            flushReleases(into: &outbox)
            return
        }
        counters.closed &+= 1
        end(slot: slot, into: &outbox)
    }

    /// The server no longer listens on these addresses, so allocations of flows to them end as if a connection were
    /// closed.
    package mutating func listenersClosed(
        _ addresses: Set<TransportAddress>, into outbox: inout some RelayOutbox & ~Copyable
    ) {
        for slot in 0..<allocations.count {
            let flow = allocations[slot].flow
            if !flow.transport.isStream, addresses.contains(flow.local), flows[flow].map({ Int($0) }) == slot {
                flowClosed(flow, into: &outbox)
            }
        }
    }

    /// Relays on these local addresses reach nobody any more: allocations that have no other end.
    package mutating func addressesLost(
        _ addresses: Set<IPAddress>, into outbox: inout some RelayOutbox & ~Copyable
    ) {
        for slot in 0..<allocations.count where allocations[slot].isOpen {
            let relays = [allocations[slot].ipv4, allocations[slot].ipv6].compactMap { $0?.local.address }
            guard relays.allSatisfy({ addresses.contains($0) }) else { continue }
            counters.closed &+= 1
            end(slot: slot, into: &outbox)
        }
    }

    /// Whether a response may be sent now to a source that has not authenticated. For responses that the host sends by
    /// itself, such as to a DTLS hello: all such responses share one limit for each prefix.
    package mutating func allowsResponse(to source: IPAddress, at now: Instant) -> Bool {
        guard limiter.allows(source, at: now) else {
            counters.limited &+= 1
            return false
        }
        return true
    }

    /// Whether a client on this flow has authenticated and holds an allocation, here or at another worker.
    package func hasAllocation(on flow: Flow) -> Bool {
        flows[flow] != nil || !forwardedFlows.isEmpty && forwardedFlows[flow] != nil
    }

    /// Ends every allocation, when the host stops.
    package mutating func endAll(into outbox: inout some RelayOutbox & ~Copyable) {
        for slot in 0..<allocations.count where allocations[slot].isOpen {
            end(slot: slot, into: &outbox)
        }
    }
}

/// Sweeps the table once a second, in parts that take well under a millisecond.
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
