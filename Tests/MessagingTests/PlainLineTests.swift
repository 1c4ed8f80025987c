import Model
import TestSupport
import Testing
import Wire

@testable import Messaging

@Suite("A text as a line without markers") struct PlainLineTests {
    private let ann = UserID.make(at: Timestamp(milliseconds: 1))

    private func plain(_ text: String, _ ranges: [TextRange]? = nil, limit: Int = 1_000) -> String {
        TextRange.plain(text, ranges ?? RangeFinder.ranges(in: text).ranges, limit: limit) {
            $0 == ann ? "Ann" : nil
        }
    }

    @Test(
        "markers go, and what they enclose stays",
        arguments: [
            ("plain", "plain"), ("a **bold**, *it*, _it_ and ~~no~~", "a bold, it, it and no"),
            ("**a _b ~~c~~_**", "a b c"), ("***both***", "both"), ("`code` and ``co`de``", "code and co`de"),
            ("👍 **👨‍👩‍👧‍👦** 👍", "👍 👨‍👩‍👧‍👦 👍"), ("你好**世界**再见", "你好世界再见"), ("https://a.example/*b*", "https://a.example/*b*"),
            ("**not bold", "**not bold"), ("\\*", "\\*"),
        ])
    func markers(text: String, expected: String) { #expect(plain(text) == expected) }

    @Test("a block is its text")
    func block() { #expect(plain("```\nlet a = 1\n```").contains("let a = 1") && !plain("```\na\n```").contains("`")) }

    @Test("mentions are names")
    func mentions() {
        let other = UserID.make(at: Timestamp(milliseconds: 2))
        #expect(plain("<@\(ann)> and <@\(other)>, <@all>!") == "@Ann and @?, @all!")
        #expect(plain("**<@\(ann)>**") == "@Ann")
        #expect(plain("👍<@\(ann)>👍") == "👍@Ann👍")
    }

    @Test("a name is looked up, and its failure told")
    func failure() {
        struct Failure: Error {}
        let text = "<@\(ann)>"
        #expect(throws: Failure.self) {
            try TextRange.plain(text, RangeFinder.ranges(in: text).ranges, limit: 99) { _ in throw Failure() }
        }
    }

    @Test("ranges out of the text are passed over")
    func outside() {
        for range in [
            TextRange(.bold, start: -1, length: 4), TextRange(.bold, start: 2, length: 9),
            TextRange(.mention, start: 5, length: 1), TextRange(.code, start: 9, length: 2),
            TextRange(.italic, start: 4, length: 1), TextRange(.strike, start: 0, length: 3),
            TextRange(.bold, start: 0, length: 0), TextRange(.code, start: 0, length: 0),
        ] { #expect(plain("abcd", [range]) == "abcd", "\(range)") }
    }

    @Test("ranges that overlap remove no unit twice")
    func overlapping() {
        let bold = TextRange(.bold, start: 0, length: 6)
        #expect(plain("**ab**", [bold, bold]) == "ab")
        #expect(plain("**ab**cd**", [bold, TextRange(.bold, start: 4, length: 6)]) == "abcd")
        #expect(plain("**ab**", [bold, TextRange(.mention, start: 1, length: 4, user: ann)]) == "@Ann")
    }

    /// A range that divides a character of two units leaves a sign that something is missing, and no crash.
    @Test("half a surrogate pair is repaired")
    func surrogates() {
        #expect(plain("👍a👍", [TextRange(.italic, start: 1, length: 3)]) == "\u{FFFD}a\u{FFFD}")
        #expect(plain("👍", [TextRange(.mention, start: 0, length: 1, user: ann)]) == "@Ann\u{FFFD}")
    }

    @Test("any ranges of any text do no harm")
    func random() {
        let seed = freshSeed()
        var random = SeededRandom(seed: seed)
        for _ in 0..<2_000 {
            let text = (0..<Int.random(in: 0..<12, using: &random)).map { _ in
                ["*", "**", "`", "~~", "a", "👍", "é", "\n", "日"].randomElement(using: &random) ?? ""
            }.joined()
            let ranges = (0..<4).map { _ in
                TextRange(
                    TextRange.Kind.allCases.randomElement(using: &random) ?? .bold,
                    start: Int.random(in: -3...14, using: &random), length: Int.random(in: 0...14, using: &random),
                    user: Bool.random(using: &random) ? ann : nil)
            }
            let shown = plain(text, ranges)
            #expect(shown.utf16.count <= text.utf16.count + 4 * "@Ann?".utf16.count, "seed \(seed)")
        }
    }

    @Test("no more is read than may be shown")
    func limit() {
        #expect(plain("abcdef", limit: 3) == "abc" && plain("ab", limit: 3) == "ab" && plain("", limit: 0) == "")
        #expect(plain("*a* **b** c", limit: 5) == "a *", "of what is cut the markers stay")
        #expect(plain("a👍", limit: 2) == "a\u{FFFD}")
        #expect(plain("<@\(ann)>", limit: 10) == "<@" + ann.text.prefix(8))
    }
}
