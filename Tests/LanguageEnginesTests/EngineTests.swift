import Foundation
import LanguageEngines
import Languages
import Testing

/// The same sentences for every engine.
@Suite struct EngineTests {
    private static let sentences: [(String, String)] = [
        ("en", "Can you call me when you get home tonight?"), ("es", "¿Puedes llamarme cuando llegues a casa?"),
        ("pt", "Você pode me ligar quando chegar em casa?"), ("fr", "Peux-tu m’appeler quand tu rentres à la maison ?"),
        ("de", "Kannst du mich anrufen, wenn du zu Hause bist?"), ("it", "Puoi chiamarmi quando arrivi a casa?"),
        ("nl", "Kun je me bellen als je thuis bent?"), ("pl", "Czy możesz do mnie zadzwonić, kiedy wrócisz do domu?"),
        ("ru", "Позвони мне, когда придёшь домой, хорошо?"), ("uk", "Зателефонуй мені, коли прийдеш додому, гаразд?"),
        ("tr", "Eve gelince beni arayabilir misin?"), ("ar", "هل يمكنك الاتصال بي عندما تصل إلى المنزل؟"),
        ("hi", "क्या तुम घर पहुँचकर मुझे फ़ोन कर सकते हो?"), ("ur", "کیا تم گھر پہنچ کر مجھے فون کر سکتے ہو؟"),
        ("zh-Hans", "你到家以后可以给我打电话吗？"), ("ja", "家に着いたら電話してくれますか？"), ("ko", "집에 도착하면 전화해 줄래요?"),
        ("vi", "Bạn có thể gọi cho tôi khi về đến nhà không?"), ("sv", "Kan du ringa mig när du kommer hem i kväll?"),
        ("el", "Μπορείς να με πάρεις όταν φτάσεις σπίτι;"),
    ]

    private func misses(of engine: any LanguageEngine) throws -> [String] {
        try Self.sentences.compactMap { code, sentence in
            let text = try #require(IdentifiableText(sentence, omitting: []))
            let found = engine.scores(of: text)?.language(knowing: [])?.code.string
            return found == code ? nil : "\(code): \(found ?? "none")"
        }
    }

    @Test func cld2KnowsSentences() throws {
        #expect(try misses(of: CLD2Engine()) == [])
    }

    @Test func eldcKnowsSentences() throws {
        #expect(try misses(of: try eldc()) == [])
    }

    @Test(arguments: ["\u{FFFD}\u{FFFD}\u{FFFD}abc", String(repeating: "ﷺ", count: 330), "aaa\u{0}bbb", "𐍈𐍈𐍈𐍈 𐌰𐌱𐌲"])
    func oddTextsAreNoTrouble(string: String) throws {
        let text = try #require(IdentifiableText(string, omitting: []))
        _ = CLD2Engine().scores(of: text)
        _ = try eldc().scores(of: text)
    }

    @Test func whatIsNotThatLibraryIsRefused() throws {
        #expect(throws: EldcEngine.CannotOpen.self) { try EldcEngine(path: "/nonexistent/libeldc.so") }
        #expect(throws: EldcEngine.CannotOpen.self) { try EldcEngine(path: "libm.so.6") }
    }

    /// Opened once, as the server does: opening sets up data that the whole process has, which another test may be
    /// reading. Scripts/setup --engines builds it.
    private static let opened = Result {
        let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        return try EldcEngine(path: root.appending(path: ".build-engines/libeldc.so").path)
    }

    private func eldc() throws -> EldcEngine { try Self.opened.get() }
}
