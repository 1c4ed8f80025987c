internal import GRDB

extension SQLError {
    /// SQLite's error with the path of the file and what to do.
    init(_ error: DatabaseError, sql: String? = nil, path: String) {
        let reason = error.message ?? "SQLite error \(error.extendedResultCode.rawValue)"
        // The index of the write-ahead log has an error code of its own when it cannot grow.
        let isFull = error.resultCode == .SQLITE_FULL || error.extendedResultCode == .SQLITE_IOERR_SHMSIZE
        switch error.resultCode {
        case _ where isFull:
            self.init(.diskFull, "The disk is full: \(path) cannot grow. Free some space; nothing was written.")
        case .SQLITE_BUSY, .SQLITE_LOCKED:
            self.init(.locked, "Another process holds the database \(path). Stop it, or point this server elsewhere.")
        case .SQLITE_READONLY, .SQLITE_CANTOPEN, .SQLITE_PERM, .SQLITE_AUTH:
            self.init(
                .unwritable,
                "The database \(path) cannot be written (\(reason)). "
                    + "Give this process's user the right to write the file and its directory, or change storage.path.")
        case .SQLITE_CORRUPT, .SQLITE_NOTADB:
            self.init(
                .damaged,
                "\(path) is not a database or is damaged (\(reason)). Restore it from a backup, or move it away.")
        case .SQLITE_IOERR:
            self.init(.failed, "Reading or writing \(path) failed (\(reason)). Check the disk.")
        case .SQLITE_CONSTRAINT:
            self.init(.constraint, reason)
        default:
            self.init(.failed, "\(path): \(reason)" + (sql.map { " in: " + $0 } ?? ""))
        }
    }
}
