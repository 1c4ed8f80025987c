package import Model

/// One row of a result. Columns are read by index, so that no dictionary is built per row.
///
/// An unexpected value throws an `SQLError`, never a trap: a damaged or hand-edited database fails one request, not the
/// process.
package struct SQLRow: Hashable, Sendable {
    package let values: [SQLValue]

    package init(_ values: [SQLValue]) { self.values = values }

    package func integer(_ index: Int) throws -> Int64 {
        if case .integer(let value) = try value(index) { return value }
        throw mismatch(index, "an integer")
    }

    package func int(_ index: Int) throws -> Int {
        if let value = Int(exactly: try integer(index)) { return value }
        throw mismatch(index, "an integer of this machine's size")
    }

    package func bool(_ index: Int) throws -> Bool { try integer(index) != 0 }

    package func time(_ index: Int) throws -> Timestamp { Timestamp(milliseconds: try integer(index)) }

    package func real(_ index: Int) throws -> Double {
        switch try value(index) {
        case .real(let value): return value
        case .integer(let value): return Double(value)
        default: throw mismatch(index, "a number")
        }
    }

    package func text(_ index: Int) throws -> String {
        if case .text(let value) = try value(index) { return value }
        throw mismatch(index, "text")
    }

    package func blob(_ index: Int) throws -> [UInt8] {
        if case .blob(let value) = try value(index) { return value }
        throw mismatch(index, "bytes")
    }

    package func id<Entity>(_ index: Int, of type: Entity.Type = Entity.self) throws -> Identifier<Entity> {
        if let identifier = Identifier<Entity>(try text(index)) { return identifier }
        throw mismatch(index, "a UUID")
    }

    package func stream(_ index: Int) throws -> StreamName {
        if let name = StreamName(try text(index)) { return name }
        throw mismatch(index, "a stream's name")
    }
}

// Values that may be NULL.
extension SQLRow {
    package func isNull(_ index: Int) throws -> Bool { try value(index) == .null }

    package func integerIfPresent(_ index: Int) throws -> Int64? { try isNull(index) ? nil : try integer(index) }
    package func realIfPresent(_ index: Int) throws -> Double? { try isNull(index) ? nil : try real(index) }
    package func textIfPresent(_ index: Int) throws -> String? { try isNull(index) ? nil : try text(index) }
    package func blobIfPresent(_ index: Int) throws -> [UInt8]? { try isNull(index) ? nil : try blob(index) }
    package func timeIfPresent(_ index: Int) throws -> Timestamp? { try isNull(index) ? nil : try time(index) }

    package func idIfPresent<Entity>(_ index: Int, of type: Entity.Type = Entity.self) throws -> Identifier<Entity>? {
        try isNull(index) ? nil : try id(index)
    }

    package func value(_ index: Int) throws -> SQLValue {
        guard values.indices.contains(index) else {
            throw SQLError(.unexpectedValue, "A row has \(values.count) columns; column \(index) was asked for.")
        }
        return values[index]
    }

    private func mismatch(_ index: Int, _ expected: String) -> SQLError {
        SQLError(.unexpectedValue, "Column \(index) of a row should be \(expected).")
    }
}
