import Foundation

@testable import Storage

/// A database with the tables of `Churn`.
enum ChurnedDatabase {
    static func open(_ path: String) async throws -> SQLiteDatabase {
        let database = try SQLiteDatabase(path: path)
        try await database.submit { sql in for statement in Churn.schema { try sql.execute(statement) } }
        return database
    }

    /// What an earlier version would have left, with what is marked erased.
    static func makeWithoutZeroing(_ path: String, _ churn: inout Churn) throws {
        let connection = try RawConnection(path, vfs: "unix")
        for pragma in ["auto_vacuum = INCREMENTAL", "journal_mode = WAL", "secure_delete = ON"] {
            try connection.execute("PRAGMA \(pragma)")
        }
        for statement in Churn.schema { try connection.execute(statement) }
        for _ in 0..<20 {
            try connection.execute("BEGIN")
            try churn.change(60) { _ = try connection.execute($0, $1) }
            try connection.execute("COMMIT")
        }
        try churn.erase { _ = try connection.execute($0, $1) }
        try connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    }

    /// The pages of the file, which has no log.
    static func pages(_ path: String) throws -> DatabasePages {
        let rows = try RawConnection(path).execute("SELECT rootpage FROM sqlite_master WHERE rootpage > 0")
        return try DatabasePages(path, roots: rows.compactMap { $0.first.flatMap { Int($0) } })
    }

    /// The files of the database that have the marker, by what follows its name.
    static func marked(_ path: String) throws -> [String] {
        try ["", "-wal", "-shm", "-journal"].filter { suffix in
            guard FileManager.default.fileExists(atPath: path + suffix) else { return false }
            return try Data(contentsOf: URL(filePath: path + suffix)).range(of: Data(Churn.marker.utf8)) != nil
        }
    }
}

extension SQLiteDatabase {
    /// Changes rows in so many transactions.
    func change(_ churn: Churn, rounds: Int) async throws -> Churn {
        var churn = churn
        for _ in 0..<rounds {
            let before = churn
            churn = try await submit { sql in
                var next = before
                try next.change(60) { _ = try sql.execute($0, $1) }
                return next
            }
        }
        return churn
    }

    func erase(_ churn: Churn) async throws -> Churn {
        try await submit { sql in
            var next = churn
            try next.erase { _ = try sql.execute($0, $1) }
            return next
        }
    }
}

extension RawConnection {
    func contents() throws -> [[[String]]] { try Churn.readers.map { try execute($0) } }
}
