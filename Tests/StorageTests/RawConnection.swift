import GRDBSQLite

@testable import Storage

/// A connection by SQLite's C interface, with the file system of one's choice.
final class RawConnection {
    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    private var handle: OpaquePointer?

    /// - Parameter vfs: the name of a file system; that of `ZeroingVFS` unless another is given.
    init(_ path: String, vfs: String = "\(ZeroingVFS.name)") throws {
        try ZeroingVFS.register()
        try check(sqlite3_open_v2(path, &handle, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, vfs))
    }

    deinit { sqlite3_close_v2(handle) }

    @discardableResult
    func execute(_ sql: String, _ arguments: [SQLValue] = []) throws -> [[String]] {
        var statement: OpaquePointer?
        try check(sqlite3_prepare_v2(handle, sql, -1, &statement, nil))
        defer { sqlite3_finalize(statement) }
        for (index, argument) in arguments.enumerated() {
            let position = Int32(index + 1)
            switch argument {
            case .integer(let value): try check(sqlite3_bind_int64(statement, position, value))
            case .text(let value):
                let transient = unsafeBitCast(-1, to: sqlite3_destructor_type.self)
                try check(sqlite3_bind_text(statement, position, value, -1, transient))
            default: throw Failure(description: "Only integers and texts.")
            }
        }
        var rows: [[String]] = []
        while true {
            switch sqlite3_step(statement) {
            case SQLITE_ROW:
                rows.append(
                    (0..<sqlite3_column_count(statement)).map {
                        sqlite3_column_text(statement, $0).map { String(cString: $0) } ?? ""
                    })
            case SQLITE_DONE: return rows
            case let code: try check(code)
            }
        }
    }

    /// Has the file system believe that the database becomes so large.
    func announce(bytes: Int64) throws {
        var size = bytes
        try check(sqlite3_file_control(handle, "main", SQLITE_FCNTL_SIZE_HINT, &size))
    }

    private func check(_ code: CInt) throws {
        guard code != SQLITE_OK else { return }
        throw Failure(description: String(cString: sqlite3_errmsg(handle)))
    }
}
