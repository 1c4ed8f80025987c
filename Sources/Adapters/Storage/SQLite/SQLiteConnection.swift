internal import GRDB
internal import GRDBSQLite

/// One GRDB connection inside a transaction. Only this file uses SQLite's C interface for statements.
///
/// GRDB opens the file, owns the connections and caches the compiled statements; binding and stepping go straight to
/// SQLite, since GRDB's own rows and arguments cost twice the time of the statement itself.
final class SQLiteConnection: SQLTransaction {
    private let database: Database
    private let path: String
    /// Cleared when the transaction ends, so that an escaped reference throws where GRDB would trap.
    var isOpen = true

    init(_ database: Database, path: String) {
        self.database = database
        self.path = path
    }

    var isInsideTransaction: Bool { database.isInsideTransaction }

    @discardableResult
    func execute(_ sql: String, _ arguments: [SQLValue]) throws -> Int {
        try run(sql, arguments) { _, _ in true }
        return database.changesCount
    }

    func query(_ sql: String, _ arguments: [SQLValue]) throws -> [SQLRow] {
        var rows: [SQLRow] = []
        try run(sql, arguments) { statement, columns in
            rows.append(Self.row(statement, columns))
            return true
        }
        return rows
    }

    func visit(_ sql: String, _ arguments: [SQLValue], _ body: (SQLRow) throws -> Bool) throws {
        try run(sql, arguments) { statement, columns in try body(Self.row(statement, columns)) }
    }

    /// - Parameter visit: returns whether to continue with the next row.
    private func run(
        _ sql: String, _ arguments: [SQLValue], _ visit: (OpaquePointer, CInt) throws -> Bool
    ) throws {
        guard isOpen else { throw SQLError(.closed, "A statement was run after its transaction had ended.") }
        let statement: OpaquePointer
        do {
            statement = try database.cachedStatement(sql: sql).sqliteStatement
        } catch let error as DatabaseError {
            throw SQLError(error, sql: sql, path: path)
        }
        guard sqlite3_bind_parameter_count(statement) == CInt(clamping: arguments.count) else {
            throw SQLError(.failed, "A statement got a wrong number of arguments (\(arguments.count)): \(sql)")
        }
        defer {
            sqlite3_reset(statement)
            sqlite3_clear_bindings(statement)
        }
        for (index, argument) in arguments.enumerated() {
            try check(Self.bind(argument, to: statement, at: CInt(truncatingIfNeeded: index &+ 1)), sql)
        }
        let columns = sqlite3_column_count(statement)
        while true {
            switch sqlite3_step(statement) {
            case SQLITE_ROW: guard try visit(statement, columns) else { return }
            case SQLITE_DONE: return
            case let code: try check(code, sql)
            }
        }
    }

    private func check(_ code: CInt, _ sql: String) throws {
        guard code != SQLITE_OK else { return }
        let message = database.sqliteConnection.map { String(cString: sqlite3_errmsg($0)) }
        throw SQLError(
            DatabaseError(resultCode: ResultCode(rawValue: code), message: message), sql: sql, path: path)
    }

    /// SQLITE_TRANSIENT: SQLite copies the bytes before the call returns.
    private static let transient = unsafeBitCast(-1, to: sqlite3_destructor_type.self)

    private static func bind(_ value: SQLValue, to statement: OpaquePointer, at index: CInt) -> CInt {
        switch value {
        case .null: return sqlite3_bind_null(statement, index)
        case .integer(let value): return sqlite3_bind_int64(statement, index, value)
        case .real(let value): return sqlite3_bind_double(statement, index, value)
        case .text(var value):
            return value.withUTF8 { bytes in
                bytes.withMemoryRebound(to: CChar.self) {
                    sqlite3_bind_text64(
                        statement, index, $0.baseAddress, sqlite3_uint64($0.count), transient, UInt8(SQLITE_UTF8))
                }
            }
        case .blob(let value):
            // A null pointer would bind NULL where an empty array is meant.
            guard !value.isEmpty else { return sqlite3_bind_zeroblob(statement, index, 0) }
            return value.withUnsafeBytes {
                sqlite3_bind_blob64(statement, index, $0.baseAddress, sqlite3_uint64($0.count), transient)
            }
        }
    }

    private static func row(_ statement: OpaquePointer, _ columns: CInt) -> SQLRow {
        SQLRow(
            (0..<columns).map { column in
                switch sqlite3_column_type(statement, column) {
                case SQLITE_INTEGER: return .integer(sqlite3_column_int64(statement, column))
                case SQLITE_FLOAT: return .real(sqlite3_column_double(statement, column))
                case SQLITE_TEXT:
                    let start = sqlite3_column_text(statement, column)
                    let bytes = UnsafeBufferPointer(start: start, count: Int(sqlite3_column_bytes(statement, column)))
                    return .text(String(decoding: bytes, as: UTF8.self))
                case SQLITE_BLOB:
                    let start = sqlite3_column_blob(statement, column)
                    let bytes = UnsafeRawBufferPointer(
                        start: start, count: Int(sqlite3_column_bytes(statement, column)))
                    return .blob(Array(bytes))
                default: return .null
                }
            })
    }
}
