import Model

/// The value of a member of a notification's JSON, which has no objects in it.
enum PushMember: Decodable, Sendable {
    case string(String)
    case integer(Int64)
    case boolean(Bool)

    var text: String {
        switch self {
        case .string(let value): value
        case .integer(let value): "\(value)"
        case .boolean(let value): "\(value)"
        }
    }

    init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if let value = try? container.decode(String.self) {
            self = .string(value)
        } else if let value = try? container.decode(Bool.self) {
            self = .boolean(value)
        } else {
            self = .integer(try container.decode(Int64.self))
        }
    }

    func write(_ name: String, to writer: inout JSONWriter) {
        switch self {
        case .string(let value): writer.member(name, value)
        case .integer(let value): writer.member(name, value)
        case .boolean(let value): writer.member(name, value)
        }
    }
}
