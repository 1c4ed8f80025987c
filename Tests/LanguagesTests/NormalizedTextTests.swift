import Foundation
import Testing

@testable import Languages

@Suite("Normalized texts")
struct NormalizedTextTests {
    private func normalized(_ text: String) -> [Unicode.Scalar] {
        Array(NormalizedText.normalized(text).unicodeScalars)
    }

    private func scalars(_ text: String) -> [Unicode.Scalar] { Array(text.unicodeScalars) }

    @Test("what looks the same is the same")
    func examples() {
        for (written, same) in [
            ("\u{1112}\u{1161}\u{11AB}\u{1100}\u{1173}\u{11AF}", "한글"), ("мои\u{306}", "мой"), ("か\u{3099}き", "がき"),
            ("ﾃｽﾄ", "テスト"), ("ｶﾞﾊﾟ", "ガパ"), ("ＡＢｃ１，", "ABc1,"), ("\u{212B}\u{F900}", "Å\u{8C48}"),
            ("\u{D55C}\u{11AB}", "한\u{11AB}"), ("\u{D558}\u{11AB}", "한"), ("e\u{301}\u{323}", "ẹ\u{301}"),
            // These stay apart (UAX #15 section 5.1).
            ("\u{958}", "\u{915}\u{93C}"), ("", ""), ("plain", "plain"),
        ] {
            #expect(normalized(written) == scalars(same), "\(written)")
            #expect(normalized(same) == scalars(same), "\(same)")
        }
    }

    /// Those that the newest standard added, which Foundation may know already, have no entry.
    private static func isKnown(_ scalar: Unicode.Scalar) -> Bool {
        scalar.properties.age.map { $0.major <= 15 } ?? true
    }

    @Test("every scalar becomes what Foundation makes of it, composed or not")
    func everyScalar() {
        var different: [UInt32] = []
        for value in 0..<0x11_0000 as Range<UInt32> {
            guard let scalar = Unicode.Scalar(value), Self.isKnown(scalar) else { continue }
            let isCombining = scalar.properties.canonicalCombiningClass != .notReordered
            // Later ones have no properties of theirs, which the standard library says of each more quickly.
            guard value < 0x30000 || isCombining else {
                if !NormalizedText.isStable(scalar) { different.append(value) }
                continue
            }
            if isCombining && NormalizedText.isStable(scalar) { different.append(value) }
            guard NormalizationProperties.shared[scalar].otherWidth == nil else { continue }
            let text = String(scalar)
            let composed = scalars(text.precomposedStringWithCanonicalMapping)
            if normalized(text) != composed { different.append(value) }
            if normalized(text.decomposedStringWithCanonicalMapping) != composed { different.append(value) }
        }
        #expect(different.isEmpty, "\(different.prefix(20).map { String($0, radix: 16) })")
    }

    /// The standard library takes texts as equal that are canonically equivalent. It orders the vowels U+0F73, U+0F75 and
    /// U+0F81 otherwise than the standard, and so does Foundation, which also composes some syllables otherwise.
    @Test("texts of any scalars stay canonically equivalent, and are composed only once")
    func anyText() {
        var random = SystemRandomNumberGenerator()
        // Where letters and marks are, and the syllables of Hangul.
        let blocks: [ClosedRange<UInt32>] = [
            0x41...0x17F, 0x300...0x36F, 0x386...0x3CE, 0x410...0x45F, 0x591...0x5F4, 0x622...0x6D3, 0x915...0x963,
            0x9BE...0x9DF, 0xB3E...0xB57, 0xDCF...0xDDE, 0xE38...0xE4B, 0xF40...0xF72, 0xF90...0xFB9, 0x1025...0x102E,
            0x1100...0x1112,
            0x1161...0x1175, 0x11A8...0x11C2, 0x1F00...0x1FFC, 0x20D0...0x20F0, 0x3046...0x30FE, 0xAC00...0xAC60,
            0xF900...0xF910, 0xFB1D...0xFB4E, 0x11099...0x110BA, 0x1D157...0x1D1C0,
        ]
        for _ in 0..<10_000 {
            let some = (0..<3).compactMap { _ in blocks.randomElement(using: &random) } + [0x300...0x345]
            var text = String.UnicodeScalarView()
            for _ in 0..<Int.random(in: 1...20, using: &random) {
                let value = some.randomElement(using: &random).map { UInt32.random(in: $0, using: &random) } ?? 0
                if let scalar = Unicode.Scalar(value), Self.isKnown(scalar) { text.append(scalar) }
            }
            let (written, found) = (String(text), NormalizedText.normalized(String(text)))
            let name: Comment = "\(text.map { String($0.value, radix: 16) })"
            #expect(found == written, name)
            #expect(normalized(found) == scalars(found), name)
            #expect(normalized(written.decomposedStringWithCanonicalMapping) == scalars(found), name)
        }
    }

