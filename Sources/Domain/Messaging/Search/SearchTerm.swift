/// What the index finds messages by: a word, or characters of a script without spaces.
///
/// Terms are equal if their bytes are, as in a database: Swift's strings would be equal to others of the same meaning.
package struct SearchTerm: Hashable, Sendable {
    package let text: String

    package init(_ text: String) { self.text = text }

    package static func == (left: Self, right: Self) -> Bool { left.text.utf8.elementsEqual(right.text.utf8) }

    package func hash(into hasher: inout Hasher) { hasher.combine(text) }

    package func hasPrefix(_ prefix: SearchTerm) -> Bool { text.utf8.starts(with: prefix.text.utf8) }

    /// The order of the bytes.
    package func precedes(_ other: SearchTerm) -> Bool { text.utf8.lexicographicallyPrecedes(other.text.utf8) }
}
