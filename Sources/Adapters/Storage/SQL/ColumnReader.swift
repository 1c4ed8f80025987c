package import Model

/// Reads a row's columns from left to right, without numbering them.
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
    package mutating func blob() throws -> [UInt8] { try row.blob(next()) }
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

    /// A case of an enumeration with text raw values.
    package mutating func enumCase<Case: RawRepresentable>(_ type: Case.Type = Case.self) throws -> Case
    where Case.RawValue == String {
        let column = next()
        if let enumCase = Case(rawValue: try row.text(column)) { return enumCase }
        throw SQLError(.unexpectedValue, "Column \(column) of a row has a value that this version does not know.")
    }
}
