import Accounts
import Model
import TestSupport
import Testing

@testable import Storage

/// The table that says what becomes of every kind of row and file, compared with the schema.
@Suite struct ErasurePlanTests {
    private struct Column {
        let table: String
        let name: String
        let isText: Bool
        let isKey: Bool
    }

    private func columns() async throws -> [Column] {
        let scratch = try await ScratchStore()
        return try await scratch.database.read { sql in
            try sql.query(
                """
                SELECT m.name, c.name, c.type, c.pk FROM sqlite_master m, pragma_table_info(m.name) c
                WHERE m.type = 'table' AND m.name NOT LIKE 'sqlite_%'
                """
            ).map { row in
                let type = try row.text(2)
                return Column(
                    table: try row.text(0), name: try row.text(1), isText: type == "TEXT" || type == "BLOB",
                    isKey: try row.integer(3) > 0)
            }
        }
    }

    /// A new table, or a new column of text, fails until the plan says what becomes of it.
    @Test func everyTableAndColumnOfTextIsInThePlan() async throws {
        let tables = Dictionary(grouping: try await columns(), by: \.table)
        let rules = Dictionary(grouping: ErasurePlan.rules.filter { !$0.name.hasPrefix("files:") }, by: \.name)
        #expect(Set(tables.keys) == Set(rules.keys))
        for (table, columns) in tables {
            let rule = try #require(rules[table]?.first, "\(table) is not in ErasurePlan")
            #expect(rules[table]?.count == 1)
            let named = rule.users + rule.personal + rule.others
            #expect(Set(named).count == named.count, "\(table) names a column twice")
            #expect(Set(named).isSubset(of: columns.map(\.name)), "\(table) has no such column")
            let missing = columns.filter { $0.isText && !named.contains($0.name) }.map(\.name)
            #expect(missing.isEmpty, "ErasurePlan does not say what becomes of these columns of \(table): \(missing)")
        }
    }

    @Test func everyKindOfFileIsInThePlan() {
        let files = ErasurePlan.rules.map(\.name).filter { $0.hasPrefix("files:") }
        #expect(Set(files) == Set(MediaFile.Kind.allCases.map { "files:" + $0.rawValue }))
    }

    @Test func nothingPersonalIsKept() {
        for rule in ErasurePlan.rules {
            if rule.fate == .kept { #expect(rule.personal.isEmpty, "\(rule.name)") }
            #expect((rule.fate == .kept) == (rule.moment == .never), "\(rule.name)")
        }
    }

    @Test func rowsAreRemovedByTheirKey() async throws {
        let keys = Dictionary(grouping: try await columns().filter(\.isKey), by: \.table).mapValues { $0.map(\.name) }
        for rule in ErasurePlan.rowsToRemove {
            #expect(Set(rule.key) == Set(keys[rule.name] ?? []), "\(rule.name)")
            #expect(!rule.users.isEmpty, "\(rule.name)")
        }
    }
}
