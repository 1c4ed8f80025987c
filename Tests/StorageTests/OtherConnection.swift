import GRDB

/// A second connection to the same file, as another process would have. It stands in a file of its own because GRDB's
/// operators keep the test macros from compiling beside it.
final class OtherConnection: Sendable {
    private let queue: DatabaseQueue

    init(_ path: String) throws { queue = try DatabaseQueue(path: path) }

    func integer(_ sql: String) throws -> Int? { try queue.read { try Int.fetchOne($0, sql: sql) } }
    func execute(_ sql: String) throws { try queue.write { try $0.execute(sql: sql) } }
}
