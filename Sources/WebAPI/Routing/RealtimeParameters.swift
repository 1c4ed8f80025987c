import FoundationEssentials

/// The members of a realtime request's `params` that REST has in its path and query: the parameters of its operation.
struct RealtimeParameters: DecodableWithConfiguration {
    private enum Text: Decodable {
        case value(String)

        init(from decoder: any Decoder) throws {
            let container = try decoder.singleValueContainer()
            // Nearly all of them are strings, and a failed attempt costs as much as the rest of the decoding.
            if let text = try? container.decode(String.self) {
                self = .value(text)
            } else if let number = try? container.decode(Int.self) {
                self = .value(String(number))
            } else {
                throw DecodingError.dataCorruptedError(
                    in: container, debugDescription: "must be a string or a whole number")
            }
        }
    }

    private struct Name: CodingKey {
        let stringValue: String
        var intValue: Int? { nil }

        init(stringValue: String) { self.stringValue = stringValue }
        init?(intValue: Int) { nil }
    }

    /// The values by name, without those that are absent.
    let values: [String: String]

    init(from decoder: any Decoder, configuration parameters: [Operation.Parameter]) throws {
        let container = try decoder.container(keyedBy: Name.self)
        var values: [String: String] = [:]
        for parameter in parameters {
            let name = Name(stringValue: parameter.name)
            // In a query it is written so too.
            if case .boolean = parameter.schema, let flag = try? container.decode(Bool.self, forKey: name) {
                values[parameter.name] = String(flag)
                continue
            }
            if case .value(let text)? = try container.decodeIfPresent(Text.self, forKey: name) {
                values[parameter.name] = text
            }
        }
        self.values = values
    }
}
