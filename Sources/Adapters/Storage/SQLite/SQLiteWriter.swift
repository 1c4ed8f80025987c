internal import Dispatch
internal import Foundation
internal import GRDB
internal import Synchronization

/// The thread that writes: it takes all jobs that wait, runs each in a savepoint of one immediate transaction, commits
/// once, tells the listeners and then lets the callers go on.
///
/// Under load the group grows by itself while the disk syncs, so that a sync is paid once for many requests; a single
/// request pays its own and waits for nobody.
final class SQLiteWriter: Sendable {
    /// One job with its type erased.
    struct Job: Sendable {
        /// Runs the job's statements; what it returns is called when the group's fate is known.
        let run: @Sendable (any SQLTransaction) throws -> Outcome
        /// Tells the caller that the job did not happen.
        let fail: @Sendable (any Error) -> Void
    }

    /// What is left to do for a job whose statements ran.
    struct Outcome {
        let publish: () -> Void
        let resume: () -> Void
    }

    private struct Waiting {
        var jobs: [Job] = []
        var isClosed = false
    }

    /// Jobs in one transaction at most, which bounds how long the first of them waits.
    private static let groupLimit = 512
    /// Jobs that may wait; beyond it callers are told to come back, rather than to wait behind a stalled disk for ever.
    private static let queueLimit = 20_000

    private let waiting = Mutex(Waiting())
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

    func enqueue(_ job: Job) {
        enum Answer { case queued(wasIdle: Bool), closed, full }
        let answer: Answer = waiting.withLock { waiting in
            if waiting.isClosed { return .closed }
            if waiting.jobs.count >= Self.queueLimit { return .full }
            waiting.jobs.append(job)
            return .queued(wasIdle: waiting.jobs.count == 1)
        }
        switch answer {
        case .queued(let wasIdle): if wasIdle { wake.signal() }
        case .closed: job.fail(SQLError(.closed, "The database \(path) is closed."))
        case .full: job.fail(SQLError(.overloaded, "More writes wait for \(path) than it can take."))
        }
    }

    /// Takes no more jobs; the thread runs what waits and ends. Returns whether this call was the first to ask.
    @discardableResult
    func stop() -> Bool {
        let wasOpen = waiting.withLock { waiting in
            defer { waiting.isClosed = true }
            return !waiting.isClosed
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
                let (group, closed) = waiting.withLock { waiting -> ([Job], Bool) in
                    let group = Array(waiting.jobs.prefix(Self.groupLimit))
                    waiting.jobs.removeFirst(group.count)
                    return (group, waiting.isClosed)
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
        var refused: [(Job, any Error)] = []
        do {
            try pool.writeWithoutTransaction { database in
                let connection = SQLiteConnection(database, path: path)
                defer { connection.isOpen = false }
                do {
                    try connection.execute("BEGIN IMMEDIATE")
                    for job in group {
                        try connection.execute("SAVEPOINT job")
                        do {
                            outcomes.append(try job.run(connection))
                        } catch {
                            // A full disk or an I/O error ends the whole transaction, not just the savepoint.
                            guard connection.isInsideTransaction else { throw error }
                            refused.append((job, error))
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
            for job in group { job.fail(error) }
            return
        }
        for outcome in outcomes { outcome.publish() }
        for outcome in outcomes { outcome.resume() }
        for (job, error) in refused { job.fail(error) }
    }
}
