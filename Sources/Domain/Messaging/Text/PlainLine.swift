package import Model

extension TextRange {
    /// A text as a line without markers: mentions are names.
    ///
    /// - Parameters:
    ///   - limit: how many UTF-16 units of it are read.
    ///   - name: the name of a user who is mentioned; nil if it is not known.
    package static func plain(
        _ text: String, _ ranges: [TextRange], limit: Int, name: (UserID) throws -> String?
    ) rethrows -> String {
        let units = Array(text.utf16.prefix(limit))
        // What is shown instead of the unit that begins a mention; empty for its other units, and for markers.
        var replaced: [Int: [UInt16]] = [:]
        for range in ranges where range.start >= 0 && range.end <= units.count {
            if range.kind == .mention {
                for index in range.start..<range.end { replaced[index] = [] }
                let shown = try range.user.map { try name($0) ?? "?" } ?? "all"
                replaced[range.start] = Array("@\(shown)".utf16)
            } else {
                let marker = range.markerLength(in: units)
                guard 2 * marker <= range.length else { continue }
                for index in 0..<marker {
                    replaced[range.start + index] = []
                    replaced[range.end - 1 - index] = []
                }
            }
        }
        var line: [UInt16] = []
        line.reserveCapacity(units.count)
        for (index, unit) in units.enumerated() {
            if let shown = replaced[index] { line += shown } else { line.append(unit) }
        }
        return String(decoding: line, as: UTF16.self)
    }

    /// How many units its markers have at each end.
    private func markerLength(in units: [UInt16]) -> Int {
        switch kind {
        case .bold, .strike: 2
        case .italic: 1
        case .code, .block: units[start..<end].prefix { $0 == 0x60 }.count
        case .mention, .link, .emoji: 0
        }
    }
}
