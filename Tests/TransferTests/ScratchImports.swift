import Model
import Storage
import TestSupport

/// A store over a new file, and what it has published of conversations.
struct ScratchImports {
    let directory: ScratchDirectory
    let store: Store
    private let published = Shared<[ConversationUpdate]>([])
    var updates: [ConversationUpdate] { published.value }

    init() async throws {
        directory = try ScratchDirectory()
        let database = try SQLiteDatabase(path: directory.database)
        let published = published
        store = Store(
            database: database, clock: { Timestamp(milliseconds: 1_800_000_000_000) },
            publishUpdates: { new in published.update { $0 += new } }, publish: { _ in })
        try await store.prepare()
    }
}
