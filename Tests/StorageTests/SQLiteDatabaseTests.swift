import Foundation
import Model
import Storage
import TestSupport
import Testing

/// One after the other: how much the pages take is known of the whole process.
@Suite(.serialized) struct SQLiteDatabaseTests {
    struct Refused: Error {}
    /// A callback: the how-manieth job it was, and how many rows another connection saw by then.
    struct Sighting { let ran: Int, visible: Int }

    @Test func writesAreDurableAndLogged() async throws {
        let directory = try ScratchDirectory()
        let database = try SQLiteDatabase(path: directory.database)
        let pragmas = try await database.submit { sql in
            try [
                sql.first("PRAGMA synchronous")?.int(0), sql.first("PRAGMA foreign_keys")?.int(0),
            ]
        }
        #expect(pragmas == [2, 1])
        let journal = try await database.submit { try $0.first("PRAGMA journal_mode")?.text(0) }
        #expect(journal == "wal")
        await database.close()
    }

    @Test func valuesComeBackAsTheyWere() async throws {
        let directory = try ScratchDirectory()
        let database = try SQLiteDatabase(path: directory.database)
        let values: [SQLValue] = [
            .null, .integer(.min), .integer(.max), .real(0.5), .text(""), .text("naïve ☎️\0x"), .blob([]),
            .blob([0, 255]),
        ]
        let back = try await database.submit { sql in
            try sql.first("SELECT ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8", values)
        }
        #expect(back?.values == values)
        let row = try #require(back)
        #expect(throws: SQLError.self) { try row.integer(0) }
        #expect(throws: SQLError.self) { try row.text(1) }
        #expect(throws: SQLError.self) { try row.value(8) }
        #expect(throws: SQLError.self) { try row.value(-1) }
        #expect(try row.textIfPresent(0) == nil)
    }

    @Test func pagesAreKeptUpToABound() async throws {
        let directory = try ScratchDirectory()
        let database = try SQLiteDatabase(path: directory.database)
        try await database.submit { _ = try $0.execute("CREATE TABLE pages (n BIGINT PRIMARY KEY, bytes BLOB)") }
        var kept: [Int] = []
        for round in 0..<3 {
            // Each round is as much as the writer's connection keeps at most.
            for job in 0..<16 {
                try await database.submit { sql in
                    for number in 0..<256 {
                        let key = Int64((round * 16 + job) * 256 + number)
                        try sql.execute(
                            "INSERT INTO pages VALUES (?1, ?2)",
                            [.integer(key), .blob([UInt8](repeating: 1, count: 4096))])
                    }
                }
            }
            kept.append(SQLiteDatabase.cacheBytes)
        }
        // Other tests' databases count too: without a bound it would grow by 32 MiB.
        #expect(kept[0] >= 8 << 20 && kept[2] - kept[0] < 24 << 20, "\(kept)")
        await database.close()
    }

    @Test func aWrongStatementIsAnErrorOfItsJobAlone() async throws {
        let directory = try ScratchDirectory()
        let database = try SQLiteDatabase(path: directory.database)
        await #expect(throws: SQLError.self) { try await database.submit { try $0.execute("SELEKT 1") } }
        await #expect(throws: SQLError.self) { try await database.submit { try $0.execute("SELECT ?1", []) } }
        await #expect(throws: SQLError.self) { try await database.read { try $0.execute("CREATE TABLE t (x BIGINT)") } }
        #expect(try await database.submit { try $0.first("SELECT 1")?.int(0) } == 1)
    }

    @Test func aFailedJobTakesNothingWithIt() async throws {
        let directory = try ScratchDirectory()
        let database = try SQLiteDatabase(path: directory.database)
        try await database.submit { _ = try $0.execute("CREATE TABLE numbers (n BIGINT PRIMARY KEY)") }
        let refused = await withTaskGroup(of: Bool.self) { group in
            for number in 0..<400 {
                group.addTask {
                    do {
                        try await database.submit { sql in
                            try sql.execute("INSERT INTO numbers (n) VALUES (?1)", [.integer(number)])
                            if number % 3 == 0 { throw Refused() }
                        }
                        return false
                    } catch { return error is Refused }
                }
            }
            return await group.reduce(0) { $0 + ($1 ? 1 : 0) }
        }
        #expect(refused == 134)
        let kept = try await database.read { try $0.query("SELECT n FROM numbers ORDER BY n").map { try $0.int(0) } }
        #expect(kept == (0..<400).filter { $0 % 3 != 0 })
    }

