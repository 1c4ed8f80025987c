import Model
import Notifications

/// Decides when sources and pushes are claimed, sent and settled. It does no I/O.
struct PushQueue {
    struct Limits: Sendable {
        /// Sources and pushes of one transaction, for which others' messages wait.
        var sources = 16
        var pushes = 16
        /// How long a claim lasts: longer than an attempt, and than the pages of a large group.
        var leaseMilliseconds: Int64 = 60_000
        /// How long a settlement waits for others, to share their transaction.
        var settleMilliseconds: Int64 = 20
        /// How many settlements need not wait.
        var settlements = 24
        /// After how long the rows are read again without a cause.
        var pollMilliseconds: Int64 = 60_000
        /// How long nothing is tried after a transaction has failed.
        var pauseMilliseconds: Int64 = 1_000
    }

    /// What the next transaction does, in this order.
    struct Work: Sendable {
        var settlements: [PushSettlement] = []
        /// Whether it claims, and at most so many.
        var claims = false
        var sources = 0
        var pushes = 0
        var leaseUntil: Timestamp
    }

    let limits: Limits
    private var lanes: PushLanes
    private var settlements: [PushSettlement] = []
    private var oldestSettlement: Timestamp?
    /// When the first of what was written since the last claim is due.
    private var written: Timestamp? = Timestamp(milliseconds: 0)
    /// When the first of what the last transaction saw and left is due.
    private var due: Timestamp?
    /// Claimed pushes that are composed or sent, and sources whose pushes are written.
    private var underWay = 0
    /// Conversations among the sources: a large one takes a while, for which calls do not wait.
    private var expanding = 0
    private var isWriting = false
    private var pausedUntil: Timestamp?
    private(set) var isStopping = false

    init(limits: Limits = Limits(), lanes: PushLanes.Limits = PushLanes.Limits()) {
        self.limits = limits
        self.lanes = PushLanes(limits: lanes)
    }

    var isFinished: Bool { isStopping && !isWriting && underWay == 0 && settlements.isEmpty }

    /// Rows were written that are due then.
    mutating func notify(due: Timestamp) { written = min(written ?? due, due) }
    mutating func stop() { isStopping = true }

    // MARK: Attempts

    mutating func begin(
        _ host: String, for user: UserID, isRing: Bool, at now: Timestamp
    ) -> PushLanes.Decision {
        isStopping ? .wait(0) : lanes.begin(host, for: user, isRing: isRing, at: now)
    }

    mutating func end(_ slot: PushLanes.Slot, hasResponded: Bool?, at now: Timestamp) {
        lanes.end(slot, hasResponded: hasResponded, at: now)
    }

    /// A claimed push is over, for now.
    mutating func settle(_ settlement: PushSettlement, at now: Timestamp) {
        underWay -= 1
        settlements.append(settlement)
        if oldestSettlement == nil { oldestSettlement = now }
    }

    /// A source's pushes are written, or could not be.
    mutating func expanded(isCall: Bool = false) {
        // Others may wait for its room.
        let wasFull = expanding >= limits.sources
        underWay -= 1
        if !isCall { expanding -= 1 }
        if wasFull { notify(due: Timestamp(milliseconds: 0)) }
    }

    // MARK: Transactions

    mutating func work(at now: Timestamp) -> Work? {
        guard let deadline = deadline(at: now), deadline <= now else { return nil }
        isWriting = true
        var work = Work(leaseUntil: now.adding(milliseconds: limits.leaseMilliseconds))
        work.settlements = Array(settlements.prefix(limits.settlements))
        settlements.removeFirst(work.settlements.count)
        if settlements.isEmpty { oldestSettlement = nil }
        guard !isStopping, isDue(at: now) else { return work }
        work.sources = max(0, limits.sources - expanding)
        work.pushes = min(limits.pushes, room)
        work.claims = true
        written = nil
        return work
    }

    /// - Parameters:
    ///   - calls: among the sources.
    ///   - next: when something is due that is not claimed.
    mutating func complete(
        _ work: Work, sources: Int, calls: Int = 0, pushes: Int, next: Timestamp?, at now: Timestamp
    ) {
        isWriting = false
        underWay += sources + pushes
        expanding += sources - calls
        let latest = now.adding(milliseconds: limits.pollMilliseconds)
        var next = min(next ?? latest, latest)
        // What is due and could not be claimed, now waits for a change, or for a moment.
        if work.claims, sources + pushes == 0, next <= now {
            next = now.adding(milliseconds: limits.pauseMilliseconds)
        }
        due = next
    }

    mutating func fail(_ work: Work, at now: Timestamp) {
        isWriting = false
        guard !isStopping else { return }
        settlements = work.settlements + settlements
        if !settlements.isEmpty { oldestSettlement = now }
        notify(due: now)
        pausedUntil = now.adding(milliseconds: limits.pauseMilliseconds)
    }

    /// When the next transaction has to begin; nil if nothing waits for one, or one runs.
    func deadline(at now: Timestamp) -> Timestamp? {
        guard !isWriting else { return nil }
        var earliest: Timestamp?
        func consider(_ time: Timestamp) { earliest = min(earliest ?? time, time) }
        if let oldestSettlement {
            let isUrgent = settlements.count >= limits.settlements || isStopping
            consider(isUrgent ? now : oldestSettlement.adding(milliseconds: limits.settleMilliseconds))
        }
        if !isStopping, room > 0 {
            if let written { consider(written) }
            if let due { consider(due) }
        }
        guard let pausedUntil, now < pausedUntil, let found = earliest else { return earliest }
        return max(found, pausedUntil)
    }

    private func isDue(at now: Timestamp) -> Bool {
        room > 0 && [written, due].contains { $0.map { $0 <= now } ?? false }
    }

    /// Claims are not made far ahead of what can be sent.
    private var room: Int { max(0, lanes.all - underWay) }
}
