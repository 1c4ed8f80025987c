import BasicContainers
import DTLS
import OpenSSLCrypto
import TURN
import Wire

/// One DTLS session of a client in its place in the worker's table, or the place without one.
struct DTLSPlace: ~Copyable {
    var session: DTLSSession?
    let flow: Flow
    /// The hello's random number: the same again is the same hello.
    let hello: Digest
    let beganAt: Instant
    /// Its entry in the table of admissions, pending until the handshake is complete.
    let admission: AdmissionTable.Entry
    /// When the last record came that could be decrypted.
    var heardAt: Instant
    /// When the client was last seen with an allocation.
    var usefulAt: Instant
    var isEstablished = false
    var hasBuffers = true
    /// Handshake records that may come now that there is no handshake: the client's Finished, on its way again.
    var repeatsLeft = 8

    init(
        _ session: consuming DTLSSession?, flow: Flow, hello: Digest, _ admission: AdmissionTable.Entry, at now: Instant
    ) {
        self.session = session
        self.admission = admission
        self.flow = flow
        self.hello = hello
        beganAt = now
        heardAt = now
        usefulAt = now
    }
}

/// Why a session ended.
enum DTLSEnd {
    /// The client said so.
    case closed
    /// A handshake that went wrong or took too long, or a broken record of a session.
    case failed
    /// No allocation for a minute.
    case idle
}

/// How many DTLS sessions and handshakes one worker has, and for how long.
struct DTLSLimits: Hashable, Sendable {
    var sessions = 20_000
    /// Of one IPv4 address or IPv6 /64.
    var sessionsPerSource = 512
    /// Under way at a time; a quarter of them for one source.
    var handshakes = 512
    /// Of the sources of one address prefix; 0 means no limit.
    var handshakesPerSecond: UInt32 = 100
    var handshakesAtOnce: UInt32 = 500
    var handshakeSeconds: UInt32 = 15
    /// For a session without an allocation.
    var idleSeconds: UInt32 = 60

    var handshakesPerSource: Int { max(1, handshakes / 4) }

    var admissions: AdmissionTable.Limits {
        .init(all: sessions, perSource: sessionsPerSource, pending: handshakes, pendingPerSource: handshakesPerSource)
    }
}

extension DTLSLimits {
    /// A worker's part of them.
    init(_ limits: RelayLimits, sessions: Int) {
        self.sessions = sessions
        sessionsPerSource = limits.datagramSessionsPerSource
        handshakes = limits.datagramHandshakes
        handshakesPerSecond = limits.handshakesPerSecond
        handshakesAtOnce = limits.handshakesAtOnce
        handshakeSeconds = limits.handshakeSeconds
        idleSeconds = limits.idleSeconds
    }
}

/// The DTLS sessions of a worker's clients, by flow.
///
/// Behind the front door, so whoever has a place here is where he says. Still nobody is trusted: places are bounded in all,
/// for each source, and for handshakes under way; handshakes are bounded in rate, since each costs a signature; a session
/// without an allocation has a minute. A client that begins anew on a flow (it lost its keys, or its NAT gave the port to
/// somebody else) gets a second session, its successor, which takes over when its handshake is complete: no hello alone
/// ends anything.
struct DTLSTable: ~Copyable {
    private static let quietSeconds: UInt32 = 10
    private static let handshakePeriod: UInt64 = 100_000_000
    /// How many places are looked at for one that may be given to somebody else.
    private static let evictionLook = 64

    /// The sessions of one flow: the one that counts, and one that may take over from it.
    private struct Places {
        var current: Int
        var successor: Int?
    }

    var door: HelloDoor
    /// What new sessions begin with; nil when there is no certificate.
    var context: DTLSContext?
    let exchange = DTLSExchange()
    private(set) var places = UniqueArray<DTLSPlace>()
    private(set) var tally = DTLSTally()
    /// Those that hold for what is new; lower ones end nothing that exists but what is too old for them.
    var limits: DTLSLimits {
        didSet {
            admissions.limits = limits.admissions
            handshakeLimiter.limit(perSecond: limits.handshakesPerSecond, burst: limits.handshakesAtOnce)
        }
    }
    private let gate = RecordGate()
    private var free: [Int] = []
    private var flows: [Flow: Places] = [:]
    /// All of them by their sources; those whose handshake is under way are pending.
    private var admissions: AdmissionTable
    private var handshakeLimiter: AnswerLimiter
    /// A quarter of the worker's time.
    private var handshakeBudget = WorkBudget(perSecond: 250_000_000)
    private var cursor = 0
    private var nextSweep = Instant(nanoseconds: 0)

