import Foundation
import Model
import TestSupport
import Testing

@testable import Storage

@Suite struct BackupTests {
    @Test func aSnapshotIsTakenBesideWritersAndBeginsANewLife() async throws {
        let scratch = try await ScratchStore()
        let stream = StreamName.user(.make(at: scratch.clock.now))
        let known = try await scratch.store.write { try $0.append("a", [1], to: stream) }.value
        let epochs = try await scratch.store.write { try [$0.beginGatewayEpoch(), $0.beginGatewayEpoch()] }.value
        let writing = Task {
            while !Task.isCancelled { _ = try await scratch.store.write { try $0.append("b", [2], to: stream) } }
        }
        let path = scratch.directory.path + "/copy.sqlite"
        try await scratch.database.backUp(to: path)
        writing.cancel()
        #expect(try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int == 0o600)
        #expect(!FileManager.default.fileExists(atPath: path + "-wal"))

        let copy = try SQLiteDatabase(path: path)
        try await copy.checkIntegrity()
        let restored = Store(database: copy, clock: { scratch.clock.now }, publish: { _ in })
        try await restored.prepare()
        #expect(try await restored.read { try $0.restoredAt() } == nil)
        let before = try await restored.read { try $0.position(of: stream) }
        #expect(before.epoch == known.epoch && before.sequence >= 1)
        try await restored.beginAfterRestore()
        #expect(try await restored.read { try $0.restoredAt() } == scratch.clock.now)
        #expect(try await restored.read { try $0.changes(of: stream, after: known) } == .reset(.epoch))
        let next = try await restored.write { try $0.append("c", [3], to: stream) }.value
        #expect(next.epoch != known.epoch && next.sequence == before.sequence + 1)
        let epoch = try await restored.write { try $0.beginGatewayEpoch() }.value
        #expect(epoch > (epochs.last ?? 0) + 1_000_000)
        // The same backup once more.
        try await restored.beginAfterRestore()
        #expect(try await restored.write { try $0.beginGatewayEpoch() }.value > epoch)
        await copy.close()
    }

    @Test func aDamagedFileIsNamed() async throws {
        let directory = try ScratchDirectory()
        let database = try SQLiteDatabase(path: directory.database)
        try await database.submit { sql in
            try sql.execute("CREATE TABLE t (n BIGINT, data BLOB)")
            try sql.execute("CREATE INDEX t_n ON t (n)")
            for number in 0..<500 {
                try sql.execute(
                    "INSERT INTO t VALUES (?1, ?2)", [.integer(number), .blob(Array(repeating: 7, count: 900))])
            }
        }
        await database.close()
        var bytes = try Data(contentsOf: URL(filePath: directory.database))
        for index in stride(from: 40_960, to: 120_000, by: 4096) { bytes[index] = 0xFF }
        try bytes.write(to: URL(filePath: directory.database))
        let damaged = try SQLiteDatabase(path: directory.database)
        let error = await #expect(throws: SQLError.self) { try await damaged.checkIntegrity() }
        #expect(error?.kind == .damaged)
        await damaged.close()
    }
}
