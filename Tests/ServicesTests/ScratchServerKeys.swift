import Logging
import Model
import Storage
import TestSupport
import Tokens

@testable import Services

/// Server keys over a real database, at a time that the test sets.
struct ScratchServerKeys {
    let time = ManualClock<Timestamp>()
    let store: Store
    let keys: ServerKeyService

    init() async throws {
        let time = time
        store = Store(
            database: try SQLiteDatabase(path: try ScratchDirectory().database), clock: { time.now }, publish: { _ in })
        try await store.prepare()
        keys = ServerKeyService(
            database: store, secrets: SystemSecrets(),
            audit: AuditLog(database: store, logger: Logger(label: "audit") { _ in SwiftLogNoOpLogHandler() }),
            clock: { time.now })
        try await keys.load()
    }
}
