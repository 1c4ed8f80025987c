import Foundation
import Model
import TestSupport
import Testing
import Wire

@testable import Storage

/// Nothing that was deleted is in any byte of the files.
@Suite(.serialized) struct ZeroingTests {
    @Test func whatIsErasedIsInNoByte() async throws {
        let first = freshSeed()
        for seed in first..<first + 8 {
            let directory = try ScratchDirectory()
            let path = directory.database
            let database = try await ChurnedDatabase.open(path)
            var churn = try await database.change(Churn(seed: seed), rounds: 10)
            if seed % 2 == 0 { try await database.checkpointAfterReads() }
            churn = try await database.change(churn, rounds: 10)
            #expect(try ChurnedDatabase.marked(path) != [], "seed \(seed)")
            churn = try await database.erase(churn)
            try await database.checkpointAfterReads()
            #expect(try ChurnedDatabase.marked(path) == [], "seed \(seed)")

            // What was in the cache is not written either.
            churn.marked = 0
            churn = try await database.change(churn, rounds: 10)
            #expect(try ChurnedDatabase.marked(path) == [], "seed \(seed)")
            try await database.checkpointAfterReads()
            #expect(try ChurnedDatabase.pages(path).remains == [], "seed \(seed)")
            #expect(try RawConnection(path).contents() == churn.rows, "seed \(seed)")

            let copy = directory.file("copy")
            try await database.backUp(to: copy)
            #expect(try ChurnedDatabase.marked(copy) == [] && ChurnedDatabase.pages(copy).remains == [], "seed \(seed)")
            #expect(try RawConnection(copy).contents() == churn.rows, "seed \(seed)")
            await database.close()
            directory.remove()
        }
    }

    /// More than the copy's connection caches, so that it writes pages before the first one.
    @Test func aLargeBackupHasNoRemains() async throws {
        let directory = try ScratchDirectory()
        let path = directory.database
        let seed = freshSeed()
        let database = try await ChurnedDatabase.open(path)
        var churn = Churn(seed: seed)
        churn.rowLimit = 5000
        churn = try await database.change(churn, rounds: 40)
        churn = try await database.erase(churn)
        // Without a checkpoint: the connections' caches, the log and the file have remains.
        let copy = directory.file("copy")
        try await database.backUp(to: copy)
        let pages = try ChurnedDatabase.pages(copy)
        #expect(pages.count * pages.pageSize > 3_000_000, "seed \(seed)")
        #expect(try ChurnedDatabase.marked(copy) == [] && pages.remains == [], "seed \(seed)")
        #expect(try RawConnection(copy).contents() == churn.rows, "seed \(seed)")
        await database.close()
        directory.remove()
    }

    /// The same churn leaves remains with the default file system, which a compaction then removes.
    @Test func aFileOfAnEarlierVersionIsWrittenAnew() async throws {
        let first = freshSeed()
        var withRemains = 0
        // Not each churn leaves remains: there are more until one has.
        for seed in first..<first + 40 where seed < first + 4 || withRemains == 0 {
            let directory = try ScratchDirectory()
            let path = directory.database
            var churn = Churn(seed: seed)
            try ChurnedDatabase.makeWithoutZeroing(path, &churn)
            withRemains += try ChurnedDatabase.marked(path) == [""] ? 1 : 0

            let database = try SQLiteDatabase(path: path)
            #expect(try await database.needsCompaction())
            guard case .done = try await database.compact() else {
                Issue.record("The file was not written anew.")
                return
            }
            #expect(try ChurnedDatabase.marked(path) == [], "seed \(seed)")
            #expect(try ChurnedDatabase.pages(path).remains == [], "seed \(seed)")
            #expect(try await !database.needsCompaction())
            #expect(try await database.compact() == .notNeeded)
            await database.close()
            #expect(try RawConnection(path).contents() == churn.rows, "seed \(seed)")
        }
        #expect(withRemains > 0, "seed \(first)")
    }

    /// Where a page's number could look like a type, nothing is touched.
    @Test func nothingIsZeroedInADatabaseOfManyPages() throws {
        let directory = try ScratchDirectory()
        let seed = freshSeed()
        for (name, pages) in [("most", ZeroingVFS.maximumPages), ("more", ZeroingVFS.maximumPages + 1)] {
            let path = directory.file(name)
            let connection = try RawConnection(path)
            try connection.execute("PRAGMA auto_vacuum = INCREMENTAL")
            for statement in Churn.schema { try connection.execute(statement) }
            try connection.announce(bytes: pages * 4096)
            var churn = Churn(seed: seed)
            try churn.change(1200) { _ = try connection.execute($0, $1) }
            #expect(try ChurnedDatabase.pages(path).remains.isEmpty == (name == "most"), "seed \(seed)")
        }
    }
}
