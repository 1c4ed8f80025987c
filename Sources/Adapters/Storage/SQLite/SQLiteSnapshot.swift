internal import GRDB

/// A database file that nobody writes, such as that of a backup. Nothing is written beside it.
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
        try await withCheckedThrowingContinuation { continuation in
            queue.asyncRead { [path] access in
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
}