    init(
        _ door: consuming HelloDoor, _ context: DTLSContext?, _ limits: DTLSLimits, seed: UInt64
    ) {
        self.door = door
        self.context = context
        self.limits = limits
        admissions = AdmissionTable(limits.admissions)
        handshakeLimiter = AnswerLimiter(
            perSecond: limits.handshakesPerSecond, burst: limits.handshakesAtOnce, seed: seed)
    }

    /// A reload may have taken the certificate away: then those who are here may stay.
    var isServing: Bool {
        context != nil || count > 0
    }

    /// Sessions and handshakes.
    var count: Int {
        places.count &- free.count
    }

    var handshakeCount: Int {
        admissions.pendingCount
    }

    /// The place of the session that counts on a flow, and of the one that may take over.
    func places(of flow: Flow) -> (current: Int, successor: Int?)? {
        flows[flow].map { ($0.current, $0.successor) }
    }

    /// Whether a session of the flow began with this hello.
    func knows(_ hello: Digest, on flow: Flow) -> Bool {
        guard let known = flows[flow] else { return false }
        return places[known.current].hello == hello || known.successor.map { places[$0].hello == hello } ?? false
    }

    // MARK: Beginning

    /// What is to be done with a hello that the door let in.
    enum Admission {
        case welcome
        /// It came before: the session's own timer repeats the answer.
        case known
        case refused
        /// Welcome once somebody made room.
        case full
    }

    mutating func admit(_ hello: ProvenHello, on flow: Flow, at now: Instant) -> Admission {
        if knows(hello.random, on: flow) { return .known }
        if let successor = flows[flow]?.successor { _ = end(successor, .failed) }
        let refusal = admissions.refusal(of: flow.remote.address)
        guard refusal == nil || refusal == .limit, handshakeBudget.allowsMore(at: now),
            handshakeLimiter.allows(flow.remote.address, at: now)
        else {
            tally.refused &+= 1
            return .refused
        }
        return refusal == nil ? .welcome : .full
    }

    /// Begins a session. The answer to the hello is in the exchange.
    mutating func begin(_ hello: ProvenHello, on flow: Flow, at now: Instant) {
        guard let context, let session = DTLSSession.answering(hello, context, exchange) else {
            tally.failed &+= 1
            return
        }
        let place = free.last ?? places.count
        guard let admission = try? admissions.admit(flow.remote.address, owner: UInt64(place), at: now) else {
            tally.refused &+= 1
            exchange.removeAll()
            return
        }
        insert(DTLSPlace(session, flow: flow, hello: hello.random, admission, at: now), at: place)
    }

    /// Notes what a part of a handshake cost.
    mutating func noteWork(nanoseconds: UInt64) {
        handshakeBudget.spend(nanoseconds)
    }

    mutating func noteRefused() {
        tally.refused &+= 1
    }

    /// A session that is old enough to have an allocation, but may have none; each call looks a little further.
    mutating func candidateForEviction(at now: Instant) -> Int? {
        for _ in 0..<min(Self.evictionLook, places.count) {
            cursor = cursor &+ 1 < places.count ? cursor &+ 1 : 0
            if places[cursor].session != nil, places[cursor].isEstablished,
                now.seconds(since: places[cursor].beganAt) >= Self.quietSeconds
            {
                return cursor
            }
        }
        return nil
    }

    private mutating func insert(_ new: consuming DTLSPlace, at place: Int) {
        let flow = new.flow
        if free.popLast() != nil { places[place] = new } else { places.append(new) }
        if flows[flow] == nil {
            flows[flow] = Places(current: place)
        } else {
            flows[flow]?.successor = place
        }
    }

    // MARK: Records

    /// Gives a record of a datagram to a session. The plaintext comes to lie where the record was: it is shorter, and
    /// OpenSSL has its copy. nil when the record may not reach the session.
    mutating func take(
        _ record: RecordHeader, of datagram: UnsafeMutableRawBufferPointer, to place: Int, at now: Instant
    ) -> DTLSSession.Reading? {
        guard place < places.count, let phase = places[place].session?.phase,
            gate.admits(record, of: UnsafeRawBufferPointer(datagram).bytes, in: phase)
        else { return nil }
        if phase == .established, record.contentType == .handshake {
            guard places[place].repeatsLeft > 0 else { return nil }
            places[place].repeatsLeft &-= 1
        }
        let room = UnsafeMutableRawBufferPointer(rebasing: datagram[record.whole])
        places[place].hasBuffers = true
        let reading = places[place].session?.take(UnsafeRawBufferPointer(room), into: room) ?? .nothing
        if case .data = reading { places[place].heardAt = now }
        return reading
    }

