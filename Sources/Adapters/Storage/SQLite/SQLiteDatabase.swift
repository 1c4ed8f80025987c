internal import Foundation
internal import GRDB
internal import GRDBSQLite
internal import Synchronization

/// The embedded database: one file, written by one thread in group commits and read by a few other connections.
///
/// Write-ahead logging lets readers continue while the writer commits; `synchronous = FULL` makes a commit durable
/// before its callers continue, so that acknowledged writes survive `kill -9` and a power failure.
package final class SQLiteDatabase: SQLDatabase {
    private let pool: DatabasePool
    private let writer: SQLiteWriter
    package let readers: Int
    private let path: String

    /// Pages released at a time: a few megabytes, which block the writer for some milliseconds.
    private static let pagesReleasedAtOnce = 512

    /// How long a connection waits for another process.
    private static let busyMilliseconds = 5000
    /// How long a checkpoint waits for readers of the log.
    private static let checkpointMilliseconds = 100

    /// The page cache of one connection.
    private static let cacheKilobytes = 16_384

    /// The `user_version` of a file whose pages were all written through `ZeroingVFS`.
    private static let zeroedVersion = 1

    /// The page caches of all connections of this process. They grow up to the limit above per connection and stay
    /// there; that is no leak.
    package static var cacheBytes: Int {
        var now: sqlite3_int64 = 0
        var highest: sqlite3_int64 = 0
        // No memory is preallocated for pages, so SQLite counts all of them as overflow.
        guard sqlite3_status64(SQLITE_STATUS_PAGECACHE_OVERFLOW, &now, &highest, 0) == SQLITE_OK else { return 0 }
        return Int(clamping: now)
    }

    /// Opens the file at `path`, or creates it. Throws an `SQLError` that names the file.
    package init(path: String, readers: Int = 4) throws {
        self.readers = max(1, readers)
        var configuration = Configuration()
        configuration.label = "switchboard"
        configuration.busyMode = .timeout(Double(Self.busyMilliseconds) / 1000)
        configuration.maximumReaderCount = self.readers
        // The writer below opens and closes its transactions itself.
        configuration.allowsUnsafeTransactions = true
        configuration.prepareDatabase { database in
            // Applies to a new file; an old one keeps its mode until it is compacted. Readers must not set it.
            if sqlite3_db_readonly(database.sqliteConnection, "main") == 0 {
                let isNew = try Int.fetchOne(database, sql: "PRAGMA page_count") == 0
                try database.execute(sql: "PRAGMA auto_vacuum = INCREMENTAL")
                if isNew { try database.execute(sql: "PRAGMA user_version = \(Self.zeroedVersion)") }
                // What is deleted is overwritten with zeros. Debian's SQLite does so by default.
                try database.execute(sql: "PRAGMA secure_delete = ON")
            }
            try database.execute(sql: "PRAGMA cache_size = -\(Self.cacheKilobytes)")
            try database.execute(sql: "PRAGMA temp_store = MEMORY")
        }
        try ZeroingVFS.register()
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

    // Does not wait: the last reference may be released on the writer's own thread.
    deinit { writer.stop() }

    package func submit<T: Sendable>(
        _ job: @escaping @Sendable (any SQLTransaction) throws -> T, committed: (@Sendable (T) -> Void)?
    ) async throws -> T {
        try await submit(job, committed: committed, isProbe: false)
    }

    private func submit<T: Sendable>(
        _ job: @escaping @Sendable (any SQLTransaction) throws -> T, committed: (@Sendable (T) -> Void)?, isProbe: Bool
    ) async throws -> T {
        try await withCheckedThrowingContinuation { continuation in
            writer.enqueue(
                SQLiteWriter.Job(
                    run: { transaction in
                        let value = try job(transaction)
                        return SQLiteWriter.Outcome(
                            publish: { committed?(value) }, resume: { continuation.resume(returning: value) })
                    },
                    fail: { continuation.resume(throwing: $0) }), isProbe: isProbe)
        }
    }

    package func submit<Item: Sendable, Value: Sendable>(
        _ item: Item, to batch: SQLBatch<Item, Value>
    ) async throws -> Value {
        try await withCheckedThrowingContinuation { continuation in
            writer.enqueue(SQLiteWriter.Job(SQLiteBatchJob(item, of: batch, continuation)))
        }
    }

    package func read<T: Sendable>(_ job: @escaping @Sendable (any SQLTransaction) throws -> T) async throws -> T {
        try await pool.run(job, path: path)
    }

    /// Whether a write found the disk full. Until `probeFreeSpace` ends that, writes throw `SQLError` of kind `diskFull`
    /// without being run.
    package var isDiskFull: Bool { writer.isDiskFull }

    /// Tries whether the disk has room again: with a file of a megabyte beside the database, and then with a small write
    /// to the database that changes nothing. Returns whether writes are accepted.
    package func probeFreeSpace() async -> Bool {
        do {
            try await FreeSpaceProbe.write(to: path + ".probe")
            _ = try await submit(
                { transaction in
                    // Setting it writes the first page, even if the value is the same.
                    let version = try transaction.first("PRAGMA user_version")?.int(0) ?? 0
                    try transaction.execute("PRAGMA user_version = \(version)")
                }, committed: nil, isProbe: true)
            writer.isDiskFull = false
            return true
        } catch {
            return false
        }
    }

    package func releaseFreeSpace() async throws -> Bool {
        try await submit { transaction in
            guard try transaction.first("PRAGMA auto_vacuum")?.integer(0) == 2 else { return false }
            let free = try transaction.first("PRAGMA freelist_count")?.int(0) ?? 0
            guard free > 0 else { return false }
            _ = try transaction.query("PRAGMA incremental_vacuum(\(Self.pagesReleasedAtOnce))")
            return free > Self.pagesReleasedAtOnce
        }
    }

    /// What `compact` did.
    package enum Compaction: Sendable, Hashable {
        /// The file already has incremental vacuum, and was always written by versions that zero unused bytes.
        case notNeeded
        /// Bytes before and after.
        case done(before: Int, after: Int)
        /// The required and the available bytes on its disk.
        case insufficientSpace(needed: Int, free: Int)
    }

    /// Whether the file is of an earlier version, so that `compact` would rewrite it.
    package func needsCompaction() async throws -> Bool { try await read(Self.needsCompaction) }

    private static func needsCompaction(_ connection: any SQLTransaction) throws -> Bool {
        try connection.first("PRAGMA auto_vacuum")?.int(0) != 2
            || connection.first("PRAGMA user_version")?.int(0) != zeroedVersion
    }

    /// Rewrites the file once (VACUUM), so that free space can be released incrementally from then on, and remains of
    /// what was deleted are gone from unused bytes. That temporarily needs twice its size on the disk and blocks other
    /// writes.
    package func compact() async throws -> Compaction {
        try await withCheckedThrowingContinuation { continuation in
            pool.asyncWriteWithoutTransaction { [path] database in
                do {
                    let connection = SQLiteConnection(database, path: path)
                    defer { connection.isOpen = false }
                    continuation.resume(returning: try Self.compact(connection, path))
                } catch {
                    continuation.resume(throwing: error)
                }
            }
        }
    }

    private static func compact(_ connection: SQLiteConnection, _ path: String) throws -> Compaction {
        func number(_ pragma: String) throws -> Int { try connection.first("PRAGMA \(pragma)")?.int(0) ?? 0 }
        guard try needsCompaction(connection) else { return .notNeeded }
        let pageSize = try number("page_size")
        let before = try number("page_count") &* pageSize
        let directory = URL(fileURLWithPath: path).deletingLastPathComponent().path
        let attributes = try FileManager.default.attributesOfFileSystem(forPath: directory)
        let free = (attributes[.systemFreeSize] as? NSNumber)?.intValue ?? 0
        guard free >= before &* 2 else { return .insufficientSpace(needed: before &* 2, free: free) }
        try connection.execute("PRAGMA auto_vacuum = INCREMENTAL")
        try connection.execute("VACUUM")
        try connection.execute("PRAGMA user_version = \(zeroedVersion)")
        _ = try connection.query("PRAGMA wal_checkpoint(TRUNCATE)")
        return .done(before: before, after: try number("page_count") &* pageSize)
    }

    /// Writes a snapshot of the committed data to a new file, while others continue to read and write.
    package func backUp(to path: String) async throws {
        try await withCheckedThrowingContinuation { continuation in
            Thread.detachNewThread { [pool] in
                do {
                    let copy = try DatabaseQueue(path: path)
                    try Self.announceSize(of: pool, to: copy)
                    guard chmod(path, 0o600) == 0 else { throw SQLError(.unwritable, "\(path) cannot be written.") }
                    try pool.backup(to: copy)
                    // A single file without a write-ahead log.
                    try copy.writeWithoutTransaction { try $0.execute(sql: "PRAGMA journal_mode = DELETE") }
                    try copy.close()
                    continuation.resume()
                } catch let error as DatabaseError {
                    continuation.resume(throwing: SQLError(error, path: path))
                } catch {
                    continuation.resume(throwing: error)
                }
            }
        }
    }

    /// Tells the file system of the copy how large it becomes, since its pages name pages that it does not have yet.
    private static func announceSize(of source: DatabasePool, to copy: DatabaseQueue) throws {
        let size = try source.read { database in
            try Int64.fetchOne(database, sql: "SELECT page_count * page_size FROM pragma_page_count, pragma_page_size")
        }
        guard var size else { return }
        copy.inDatabase { database in
            _ = sqlite3_file_control(database.sqliteConnection, "main", SQLITE_FCNTL_SIZE_HINT, &size)
        }
    }

    /// Checkpoints and truncates the write-ahead log, so that the file can be moved alone once the database is closed,
    /// and nothing that was deleted is left in the log or in unused bytes of the file (`ZeroingVFS`).
    ///
    /// Writers wait only while readers of the log finish, and not for longer than `checkpointMilliseconds`.
    package func checkpoint() async throws {
        try await withCheckedThrowingContinuation { continuation in
            pool.asyncWriteWithoutTransaction { [path] database in
                do {
                    let connection = SQLiteConnection(database, path: path)
                    defer { connection.isOpen = false }
                    // Most pages are copied without waiting for anybody.
                    _ = try connection.query("PRAGMA wal_checkpoint(PASSIVE)")
                    _ = try connection.query("PRAGMA busy_timeout = \(Self.checkpointMilliseconds)")
                    defer { _ = try? connection.query("PRAGMA busy_timeout = \(Self.busyMilliseconds)") }
                    let isBusy = try connection.first("PRAGMA wal_checkpoint(TRUNCATE)")?.bool(0) ?? true
                    if isBusy { throw SQLError(.locked, "\(path) is being read: its log cannot be truncated.") }
                    // The writer's cached pages still have unused bytes as they were before the checkpoint, and would
                    // bring them back into the log.
                    sqlite3_db_release_memory(database.sqliteConnection)
                    continuation.resume()
                } catch {
                    continuation.resume(throwing: error)
                }
            }
        }
    }

    /// Throws if the file is damaged.
    package func checkIntegrity() async throws {
        let result = try await read { try $0.first("PRAGMA quick_check(1)")?.text(0) }
        guard result != "ok" else { return }
        throw SQLError(.damaged, "\(path) is damaged (\(result ?? "no result")). Take another backup.")
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

extension DatabaseReader {
    /// Runs `job` in a read transaction. Unlike GRDB's own async read, it does not interrupt the connection when the
    /// caller's task is cancelled; a read that has not begun is not begun any more, if `SQLReads.endWithTask` says so.
    func run<T: Sendable>(
        _ job: @escaping @Sendable (any SQLTransaction) throws -> T, path: String
    ) async throws -> T {
        guard SQLReads.endWithTask else { return try await run(job, path: path, unless: nil) }
        let cancellation = Cancellation()
        return try await withTaskCancellationHandler {
            try await run(job, path: path, unless: cancellation)
        } onCancel: {
            cancellation.isCancelled.withLock { $0 = true }
        }
    }

    private func run<T: Sendable>(
        _ job: @escaping @Sendable (any SQLTransaction) throws -> T, path: String, unless cancellation: Cancellation?
    ) async throws -> T {
        try await withCheckedThrowingContinuation { continuation in
            asyncRead { access in
                do {
                    if cancellation?.isCancelled.withLock({ $0 }) == true { throw CancellationError() }
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
}

/// Of one read.
private final class Cancellation: Sendable {
    let isCancelled = Mutex(false)
}