    @Test func callbacksComeAfterTheCommitAndInOrder() async throws {
        let directory = try ScratchDirectory()
        let database = try SQLiteDatabase(path: directory.database)
        try await database.submit { _ = try $0.execute("CREATE TABLE numbers (n BIGINT PRIMARY KEY)") }
        let other = try OtherConnection(directory.database)
        let seen = Shared<[Sighting]>([])
        let counter = Shared(0)
        try await withThrowingTaskGroup { group in
            for number in 0..<200 {
                group.addTask {
                    _ = try await database.submit { sql in
                        try sql.execute("INSERT INTO numbers (n) VALUES (?1)", [.integer(number)])
                        return counter.update { count in
                            count += 1
                            return count
                        }
                    } committed: { ran in
                        let visible = try? other.integer("SELECT COUNT(*) FROM numbers")
                        seen.update { $0.append(Sighting(ran: ran, visible: visible ?? -1)) }
                    }
                    #expect(!seen.value.isEmpty)
                }
            }
            try await group.waitForAll()
        }
        let all = seen.value
        #expect(all.map(\.ran) == Array(1...200))
        #expect(all.allSatisfy { $0.visible >= $0.ran })
    }

    @Test func aFailedCommitFailsTheGroupAndPublishesNothing() async throws {
        let directory = try ScratchDirectory()
        let database = try SQLiteDatabase(path: directory.database)
        try await database.submit { sql in
            try sql.execute("CREATE TABLE parents (id BIGINT PRIMARY KEY)")
            try sql.execute(
                """
                CREATE TABLE children (parent BIGINT REFERENCES parents (id) DEFERRABLE INITIALLY DEFERRED)
                """)
        }
        let committedCount = Shared(0)
        await #expect(throws: SQLError.self) {
            try await database.submit { sql in
                try sql.execute("INSERT INTO parents (id) VALUES (1)")
                try sql.execute("INSERT INTO children (parent) VALUES (2)")
            } committed: { _ in
                committedCount.update { $0 += 1 }
            }
        }
        #expect(committedCount.value == 0)
        let rows = try await database.submit { try $0.first("SELECT COUNT(*) FROM parents")?.int(0) }
        #expect(rows == 0)
    }

    @Test func aFullDiskIsSaidAndSurvived() async throws {
        let directory = try ScratchDirectory()
        let database = try SQLiteDatabase(path: directory.database)
        try await database.submit { _ = try $0.execute("CREATE TABLE blobs (b BLOB)") }
        _ = try await database.submit { try $0.query("PRAGMA max_page_count = 20") }
        let committedCount = Shared(0)
        let error = await #expect(throws: SQLError.self) {
            try await database.submit { sql in
                _ = try sql.execute("INSERT INTO blobs (b) VALUES (?1)", [.blob(Array(repeating: 1, count: 200_000))])
            } committed: { _ in
                committedCount.update { $0 += 1 }
            }
        }
        #expect(error?.kind == .diskFull)
        #expect(error?.message.contains(directory.database) == true)
        #expect(committedCount.value == 0)
        #expect(error?.problem.kind == .storageFull && error?.problem.kind.status == 503)

        // What follows is refused without being run; reads go on.
        #expect(database.isDiskFull)
        let ran = Shared(false)
        let refused = await #expect(throws: SQLError.self) {
            try await database.submit { _ in ran.update { $0 = true } }
        }
        #expect(refused?.kind == .diskFull && !ran.value)
        #expect(try await database.read { try $0.first("SELECT COUNT(*) FROM blobs")?.int(0) } == 0)

        // This disk has room, so that the probe ends it.
        #expect(await database.probeFreeSpace())
        #expect(!database.isDiskFull)
        #expect(try await database.submit { try $0.execute("INSERT INTO blobs (b) VALUES (?1)", [.blob([1])]) } == 1)
        let names = try FileManager.default.contentsOfDirectory(atPath: directory.path)
        #expect(!names.contains { $0.hasSuffix(".probe") })
        await database.close()
    }

    /// /dev/full takes nothing, as a full disk.
    @Test func aProbeOfAFullDiskFails() async throws {
        let directory = try ScratchDirectory()
        let database = try SQLiteDatabase(path: directory.database)
        try FileManager.default.createSymbolicLink(
            atPath: directory.database + ".probe", withDestinationPath: "/dev/full")
        #expect(await !database.probeFreeSpace())
        await database.close()
        #expect(await !database.probeFreeSpace(), "A closed database accepts no writes.")
    }

    @Test func aClosedDatabaseSaysSo() async throws {
        let directory = try ScratchDirectory()
        let database = try SQLiteDatabase(path: directory.database)
        await database.close()
        await database.close()
        let error = await #expect(throws: SQLError.self) { try await database.submit { try $0.execute("SELECT 1") } }
        #expect(error?.kind == .closed)
        await #expect(throws: SQLError.self) { try await database.read { try $0.query("SELECT 1") } }
    }

    @Test func anUnusableFileIsNamed() async throws {
        let directory = try ScratchDirectory()
        let missing = try #require(throws: SQLError.self) {
            _ = try SQLiteDatabase(path: directory.path + "/missing/switchboard.db")
        }
        #expect(missing.kind == .unwritable)
        #expect(missing.message.contains("/missing/switchboard.db"))

        let text = Data("this is no database, whatever its name may say about it. ".utf8)
        #expect(FileManager.default.createFile(atPath: directory.path + "/text.db", contents: text))
        let damaged = try #require(throws: SQLError.self) {
            _ = try SQLiteDatabase(path: directory.path + "/text.db")
        }
        #expect(damaged.kind == .damaged)
    }

    @Test func aReadSeesOneSnapshot() async throws {
        let directory = try ScratchDirectory()
        let database = try SQLiteDatabase(path: directory.database)
        try await database.submit { sql in
            try sql.execute("CREATE TABLE numbers (n BIGINT)")
            try sql.execute("INSERT INTO numbers (n) VALUES (1)")
        }
        let other = try OtherConnection(directory.database)
        let counts = try await database.read { sql in
            let before = try sql.first("SELECT COUNT(*) FROM numbers")?.int(0)
            try other.execute("INSERT INTO numbers (n) VALUES (2)")
            return [before, try sql.first("SELECT COUNT(*) FROM numbers")?.int(0)]
        }
        #expect(counts == [1, 1])
    }

    @Test func aReadEndsWithItsTaskIfItSaysSo() async throws {
        let directory = try ScratchDirectory()
        let database = try SQLiteDatabase(path: directory.database)
        for endsWithTask in [false, true] {
            let reading = Task {
                // Not before it is cancelled.
                while !Task.isCancelled { await Task.yield() }
                return try await SQLReads.$endWithTask.withValue(endsWithTask) {
                    try await database.read { try $0.first("SELECT 7")?.int(0) }
                }
            }
            reading.cancel()
            let result = await reading.result
            if endsWithTask {
                #expect(throws: CancellationError.self) { try result.get() }
            } else {
                #expect(try result.get() == 7)
            }
        }
        await database.close()
    }

    @Test func aCheckpointWaitsForReads() async throws {
        let directory = try ScratchDirectory()
        let path = directory.database
        let database = try SQLiteDatabase(path: path)
        try await database.submit { try $0.execute("CREATE TABLE numbers (n BIGINT)") }
        let reader = try RawConnection(path)
        _ = try reader.execute("BEGIN")
        _ = try reader.execute("SELECT COUNT(*) FROM numbers")
        let refused = await #expect(throws: SQLError.self) { try await database.checkpoint() }
        #expect(refused?.kind == .locked)
        async let checkpoint: Void = database.checkpointAfterReads()
        _ = try reader.execute("COMMIT")
        try await checkpoint
        #expect(try Data(contentsOf: URL(filePath: path + "-wal")).isEmpty)
        await database.close()
    }

    /// A file of an earlier version is rewritten once; from then on its free space is released in batches.
    @Test func theFileShrinks() async throws {
        let directory = try ScratchDirectory()
        try OtherConnection(directory.database).execute("CREATE TABLE large (n BIGINT, data BLOB)")
        let database = try SQLiteDatabase(path: directory.database)
        #expect(try await database.releaseFreeSpace() == false)
        func fill() async throws {
            try await database.submit { sql in
                for number in 0..<200 {
                    try sql.execute(
                        "INSERT INTO large VALUES (?1, ?2)",
                        [.integer(number), .blob(Array(repeating: 1, count: 65_536))])
                }
            }
            try await database.submit { _ = try $0.execute("DELETE FROM large WHERE n > 0") }
        }
        try await fill()
        guard case .done(let before, let after) = try await database.compact() else {
            Issue.record("The file was not written anew.")
            return
        }
        #expect(before > 13_000_000 && after < 200_000)
        #expect(try await database.compact() == .notNeeded)
        try await fill()
        var batches = 1
        while try await database.releaseFreeSpace() { batches += 1 }
        #expect(batches == 7)
        let pages = try await database.read { try $0.first("PRAGMA page_count")?.int(0) }
        #expect(try #require(pages) < 60)
        await database.close()
        let reopened = try SQLiteDatabase(path: directory.path + "/new.db")
        #expect(try await reopened.compact() == .notNeeded)
        await reopened.close()
    }
}
