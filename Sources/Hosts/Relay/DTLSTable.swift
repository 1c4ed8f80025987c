import BasicContainers
import DTLS
import OpenSSLCrypto
import TURN
import Wire

/// A slot of the worker's table: one DTLS session of a client, or empty.
struct DTLSSlot: ~Copyable {
    var session: DTLSSession?
    let flow: Flow
    /// The random of the ClientHello: a hello with the same random is a duplicate.
    let hello: Digest
    let startedAt: Instant
    /// Its entry in the table of admissions, pending until the handshake is complete.
    let admission: AdmissionTable.Entry
    /// When the last record was decrypted.
    var lastRecordAt: Instant
    /// When the client was last seen with an allocation.
    var lastAllocationAt: Instant
    var isEstablished = false
    var hasBuffers = true
    /// Handshake records still accepted after the handshake: retransmissions of the client's Finished.
    var retransmissionsLeft = 8

    init(
        _ session: consuming DTLSSession?, flow: Flow, hello: Digest, _ admission: AdmissionTable.Entry, at now: Instant
    ) {
        self.session = session
        self.admission = admission
        self.flow = flow
        self.hello = hello
        startedAt = now
        lastRecordAt = now
        lastAllocationAt = now
    }
}

/// Why a session ended.
enum DTLSCloseReason {
    /// The client sent close_notify.
    case closed
    /// A handshake that failed or took too long, or a malformed record.
    case failed
    /// No allocation for a minute.
    case idle
}

/// How many DTLS sessions and handshakes one worker may have, and for how long.
struct DTLSLimits: Hashable, Sendable {
    var sessions = 20_000
    /// Of one IPv4 address or IPv6 /64.
    var sessionsPerSource = 512
    /// Handshakes in progress at a time; a quarter of them for one source.
    var handshakes = 512
    /// For one address prefix; 0 means no limit.
    var handshakesPerSecond: UInt32 = 100
    var handshakeBurst: UInt32 = 500
    var handshakeSeconds: UInt32 = 15
    /// For a session without an allocation.
    var idleSeconds: UInt32 = 60

    var handshakesPerSource: Int { max(1, handshakes / 4) }

    var admissions: AdmissionTable.Limits {
        .init(all: sessions, perSource: sessionsPerSource, pending: handshakes, pendingPerSource: handshakesPerSource)
    }
}

extension DTLSLimits {
    /// One worker's share of the limits.
    init(_ limits: RelayLimits, sessions: Int) {
        self.sessions = sessions
        sessionsPerSource = limits.datagramSessionsPerSource
        handshakes = limits.datagramHandshakes
        handshakesPerSecond = limits.handshakesPerSecond
        handshakeBurst = limits.handshakeBurst
        handshakeSeconds = limits.handshakeSeconds
        idleSeconds = limits.idleSeconds
    }
}

/// The DTLS sessions of a worker's clients, by flow.
///
/// A hello gets here only after `HelloVerifier` has checked its cookie, so source addresses are verified. Clients are
/// still not trusted: the number of sessions is limited in total, for each source, and for handshakes in progress; the
/// rate of handshakes is limited, since each costs a signature; a session without an allocation ends after a minute. A
/// client that starts a new session on a flow (it lost its keys, or its NAT reassigned the port) gets a second session,
/// the successor, which replaces the first when its handshake is complete: a hello alone ends no session.
struct DTLSTable: ~Copyable {
    private static let quietSeconds: UInt32 = 10
    private static let handshakePeriod: UInt64 = 100_000_000
    /// How many slots one search for an eviction candidate looks at.
    private static let evictionScanLimit = 64

    /// The slots of one flow's sessions: the current one, and one that may replace it.
    private struct FlowSessions {
        var current: Int
        var successor: Int?
    }

    var helloVerifier: HelloVerifier
    /// For new sessions; nil when there is no certificate.
    var context: DTLSContext?
    let exchange = DTLSExchange()
    private(set) var slots = UniqueArray<DTLSSlot>()
    private(set) var counters = DTLSCounters()
    /// They apply to new sessions; lowering them ends no existing session, except by age.
    var limits: DTLSLimits {
        didSet {
            admissions.limits = limits.admissions
            handshakeLimiter.limit(perSecond: limits.handshakesPerSecond, burst: limits.handshakeBurst)
        }
    }
    private let filter = RecordFilter()
    private var free: [Int] = []
    private var flows: [Flow: FlowSessions] = [:]
    /// All sessions by source; those with a handshake in progress are pending.
    private var admissions: AdmissionTable
    private var handshakeLimiter: ResponseLimiter
    /// A quarter of the worker's time.
    private var handshakeBudget = WorkBudget(perSecond: 250_000_000)
    private var cursor = 0
    private var nextSweep = Instant(nanoseconds: 0)

