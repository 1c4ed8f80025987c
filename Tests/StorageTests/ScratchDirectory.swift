import Foundation
import Model
import Storage
import Synchronization

/// A directory of a test's own. All of them go when the test process ends: databases open connections late, so that an
/// object's lifetime would take a directory away too early.
struct ScratchDirectory: Sendable {
    let path: String

    init() throws {
        path = Self.base + "/" + UUID().uuidString
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    }

    var database: String { path + "/switchboard.db" }

    private static let base: String = {
        atexit { try? FileManager.default.removeItem(atPath: ScratchDirectory.root) }
        return root
    }()
    private static let root = FileManager.default.temporaryDirectory.path + "/storage-tests-\(getpid())"
}

/// A value that tests share between tasks.
final class Shared<Value: Sendable>: Sendable {
    private let box: Mutex<Value>
    init(_ value: Value) { box = Mutex(value) }
    var value: Value { box.withLock { $0 } }
    func update<T: Sendable>(_ change: (inout Value) -> T) -> T { box.withLock { change(&$0) } }
}

/// A prepared store over a new file.
struct ScratchStore {
    let directory: ScratchDirectory
    let database: SQLiteDatabase
    let store: Store
    let changes = Shared<[Change]>([])
    let clock: ManualClock
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

/// Wall time that moves when a test says so.
final class ManualClock: Sendable {
    private let box: Mutex<Timestamp>
    init(_ start: Timestamp) { box = Mutex(start) }
    var now: Timestamp { box.withLock { $0 } }
    func advance(seconds: Int64) { box.withLock { $0 = $0.adding(seconds: seconds) } }
}
