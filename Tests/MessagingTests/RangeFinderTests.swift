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
            Array("ab *_~`<>@h\n()👍🇩1️⃣世é").map(String.init) + ["https://x.y", "<@all>", "**", "```", "\u{200D}"]
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
