import Languages
import Testing

@Suite("What engines return is checked")
struct TranslationCheckTests {
    private let written = MaskedText(" Hi @ann!\n", keeping: [4..<8]).written(as: .brackets)

    @Test func keptPartsAndWhiteSpaceAreTheTexts() {
        #expect(written.text == " Hi ⟦1⟧!\n")
        for translation in ["Oi ⟦1⟧!", " Oi ⟦1⟧!\n", "\n\n  Oi ⟦ 1 ⟧!  \n"] {
            #expect(written.result(translation) == .text(" Oi @ann!\n"))
        }
    }

    @Test(arguments: ["Oi", "Oi ⟦1⟧ ⟦1⟧", "Oi ⟦2⟧", "⟦1⟧ ⟦", "⟦⟧", "⟦1", "⟦12345⟧"])
    func damaged(translation: String) {
        #expect(written.result(translation) == .failed(.damaged))
    }

    @Test func emptyLongAndStrangeOnesAreInvalid() {
        let long = "⟦1⟧" + String(repeating: "a", count: 4 * 9 + 200 - 2)
        for translation in ["", " \n", long, "Oi ⟦1⟧\u{0}", "Oi ⟦1⟧\u{1B}[31m", "Oi ⟦1⟧ \u{FFFD}"] {
            guard case .failed(.invalidResponse) = written.result(translation) else {
                Issue.record("accepted: \(translation)")
                continue
            }
        }
        #expect(written.result(String(long.dropLast())) == .text(" @ann" + String(repeating: "a", count: 233) + "\n"))
    }

    @Test("characters that cannot be escaped are kept")
    func kept() {
        let text = MaskedText("a * b [c] @ann #x", keeping: [10..<14])
        let written = text.written(as: .superblanks)
        #expect(written.text == "a [1] b [2]c[3] [4] [5]x")
        #expect(written.result("A [1] B [3]C[2] [5]x [4]") == .text("A * B ]C[ #x @ann"))
        #expect(written.result("A [1] B [2]C[3] [4] [5]x *") == .failed(.damaged))
        let html = MaskedText("1 < 2 & @ann", keeping: [8..<12]).written(as: .elements)
        #expect(html.text == #"1 <i translate="no">1</i> 2 <i translate="no">2</i> <i translate="no">3</i>"#)
        #expect(html.result(html.text) == .text("1 < 2 & @ann"))
    }
}
