/// A connection inside a transaction, as a job sees it. It must not outlive the job.
///
/// The SQL is what SQLite and PostgreSQL both understand: placeholders `?1`, `?2`, …; BIGINT, TEXT, BLOB; `ON CONFLICT`
/// and `RETURNING`; no function that only one of them has.
package protocol SQLTransaction: AnyObject {
    /// Runs a statement and tells how many rows it changed.
    @discardableResult
    func execute(_ sql: String, _ arguments: [SQLValue]) throws -> Int
    /// Runs a statement and returns its rows.
    func query(_ sql: String, _ arguments: [SQLValue]) throws -> [SQLRow]
    /// Runs a statement and hands over its rows one by one, until `body` returns false: for rows that may be large
    /// together.
    func visit(_ sql: String, _ arguments: [SQLValue], _ body: (SQLRow) throws -> Bool) throws
}

extension SQLTransaction {
    @discardableResult
    package func execute(_ sql: String) throws -> Int { try execute(sql, []) }
    package func query(_ sql: String) throws -> [SQLRow] { try query(sql, []) }
    /// The first row, when there is one.
    package func first(_ sql: String, _ arguments: [SQLValue] = []) throws -> SQLRow? {
        try query(sql, arguments).first
    }
}

/// The small face of a database that the store is written against; a driver stands behind it.
///
/// Writes are jobs: synchronous closures that one writer runs one after another and commits in groups. A job that throws
/// leaves no trace, and the jobs around it are not touched. `submit` returns when the job's rows are durable; a commit
/// that fails fails every job of its group.
package protocol SQLDatabase: Sendable {
    /// Runs `job` in a write transaction. `committed` is called after the commit, in the order in which the jobs ran and
    /// before any caller continues; it runs on the writer and must be brief.
    func submit<T: Sendable>(
        _ job: @escaping @Sendable (any SQLTransaction) throws -> T, committed: (@Sendable (T) -> Void)?
    ) async throws -> T

    /// Runs `job` over one snapshot of what is committed.
    func read<T: Sendable>(_ job: @escaping @Sendable (any SQLTransaction) throws -> T) async throws -> T

    /// Gives a piece of what the database's file has free back to the file system. Returns whether there is more.
    func releaseFreeSpace() async throws -> Bool

    /// Commits what waits, then closes. Later jobs throw `SQLError.closed`.
    func close() async
}

extension SQLDatabase {
    package func submit<T: Sendable>(_ job: @escaping @Sendable (any SQLTransaction) throws -> T) async throws -> T {
        try await submit(job, committed: nil)
    }
}
