/// A mid is a name, even if it looks like a number.
private struct Mid: CodingKey {
    let stringValue: String
    var intValue: Int? { nil }

    init(stringValue: String) { self.stringValue = stringValue }
    init?(intValue: Int) { nil }
}

extension KeyedDecodingContainer {
    /// Decodes an object that maps mids to choices. The error for a value that is not a `Choice` names its section and
    /// the allowed values.
    func decodeChoices<Choice>(forKey key: Key) throws -> [String: Choice]
    where Choice: RawRepresentable<String> & CaseIterable {
        var choices: [String: Choice] = [:]
        let container = try nestedContainer(keyedBy: Mid.self, forKey: key)
        for mid in container.allKeys.sorted(by: { $0.stringValue < $1.stringValue }) {
            guard let choice = Choice(rawValue: try container.decode(String.self, forKey: mid)) else {
                let allowed = Choice.allCases.map(\.rawValue).joined(separator: ", ")
                throw DecodingError.dataCorrupted(
                    .init(codingPath: container.codingPath + [mid], debugDescription: "must be one of \(allowed)"))
            }
            choices[mid.stringValue] = choice
        }
        return choices
    }
}
