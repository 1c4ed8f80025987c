import Model

/// Takes the members of an object one by one; what is left in the end is unknown.
struct RecordReader {
    private var members: [String: JSONValue]
    /// Before the names in errors, such as `edits[2].`.
    private let prefix: String

    init(_ value: JSONValue, prefix: String = "") throws(Problem) {
        guard case .object(let members) = value else {
            throw Problem(.invalidRequest, "Expected a JSON object\(prefix.isEmpty ? "" : " at \(prefix.dropLast())").")
        }
        self.prefix = prefix
        // Names are unique.
        self.members = Dictionary(members.map { ($0.name, $0.value) }) { first, _ in first }
    }

    func field(_ name: String) -> String { prefix + name }

    /// A member that is null is not there.
    private mutating func take(_ name: String) -> JSONValue? {
        let value = members.removeValue(forKey: name)
        return value == .null ? nil : value
    }

    private func unexpected(_ name: String, _ value: JSONValue, _ expected: String) -> Problem {
        .invalid(field(name), "\(field(name)) is \(expected), not \(value.kind).")
    }

    mutating func optionalText(_ name: String) throws(Problem) -> String? {
        guard let value = take(name) else { return nil }
        guard case .text(let text) = value else { throw unexpected(name, value, "a string") }
        return text
    }

    mutating func text(_ name: String) throws(Problem) -> String {
        guard let text = try optionalText(name) else { throw .invalid(field(name), "\(field(name)) is missing.") }
        return text
    }

    mutating func optionalID(_ name: String) throws(Problem) -> String? {
        guard let id = try optionalText(name) else { return nil }
        return try Self.id(id, field(name))
    }

    mutating func id(_ name: String) throws(Problem) -> String { try Self.id(text(name), field(name)) }

    private static func id(_ id: String, _ field: String) throws(Problem) -> String {
        guard (1...TransferFormat.maxID).contains(id.utf8.count),
            id.unicodeScalars.allSatisfy({ $0.properties.generalCategory != .control })
        else {
            throw .invalid(
                field, "\(field) is an id of 1 to \(TransferFormat.maxID) bytes without control characters.")
        }
        return id
    }

    mutating func bool(_ name: String) throws(Problem) -> Bool {
        guard let value = take(name) else { return false }
        guard case .bool(let bool) = value else { throw unexpected(name, value, "true or false") }
        return bool
    }

    mutating func optionalInteger(_ name: String) throws(Problem) -> Int64? {
        guard let value = take(name) else { return nil }
        guard case .integer(let integer) = value else { throw unexpected(name, value, "a whole number") }
        return integer
    }

    mutating func integers(_ name: String, in range: ClosedRange<Int64>, most: Int) throws(Problem) -> [Int] {
        var integers: [Int] = []
        for value in try optionalArray(name, most: most) ?? [] {
            guard case .integer(let integer) = value, range.contains(integer) else {
                throw .invalid(
                    field(name), "\(field(name)) has whole numbers from \(range.lowerBound) to \(range.upperBound).")
            }
            integers.append(Int(integer))
        }
        return integers
    }

    /// RFC 3339 in UTC, or milliseconds since 1970; not before 1970 and not after the year 9999.
    mutating func optionalTime(_ name: String) throws(Problem) -> Timestamp? {
        let time: Timestamp?
        switch take(name) {
        case nil: return nil
        case .text(let text): time = Timestamp(text)
        case .integer(let milliseconds): time = Timestamp(milliseconds: milliseconds)
        case .some: time = nil
        }
        guard let time, (0...Self.maxMilliseconds).contains(time.milliseconds) else {
            throw .invalid(
                field(name),
                "\(field(name)) is a time from 1970 to 9999 such as 2024-05-01T12:00:00.000Z, or milliseconds since 1970."
            )
        }
        return time
    }

    private static let maxMilliseconds: Int64 = 253_402_300_799_999

    mutating func time(_ name: String) throws(Problem) -> Timestamp {
        guard let time = try optionalTime(name) else { throw .invalid(field(name), "\(field(name)) is missing.") }
        return time
    }

    /// A case of an enumeration, `fallback` if it is not there.
    mutating func choice<Choice: RawRepresentable & CaseIterable>(
        _ name: String, default fallback: Choice? = nil
    ) throws(Problem) -> Choice where Choice.RawValue == String {
        guard let text = try optionalText(name) ?? fallback?.rawValue else {
            throw .invalid(field(name), "\(field(name)) is missing.")
        }
        guard let choice = Choice(rawValue: text) else {
            let allowed = Choice.allCases.map(\.rawValue).joined(separator: ", ")
            throw .invalid(field(name), "\(field(name)) is one of \(allowed).")
        }
        return choice
    }

    /// Nil if the member is absent.
    mutating func optionalChoice<Choice: RawRepresentable & CaseIterable>(
        _ name: String
    ) throws(Problem) -> Choice? where Choice.RawValue == String {
        guard let text = try optionalText(name) else { return nil }
        guard let choice = Choice(rawValue: text) else {
            let allowed = Choice.allCases.map(\.rawValue).joined(separator: ", ")
            throw .invalid(field(name), "\(field(name)) is one of \(allowed).")
        }
        return choice
    }

    mutating func optionalArray(_ name: String, most: Int) throws(Problem) -> [JSONValue]? {
        guard let value = take(name) else { return nil }
        guard case .array(let values) = value else { throw unexpected(name, value, "an array") }
        guard values.count <= most else {
            throw .invalid(field(name), "\(field(name)) has at most \(most) elements.")
        }
        return values
    }

    mutating func texts(_ name: String, most: Int) throws(Problem) -> [String] {
        var texts: [String] = []
        for (index, value) in try (optionalArray(name, most: most) ?? []).enumerated() {
            guard case .text(let text) = value else { throw unexpected("\(name)[\(index)]", value, "a string") }
            texts.append(text)
        }
        return texts
    }

    mutating func ids(_ name: String, most: Int) throws(Problem) -> [String] {
        var ids: [String] = []
        for (index, text) in try texts(name, most: most).enumerated() {
            ids.append(try Self.id(text, "\(field(name))[\(index)]"))
        }
        return ids
    }

    /// The objects of an array.
    mutating func objects(_ name: String, most: Int) throws(Problem) -> [RecordReader] {
        var readers: [RecordReader] = []
        for (index, value) in try (optionalArray(name, most: most) ?? []).enumerated() {
            readers.append(try RecordReader(value, prefix: "\(field(name))[\(index)]."))
        }
        return readers
    }

    mutating func object(_ name: String) throws(Problem) -> RecordReader? {
        guard let value = take(name) else { return nil }
        return try RecordReader(value, prefix: field(name) + ".")
    }

    mutating func has(_ name: String) -> Bool { members[name].map { $0 != .null } ?? false }

    /// - Throws: if a member was not taken.
    func end(_ what: String) throws(Problem) {
        guard let name = members.keys.min() else { return }
        let shown = String(name.prefix(64))
        throw .invalid(field(shown), "\(what) has no member \(field(shown)).")
    }
}
