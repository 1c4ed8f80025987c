import Languages
import Testing

@Suite struct LanguageScoresTests {
    private func tags(_ codes: String...) throws -> [LanguageTag] { try codes.map { try LanguageTag($0) } }

    private func scores(
        _ values: KeyValuePairs<String, Double>, isReliable: Bool = true, text: String = "some text"
    ) throws -> LanguageScores {
        let text = try #require(IdentifiableText(text, omitting: []))
        return try LanguageScores(
            values.map { LanguageScores.Score(code: try LanguageTag($0), value: $1) }, isReliable: isReliable,
            text: text)
    }

    @Test func theBestOneWins() throws {
        let found = try scores(["de": 0.6, "nl": 0.4]).language(knowing: [])
        #expect(try found == MessageLanguage(code: LanguageTag("de"), confidence: .high))
    }

    @Test func whatTheAuthorKnowsHasAnAdvance() throws {
        let close = try scores(["pt": 0.5, "es": 0.45])
        #expect(try close.language(knowing: tags("es-MX"))?.code.string == "es")
        #expect(try close.language(knowing: tags("fr"))?.code.string == "pt")
        // No certainty comes from it.
        #expect(try close.language(knowing: tags("es-MX"))?.confidence == .low)
        #expect(try scores(["pt": 0.7, "es": 0.45]).language(knowing: tags("es"))?.code.string == "pt")
    }

    @Test func englishHasItToo() throws {
        #expect(try scores(["nl": 0.5, "en": 0.45]).language(knowing: tags("ru"))?.code.string == "en")
    }

    @Test func whatIsUncertainIsLow() throws {
        #expect(try scores(["it": 0.3], isReliable: false).language(knowing: tags("it"))?.confidence == .low)
    }

    @Test func equalScoresKeepTheirOrder() throws {
        #expect(try scores(["hr": 0.5, "bs": 0.5]).language(knowing: [])?.code.string == "hr")
    }

    @Test func nothingIsGuessedOfNothing() throws {
        #expect(try scores([:]).language(knowing: tags("en")) == nil)
    }

    @Test func indonesianAndNorwegianFollowTheAuthor() throws {
        #expect(try scores(["ms": 0.8]).language(knowing: tags("en", "id"))?.code.string == "id")
        #expect(try scores(["ms": 0.8]).language(knowing: tags("en"))?.code.string == "ms")
        #expect(try scores(["no": 0.8]).language(knowing: tags("nn"))?.code.string == "nn")
        #expect(try scores(["no": 0.8]).language(knowing: [])?.code.string == "no")
    }

    @Test func scriptsOfChineseAreDistinguished() throws {
        let traditional = try scores(["zh": 0.9], text: "我們明天見面，這個時間沒有問題嗎？")
        #expect(traditional.language(knowing: [])?.code.string == "zh-Hant")
        let simplified = try scores(["zh": 0.9], text: "我们明天见面，这个时间没有问题吗？")
        #expect(simplified.language(knowing: [])?.code.string == "zh-Hans")
        #expect(try scores(["zh": 0.9], text: "今天天氣好").language(knowing: [])?.code.string == "zh")
    }
}
