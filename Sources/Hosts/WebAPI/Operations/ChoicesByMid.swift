/// A mid is a name, even where it looks like a number.
private struct Mid: CodingKey {
    let stringValue: String
    var intValue: Int? { nil }

    init(stringValue: String) { self.stringValue = stringValue }
    init?(intValue: Int) { nil }
}

extension KeyedDecodingContainer {
    /// An object with a word for each of some sections, by mid. The error about one that is not among `Choice` names its
    /// section, and says what is allowed.
    func decodeChoices<Choice>(forKey key: Key) throws -> [String: Choice]
    where Choice: RawRepresentable<String> & CaseIterable {
        var choices: [String: Choice] = [:]
        let words = try nestedContainer(keyedBy: Mid.self, forKey: key)
        for mid in words.allKeys.sorted(by: { $0.stringValue < $1.stringValue }) {
            guard let choice = Choice(rawValue: try words.decode(String.self, forKey: mid)) else {
                let allowed = Choice.allCases.map(\.rawValue).joined(separator: ", ")
                throw DecodingError.dataCorrupted(
                    .init(codingPath: words.codingPath + [mid], debugDescription: "must be one of \(allowed)"))
            }
            choices[mid.stringValue] = choice
        }
        return choices
    }
}
