extension String {
    /// The most Unicode scalars of one grapheme cluster (Unicode TR 29) in what a person writes: a base with 64 marks. Real
    /// text needs ten (a kiss of two people, with their skin tones); the Stream-Safe Text Format (Unicode TR 15) allows
    /// thirty marks.
    package static let maxClusterLength = 65

    /// Whether the text has a grapheme cluster of more than `maxClusterLength` scalars: what looks like one character, and
    /// covers those around it. Each step by characters would take as long as such a cluster is, here and in the clients that
    /// show it.
    package var hasLongCluster: Bool {
        // Among ASCII alone there are none but the two of a line break.
        guard utf8.contains(where: { $0 >= 0x80 }) else { return false }
        return contains { $0.unicodeScalars.count > Self.maxClusterLength }
    }

    /// As many of its Unicode scalars as fit into so many bytes of UTF-8.
    package func prefix(bytes: Int) -> String {
        guard utf8.count > bytes else { return self }
        var end = utf8.index(startIndex, offsetBy: bytes)
        // Not within a scalar, which has at most four bytes, where a grapheme cluster has as many as the text.
        while utf8[end] & 0xC0 == 0x80 { end = utf8.index(before: end) }
        return String(self[..<end])
    }
}
