/// A connection inside a transaction, for a job. It must not outlive the job.
///
/// The SQL is the common subset of SQLite and PostgreSQL: placeholders `?1`, `?2`, …; BIGINT, TEXT, BLOB; `ON CONFLICT`
/// and `RETURNING`; no function that only one of them has.
package protocol SQLTransaction: AnyObject {
    /// Runs a statement and returns the number of changed rows.
    @discardableResult
    func execute(_ sql: String, _ arguments: [SQLValue]) throws -> Int
    /// Runs a statement and returns its rows.
    func query(_ sql: String, _ arguments: [SQLValue]) throws -> [SQLRow]
    /// Runs a statement and passes its rows to `body` one by one until it returns false: for large results.
    func visit(_ sql: String, _ arguments: [SQLValue], _ body: (SQLRow) throws -> Bool) throws
}

extension SQLTransaction {
    @discardableResult
    package func execute(_ sql: String) throws -> Int { try execute(sql, []) }
    package func query(_ sql: String) throws -> [SQLRow] { try query(sql, []) }
    /// The first row, if there is one.
    package func first(_ sql: String, _ arguments: [SQLValue] = []) throws -> SQLRow? {
        try query(sql, arguments).first
    }
}

/// The database interface that the store uses; a driver implements it.
///
/// Writes are jobs: synchronous closures that one writer runs one after another and commits in groups. A job that
/// throws is rolled back without affecting the others. `submit` returns when the job's rows are durable; if a commit
/// fails, all jobs of its group fail.
package protocol SQLDatabase: Sendable {
    /// Runs `job` in a write transaction. `committed` is called after the commit, in the order in which the jobs ran
    /// and before any caller continues; it runs on the writer and must be brief.
    func submit<T: Sendable>(
        _ job: @escaping @Sendable (any SQLTransaction) throws -> T, committed: (@Sendable (T) -> Void)?
    ) async throws -> T

    /// Runs an item in a write transaction, together with the items of the same batch that wait next to it.
    func submit<Item: Sendable, Value: Sendable>(_ item: Item, to batch: SQLBatch<Item, Value>) async throws -> Value

    /// How many reads run at a time; others wait.
    var readers: Int { get }

    /// Runs `job` over one snapshot of what is committed.
    func read<T: Sendable>(_ job: @escaping @Sendable (any SQLTransaction) throws -> T) async throws -> T

    /// Returns some of the free space in the database's file to the file system. Returns whether there is more.
    func releaseFreeSpace() async throws -> Bool

    /// Removes from the database's files what was deleted but is still in a log of theirs. Throws an `SQLError` of kind
    /// `locked` if that must be tried again later.
    func checkpoint() async throws

    /// Commits the queued jobs, then closes. Later jobs throw `SQLError.closed`.
    func close() async
}

extension SQLDatabase {
    package func submit<T: Sendable>(_ job: @escaping @Sendable (any SQLTransaction) throws -> T) async throws -> T {
        try await submit(job, committed: nil)
    }

    /// As `checkpoint`, after the reads that are pending: a read still needs the log for a moment when its result is there
    /// already.
    ///
    /// - Throws: `locked` if one goes on for a minute.
    package func checkpointAfterReads() async throws {
        let end = ContinuousClock.now + .seconds(60)
        while true {
            do {
                return try await checkpoint()
            } catch let error as SQLError where error.kind == .locked && ContinuousClock.now < end {
                try await Task.sleep(for: .milliseconds(10))
            }
        }
    }
}

/// How reads behave that a task makes.
package enum SQLReads {
    /// Whether a read that waits for a connection is given up when the task is cancelled: it throws `CancellationError`.
    @TaskLocal package static var endWithTask = false
}
