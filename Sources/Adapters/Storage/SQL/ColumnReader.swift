package import Model

/// Reads a row from left to right, for rows with more columns than anybody wants to number.
package struct ColumnReader {
    private let row: SQLRow
    private var index: Int

    package init(_ row: SQLRow, from index: Int = 0) {
        self.row = row
        self.index = index
    }

    private mutating func next() -> Int {
        defer { index += 1 }
        return index
    }

    package mutating func text() throws -> String { try row.text(next()) }
    package mutating func integer() throws -> Int64 { try row.integer(next()) }
    package mutating func int() throws -> Int { try row.int(next()) }
    package mutating func bool() throws -> Bool { try row.bool(next()) }
    package mutating func time() throws -> Timestamp { try row.time(next()) }
    package mutating func id<Entity>(of type: Entity.Type = Entity.self) throws -> Identifier<Entity> {
        try row.id(next(), of: type)
    }

    package mutating func textIfPresent() throws -> String? { try row.textIfPresent(next()) }
    package mutating func integerIfPresent() throws -> Int64? { try row.integerIfPresent(next()) }
    package mutating func realIfPresent() throws -> Double? { try row.realIfPresent(next()) }
    package mutating func timeIfPresent() throws -> Timestamp? { try row.timeIfPresent(next()) }
    package mutating func idIfPresent<Entity>(of type: Entity.Type = Entity.self) throws -> Identifier<Entity>? {
        try row.idIfPresent(next(), of: type)
    }

    /// A word out of an enumeration.
    package mutating func word<Word: RawRepresentable>(_ type: Word.Type = Word.self) throws -> Word
    where Word.RawValue == String {
        let column = next()
        if let word = Word(rawValue: try row.text(column)) { return word }
        throw SQLError(.unexpectedValue, "Column \(column) of a row holds a word that this program does not know.")
    }
}
