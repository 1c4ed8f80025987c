import TestSupport

/// JSON that was read before: most of what is compared after a command was the same after the one before it.
struct JSONCache: Sendable {
    private static let maxCount = 4_000
    private let values = Shared<[String: JSONValue]>([:])

    func value(of text: String) throws -> JSONValue {
        if let known = values.value[text] { return known }
        let value = try JSONValue(text.utf8)
        values.update { values in
            if values.count >= Self.maxCount { values = [:] }
            values[text] = value
        }
        return value
    }
}