    /// Notes that a place's handshake is complete, once. When it took over from another session, that one is gone, and what
    /// it returns is true: an allocation of the old one has to end.
    mutating func noteEstablished(_ place: Int, at now: Instant) -> Bool {
        guard !places[place].isEstablished, places[place].session?.phase == .established else { return false }
        places[place].isEstablished = true
        places[place].heardAt = now
        places[place].usefulAt = now
        tally.established &+= 1
        admissions.confirm(places[place].admission)
        guard let known = flows[places[place].flow], known.successor == place else { return false }
        let flow = places[place].flow
        flows[flow] = Places(current: place)
        tally.replaced &+= 1
        release(known.current)
        return true
    }

    /// Encrypts a datagram for a flow. False when there is no session for it. The result is in the exchange.
    mutating func write(_ plaintext: UnsafeRawBufferPointer, on flow: Flow) -> Bool {
        guard let place = flows[flow]?.current else { return false }
        places[place].hasBuffers = true
        return places[place].session?.write(plaintext) ?? false
    }

    // MARK: Ending

    /// Ends a session. True when it was the one that counted on its flow, so that an allocation ends with it. A last record
    /// for the client may be in the exchange.
    mutating func end(_ place: Int, _ end: DTLSEnd) -> Bool {
        guard place < places.count, places[place].session != nil else { return false }
        switch end {
        case .closed: tally.closed &+= 1
        case .failed: tally.failed &+= 1
        case .idle: tally.idle &+= 1
        }
        if end != .failed { places[place].session?.close() }
        return remove(place)
    }

    private mutating func remove(_ place: Int) -> Bool {
        let flow = places[place].flow
        let isCurrent = flows[flow]?.current == place
        if isCurrent {
            flows[flow] = flows[flow]?.successor.map { Places(current: $0) }
        } else {
            flows[flow]?.successor = nil
        }
        release(place)
        return isCurrent
    }

    private mutating func release(_ place: Int) {
        admissions.release(places[place].admission)
        places[place].session = nil
        free.append(place)
    }

    // MARK: Time

    /// When there is something to do next.
    func deadline(at now: Instant) -> Instant {
        admissions.pendingCount == 0 ? nextSweep : now.adding(nanoseconds: Self.handshakePeriod)
    }

    /// The handshakes in which something has to be said again, or that take too long.
    mutating func dueHandshakes(at now: Instant) -> [Int] {
        var due: [Int] = []
        for place in admissions.pendingOwners.map({ Int($0) }) {
            let isLate = now.seconds(since: places[place].beganAt) >= limits.handshakeSeconds
            if isLate || places[place].session?.retransmission == 0 { due.append(place) }
        }
        return due
    }

    /// Says the last flight again. False when the handshake has to end. The flight is in the exchange.
    mutating func retransmit(_ place: Int, at now: Instant) -> Bool {
        now.seconds(since: places[place].beganAt) < limits.handshakeSeconds
            && places[place].session?.retransmit() == true
    }

    /// The sessions that may have no allocation for too long, once a second. Those that are quiet give back their buffers.
    mutating func sweep(at now: Instant) -> [Int] {
        guard now >= nextSweep else { return [] }
        nextSweep = now.adding(seconds: 1)
        door.advance(to: now)
        var suspects: [Int] = []
        for place in 0..<places.count where places[place].isEstablished && places[place].session != nil {
            if now.seconds(since: places[place].usefulAt) >= limits.idleSeconds { suspects.append(place) }
            guard places[place].hasBuffers, now.seconds(since: places[place].heardAt) >= Self.quietSeconds else {
                continue
            }
            places[place].hasBuffers = false
            places[place].session?.releaseBuffers()
        }
        return suspects
    }

    mutating func noteUseful(_ place: Int, at now: Instant) {
        places[place].usefulAt = now
    }

    mutating func noteStray() {
        tally.strayRecords &+= 1
    }
}

/// What became of sessions, as running totals.
struct DTLSTally: Hashable, Sendable {
    var established: UInt64 = 0
    /// Handshakes that went wrong or took too long.
    var failed: UInt64 = 0
    /// Hellos with a right cookie for which there was no room.
    var refused: UInt64 = 0
    var closed: UInt64 = 0
    var idle: UInt64 = 0
    var replaced: UInt64 = 0
    /// Records that could reach no session.
    var strayRecords: UInt64 = 0
}
