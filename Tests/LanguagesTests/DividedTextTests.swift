import Testing

@testable import Languages

@Suite struct DividedTextTests {
    private func pieces(_ text: String, keeping kept: [Range<Int>] = [], _ maxLength: Int) -> [String]? {
        DividedText(MaskedText(text, keeping: kept), maxLength: maxLength)?.pieces.map(\.text.original)
    }

    @Test func aShortTextIsOnePiece() {
        #expect(pieces("One two.  Three", 20) == ["One two.  Three"])
        #expect(pieces("", 20) == [])
    }

    @Test func paragraphsComeBeforeSentencesAndThoseBeforeWords() {
        #expect(pieces("One two. Three four\n\nfive six seven", 24) == ["One two. Three four", "five six seven"])
        #expect(pieces("One two. Three four five", 20) == ["One two.", "Three four five"])
        #expect(pieces("One two three four five", 20) == ["One two three four", "five"])
        // An end near the beginning is none.
        #expect(pieces("O. Two three four five", 20) == ["O. Two three four", "five"])
    }

    @Test func whereThereIsNoWhiteSpaceSentencesAreDivided() {
        #expect(pieces("今天天气很好。我们去公园吧！好的。", 10) == ["今天天气很好。", "我们去公园吧！好的。"])
    }

    @Test func nothingIsDividedInWhatIsKept() {
        #expect(pieces("see a b c d e f g now", keeping: [4..<17], 14) == ["see", "a b c d e f g", "now"])
        #expect(pieces("see a b c d e f g now", keeping: [4..<17], 12) == nil)
        #expect(pieces("one " + String(repeating: "x", count: 30), 20) == nil)
    }

    @Test func togetherTheyAreTheText() throws {
        var random = SystemRandomNumberGenerator()
        let words = ["a", "word", "и", "。", "end.", "!", "  ", "\n", "\n\n", "🙂", "\t", "कल", "@ann"]
        for _ in 0..<500 {
            let text = (0..<Int.random(in: 0...80)).map { _ in words.randomElement(using: &random) ?? "" }
                .joined(separator: Bool.random() ? " " : "")
            let kept = (0..<3).map { _ in
                let start = Int.random(in: 0...max(text.utf16.count, 1))
                return start..<start + Int.random(in: 0...4)
            }
            let masked = MaskedText(text, keeping: kept)
            guard let divided = DividedText(masked, maxLength: 30) else { continue }
            #expect(divided.joined(divided.pieces.map(\.text.original)) == masked.original)
            #expect(divided.pieces.allSatisfy { $0.text.length <= 30 })
            let keptText: (MaskedText.Part) -> String? = { if case .kept(let kept) = $0 { kept } else { nil } }
            #expect(divided.pieces.flatMap(\.text.parts).compactMap(keptText) == masked.parts.compactMap(keptText))
        }
    }
}

/// Its engine takes twenty scalars, and says them backwards.
@Suite struct LongTextsTests {
    private struct Backwards: TranslationEngine {
        let name = "backwards"
        let kind = TranslationKind.rules
        let isHosted = false

        func translates(from source: LanguageTag, into target: LanguageTag) -> Bool { true }

        func translate(
            _ request: TranslationRequest, deadline: ContinuousClock.Instant
        ) async throws(TranslationFailure) -> [TranslationResult] {
            guard request.texts.count <= TranslationRequest.maxTexts else { throw .refused("too many") }
            return request.texts.map { text in
                if text.length > 20 { return .failed(.textTooLong) }
                if text.original.contains("bad") { return .failed(.damaged) }
                return .text(String(text.original.reversed()))
            }
        }
    }

    private func translate(_ texts: String...) async throws -> [TranslationResult] {
        try await LongTexts(Backwards(), pieceLength: 20).translate(
            TranslationRequest(
                texts: texts.map { MaskedText($0, keeping: []) }, source: LanguageTag("en"), target: LanguageTag("es")),
            deadline: .now + .seconds(10))
    }

    @Test func longOnesAreTranslatedInPieces() async throws {
        #expect(
            try await translate("abc", "Here it ends.\n\nThe next one is here", "def")
                == [.text("cba"), .text(".sdne ti ereH\n\nereh si eno txen ehT"), .text("fed")])
        let many = Array(repeating: "twelve_chars", count: 50).joined(separator: " ")
        let wanted = Array(repeating: "srahc_evlewt", count: 50).joined(separator: " ")
        #expect(try await translate(many) == [.text(wanted)])
        #expect(try await translate("1234567890 1234567890 1234567890") == [.text("1234567890 1234567890 1234567890")])
    }

    @Test func onePieceThatFailsIsTheWhole() async throws {
        #expect(
            try await translate("abc", "Here it ends. A bad one is here.", String(repeating: "x", count: 21))
                == [.text("cba"), .failed(.damaged), .failed(.textTooLong)])
        #expect(try await translate(String(repeating: "word ", count: 7_000)) == [.failed(.textTooLong)])
    }
}
