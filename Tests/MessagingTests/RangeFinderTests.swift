import Model
import TestSupport
import Testing
import Wire

@testable import Messaging

@Suite("Ranges of a message's text")
struct RangeFinderTests {
    /// The ranges as `kind:text`.
    private func found(_ text: String) -> [String] {
        let units = Array(text.utf16)
        return RangeFinder.ranges(in: text).ranges.map {
            "\($0.kind.rawValue):" + String(decoding: units[$0.start..<$0.end], as: UTF16.self)
        }
    }

    @Test("emphasis has markers beside words, and nests")
    func emphasis() {
        #expect(
            found("a **bold**, *it*, _it_ and ~~no~~") == [
                "bold:**bold**", "italic:*it*", "italic:_it_", "strike:~~no~~",
            ])
        #expect(found("snake_case_name 2*3*4 a * b * c **") == [])
        #expect(found("**a _b ~~c~~_**") == ["bold:**a _b ~~c~~_**", "italic:_b ~~c~~_", "strike:~~c~~"])
        #expect(found("***both***") == ["bold:***both***", "italic:*both*"])
        #expect(found("***a** b*") == ["italic:***a** b*", "bold:**a**"])
        #expect(found("***a* b**") == ["bold:***a* b**", "italic:*a*"])
        #expect(found("**a *b** c*") == ["bold:**a *b**"], "what is opened within ends with it")
        #expect(found("**a\nb**") == [], "on one line")
        #expect(found("你好**世界**再见") == ["bold:**世界**"], "without spaces between words")
    }

    @Test(
        "emphasis stands beside letters of scripts without spaces",
        arguments: [
            ("これは**太字**です", "bold:**太字**"), ("이것은 **굵게**입니다", "bold:**굵게**"), ("한국어**굵게**입니다", "bold:**굵게**"),
            ("**「重点」**です", "bold:**「重点」**"), ("**ตัวหนา**ครับ", "bold:**ตัวหนา**"), ("นี่**ตัวหนา**ครับ", "bold:**ตัวหนา**"),
            ("ນີ້**ໂຕໜາ**ແລ້ວ", "bold:**ໂຕໜາ**"), ("នេះ**ដិត**ណាស់", "bold:**ដិត**"), ("ဒါ**စာလုံး**ပါ", "bold:**စာလုံး**"),
            ("これは*斜体*です", "italic:*斜体*"), ("これは_斜体_です", "italic:_斜体_"), ("이것은 _기울임_입니다", "italic:_기울임_"),
            ("これは~~消し~~です", "strike:~~消し~~"), ("か\u{3099}**き**か\u{3099}", "bold:**き**"),
            ("\u{1112}\u{1161}\u{11AB}**\u{1112}\u{1161}**\u{1112}", "bold:**\u{1112}\u{1161}**"),
            ("ﾃｽﾄ**ﾃｽﾄ**ﾃｽﾄ", "bold:**ﾃｽﾄ**"),
            ("使用Swift**语言**编写", "bold:**语言**"), ("**重要**Note", "bold:**重要**"),
            ("葛\u{E0100}**葛\u{E0100}**葛", "bold:**葛\u{E0100}**"),
        ])
    func unspacedEmphasis(text: String, range: String) { #expect(found(text) == [range]) }

    @Test(
        "markers within words and calculations are text",
        arguments: [
            "snake_case", "snake_case_name", "2*3*4", "foo**bar**baz", "cafe\u{301}**bar**baz", "café**bar**baz",
            "да**нет**да",
            "보고서_최종_수정본.pdf", "价格*2和数量*3", "半径**2和高**3", "हिन्दी**शब्द**है", "** 太字**です", "これは**太字 **です",
        ])
    func plain(text: String) { #expect(found(text) == []) }

    @Test("code contains nothing else")
    func code() {
        #expect(found("`a **b** <@all>` ``c`d``") == ["code:`a **b** <@all>`", "code:``c`d``"])
        #expect(found("```swift\nlet a = `b`\n``` **c**") == ["block:```swift\nlet a = `b`\n```", "bold:**c**"])
        #expect(found("`a\nb` ``` open") == [])
        #expect(found("**a ```b``` c**") == ["block:```b```"], "emphasis does not reach over a block")
    }

    @Test("mentions name a user, or all")
    func mentions() throws {
        let text = "hi <@01A20FB5-7680-7862-9c97-61c7652f0fd6> and <@all>, <@01a20fb5-7680-7862-9c97-61c7652f0fd6>"
        let ranges = RangeFinder.ranges(in: text)
        let user = try #require(UserID("01a20fb5-7680-7862-9c97-61c7652f0fd6"))
        #expect(ranges.ranges.map(\.user) == [user, nil, user])
        #expect(ranges.mentionedUsers == [user])
        #expect(ranges.mentionsAll)
        #expect(found("<@everyone> <@> <@01a20fb5-7680-7862-9c97-61c7652f0fd>") == [])
        #expect(!RangeFinder.ranges(in: "`<@all>`").mentionsAll)
    }

    @Test("a link ends before what closes the sentence")
    func links() {
        #expect(
            found("see (https://a.example/x_(y)), HTTP://b.example.") == [
                "link:https://a.example/x_(y)", "link:HTTP://b.example",
            ])
        #expect(found("**https://c.d/**") == ["bold:**https://c.d/**", "link:https://c.d/"])
        #expect(
            found("<https://a.b> \"http://c.d\" http://[::1]/") == [
                "link:https://a.b", "link:http://c.d", "link:http://[::1]/",
            ])
        #expect(found("https:// http://) xhttps://a.b ftp://a.b javascript:alert(1) a.example") == [])
        #expect(RangeFinder.ranges(in: "http://a").hasLink)
    }

    @Test("links stand beside letters and marks of scripts without spaces")
    func unspacedLinks() {
        #expect(found("これを見てhttps://example.org/ どうぞ") == ["link:https://example.org/"])
        #expect(found("링크는https://example.org/a") == ["link:https://example.org/a"])
        #expect(
            found("\u{1112}\u{1161}\u{11AB}https://a.b か\u{3099}https://a.b ดูhttps://a.b ﾃｽﾄhttps://a.b").count == 4)
        #expect(found("见https://example.org/x。谢谢大家") == ["link:https://example.org/x"])
        #expect(
            found("（https://example.org）と「https://example.org/b」、以上") == [
                "link:https://example.org", "link:https://example.org/b",
            ])
        #expect(
            RangeFinder.ranges(in: "https://example.org/路径，然后").ranges == [TextRange(.link, start: 0, length: 22)])
        for (text, link) in [
            ("看https://example.org！真好", "https://example.org"), ("https://a.b/x？真的", "https://a.b/x"),
            ("https://a.b/x；https", "https://a.b/x"), ("https://a.b/x……好的", "https://a.b/x"),
            ("“https://a.b/x”然后", "https://a.b/x"),
            ("『https://a.b/x』", "https://a.b/x"), ("＜https://a.b/x＞", "https://a.b/x"),
            ("｢https://a.b/x｣｡", "https://a.b/x"),
            ("https://a.b「これ」", "https://a.b"), ("https://a.b/c（見て", "https://a.b/c"),
            ("https://a.b/c「（」）", "https://a.b/c"),
            // Balanced brackets of a path stay.
            ("https://a.b/東京（曖昧さ回避）", "https://a.b/東京（曖昧さ回避）"), ("（https://a.b/東京（曖昧）を見て）", "https://a.b/東京（曖昧）を見て"),
            ("https://a.b/「「x」」。", "https://a.b/「「x」」"), ("https://a.b/（甲，乙）", "https://a.b/"),
            ("https://a.b/x。", "https://a.b/x"), ("https://a.b/क।", "https://a.b/क"),
            ("https://a.b/س، ثم", "https://a.b/س"),
            ("«https://a.b/x»", "https://a.b/x"), ("„https://a.b/x“ und", "https://a.b/x"),
            ("https://a.b/x។ y", "https://a.b/x"),
        ] {
            #expect(found(text) == ["link:" + link], "\(text)")
        }
        #expect(found("**https://c.d/**です") == ["bold:**https://c.d/**", "link:https://c.d/"])
        #expect(found("вhttps://a.b e\u{301}https://a.b éhttps://a.b https://。 https://（a）") == [])
    }

    @Test("brackets and markers in any number take time as a text does", .timeLimit(.minutes(1)))
    func hostile() {
        for (text, count) in [
            (String(repeating: "https://a/（", count: 5_000), 500),
            ("https://a/" + String(repeating: "（", count: 60_000), 1),
            ("https://a/" + String(repeating: "（）", count: 30_000), 1),
            ("**x https://a/" + String(repeating: "*", count: 60_000), 1),
            ("https://a/" + String(repeating: "（「", count: 20_000) + String(repeating: "）」", count: 20_000), 1),
            (String(repeating: "\u{301}", count: 60_000) + "**x**", 1),
            (String(repeating: "❤\u{200D}", count: 20_000), 1),
        ] {
            #expect(RangeFinder.ranges(in: text).ranges.count == count, "\(text.unicodeScalars.prefix(12))")
        }
    }

    @Test("a sequence is one emoji without U+FE0F, too")
    func unqualifiedEmoji() {
        for text in ["❤\u{200D}🔥", "👁\u{200D}🗨", "🏳\u{200D}🌈", "🧔\u{200D}♂", "👩\u{200D}❤\u{200D}👨", "⛹🏻\u{200D}♂", "☝🏽"] {
            #expect(
                RangeFinder.ranges(in: "a" + text).ranges == [TextRange(.emoji, start: 1, length: text.utf16.count)],
                "\(text)")
        }
        #expect(RangeFinder.ranges(in: "❤\u{200D}🔥").ranges == [TextRange(.emoji, start: 0, length: 4)])
        #expect(found("❤ ❤\u{200D} ❤\u{200D}x ❤\u{FE0E}\u{200D}🔥 ❤\u{200D}1") == ["emoji:🔥"])
    }

    @Test("emoji are found whole, and together")
    func emoji() {
        #expect(
            found("👨‍👩‍👧‍👦🇩🇪 1️⃣ *️⃣ ☺️ 🏴󠁧󠁢󠁥󠁮󠁧󠁿 👍🏽") == [
                "emoji:👨‍👩‍👧‍👦🇩🇪", "emoji:1️⃣", "emoji:*️⃣", "emoji:☺️", "emoji:🏴󠁧󠁢󠁥󠁮󠁧󠁿", "emoji:👍🏽",
            ])
        #expect(found("☺ 1 # © 🇩 👍\u{FE0E}") == [], "what is shown as text")
        #expect(found("**👍**") == ["bold:**👍**", "emoji:👍"])
    }

    @Test("starts and lengths count UTF-16 code units")
    func units() {
        let ranges = RangeFinder.ranges(in: "é😀 *a*").ranges
        #expect(ranges == [TextRange(.emoji, start: 1, length: 2), TextRange(.italic, start: 4, length: 3)])
    }

    @Test("there are at most 500")
    func bound() {
        let ranges = RangeFinder.ranges(in: String(repeating: "*a* ", count: 2_000)).ranges
        #expect(ranges.count == RangeFinder.maxRanges)
        #expect(ranges.last?.start == 4 * 499)
    }

    @Test("ranges of any text nest, and only emphasis contains others")
    func nesting() {
        let seed = freshSeed()
        var random = SeededRandom(seed: seed)
        let pieces =
            Array("ab *_~`<>@h\n()👍🇩1️⃣世é（）「」。、は한ก❤").map(String.init) + [
                "https://x.y", "<@all>", "**", "```", "\u{200D}",
            ]
        for _ in 0..<4_000 {
            let count = Int.random(in: 0...40, using: &random)
            let text = (0..<count).map { _ in pieces.randomElement(using: &random) ?? "" }.joined()
            let ranges = RangeFinder.ranges(in: text).ranges
            var open: [TextRange] = []
            for range in ranges {
                #expect(range.length > 0 && range.end <= text.utf16.count, "seed \(seed): \(text.debugDescription)")
                open.removeAll { $0.end <= range.start }
                guard let outer = open.last else {
                    open.append(range)
                    continue
                }
                #expect(range.end <= outer.end, "they cross: \(text.debugDescription)")
                #expect(
                    [.bold, .italic, .strike].contains(outer.kind), "\(outer.kind) contains: \(text.debugDescription)")
                open.append(range)
            }
        }
    }
}