    init(
        _ helloVerifier: consuming HelloVerifier, _ context: DTLSContext?, _ limits: DTLSLimits, seed: UInt64
    ) {
        self.helloVerifier = helloVerifier
        self.context = context
        self.limits = limits
        admissions = AdmissionTable(limits.admissions)
        handshakeLimiter = ResponseLimiter(
            perSecond: limits.handshakesPerSecond, burst: limits.handshakeBurst, seed: seed)
    }

    /// A reload may have removed the certificate: existing sessions go on.
    var isServing: Bool {
        context != nil || count > 0
    }

    /// Sessions and handshakes.
    var count: Int {
        slots.count &- free.count
    }

    var handshakeCount: Int {
        admissions.pendingCount
    }

    /// The slots of a flow's current session and of its successor.
    func slots(of flow: Flow) -> (current: Int, successor: Int?)? {
        flows[flow].map { ($0.current, $0.successor) }
    }

    /// Whether a session of the flow was started by this hello.
    func isDuplicate(_ hello: Digest, on flow: Flow) -> Bool {
        guard let known = flows[flow] else { return false }
        return slots[known.current].hello == hello || known.successor.map { slots[$0].hello == hello } ?? false
    }

    // MARK: Starting

    /// What to do with a verified hello.
    enum Admission {
        case admitted
        /// A duplicate: the session's own timer retransmits the response.
        case duplicate
        case rejected
        /// Admitted once another session is evicted.
        case full
    }

    mutating func admit(_ hello: VerifiedHello, on flow: Flow, at now: Instant) -> Admission {
        if isDuplicate(hello.random, on: flow) { return .duplicate }
        if let successor = flows[flow]?.successor { _ = end(successor, .failed) }
        let rejection = admissions.rejection(of: flow.remote.address)
        guard rejection == nil || rejection == .limit, handshakeBudget.allowsMore(at: now),
            handshakeLimiter.allows(flow.remote.address, at: now)
        else {
            counters.rejected &+= 1
            return .rejected
        }
        return rejection == nil ? .admitted : .full
    }

    /// Starts a session. The response to the hello is in the exchange.
    mutating func begin(_ hello: VerifiedHello, on flow: Flow, at now: Instant) {
        guard let context, let session = DTLSSession.accepting(hello, context, exchange) else {
            counters.failed &+= 1
            return
        }
        let slot = free.last ?? slots.count
        guard let admission = try? admissions.admit(flow.remote.address, owner: UInt64(slot), at: now) else {
            counters.rejected &+= 1
            exchange.removeAll()
            return
        }
        insert(DTLSSlot(session, flow: flow, hello: hello.random, admission, at: now), at: slot)
    }

    /// Charges the time that a step of a handshake took.
    mutating func noteWork(nanoseconds: UInt64) {
        handshakeBudget.spend(nanoseconds)
    }

    mutating func noteRejected() {
        counters.rejected &+= 1
    }

    /// A session that is old enough to have an allocation, but may have none. Each call continues the search.
    mutating func candidateForEviction(at now: Instant) -> Int? {
        for _ in 0..<min(Self.evictionScanLimit, slots.count) {
            cursor = cursor &+ 1 < slots.count ? cursor &+ 1 : 0
            if slots[cursor].session != nil, slots[cursor].isEstablished,
                now.seconds(since: slots[cursor].startedAt) >= Self.quietSeconds
            {
                return cursor
            }
        }
        return nil
    }

    private mutating func insert(_ new: consuming DTLSSlot, at slot: Int) {
        let flow = new.flow
        if free.popLast() != nil { slots[slot] = new } else { slots.append(new) }
        if flows[flow] == nil {
            flows[flow] = FlowSessions(current: slot)
        } else {
            flows[flow]?.successor = slot
        }
    }

    // MARK: Records

    /// Passes a record of a datagram to a session. The plaintext overwrites the record: it is shorter, and OpenSSL has
    /// its own copy. nil when the session may not receive the record.
    mutating func receive(
        _ record: RecordHeader, of datagram: UnsafeMutableRawBufferPointer, to slot: Int, at now: Instant
    ) -> DTLSSession.Reading? {
        guard slot < slots.count, let phase = slots[slot].session?.phase,
            filter.admits(record, of: UnsafeRawBufferPointer(datagram).bytes, in: phase)
        else { return nil }
        if phase == .established, record.contentType == .handshake {
            guard slots[slot].retransmissionsLeft > 0 else { return nil }
            slots[slot].retransmissionsLeft &-= 1
        }
        let buffer = UnsafeMutableRawBufferPointer(rebasing: datagram[record.whole])
        slots[slot].hasBuffers = true
        let reading = slots[slot].session?.take(UnsafeRawBufferPointer(buffer), into: buffer) ?? .nothing
        if case .data = reading { slots[slot].lastRecordAt = now }
        return reading
    }

