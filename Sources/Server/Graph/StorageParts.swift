import Model
import Storage

/// The database, migrated, and the store on it.
struct StorageParts: Sendable {
    let database: SQLiteDatabase
    let store: Store

    /// - Parameters:
    ///   - isConnected: whether an endpoint has a realtime session.
    ///   - isListened: whether a session listens to a stream.
    ///   - publish: called with the changes of each commit.
    ///   - publishUpdates: called with what each commit changed in conversations.
    init(
        directory: DataDirectory, isConnected: @escaping @Sendable (EndpointID) -> Bool = { _ in false },
        isListened: @escaping @Sendable (StreamName) -> Bool = { _ in false },
        publish: @escaping @Sendable ([Change]) -> Void,
        publishUpdates: @escaping @Sendable ([ConversationUpdate]) -> Void = { _ in }
    ) async throws {
        database = try SQLiteDatabase(path: directory.file(DataDirectory.databaseName))
        store = Store(
            database: database, isConnected: isConnected, isListened: isListened, publishUpdates: publishUpdates,
            publish: publish)
        try await store.prepare()
        // Nobody else has the directory, so what is claimed was claimed by a process that was killed. Where that fails, as on a
        // full disk, the claims end with their leases.
        _ = try? await store.write { try $0.releaseClaims() }
    }
}
