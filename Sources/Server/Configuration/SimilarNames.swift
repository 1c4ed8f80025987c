/// Which of the known names a wrong one was probably meant to be.
enum SimilarNames {
    /// Suggestions in one message.
    private static let limit = 3
    /// Longer names are not compared: the time of a comparison is the product of the lengths.
    private static let maxLength = 128

    /// The names with the least edit distance to `name`, ignoring case: none if that is more than a third of its length.
    static func of(_ name: String, among names: [String]) -> [String] {
        let wrong = Array(name.lowercased().utf8)
        guard !wrong.isEmpty, wrong.count <= maxLength else { return [] }
        let distances = names.map { (name: $0, distance: editDistance(wrong, Array($0.lowercased().utf8))) }
        guard let least = distances.map(\.distance).min(), least <= max(1, wrong.count / 3) else { return [] }
        return Array(distances.filter { $0.distance == least }.map(\.name).prefix(limit))
    }

    /// ` Did you mean http.port or admin.port?`, or nothing without suggestions.
    static func question(_ suggestions: [String]) -> String {
        suggestions.isEmpty ? "" : " Did you mean \(suggestions.joined(separator: " or "))?"
    }

    /// Levenshtein's distance: the least number of bytes inserted, removed or replaced that make `second` of `first`.
    static func editDistance(_ first: [UInt8], _ second: [UInt8]) -> Int {
        var row = Array(0...second.count)
        for (index, byte) in first.enumerated() {
            var diagonal = row[0]
            row[0] = index + 1
            for (column, other) in second.enumerated() {
                let replaced = diagonal + (byte == other ? 0 : 1)
                diagonal = row[column + 1]
                row[column + 1] = min(replaced, min(row[column], diagonal) + 1)
            }
        }
        return row[second.count]
    }
}
