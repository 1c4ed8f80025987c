internal import DequeModule

/// Who has to be served first.
package enum TranscriptionPriority: Int, Hashable, Sendable, CaseIterable {
    /// Captions of a call that goes on: later they are worth nothing.
    case live
    /// Voice messages and recordings.
    case recorded
}

/// Who waits for a provider, and for how many it works: pure decisions, in the order of priority and then of coming.
///
/// A job is in it from when it came until it is done, also while it waits to be tried again: so that its length bounds
/// everything that is held for jobs. While there are captions, one slot is kept for them where there are several: a
/// recording takes so long that they would come too late behind it.
struct WaitingLine {
    /// How long captions are expected to go on after the last one.
    static let captionsLast: Duration = .seconds(60)

    private struct Job {
        var priority: TranscriptionPriority
        var since: ContinuousClock.Instant
    }

    let slots: Int
    let length: Int
    private var jobs: [UInt64: Job] = [:]
    private var waiting: [TranscriptionPriority: Deque<UInt64>] = [:]
    private var lastCaption: ContinuousClock.Instant?
    private(set) var running: Set<UInt64> = []

    /// - Parameters:
    ///   - slots: how many run at a time.
    ///   - length: how many there may be beside those.
    init(slots: Int, length: Int) {
        self.slots = max(slots, 1)
        self.length = max(length, 0)
    }

    var waitingCount: Int { jobs.count - running.count }

    /// When the one came that has waited longest and does not run.
    var oldest: ContinuousClock.Instant? {
        jobs.lazy.filter { !running.contains($0.key) }.map(\.value.since).min()
    }

    /// A new job: whether there is room for it at all.
    mutating func admit(_ id: UInt64, _ priority: TranscriptionPriority, at now: ContinuousClock.Instant) -> Bool {
        guard jobs.count < slots + length else { return false }
        jobs[id] = Job(priority: priority, since: now)
        if priority == .live { lastCaption = now }
        return true
    }

    /// An admitted job wants to run: whether it may now, or waits until `release` or `leave` name it.
    mutating func wantsSlot(_ id: UInt64, at now: ContinuousClock.Instant) -> Bool {
        guard let job = jobs[id] else { return false }
        if hasSlot(for: job.priority, at: now) {
            running.insert(id)
            return true
        }
        waiting[job.priority, default: []].append(id)
        return false
    }

    /// A job does not run any more, though it may again: which ones run now.
    mutating func release(_ id: UInt64, at now: ContinuousClock.Instant) -> [UInt64] {
        running.remove(id)
        var started: [UInt64] = []
        for priority in TranscriptionPriority.allCases {
            while hasSlot(for: priority, at: now), let next = waiting[priority]?.popFirst() {
                running.insert(next)
                started.append(next)
            }
        }
        return started
    }

    /// A job is done, or not wanted any more: which ones run now.
    mutating func leave(_ id: UInt64, at now: ContinuousClock.Instant) -> [UInt64] {
        guard let job = jobs.removeValue(forKey: id) else { return [] }
        waiting[job.priority]?.removeAll { $0 == id }
        return release(id, at: now)
    }

    private func hasSlot(for priority: TranscriptionPriority, at now: ContinuousClock.Instant) -> Bool {
        guard running.count < slots else { return false }
        let hasCaptions = lastCaption.map { $0.duration(to: now) < Self.captionsLast } ?? false
        guard priority == .recorded, hasCaptions, slots > 1 else { return true }
        return running.count { jobs[$0]?.priority == .recorded } < slots - 1
    }
}
