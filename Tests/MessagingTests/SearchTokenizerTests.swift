import TestSupport
import Testing
import Wire

@testable import Messaging

@Suite("Search terms")
struct SearchTokenizerTests {
    private func terms(_ text: String) -> [String] { SearchTokenizer.terms(in: text).map(\.text) }

    @Test("words differ neither by case nor by accents")
    func folding() {
        #expect(terms("José JOSE josé jos\u{65}\u{301}") == ["jose"])
        #expect(terms("Straße STRASSE") == ["strasse"])
        #expect(terms("Łódź øre ıstanbul İstanbul") == ["lodz", "ore", "istanbul"])
        #expect(terms("Ελλάδα ΕΛΛΑΔΑ σοφός ΣΟΦΟΣ") == ["ελλαδα", "σοφοσ"])
        #expect(terms("Ёлка елка") == ["елка"])
        #expect(terms("سَلام سلام أحمد احمد") == ["سلام", "احمد"])
        #expect(terms("ＡＢＣ１２ abc12") == ["abc12"])
    }

    @Test("words are divided by what is no letter, mark or number")
    func words() {
        #expect(
            terms("don't e-mail a@b.example C++ 3.14 snake_case") == [
                "don", "t", "e", "mail", "a", "b", "example", "c", "3", "14", "snake", "case",
            ])
        #expect(terms("हिन्दी") == terms("हिन्दी"))
        #expect(terms("co\u{AD}operate zero\u{200B}width") == ["cooperate", "zerowidth"])
        #expect(SearchTokenizer.units(in: "co\u{AD}operate").map(\.length) == [10])
        #expect(terms("👍 … ") == [])
    }

    @Test("scripts without spaces give neighbouring characters, and the last one alone")
    func bigrams() {
        #expect(terms("東京都") == ["東京", "京都", "都"])
        #expect(terms("東") == ["東"])
        #expect(terms("東京Tower日") == ["東京", "京", "tower", "日"])
        #expect(terms("東京 都") == ["東京", "京", "都"])
        #expect(terms("ไปตลาด") == ["ไป", "ปต", "ตล", "ลา", "าด", "ด"])
        // Vowels above and below belong to the character before them.
        #expect(terms("กินข้าว") == terms("กนขาว"))
    }

    @Test("units know where they stand")
    func locations() {
        let units = SearchTokenizer.units(in: "😀 Été 東京 กิน")
        #expect(units.map(\.term.text) == ["ete", "東", "京", "ก", "น"])
        #expect(units.map(\.start) == [3, 7, 8, 10, 12])
        #expect(units.map(\.length) == [3, 1, 1, 2, 1])
        #expect(units.map(\.isCharacter) == [false, true, true, true, true])
        #expect(units.map(\.isJoined) == [false, false, true, false, true])
    }

    @Test("terms are equal if their bytes are")
    func bytes() {
        let (one, other) = (SearchTerm("\u{F900}"), SearchTerm("\u{8C48}"))
        #expect(one.text == other.text && one != other && !one.hasPrefix(other))
    }

    /// What people type, and what file names of macOS, old systems and some keyboards write for it.
    static let sameTexts = [
        ("한글", "\u{1112}\u{1161}\u{11AB}\u{1100}\u{1173}\u{11AF}"), ("мой", "мои\u{306}"), ("йогурт", "и\u{306}огурт"),
        ("がき", "か\u{3099}き"), ("パン", "ハ\u{309A}ン"), ("テスト", "ﾃｽﾄ"), ("ガム", "ｶﾞﾑ"), ("パ", "ﾊﾟ"), ("ABC12", "ＡＢＣ１２"),
        ("Việt", "Vie\u{323}\u{302}t"), ("Việt", "Vie\u{302}\u{323}t"), ("ό,τι", "ο\u{301},τι"),
        ("أحمد", "ا\u{654}حمد"),
        ("\u{9CB}", "\u{9C7}\u{9BE}"), ("\u{958}", "\u{915}\u{93C}"), ("\u{8C48}", "\u{F900}"), ("Å", "\u{212B}"),
    ]

    @Test("texts that look the same have the same terms", arguments: sameTexts)
    func equivalence(one: String, other: String) {
        #expect(terms(one) == terms(other))
        #expect(terms("a \(one)b 東\(one)") == terms("a \(other)b 東\(other)"))
        // A unit is all that stands for it, as it was written.
        for text in [one, other] {
            let units = SearchTokenizer.units(in: "x. \(text)。")
            #expect(units.dropFirst().first?.start == 3)
            #expect(units.last?.end == 3 + text.utf16.count)
        }
    }

    @Test("letters that are no accented ones stay apart")
    func letters() {
        #expect(terms("мой мои е ё ѐ ѝ") == ["мой", "мои", "е", "и"])
        #expect(terms("が か ガ").count == 3)
        #expect(terms("한 하").count == 2)
        #expect(terms("ἀρχή αρχη ΑΡΧΉ") == ["αρχη"])
    }

    @Test("marks in any order, and more of them than a character has, are searched in time", .timeLimit(.minutes(1)))
    func marks() {
        let units = SearchTokenizer.units(in: "ab e\u{301}\u{323}\u{93C}f か\u{93C}\u{3099}き")
        #expect(units.map(\.term.text) == ["ab", "ef", "が", "き"])
        #expect(units.map(\.start) == [0, 3, 9, 12] && units.map(\.length) == [2, 5, 3, 1])
        let long = String(repeating: "\u{301}\u{323}\u{5B0}\u{3099}", count: 50_000)
        for base in ["e", "か", "", "!", "\u{1112}"] {
            let units = SearchTokenizer.units(in: "\(base)\(long)z 東")
            #expect(units.last?.term.text == "東" && units.last?.start == base.utf16.count + 200_002)
        }
    }

    @Test("terms and their number are bounded")
    func bounds() {
        #expect(terms(String(repeating: "a", count: 100)) == [String(repeating: "a", count: 32)])
        let many = (0..<10_000).map(String.init).joined(separator: " ")
        #expect(terms(many).count == SearchTokenizer.maxTerms)
        // What is repeated does not count.
        #expect(terms(String(repeating: "a b ", count: 8_000) + "end") == ["a", "b", "end"])
        #expect(terms(String(repeating: "東", count: 8_000)) == ["東東", "東"])
    }

    @Test("units of any text lie in it, apart from each other")
    func any() {
        let seed = freshSeed()
        var random = SeededRandom(seed: seed)
        for _ in 0..<4_000 {
            var scalars = String.UnicodeScalarView()
            for _ in 0..<Int.random(in: 0...30, using: &random) {
                let parts: [ClosedRange<UInt32>] = [
                    0...0x3FF, 0x300...0x345, 0x1100...0x11FF, 0x3041...0x30FF, 0...0x2_FFFF,
                ]
                let value = UInt32.random(in: parts[.random(in: 0..<parts.count, using: &random)], using: &random)
                if let scalar = Unicode.Scalar(value) { scalars.append(scalar) }
            }
            let text = String(scalars)
            var last = 0
            for unit in SearchTokenizer.units(in: text) {
                #expect(!unit.term.text.isEmpty && unit.length > 0, "seed \(seed)")
                #expect(unit.start >= last && unit.end <= text.utf16.count, "seed \(seed)")
                last = unit.end
            }
        }
    }
}
