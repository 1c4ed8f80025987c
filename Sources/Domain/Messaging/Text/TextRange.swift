package import Model

/// A part of a message's text that means more than its characters. Ranges of emphasis may contain others; two ranges
/// overlap in no other way.
///
/// Starts and lengths count UTF-16 code units, as JavaScript, Java and `NSString` do; they never divide a character of
/// two units. A range of emphasis or code includes its markers, whose lengths follow from its kind: see `markerLength`.
package struct TextRange: Hashable, Sendable {
    package enum Kind: String, Hashable, Sendable, CaseIterable {
        /// `<@user id>`, or `<@all>` for everybody.
        case mention
        /// An http or https URL.
        case link
        /// Between single or double backticks, on one line.
        case code
        /// Between three or more backticks.
        case block
        /// `**text**`
        case bold
        /// `*text*` or `_text_`
        case italic
        /// `~~text~~`
        case strike
        /// Emoji without anything between them.
        case emoji
    }

    package var kind: Kind
    package var start: Int
    package var length: Int
    /// The user who is mentioned; nil for everybody, and for other kinds.
    package var user: UserID?

    package init(_ kind: Kind, start: Int, length: Int, user: UserID? = nil) {
        self.kind = kind
        self.start = start
        self.length = length
        self.user = user
    }

    package var end: Int { start + length }
}

/// What is to be found in a text: for everybody who writes, shows, searches or translates it, so that all see the same.
package struct FoundRanges: Hashable, Sendable {
    /// By start; a range before those that it contains. At most `RangeFinder.maxRanges`.
    package var ranges: [TextRange] = []

    package init(ranges: [TextRange] = []) { self.ranges = ranges }

    /// Those mentioned, without duplicates, in the order of the text.
    package var mentionedUsers: [UserID] {
        var seen: Set<UserID> = []
        return ranges.compactMap(\.user).filter { seen.insert($0).inserted }
    }

    /// Whether everybody is mentioned.
    package var mentionsAll: Bool { ranges.contains { $0.kind == .mention && $0.user == nil } }
    package var hasLink: Bool { ranges.contains { $0.kind == .link } }
}
