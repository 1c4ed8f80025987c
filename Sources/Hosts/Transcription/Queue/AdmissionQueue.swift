internal import DequeModule

/// Jobs of a higher priority run first.
package enum TranscriptionPriority: Int, Hashable, Sendable, CaseIterable {
    /// Captions of an ongoing call, which are useless when they are late.
    case live
    /// Voice messages and recordings.
    case recorded
}

/// Decides which jobs run: in the order of priority, then of arrival. It has no side effects.
///
/// A job is in the queue from its arrival until it is done, also while it waits for a retry, so that the queue's length
/// limits the memory of all jobs. While there are captions, one of several slots is reserved for them: a recording
/// takes so long that captions behind it would be late.
struct AdmissionQueue {
    /// For how long after the last caption a slot stays reserved.
    static let captionReservation: Duration = .seconds(60)

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
    ///   - length: how many may wait in addition.
    init(slots: Int, length: Int) {
        self.slots = max(slots, 1)
        self.length = max(length, 0)
    }

    var waitingCount: Int { jobs.count - running.count }

    /// When the oldest waiting job arrived.
    var oldest: ContinuousClock.Instant? {
        jobs.lazy.filter { !running.contains($0.key) }.map(\.value.since).min()
    }

    /// Adds a new job. False when the queue is full.
    mutating func admit(_ id: UInt64, _ priority: TranscriptionPriority, at now: ContinuousClock.Instant) -> Bool {
        guard jobs.count < slots + length else { return false }
        jobs[id] = Job(priority: priority, since: now)
        if priority == .live { lastCaption = now }
        return true
    }

    /// Requests a slot for an admitted job. False when it has to wait until `release` or `remove` returns it.
    mutating func acquireSlot(_ id: UInt64, at now: ContinuousClock.Instant) -> Bool {
        guard let job = jobs[id] else { return false }
        if hasSlot(for: job.priority, at: now) {
            running.insert(id)
            return true
        }
        waiting[job.priority, default: []].append(id)
        return false
    }

    /// Frees the slot of a job, which may run again. Returns the jobs that run now.
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

    /// Removes a job that is done or cancelled. Returns the jobs that run now.
    mutating func remove(_ id: UInt64, at now: ContinuousClock.Instant) -> [UInt64] {
        guard let job = jobs.removeValue(forKey: id) else { return [] }
        waiting[job.priority]?.removeAll { $0 == id }
        return release(id, at: now)
    }

    private func hasSlot(for priority: TranscriptionPriority, at now: ContinuousClock.Instant) -> Bool {
        guard running.count < slots else { return false }
        let hasCaptions = lastCaption.map { $0.duration(to: now) < Self.captionReservation } ?? false
        guard priority == .recorded, hasCaptions, slots > 1 else { return true }
        return running.count { jobs[$0]?.priority == .recorded } < slots - 1
    }
}
