/// What a reader from elsewhere may not understand of a text, explained.
package struct Hint: Hashable, Sendable {
    package enum Kind: String, Hashable, Sendable, CaseIterable {
        /// It means something else than its words.
        case idiom
        /// To people, works, places or customs that its readers are expected to know.
        case reference
        /// Abbreviations and words of chats and of the street.
        case slang
        /// How the reader is addressed.
        case formality
    }

    package enum Relevance: String, Hashable, Sendable, CaseIterable {
        /// Without it the text is misunderstood, or not at all.
        case high
        case low
    }

    /// Of a text; more are left out.
    package static let maxCount = 8
    /// In Unicode scalars, each of `meaning`, `expansion` and `equivalent`.
    package static let maxLength = 300

    /// In UTF-16 code units, as the ranges of messages.
    package var start: Int
    package var length: Int
    package var kind: Kind
    package var meaning: String
    /// What an abbreviation stands for, in its own language.
    package var expansion: String?
    /// What people say instead in the reader's language.
    package var equivalent: String?
    package var relevance: Relevance

    package init(
        start: Int, length: Int, kind: Kind, meaning: String, expansion: String? = nil, equivalent: String? = nil,
        relevance: Relevance = .high
    ) {
        self.start = start
        self.length = length
        self.kind = kind
        self.meaning = meaning
        self.expansion = expansion
        self.equivalent = equivalent
        self.relevance = relevance
    }

    package var end: Int { start + length }
}
