import Model

/// A JSON value, for documents that are built once: the OpenAPI description and problem documents.
package indirect enum JSON: Sendable, Hashable {
    case null
    case boolean(Bool)
    case integer(Int64)
    case number(Double)
    case text(String)
    case array([JSON])
    /// Members keep their order.
    case object([(String, JSON)])
    /// JSON text that is already encoded.
    case raw(String)

    package static func == (left: JSON, right: JSON) -> Bool { left.encoded == right.encoded }
    package func hash(into hasher: inout Hasher) { hasher.combine(encoded) }

    package var encoded: String {
        var writer = JSONWriter()
        write(to: &writer)
        return writer.text
    }

    private func write(to writer: inout JSONWriter) {
        switch self {
        case .null: writer.write(json: "null")
        case .boolean(let truth): writer.write(truth)
        case .integer(let number): writer.write(number)
        case .number(let number):
            if number.isFinite { writer.write(number) } else { writer.write(json: "null") }
        case .text(let string): writer.write(string)
        case .array(let elements): writer.array(elements) { $1.write(to: &$0) }
        case .object(let members):
            writer.object { writer in
                for (name, value) in members {
                    writer.name(escaping: name)
                    value.write(to: &writer)
                }
            }
        case .raw(let encoded): writer.write(json: encoded)
        }
    }
}

extension JSON: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral, ExpressibleByBooleanLiteral {
    package init(stringLiteral value: String) { self = .text(value) }
    package init(integerLiteral value: Int64) { self = .integer(value) }
    package init(booleanLiteral value: Bool) { self = .boolean(value) }
}
