import Testing

@testable import Languages

@Suite struct MaskedTextTests {
    @Test func partsAreApart() {
        let masked = MaskedText("see https://example.org now", keeping: [4..<23])
        #expect(masked.parts == [.text("see "), .kept("https://example.org"), .text(" now")])
        #expect(masked.original == "see https://example.org now")
    }

    @Test func rangesMayOverlapAndLieBeyond() {
        let masked = MaskedText("abcdef", keeping: [3..<4, 1..<3, 1..<2, 5..<9, 7..<8, 4..<4])
        #expect(masked.parts == [.text("a"), .kept("bcd"), .text("e"), .kept("f")])
    }

    @Test func offsetsCountUTF16() {
        let masked = MaskedText("😀 @ann hi", keeping: [3..<7])
        #expect(masked.parts == [.text("😀 "), .kept("@ann"), .text(" hi")])
    }

    @Test func wordsAreLettersThatAreNotKept() {
        #expect(!MaskedText("https://example.org", keeping: [0..<19]).hasWords)
        #expect(!MaskedText("12 + 3 😀", keeping: []).hasWords)
        #expect(MaskedText("да", keeping: []).hasWords)
    }

    @Test(arguments: [PlaceholderStyle.brackets, .square, .tags, .elements, .superblanks])
    func comesBackAsItWas(style: PlaceholderStyle) {
        let original = #"a <b> & "c" [d] ⟦1⟧ {e} \ ^f$ @ann / 'g' &amp; 😀"#
        let masked = MaskedText(original, keeping: [0..<1, 24..<30])
        let written = masked.written(as: style)
        #expect(written.restored(written.text) == original)
    }

    @Test func placeholdersMayMoveAndHaveSpaces() {
        let written = MaskedText("AB and CD", keeping: [0..<2, 7..<9]).written(as: .brackets)
        #expect(written.text == "⟦1⟧ and ⟦2⟧")
        #expect(written.restored("⟦ 2 ⟧ 5 y ⟦1 ⟧ 7") == "CD 5 y AB 7")
    }

    @Test(arguments: ["⟦1⟧", "⟦1⟧ ⟦2⟧ ⟦2⟧", "⟦1⟧ ⟦2⟧ ⟦3⟧", "⟦1⟧ ⟦2⟧ ⟦", "⟦0⟧ ⟦1⟧ ⟦2⟧", "⟦1⟧ ⟦99999⟧ ⟦2⟧", "", "⟦1⟧⟦2"])
    func damagedOnesAreRefused(translation: String) {
        let written = MaskedText("AB and CD", keeping: [0..<2, 7..<9]).written(as: .brackets)
        #expect(written.restored(translation) == nil)
    }

    @Test func markupIsUnescaped() {
        let written = MaskedText("1 < 2 & AB", keeping: [8..<10]).written(as: .tags)
        #expect(written.text == #"1 &lt; 2 &amp; <x id="1"/>"#)
        #expect(written.restored(#"<x id="1" /> &#39;&lt;&quot; > &"#) == #"AB '<" > &"#)
        #expect(written.restored(#"<b><x id="1"/></b>"#) == nil)
    }

    @Test func whatAnAuthorWritesIsNoPlaceholder() {
        let written = MaskedText("⟦2⟧ AB", keeping: [4..<6]).written(as: .brackets)
        #expect(written.text == "⟦1⟧2⟦2⟧ ⟦3⟧")
        #expect(written.restored(written.text) == "⟦2⟧ AB")
    }
}
