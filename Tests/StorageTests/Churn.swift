import Storage
import Wire

/// Random changes of tables, so that their pages fill, split, merge and empty, and what the rows are then.
struct Churn {
    /// A part of every marked text, however little is left of it.
    static let marker = "annerase"

    static let schema = [
        "CREATE TABLE plain (id BIGINT PRIMARY KEY, text TEXT NOT NULL)",
        "CREATE INDEX plain_text ON plain (text)",
        "CREATE TABLE keyed (key TEXT PRIMARY KEY, text TEXT NOT NULL) WITHOUT ROWID",
    ]
    static let readers = ["SELECT id, text FROM plain ORDER BY id", "SELECT key, text FROM keyed ORDER BY key"]

    typealias Execute = (String, [SQLValue]) throws -> Void

    private var random: SeededRandom
    private var plain: [Int64: String] = [:]
    private var keyed: [String: String] = [:]
    /// The part of the texts that is marked, in percent.
    var marked = 30
    /// How many rows of `plain` there are at most.
    var rowLimit: Int64 = 600

    init(seed: UInt64) { random = SeededRandom(seed: seed) }

    /// The rows as `readers` should find them.
    var rows: [[[String]]] {
        [
            plain.sorted { $0.key < $1.key }.map { ["\($0.key)", $0.value] },
            keyed.sorted { Array($0.key.utf8).lexicographicallyPrecedes(Array($1.key.utf8)) }.map {
                [$0.key, $0.value]
            },
        ]
    }

    mutating func change(_ count: Int, _ execute: Execute) throws {
        for _ in 0..<count {
            let id = Int64.random(in: 0..<rowLimit, using: &random)
            switch Int.random(in: 0..<20, using: &random) {
            case 0..<8:
                let text = text()
                try execute("INSERT OR REPLACE INTO plain VALUES (?1, ?2)", [.integer(id), .text(text)])
                plain[id] = text
            case 8..<13:
                let (key, text) = (text(upTo: 1500), text())
                try execute("INSERT OR REPLACE INTO keyed VALUES (?1, ?2)", [.text(key), .text(text)])
                keyed[key] = text
            case 13..<15:
                let text = text()
                try execute(
                    "UPDATE plain SET text = ?1 WHERE id >= ?2 AND id < ?3",
                    [.text(text), .integer(id), .integer(id + 8)])
                for changed in id..<id + 8 where plain[changed] != nil { plain[changed] = text }
            case 15..<19:
                try execute("DELETE FROM plain WHERE id >= ?1 AND id < ?2", [.integer(id), .integer(id + 12)])
                for removed in id..<id + 12 { plain[removed] = nil }
            default:
                let start = String(prefix().prefix(1))
                try execute("DELETE FROM keyed WHERE key LIKE ?1", [.text(start + "%")])
                keyed = keyed.filter { !$0.key.hasPrefix(start) }
            }
        }
    }

    /// Removes all rows that have the marker.
    mutating func erase(_ execute: Execute) throws {
        try execute("DELETE FROM plain WHERE text LIKE ?1", [.text("%\(Self.marker)%")])
        try execute("DELETE FROM keyed WHERE key LIKE ?1 OR text LIKE ?1", [.text("%\(Self.marker)%")])
        plain = plain.filter { !$0.value.contains(Self.marker) }
        keyed = keyed.filter { !$0.key.contains(Self.marker) && !$0.value.contains(Self.marker) }
    }

    private mutating func prefix() -> String { String(UInt32.random(in: 0 ... .max, using: &random), radix: 36) }

    private mutating func text(upTo limit: Int = 20_000) -> String {
        let length =
            [16, 48, 160, 400, 900, 1500, 6000, 20_000].filter { $0 <= limit }.randomElement(using: &random) ?? 16
        let isMarked = Int.random(in: 0..<100, using: &random) < marked
        return prefix() + String(repeating: isMarked ? Self.marker : "someoneelse", count: max(1, length / 8))
    }
}
