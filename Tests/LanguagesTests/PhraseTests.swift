import Languages
import Testing

/// What is short and common enough to be remembered for all conversations.
@Suite("Phrases") struct PhraseTests {
    @Test(
        "short texts of words are phrases",
        arguments: ["ok", "Good morning!", "see you later", "до завтра", String(repeating: "a", count: 40)])
    func phrases(_ text: String) { #expect(MaskedText(text, keeping: []).isPhrase) }

    @Test(
        "long ones, digits and what has no words are not",
        arguments: [
            "", "!!!", "at 5", "до ٣", "Ⅻ of them", "x²", String(repeating: "a", count: 41), "room 101",
        ])
    func others(_ text: String) { #expect(!MaskedText(text, keeping: []).isPhrase) }

    @Test("what has something that is kept is not")
    func kept() { #expect(!MaskedText("hello @ann", keeping: [6..<10]).isPhrase) }
}
