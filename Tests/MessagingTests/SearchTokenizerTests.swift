import TestSupport
import Testing
import Wire

@testable import Messaging

@Suite("Search terms")
struct SearchTokenizerTests {
    private func terms(_ text: String) -> [String] { SearchTokenizer.terms(in: text) }

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
        #expect(terms("👍 … ") == [])
    }

    @Test("scripts without spaces give neighbouring characters")
    func bigrams() {
        #expect(terms("東京都") == ["東京", "京都"])
        #expect(terms("東") == ["東"])
        #expect(terms("東京Tower日") == ["東京", "tower", "日"])
        #expect(terms("ไปตลาด") == ["ไป", "ปต", "ตล", "ลา", "าด"])
        // Vowels above and below belong to the character before them.
        #expect(terms("กินข้าว") == terms("กนขาว"))
    }

    @Test("tokens know where they stand")
    func locations() {
        let tokens = SearchTokenizer.tokens(in: "😀 Été 東京都")
        #expect(tokens.map(\.term) == ["ete", "東京", "京都"])
        #expect(tokens.map(\.start) == [3, 7, 8])
        #expect(tokens.map(\.length) == [3, 2, 2])
        #expect(tokens.map(\.position) == [0, 1, 2])
    }

    @Test("terms and their number are bounded")
    func bounds() {
        #expect(terms(String(repeating: "a", count: 100)) == [String(repeating: "a", count: 32)])
        let many = (0..<10_000).map(String.init).joined(separator: " ")
        #expect(terms(many).count == SearchTokenizer.maxTerms)
    }

    @Test("tokens of any text lie in it")
    func any() {
        let seed = freshSeed()
        var random = SeededRandom(seed: seed)
        for _ in 0..<4_000 {
            var scalars = String.UnicodeScalarView()
            for _ in 0..<Int.random(in: 0...30, using: &random) {
                let value = UInt32.random(in: 0...(Bool.random(using: &random) ? 0x3FF : 0x2_FFFF), using: &random)
                if let scalar = Unicode.Scalar(value) { scalars.append(scalar) }
            }
            let text = String(scalars)
            var last = 0
            for token in SearchTokenizer.tokens(in: text) {
                #expect(!token.term.isEmpty && token.length > 0, "seed \(seed)")
                #expect(token.start >= last && token.start + token.length <= text.utf16.count, "seed \(seed)")
                last = token.start
            }
        }
    }
}
