import Languages
import Testing

@Suite struct IdentifiableTextTests {
    private func kept(_ text: String, omitting ranges: [Range<Int>] = []) -> String? {
        IdentifiableText(text, omitting: ranges)?.text
    }

    @Test func whatEverybodyWritesAlikeIsLeftOut() {
        #expect(kept("Meet me at https://example.org/a later", omitting: [11..<32]) == "Meet me at later")
        #expect(kept("mail me: ann@example.org please") == "mail me: please")
        #expect(kept("call 0800-123 or B2B 4you now") == "call or now")
        #expect(kept("some_variable is wrong") == "is wrong")
        #expect(kept("wait – what?") == "wait what?")
    }

    @Test(arguments: ["", "ok", "+1", "😀😀😀", "12345", "a b", "@maria", "?!…", "\u{200D}\u{200D}\u{200D}\u{200D}"])
    func fewerThanThreeLettersAreNoLanguage(text: String) {
        #expect(kept(text) == nil)
    }

    @Test func threeLettersAre() {
        #expect(kept("спс") == "спс")
        #expect(kept("q tal?") == "q tal?")
        #expect(kept("天气好") == "天气好")
    }

    /// Offsets count UTF-16 units, of which emoji have two; a range may contain another one.
    @Test func rangesAreOmitted() {
        #expect(kept("😀😀 hello **there `x` you** all", omitting: [0..<4, 18..<21]) == "hello **there you** all")
        #expect(kept("abc def ghi", omitting: [0..<7, 4..<7]) == "ghi")
        #expect(kept("abc def", omitting: [0..<7]) == nil)
        // Beyond the end, and empty ones.
        #expect(kept("abc", omitting: [3..<3, 4..<99]) == "abc")
    }

    @Test func noMoreIsReadThanEnginesDo() throws {
        let long = try #require(kept(String(repeating: "слово ", count: 20_000)))
        #expect(long.utf8.count <= IdentifiableText.maxBytes + 200)
        let oneWord = try #require(kept(String(repeating: "a", count: 60_000)))
        #expect(oneWord.utf8.count <= IdentifiableText.maxBytes)
    }
}
