/// Tells in which language a text is. It works in memory, in less than a millisecond, from several threads at once.
package protocol LanguageEngine: Sendable {
    /// As shown to operators: `eldc`, `cld2`.
    var name: String { get }

    /// Nil if it has no guess.
    func scores(of text: IdentifiableText) -> LanguageScores?
}
