import Model
import Storage

/// The database, migrated, and the store on it.
struct StorageParts: Sendable {
    let database: SQLiteDatabase
    let store: Store

    /// - Parameters:
    ///   - isConnected: whether an endpoint has a realtime session.
    ///   - publish: called with the changes of each commit.
    init(
        directory: DataDirectory, isConnected: @escaping @Sendable (EndpointID) -> Bool = { _ in false },
        publish: @escaping @Sendable ([Change]) -> Void
    ) async throws {
        database = try SQLiteDatabase(path: directory.file(DataDirectory.databaseName))
        store = Store(database: database, isConnected: isConnected, publish: publish)
        try await store.prepare()
    }
}
