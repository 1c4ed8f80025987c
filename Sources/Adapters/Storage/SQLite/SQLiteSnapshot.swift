internal import GRDB

/// A read-only database file, such as that of a backup. No journal is created next to it.
package final class SQLiteSnapshot: Sendable {
    private let queue: DatabaseQueue
    private let path: String

    /// Throws an `SQLError` that names the file.
    package init(path: String) throws {
        var configuration = Configuration()
        configuration.readonly = true
        self.path = path
        do {
            queue = try DatabaseQueue(path: path, configuration: configuration)
        } catch let error as DatabaseError {
            throw SQLError(error, path: path)
        }
    }

    package func read<T: Sendable>(_ job: @escaping @Sendable (any SQLTransaction) throws -> T) async throws -> T {
        try await queue.run(job, path: path)
    }
}
