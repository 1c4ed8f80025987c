import Foundation
import TestSupport
import Testing
import Wire

@testable import Storage

/// Whatever is zeroed, a database keeps what it has, also when a checkpoint is broken off.
@Suite struct ZeroingIntegrityTests {
    struct Form: CustomStringConvertible {
        let pageSize: Int, autoVacuum: Int, journal: String
        var description: String { "page_size \(pageSize), auto_vacuum \(autoVacuum), journal_mode \(journal)" }
    }

    static let forms = [512, 1024, 4096, 65_536].flatMap { size in
        [0, 1, 2].flatMap { vacuum in
            ["WAL", "DELETE"].map { Form(pageSize: size, autoVacuum: vacuum, journal: $0) }
        }
    }

    /// Commits, rollbacks of what was partly written, checkpoints, vacuums, and a small cache.
    @Test(arguments: forms) func anyDatabaseKeepsItsRows(_ form: Form) throws {
        let seed = freshSeed()
        var random = SeededRandom(seed: seed)
        let directory = try ScratchDirectory()
        let connection = try RawConnection(directory.database)
        for pragma in [
            "page_size = \(form.pageSize)", "auto_vacuum = \(form.autoVacuum)", "journal_mode = \(form.journal)",
            "secure_delete = ON", "synchronous = OFF", "cache_size = 10",
        ] { try connection.execute("PRAGMA \(pragma)") }
        for statement in Churn.schema { try connection.execute(statement) }
        var churn = Churn(seed: seed)
        for round in 0..<18 {
            let before = churn
            try connection.execute("BEGIN")
            try churn.change(50) { _ = try connection.execute($0, $1) }
            if Int.random(in: 0..<4, using: &random) == 0 {
                try connection.execute("ROLLBACK")
                churn = before
            } else {
                try connection.execute("COMMIT")
            }
            switch round % 6 {
            case 1: try connection.execute("PRAGMA wal_checkpoint(PASSIVE)")
            case 3: try connection.execute("PRAGMA incremental_vacuum(50)")
            case 4: try connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            case 5: try connection.execute("VACUUM")
            default: break
            }
            if round == 12 {
                // The next ones find a long freelist.
                churn.marked = 100
                try churn.change(200) { _ = try connection.execute($0, $1) }
                try churn.erase { _ = try connection.execute($0, $1) }
                churn.marked = 30
            }
        }
        for other in [connection, try RawConnection(directory.database, vfs: "unix")] {
            #expect(try other.execute("PRAGMA integrity_check") == [["ok"]], "seed \(seed)")
            #expect(try other.contents() == churn.rows, "seed \(seed)")
        }
        try connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        let remains = try ChurnedDatabase.pages(directory.database).remains
        #expect(remains == [] || form.pageSize < UnallocatedSpace.smallestDecidedSize, "seed \(seed)")
        directory.remove()
    }

    /// Every page of a database is taken for what it is.
    @Test func pagesAreTakenForWhatTheyAre() async throws {
        let directory = try ScratchDirectory()
        let seed = freshSeed()
        var churn = Churn(seed: seed)
        try ChurnedDatabase.makeWithoutZeroing(directory.database, &churn)
        let pages = try ChurnedDatabase.pages(directory.database)
        for number in 1...pages.count {
            let found = pages.page(number).withUnsafeBytes { UnallocatedSpace.range(in: $0, isFirst: number == 1) }
            #expect(found == pages.unallocated[number], "page \(number), \(pages.kinds[number] as Any), seed \(seed)")
        }
        #expect(Set(pages.kinds.values).count == 4, "seed \(seed)")
    }

    /// The files as a machine may leave them that stops amid a checkpoint: some sectors of the database are written,
    /// others are not, and the log is whole.
    @Test func aCheckpointThatIsBrokenOffLosesNothing() async throws {
        let seed = freshSeed()
        var random = SeededRandom(seed: seed)
        let directory = try ScratchDirectory()
        let path = directory.database
        let database = try await ChurnedDatabase.open(path)
        var churn = try await database.change(Churn(seed: seed), rounds: 8)
        try await database.checkpointAfterReads()
        churn = try await database.change(churn, rounds: 8)
        churn = try await database.erase(churn)
        let (before, log) = (try contents(path), try contents(path + "-wal"))
        try await database.checkpointAfterReads()
        let after = try contents(path)
        #expect(before != after && log.count > 100_000, "seed \(seed)")
        await database.close()

        for portion in [1, 10, 50, 90, 99] {
            var torn = before + Data(count: max(0, after.count - before.count))
            for sector in stride(from: 0, to: after.count, by: 512)
            where Int.random(in: 0..<100, using: &random) < portion {
                torn.replaceSubrange(sector..<sector + 512, with: after[sector..<sector + 512])
            }
            let copy = directory.file("torn\(portion)")
            try torn.write(to: URL(filePath: copy))
            try log.write(to: URL(filePath: copy + "-wal"))
            let reopened = try SQLiteDatabase(path: copy)
            let result = try await reopened.read { try $0.first("PRAGMA integrity_check")?.text(0) }
            #expect(result == "ok", "seed \(seed), \(portion) %")
            try await reopened.checkpointAfterReads()
            #expect(try ChurnedDatabase.marked(copy) == [], "seed \(seed), \(portion) %")
            #expect(try ChurnedDatabase.pages(copy).remains == [], "seed \(seed), \(portion) %")
            await reopened.close()
            #expect(try RawConnection(copy).contents() == churn.rows, "seed \(seed), \(portion) %")
        }
        directory.remove()
    }

    private func contents(_ path: String) throws -> Data { try Data(contentsOf: URL(filePath: path)) }
}
