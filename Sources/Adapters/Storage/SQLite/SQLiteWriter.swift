internal import Dispatch
internal import Foundation
internal import GRDB
internal import Synchronization

/// The writer thread: it takes all queued jobs, runs each in a savepoint of one immediate transaction, commits once,
/// publishes the changes and then resumes the callers.
///
/// Under load the group grows while the disk syncs, so that many requests share one sync; a single request does not
/// wait for others.
///
/// When the disk is full, later jobs are refused without being run, until `isDiskFull` is cleared.
final class SQLiteWriter: Sendable {
    /// One job with its type erased.
    struct Job: Sendable {
        /// Runs the job's statements; the returned outcome is used once the group is committed.
        let run: @Sendable (any SQLTransaction) throws -> Outcome
        /// Reports to the caller that the job failed.
        let fail: @Sendable (any Error) -> Void
        /// Of a job that runs together with those of its batch next to it, instead of by `run`.
        var batched: SQLiteBatchJob?
    }

    /// The remaining steps of a job whose statements ran.
    struct Outcome {
        let publish: () -> Void
        let resume: () -> Void
    }

    private struct Queue {
        var jobs: [Job] = []
        var isClosed = false
    }

    /// The maximum number of jobs in one transaction, which limits how long the first of them waits.
    private static let groupLimit = 512
    /// The maximum number of queued jobs; beyond it callers get an error instead of waiting for a stalled disk.
    private static let queueLimit = 20_000

    private let queue = Mutex(Queue())
    private let diskFull = Atomic(false)
    private let wake = DispatchSemaphore(value: 0)
    private let finished = DispatchSemaphore(value: 0)
    private let pool: DatabasePool
    private let path: String

    init(pool: DatabasePool, path: String) {
        self.pool = pool
        self.path = path
        let thread = Thread { self.work() }
        thread.name = "sqlite-writer"
        thread.start()
    }

    /// Set by a write that found the disk full.
    var isDiskFull: Bool {
        get { diskFull.load(ordering: .relaxed) }
        set { diskFull.store(newValue, ordering: .relaxed) }
    }

    /// - Parameter isProbe: whether the job is run even if the disk is full.
    func enqueue(_ job: Job, isProbe: Bool = false) {
        guard isProbe || !isDiskFull else {
            return job.fail(SQLError(.diskFull, "The disk of \(path) is full. Free some space; nothing was written."))
        }
        enum EnqueueResult { case queued(wasIdle: Bool), closed, full }
        let result: EnqueueResult = queue.withLock { queue in
            if queue.isClosed { return .closed }
            if queue.jobs.count >= Self.queueLimit { return .full }
            queue.jobs.append(job)
            return .queued(wasIdle: queue.jobs.count == 1)
        }
        switch result {
        case .queued(let wasIdle): if wasIdle { wake.signal() }
        case .closed: job.fail(SQLError(.closed, "The database \(path) is closed."))
        case .full: job.fail(SQLError(.overloaded, "The queue of writes to \(path) is full."))
        }
    }

    /// Accepts no more jobs; the thread runs the queued ones and ends. Returns whether this was the first call.
    @discardableResult
    func stop() -> Bool {
        let wasOpen = queue.withLock { queue in
            defer { queue.isClosed = true }
            return !queue.isClosed
        }
        if wasOpen { wake.signal() }
        return wasOpen
    }

    /// Stops and waits for the thread's end; only the first caller waits.
    func close() {
        if stop() { finished.wait() }
    }

    private func work() {
        var isOpen = true
        while isOpen {
            wake.wait()
            while true {
                let (group, closed) = queue.withLock { queue -> ([Job], Bool) in
                    let group = Array(queue.jobs.prefix(Self.groupLimit))
                    queue.jobs.removeFirst(group.count)
                    return (group, queue.isClosed)
                }
                if group.isEmpty {
                    isOpen = !closed
                    break
                }
                commit(group)
            }
        }
        finished.signal()
    }

    private func commit(_ group: [Job]) {
        var outcomes: [Outcome] = []
        outcomes.reserveCapacity(group.count)
        var failed: [(fail: (any Error) -> Void, error: any Error)] = []
        do {
            try pool.writeWithoutTransaction { database in
                let connection = SQLiteConnection(database, path: path)
                defer { connection.isOpen = false }
                do {
                    try connection.execute("BEGIN IMMEDIATE")
                    for jobs in Self.together(group) {
                        try connection.execute("SAVEPOINT job")
                        do {
                            try run(jobs, connection, &outcomes, &failed)
                        } catch {
                            // A full disk or an I/O error ends the whole transaction, not just the savepoint.
                            guard connection.isInsideTransaction else { throw error }
                            note(error)
                            failed += jobs.map { ($0.fail, error) }
                            try connection.execute("ROLLBACK TO job")
                        }
                        try connection.execute("RELEASE job")
                    }
                    try connection.execute("COMMIT")
                } catch {
                    if connection.isInsideTransaction { _ = try? connection.execute("ROLLBACK") }
                    throw error
                }
            }
        } catch {
            note(error)
            for job in group { job.fail(error) }
            return
        }
        for outcome in outcomes { outcome.publish() }
        for outcome in outcomes { outcome.resume() }
        for (fail, error) in failed { fail(error) }
    }

    /// Jobs next to each other that run together; most run alone.
    private static func together(_ group: [Job]) -> [ArraySlice<Job>] {
        group.split(before: { job, next in
            job.batched == nil || job.batched?.batch != next.batched?.batch
        })
    }

    private func run(
        _ jobs: ArraySlice<Job>, _ connection: SQLiteConnection, _ outcomes: inout [Outcome],
        _ failed: inout [(fail: (any Error) -> Void, error: any Error)]
    ) throws {
        guard let first = jobs.first, let batched = first.batched else {
            for job in jobs { outcomes.append(try job.run(connection)) }
            return
        }
        let items = jobs.compactMap(\.batched)
        let (results, committed) = try batched.run(items.map(\.item), connection)
        outcomes.append(Outcome(publish: { for body in committed { body() } }, resume: {}))
        for (item, result) in zip(items, results) {
            switch result {
            case .success(let value): outcomes.append(Outcome(publish: {}, resume: { item.resume(value) }))
            case .failure(let error):
                note(error)
                failed.append((item.fail, error))
            }
        }
    }

    private func note(_ error: any Error) {
        if (error as? SQLError)?.kind == .diskFull { isDiskFull = true }
    }
}

extension SQLiteWriter.Job {
    init(_ item: SQLiteBatchJob) {
        self.init(
            run: { _ in throw SQLError(.failed, "An item of a batch was run without it.") }, fail: item.fail,
            batched: item)
    }
}

extension Array {
    /// Splits between two neighbours of which `isBoundary` is true.
    fileprivate func split(before isBoundary: (Element, Element) -> Bool) -> [ArraySlice<Element>] {
        var parts: [ArraySlice<Element>] = []
        var start = startIndex
        for index in indices.dropFirst() where isBoundary(self[index - 1], self[index]) {
            parts.append(self[start..<index])
            start = index
        }
        if start < endIndex { parts.append(self[start...]) }
        return parts
    }
}