    @Test("scalars know which part of the text they stand for")
    func parts() {
        var scalars: [NormalizedScalar] = []
        for (index, scalar) in "e\u{301}\u{323}\u{300}".unicodeScalars.enumerated() {
            scalars.append(NormalizedScalar(scalar, start: 10 + index, end: 11 + index))
        }
        NormalizedText.normalize(&scalars)
        #expect(
            scalars == [
                NormalizedScalar("\u{1EB9}", start: 10, end: 13), NormalizedScalar("\u{301}", start: 11, end: 12),
                NormalizedScalar("\u{300}", start: 13, end: 14),
            ])
        scalars = [NormalizedScalar("\u{958}", start: 3, end: 4)]
        NormalizedText.normalize(&scalars)
        #expect(scalars.map(\.start) == [3, 3] && scalars.map(\.end) == [4, 4])
    }

    @Test("a piece that begins where a scalar is stable is normalized by itself")
    func pieces() {
        var random = SystemRandomNumberGenerator()
        for _ in 0..<5_000 {
            var text = String.UnicodeScalarView()
            for _ in 0..<12 {
                let values: ClosedRange<UInt32> = Bool.random(using: &random) ? 0x300...0x345 : 0xA0...0x31FF
                if let scalar = Unicode.Scalar(UInt32.random(in: values, using: &random)) { text.append(scalar) }
            }
            var pieces: [String.UnicodeScalarView] = []
            for scalar in text {
                if NormalizedText.isStable(scalar) || pieces.isEmpty { pieces.append(.init()) }
                pieces[pieces.count - 1].append(scalar)
            }
            #expect(normalized(String(text)) == pieces.flatMap { normalized(String($0)) })
        }
    }

    @Test("a character with any number of marks takes time as a text does", .timeLimit(.minutes(1)))
    func longCharacter() {
        // The worst order, classes 230 and 220 by turns, and what composes with nothing.
        let marks = String(repeating: "\u{301}\u{323}\u{93C}", count: 100_000)
        let result = normalized("e" + marks)
        #expect(result.count == 300_000)
        #expect(result.prefix(2) == ["\u{1EB9}", "\u{93C}"] && result.last == "\u{301}")
        #expect(normalized(String(repeating: "\u{1D160}", count: 50_000)).count == 150_000)
        #expect(normalized(String(repeating: "\u{1161}\u{11A8}\u{1100}", count: 50_000)).count == 50_002)
    }

    @Test("only letters of Latin and Greek lose their accents")
    func bases() {
        let letters: [(Unicode.Scalar, Unicode.Scalar)] = [
            ("é", "e"), ("ø", "o"), ("ệ", "e"), ("ά", "α"), ("ᾧ", "ω"), ("ΐ", "ι"), ("й", "й"), ("が", "が"), ("한", "한"),
            ("a", "a"), ("æ", "æ"), ("أ", "أ"),
        ]
        for (letter, base) in letters { #expect(LetterFolding.base(of: letter) == base) }
    }
}
