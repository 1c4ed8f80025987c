import Foundation

/// JSON encoding and decoding: camelCase like the properties, times in RFC 3339.
enum JSON {
    static func encode(_ value: some Encodable) throws(SwitchboardError) -> [UInt8] {
        do {
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.withoutEscapingSlashes]
            encoder.dateEncodingStrategy = .custom { date, encoder in
                var container = encoder.singleValueContainer()
                try container.encode(text(date))
            }
            return Array(try encoder.encode(value))
        } catch {
            throw .invalidArgument("cannot be written as JSON: \(error)")
        }
    }

    static func decode<Value: Decodable>(_ type: Value.Type, from bytes: some Sequence<UInt8>) throws(SwitchboardError)
        -> Value
    {
        do {
            let decoder = JSONDecoder()
            decoder.dateDecodingStrategy = .custom { decoder in
                let text = try decoder.singleValueContainer().decode(String.self)
                guard let date = date(text) else {
                    throw DecodingError.dataCorrupted(
                        .init(codingPath: decoder.codingPath, debugDescription: "not a time in RFC 3339"))
                }
                return date
            }
            return try decoder.decode(type, from: Data(bytes))
        } catch {
            throw .invalidResponse("\(error)")
        }
    }

    /// A time in RFC 3339.
    static func text(_ date: Date) -> String {
        date.formatted(Date.ISO8601FormatStyle(includingFractionalSeconds: true))
    }

    /// A time in RFC 3339, with or without fractions of a second.
    static func date(_ text: String) -> Date? {
        let style = Date.ISO8601FormatStyle(includingFractionalSeconds: text.contains("."))
        return try? style.parse(text)
    }
}

/// A request without parameters, or a result that is ignored.
struct Nothing: Codable, Sendable {}
