import Model
import Notifications

/// Decides when sources and pushes are claimed, sent and settled. It does no I/O.
struct PushQueue {
    struct Limits: Sendable {
        /// Sources and pushes of one transaction, for which others' messages wait.
        var sources = 16
        var pushes = 16
        /// Conversations whose devices are looked for at a time; and those of them that have more than a page.
        var expansions = 64
        var largeGroups = 256
        /// How long a claim lasts: longer than an attempt, and than a large group waits for its next page.
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
    /// Claimed pushes that are composed or sent, and sources whose pushes are written, but for large groups.
    private var underWay = 0
    /// Conversations among the sources: calls do not wait for them.
    private var expanding = 0
    /// Conversations that take a while, for which others do not wait.
    private var large = 0
    private var isWriting = false
    private var pausedUntil: Timestamp?
    private(set) var isStopping = false

    init(limits: Limits = Limits(), lanes: PushLanes.Limits = PushLanes.Limits()) {
        self.limits = limits
        self.lanes = PushLanes(limits: lanes)
    }

    var isFinished: Bool { isStopping && !isWriting && underWay + large == 0 && settlements.isEmpty }

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

    /// A conversation that is expanded turns out to be large, and gives its room to others.
    ///
    /// - Returns: False if there are too many of them: this one has to be released.
    mutating func becomeLarge() -> Bool {
        guard large < limits.largeGroups else { return false }
        large += 1
        leaveExpansion()
        return true
    }

    enum Expansion: Sendable {
        case call
        case conversation
        case largeGroup
    }

    /// A source's pushes are written, or could not be.
    mutating func expanded(_ expansion: Expansion) {
        switch expansion {
        case .call: underWay -= 1
        case .conversation: leaveExpansion()
        case .largeGroup: large -= 1
        }
    }

    private mutating func leaveExpansion() {
        // Others may wait for its room.
        if expanding >= limits.expansions { notify(due: Timestamp(milliseconds: 0)) }
        underWay -= 1
        expanding -= 1
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
        work.sources = min(limits.sources, max(0, limits.expansions - expanding))
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