    /// Notes once that a session's handshake is complete. True when the session replaced another one of its flow, whose
    /// allocation has to end.
    mutating func noteEstablished(_ slot: Int, at now: Instant) -> Bool {
        guard !slots[slot].isEstablished, slots[slot].session?.phase == .established else { return false }
        slots[slot].isEstablished = true
        slots[slot].lastRecordAt = now
        slots[slot].lastAllocationAt = now
        counters.established &+= 1
        admissions.confirm(slots[slot].admission)
        guard let known = flows[slots[slot].flow], known.successor == slot else { return false }
        let flow = slots[slot].flow
        flows[flow] = FlowSessions(current: slot)
        counters.replaced &+= 1
        release(known.current)
        return true
    }

    /// Encrypts a datagram for a flow into the exchange. False when the flow has no session.
    mutating func write(_ plaintext: UnsafeRawBufferPointer, on flow: Flow) -> Bool {
        guard let slot = flows[flow]?.current else { return false }
        slots[slot].hasBuffers = true
        return slots[slot].session?.write(plaintext) ?? false
    }

    // MARK: Ending

    /// Ends a session. True when it was the current one of its flow, whose allocation ends with it. A last record for
    /// the client may be in the exchange.
    mutating func end(_ slot: Int, _ end: DTLSCloseReason) -> Bool {
        guard slot < slots.count, slots[slot].session != nil else { return false }
        switch end {
        case .closed: counters.closed &+= 1
        case .failed: counters.failed &+= 1
        case .idle: counters.idle &+= 1
        }
        if end != .failed { slots[slot].session?.close() }
        return remove(slot)
    }

    private mutating func remove(_ slot: Int) -> Bool {
        let flow = slots[slot].flow
        let isCurrent = flows[flow]?.current == slot
        if isCurrent {
            flows[flow] = flows[flow]?.successor.map { FlowSessions(current: $0) }
        } else {
            flows[flow]?.successor = nil
        }
        release(slot)
        return isCurrent
    }

    private mutating func release(_ slot: Int) {
        admissions.release(slots[slot].admission)
        slots[slot].session = nil
        free.append(slot)
    }

    // MARK: Time

    /// When the next timer is due.
    func deadline(at now: Instant) -> Instant {
        admissions.pendingCount == 0 ? nextSweep : now.adding(nanoseconds: Self.handshakePeriod)
    }

    /// The handshakes that have to retransmit, or that take too long.
    mutating func dueHandshakes(at now: Instant) -> [Int] {
        var due: [Int] = []
        for slot in admissions.pendingOwners.map({ Int($0) }) {
            let isLate = now.seconds(since: slots[slot].startedAt) >= limits.handshakeSeconds
            if isLate || slots[slot].session?.retransmission == 0 { due.append(slot) }
        }
        return due
    }

    /// Retransmits the last flight into the exchange. False when the handshake has to end.
    mutating func retransmit(_ slot: Int, at now: Instant) -> Bool {
        now.seconds(since: slots[slot].startedAt) < limits.handshakeSeconds
            && slots[slot].session?.retransmit() == true
    }

    /// Once a second: the sessions that may have been without an allocation for too long. Quiet ones release their
    /// buffers.
    mutating func sweep(at now: Instant) -> [Int] {
        guard now >= nextSweep else { return [] }
        nextSweep = now.adding(seconds: 1)
        helloVerifier.advance(to: now)
        var suspects: [Int] = []
        for slot in 0..<slots.count where slots[slot].isEstablished && slots[slot].session != nil {
            if now.seconds(since: slots[slot].lastAllocationAt) >= limits.idleSeconds { suspects.append(slot) }
            guard slots[slot].hasBuffers, now.seconds(since: slots[slot].lastRecordAt) >= Self.quietSeconds else {
                continue
            }
            slots[slot].hasBuffers = false
            slots[slot].session?.releaseBuffers()
        }
        return suspects
    }

    mutating func noteAllocation(_ slot: Int, at now: Instant) {
        slots[slot].lastAllocationAt = now
    }

    mutating func noteStray() {
        counters.strayRecords &+= 1
    }
}

/// Running totals of DTLS sessions.
struct DTLSCounters: Hashable, Sendable {
    var established: UInt64 = 0
    /// Handshakes that failed or took too long.
    var failed: UInt64 = 0
    /// Hellos with a valid cookie over a limit.
    var rejected: UInt64 = 0
    var closed: UInt64 = 0
    var idle: UInt64 = 0
    var replaced: UInt64 = 0
    /// Records without a session.
    var strayRecords: UInt64 = 0
}
