import Model
import Storage

/// The database, migrated, and the store on it.
struct StorageParts: Sendable {
    let database: SQLiteDatabase
    let store: Store

    /// - Parameter publish: called with the changes of each commit.
    init(directory: DataDirectory, publish: @escaping @Sendable ([Change]) -> Void) async throws {
        database = try SQLiteDatabase(path: directory.file(DataDirectory.databaseName))
        store = Store(database: database, publish: publish)
        try await store.prepare()
    }
}
