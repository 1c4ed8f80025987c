import Model
import TestSupport

@testable import Storage

/// A prepared store over a new file.
struct ScratchStore {
    let directory: ScratchDirectory
    let database: SQLiteDatabase
    let store: Store
    let changes = Shared<[Change]>([])
    let clock: ManualClock<Timestamp>
    var published: [Change] { changes.value }

    init(at start: Timestamp = Timestamp(milliseconds: 1_800_000_000_000)) async throws {
        directory = try ScratchDirectory()
        database = try SQLiteDatabase(path: directory.database)
        let clock = ManualClock(start)
        self.clock = clock
        let changes = changes
        store = Store(database: database, clock: { clock.now }, publish: { new in changes.update { $0 += new } })
        try await store.prepare()
    }
}

extension StoreTransaction {
    /// Appends a change of any type to any stream.
    @discardableResult
    func append(_ type: String, _ data: some Encodable, to stream: StreamName) throws -> Position {
        try append(type, json: Self.json(data), to: stream)
    }
}
