internal import Foundation
internal import GRDB
internal import GRDBSQLite

/// The embedded database: one file, written by one thread in groups and read by a few connections beside it.
///
/// Write-ahead logging lets readers go on while the writer commits; `synchronous = FULL` makes a commit durable before
/// its callers continue, so that what was acknowledged survives `kill -9` and a power cut.
package final class SQLiteDatabase: SQLDatabase {
    private let pool: DatabasePool
    private let writer: SQLiteWriter
    private let path: String

    /// Of pages that one connection keeps in memory, so that it need not read them again.
    private static let cacheKilobytes = 16_384

    /// What this process keeps of its databases' pages. It grows with what was read and written, up to the bound above for
    /// each connection, and stays there: that is what a cache is for, and tells nothing of a leak.
    package static var cacheBytes: Int {
        var now: sqlite3_int64 = 0
        var highest: sqlite3_int64 = 0
        // Nothing is set aside for pages in advance, so that all of them are what SQLite calls overflow.
        guard sqlite3_status64(SQLITE_STATUS_PAGECACHE_OVERFLOW, &now, &highest, 0) == SQLITE_OK else { return 0 }
        return Int(clamping: now)
    }

    /// Opens the file at `path`, or makes it. Throws an `SQLError` that names the file.
    package init(path: String, readers: Int = 4) throws {
        var configuration = Configuration()
        configuration.label = "switchboard"
        configuration.busyMode = .timeout(5)
        configuration.maximumReaderCount = max(1, readers)
        // The writer below opens and closes its transactions itself.
        configuration.allowsUnsafeTransactions = true
        configuration.prepareDatabase { database in
            try database.execute(sql: "PRAGMA cache_size = -\(Self.cacheKilobytes)")
            try database.execute(sql: "PRAGMA temp_store = MEMORY")
        }
        do {
            pool = try DatabasePool(path: path, configuration: configuration)
            // GRDB sets NORMAL when it opens the pool, so FULL comes after it. A group's commit then syncs the log.
            try pool.writeWithoutTransaction { database in
                try database.execute(sql: "PRAGMA synchronous = FULL")
                try database.execute(sql: "PRAGMA wal_autocheckpoint = 4000")
                try database.execute(sql: "PRAGMA journal_size_limit = 67108864")
            }
        } catch let error as DatabaseError {
            throw SQLError(error, path: path)
        }
        self.path = path
        writer = SQLiteWriter(pool: pool, path: path)
    }

    // Without waiting: the last reference may be let go of on the writer's own thread.
    deinit { writer.stop() }

    package func submit<T: Sendable>(
        _ job: @escaping @Sendable (any SQLTransaction) throws -> T, committed: (@Sendable (T) -> Void)?
    ) async throws -> T {
        try await withCheckedThrowingContinuation { continuation in
            writer.enqueue(
                SQLiteWriter.Job(
                    run: { transaction in
                        let value = try job(transaction)
                        return SQLiteWriter.Outcome(
                            publish: { committed?(value) }, resume: { continuation.resume(returning: value) })
                    },
                    fail: { continuation.resume(throwing: $0) }))
        }
    }

    package func read<T: Sendable>(_ job: @escaping @Sendable (any SQLTransaction) throws -> T) async throws -> T {
        // GRDB's own async read interrupts the connection when the caller's task is cancelled; this one does not.
        try await withCheckedThrowingContinuation { continuation in
            pool.asyncRead { [path] access in
                do {
                    let connection = SQLiteConnection(try access.get(), path: path)
                    defer { connection.isOpen = false }
                    continuation.resume(returning: try job(connection))
                } catch let error as DatabaseError {
                    continuation.resume(throwing: SQLError(error, path: path))
                } catch {
                    continuation.resume(throwing: error)
                }
            }
        }
    }

    package func close() async {
        await withCheckedContinuation { continuation in
            Thread.detachNewThread { [writer, pool] in
                writer.close()
                try? pool.close()
                continuation.resume()
            }
        }
    }
}
