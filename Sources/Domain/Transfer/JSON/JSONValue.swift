/// A value of a line, as it was read.
enum JSONValue: Hashable, Sendable {
    case null
    case bool(Bool)
    case integer(Int64)
    /// A number that is no `Int64`.
    case otherNumber
    case text(String)
    case array([JSONValue])
    case object([Member])

    struct Member: Hashable, Sendable {
        let name: String
        let value: JSONValue
    }

    /// What it is, for people.
    var kind: String {
        switch self {
        case .null: "null"
        case .bool: "true or false"
        case .integer, .otherNumber: "a number"
        case .text: "a string"
        case .array: "an array"
        case .object: "an object"
        }
    }
}
