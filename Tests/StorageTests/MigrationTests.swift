import Foundation
import Model
import Storage
import Testing

@Suite struct MigrationTests {
    let now = Timestamp(milliseconds: 1_800_000_000_000)

    @Test func everyMigrationHasItsOwnNumber() {
        let numbers = Schema.migrations.map(\.number)
        #expect(Set(numbers).count == numbers.count)
        #expect(numbers.allSatisfy { $0 > 0 })
    }

    @Test func anEmptyDatabaseIsBroughtUpOnce() async throws {
        let directory = try ScratchDirectory()
        let database = try SQLiteDatabase(path: directory.database)
        let store = Store(database: database, publish: { _ in })
        #expect(try await store.prepare().map(\.number) == Schema.migrations.map(\.number).sorted())
        #expect(try await store.prepare().isEmpty)
        await database.close()
        let again = try SQLiteDatabase(path: directory.database)
        #expect(try await Store(database: again, publish: { _ in }).prepare().isEmpty)
    }

    @Test func aNewerDatabaseIsRefused() async throws {
        let directory = try ScratchDirectory()
        let database = try SQLiteDatabase(path: directory.database)
        _ = try await database.migrate(
            [Migration(1, "one", ["CREATE TABLE one (n BIGINT)"]), Migration(7, "seven", [])], at: now)
        let error = await #expect(throws: SQLError.self) {
            _ = try await database.migrate([Migration(1, "one", [])], at: now)
        }
        #expect(error?.kind == .newer)
        #expect(error?.message.contains("version 7") == true)
    }

    @Test func aFailedMigrationLeavesNothing() async throws {
        let directory = try ScratchDirectory()
        let database = try SQLiteDatabase(path: directory.database)
        await #expect(throws: SQLError.self) {
            _ = try await database.migrate(
                [Migration(1, "one", ["CREATE TABLE one (n BIGINT)", "CREATE TABLE one (n BIGINT)"])], at: now)
        }
        #expect(try await database.migrate([Migration(1, "one", ["CREATE TABLE one (n BIGINT)"])], at: now).count == 1)
    }

    @Test func theDirectoryIsHeldByOneServer() throws {
        let directory = try ScratchDirectory()
        var first: DataDirectory? = try DataDirectory(path: directory.path + "/data/deep")
        let error = try #require(throws: SQLError.self) { _ = try DataDirectory(path: directory.path + "/data/deep") }
        #expect(error.kind == .locked)
        #expect(error.message.contains("/data/deep"))
        #expect(first?.file("x") == directory.path + "/data/deep/x")
        first = nil
        _ = try DataDirectory(path: directory.path + "/data/deep")
    }

    @Test func anUnusableDirectoryIsNamed() throws {
        let directory = try ScratchDirectory()
        #expect(FileManager.default.createFile(atPath: directory.path + "/file", contents: Data()))
        for path in ["/file", "/file/below"] {
            let error = try #require(throws: SQLError.self) { _ = try DataDirectory(path: directory.path + path) }
            #expect(error.kind == .unwritable)
            #expect(error.message.contains(path))
        }
    }
}
