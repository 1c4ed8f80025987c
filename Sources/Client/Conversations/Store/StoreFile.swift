import Foundation
import GRDB

/// Opens the file of a store. One that is damaged, or of another version of this library, is set aside: its content is
/// read from the server again, except the queue and the drafts, which are taken over.
enum StoreFile {
    /// Raised whenever the tables or documents of the cache change. The queue's only ever grow.
    static let schema = 5

    /// In memory, if there is no path.
    static func open(_ path: String?) throws -> DatabaseQueue {
        guard let path else { return try make(DatabaseQueue()) }
        try FileManager.default.createDirectory(
            at: URL(fileURLWithPath: path).deletingLastPathComponent(), withIntermediateDirectories: true,
            attributes: [.posixPermissions: 0o700])
        do {
            let database = try DatabaseQueue(path: path, configuration: configuration)
            let version = try database.read { database in
                try Int.fetchOne(database, sql: "PRAGMA user_version") ?? 0
            }
            if version == 0 { return try make(database) }
            let isSound = try database.read { try String.fetchOne($0, sql: "PRAGMA quick_check(1)") == "ok" }
            if version == schema, isSound { return database }
            try database.close()
        } catch let error as DatabaseError where error.isAboutTheFile {}
        return try replace(path)
    }

    private static func replace(_ path: String) throws -> DatabaseQueue {
        let aside = path + ".aside"
        remove(aside)
        for suffix in suffixes where FileManager.default.fileExists(atPath: path + suffix) {
            try FileManager.default.moveItem(atPath: path + suffix, toPath: aside + suffix)
        }
        let database = try make(DatabaseQueue(path: path, configuration: configuration))
        let old = try? DatabaseQueue(path: aside, configuration: configuration)
        let entries = old.map { rows(of: $0, "SELECT id, json FROM entries") } ?? []
        let drafts = old.map { rows(of: $0, "SELECT conversation, text FROM drafts") } ?? []
        try? old?.close()
        try database.write { database in
            for row in entries {
                try database.execute(sql: "INSERT OR IGNORE INTO entries VALUES (?, ?)", arguments: [row[0], row[1]])
            }
            for row in drafts {
                try database.execute(sql: "INSERT OR IGNORE INTO drafts VALUES (?, ?)", arguments: [row[0], row[1]])
            }
        }
        return database
    }

    /// The rows that can be read, of two columns.
    private static func rows(of database: DatabaseQueue, _ sql: String) -> [[DatabaseValue]] {
        var read: [[DatabaseValue]] = []
        try? database.read { database in
            let cursor = try Row.fetchCursor(database, sql: sql)
            while let row = try cursor.next() { read.append(Array(row.databaseValues)) }
        }
        return read.filter { $0.count == 2 }
    }

    /// Removes a file with what belongs to it.
    static func remove(_ path: String) {
        for suffix in suffixes { try? FileManager.default.removeItem(atPath: path + suffix) }
    }

    private static let suffixes = ["", "-wal", "-shm", "-journal"]

    private static var configuration: Configuration {
        var configuration = Configuration()
        configuration.journalMode = .wal
        configuration.busyMode = .timeout(5)
        configuration.prepareDatabase { try $0.execute(sql: "PRAGMA secure_delete = ON") }
        return configuration
    }

    /// Rows of a text are removed with it, however it is removed. A message without a text has no `textVersion`.
    private static let followers = """
        CREATE TRIGGER IF NOT EXISTS messageRemoved AFTER DELETE ON messages BEGIN
            DELETE FROM translations WHERE conversation = old.conversation AND number = old.number;
        END;
        CREATE TRIGGER IF NOT EXISTS messageStored AFTER INSERT ON messages BEGIN
            DELETE FROM translations WHERE conversation = new.conversation AND number = new.number
                AND (new.textVersion IS NULL OR textVersion < new.textVersion);
        END;
        CREATE TRIGGER IF NOT EXISTS messageExpired AFTER UPDATE ON messages WHEN new.textVersion IS NULL BEGIN
            DELETE FROM translations WHERE conversation = new.conversation AND number = new.number;
        END;
        """

    private static func make(_ database: DatabaseQueue) throws -> DatabaseQueue {
        try database.write { database in
            try database.execute(
                sql: """
                    CREATE TABLE IF NOT EXISTS inbox (
                        conversation TEXT PRIMARY KEY, json BLOB NOT NULL) WITHOUT ROWID;
                    CREATE TABLE IF NOT EXISTS heads (name TEXT PRIMARY KEY, json BLOB NOT NULL) WITHOUT ROWID;
                    CREATE TABLE IF NOT EXISTS conversations (
                        id TEXT PRIMARY KEY, openedAt INTEGER NOT NULL, json BLOB NOT NULL) WITHOUT ROWID;
                    CREATE TABLE IF NOT EXISTS members (
                        conversation TEXT, user TEXT, json BLOB NOT NULL, PRIMARY KEY (conversation, user)) WITHOUT ROWID;
                    CREATE TABLE IF NOT EXISTS people (user TEXT PRIMARY KEY, json BLOB NOT NULL) WITHOUT ROWID;
                    CREATE TABLE IF NOT EXISTS messages (
                        conversation TEXT, number INTEGER, json BLOB NOT NULL, expires INTEGER, textVersion INTEGER,
                        PRIMARY KEY (conversation, number)) WITHOUT ROWID;
                    CREATE INDEX IF NOT EXISTS expiring ON messages (expires) WHERE expires IS NOT NULL;
                    CREATE TABLE IF NOT EXISTS translations (
                        conversation TEXT, number INTEGER, kind TEXT, textVersion INTEGER NOT NULL, json BLOB NOT NULL,
                        PRIMARY KEY (conversation, number, kind)) WITHOUT ROWID;
                    CREATE TABLE IF NOT EXISTS readings (
                        conversation TEXT PRIMARY KEY, json BLOB NOT NULL) WITHOUT ROWID;
                    \(followers)
                    \(derived)
                    CREATE TABLE IF NOT EXISTS own (
                        conversation TEXT, number INTEGER, json BLOB NOT NULL, PRIMARY KEY (conversation, number)
                    ) WITHOUT ROWID;
                    CREATE TABLE IF NOT EXISTS marks (conversation TEXT PRIMARY KEY, json BLOB NOT NULL) WITHOUT ROWID;
                    CREATE TABLE IF NOT EXISTS entries (id INTEGER PRIMARY KEY, json BLOB NOT NULL);
                    CREATE TABLE IF NOT EXISTS drafts (conversation TEXT PRIMARY KEY, text TEXT NOT NULL) WITHOUT ROWID;
                    PRAGMA user_version = \(schema);
                    """)
        }
        return database
    }
}

extension DatabaseError {
    /// Whether the file itself is unusable, rather than busy, or the disk full.
    fileprivate var isAboutTheFile: Bool {
        [.SQLITE_CORRUPT, .SQLITE_NOTADB, .SQLITE_ERROR, .SQLITE_FORMAT].contains(resultCode)
    }
}
