import Foundation
import Testing

/// A JSON value, for comparison.
indirect enum JSONValue: Hashable, Sendable {
    case null
    /// Numbers and booleans, as they are written.
    case plain(String)
    case text(String)
    case array([JSONValue])
    case object([String: JSONValue])

    init(_ bytes: some Sequence<UInt8>) throws {
        self.init(any: try JSONSerialization.jsonObject(with: Data(bytes), options: .fragmentsAllowed))
    }

    private init(any: Any) {
        switch any {
        case let object as [String: Any]: self = .object(object.mapValues { JSONValue(any: $0) })
        case let array as [Any]: self = .array(array.map { JSONValue(any: $0) })
        case let text as String: self = .text(text)
        case is NSNull: self = .null
        // Otherwise they would be written as numbers.
        case let number as NSNumber where ["c", "B"].contains(String(cString: number.objCType)):
            self = .plain(number.boolValue ? "true" : "false")
        default: self = .plain("\(any)")
        }
    }

    subscript(name: String) -> JSONValue? {
        if case .object(let members) = self { members[name] } else { nil }
    }

    var items: [JSONValue] { if case .array(let items) = self { items } else { [] } }
    var integer: Int64? { if case .plain(let text) = self { Int64(text) } else { nil } }
    var string: String? { if case .text(let text) = self { text } else { nil } }

    func replacing(_ name: String, with value: JSONValue?) -> JSONValue {
        guard case .object(var members) = self else { return self }
        members[name] = value
        return .object(members)
    }

    func removing(_ names: String...) -> JSONValue {
        guard case .object(var members) = self else { return self }
        for name in names { members[name] = nil }
        return .object(members)
    }
}

extension JSONValue: CustomStringConvertible {
    var description: String {
        switch self {
        case .null: "null"
        case .plain(let text): text
        case .text(let text): "\"\(text)\""
        case .array(let items): "[\(items.map(\.description).joined(separator: ","))]"
        case .object(let members):
            "{\(members.sorted { $0.key < $1.key }.map { "\"\($0.key)\":\($0.value)" }.joined(separator: ","))}"
        }
    }
}
