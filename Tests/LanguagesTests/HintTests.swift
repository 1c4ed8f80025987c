import Languages
import Testing

@Suite("Hints from lexicons")
struct HintTests {
    private func hints(
        _ text: String, _ language: String?, keeping kept: [Range<Int>] = [], isCertain: Bool = true,
        reader: String? = nil
    ) -> [Hint] {
        var idioms = IdiomIndex()
        let irregular = WordNet.irregularForms(
            in: Array("kicked kick\nswept sweep\nwas be\nis be\n".utf8), of: ["kick", "sweep", "be"])
        for (lemma, part, meaning) in [
            ("kick_the_bucket", WordNet.PartOfSpeech.verb, "die"), ("pull_someone's_leg", .verb, "joke"),
            ("sweep_under_the_rug", .verb, "hide"), ("piece_of_cake", .noun, "easy"), ("red_herring", .noun, "trick"),
            ("under_the_weather", .adjective, "ill"), ("wild-goose_chase", .noun, "fruitless"),
        ] { idioms.add(lemma, as: part, meaning: meaning, irregular: irregular) }
        return HintLexicon(idioms: idioms).hints(
            in: text, keeping: kept, language: language.flatMap { LanguageTag(wellFormed: $0) }, isCertain: isCertain,
            reader: reader.flatMap { LanguageTag(wellFormed: $0) })
    }

    private func found(_ text: String, _ language: String?, keeping kept: [Range<Int>] = []) -> [String] {
        let units = Array(text.utf16)
        return hints(text, language, keeping: kept).map { String(decoding: units[$0.start..<$0.end], as: UTF16.self) }
    }

    @Test func idiomsAreFoundInTheirForms() {
        #expect(found("he kicked the bucket", "en") == ["kicked the bucket"])
        #expect(found("Kicking the bucket?", "en") == ["Kicking the bucket"])
        #expect(found("You're pulling my leg", "en") == ["pulling my leg"])
        #expect(found("She pulled Tom’s leg", "en") == ["pulled Tom’s leg"])
        #expect(found("they swept it under the rug", "en-GB") == ["swept it under the rug"])
        #expect(found("two red herrings", "en") == ["red herrings"])
        #expect(found("a wild goose chase, a wild-goose chase", "en") == ["wild goose chase"])
        #expect(found("😀 piece of cake", "en") == ["piece of cake"])
    }

    @Test func theyAreNotFoundAcrossAnything() {
        #expect(found("kick the. bucket", "en").isEmpty)
        #expect(found("kick\nthe bucket", "en").isEmpty)
        #expect(found("kick the big bucket", "en").isEmpty)
        #expect(found("under the weathers", "en").isEmpty)
        #expect(found("kick `x` the bucket", "en", keeping: [5..<8]).isEmpty)
        #expect(found("kick the bucket", "de").isEmpty)
        #expect(found("kick the", "en").isEmpty)
    }

    @Test func abbreviationsAreOfTheirLanguage() {
        #expect(found("brb, got a call", "en") == ["brb"])
        #expect(found("BRB", "en") == ["BRB"])
        #expect(found("q tal, xq no vienes", "es") == ["q", "xq"])
        #expect(found("vlw pela ajuda, blz?", "pt-BR") == ["vlw", "blz"])
        #expect(found("спс, щас буду", "ru") == ["спс", "щас"])
        #expect(found("यार, जुगाड़ करो", "hi") == ["यार", "जुगाड़"])
        #expect(found("يلا خلاص", "ar") == ["يلا", "خلاص"])
        #expect(found("plzzzz", "en") == ["plzzzz"] && found("jajajaja", "es") == ["jajajaja"])
        #expect(found("kkkkkk", "pt") == ["kkkkkk"] && found("kkkkkk", "de").isEmpty)
        // The airport and the time before Christ.
        #expect(found("44 BC at the ATM in the UR of BF", "en").isEmpty)
    }

    @Test func whatIsKnownOfOneLanguageAloneNeedsNone() {
        #expect(hints("brb", nil).map(\.meaning) == ["I will be back in a moment"])
        #expect(hints("vlw", "en", isCertain: false).map(\.expansion) == ["valeu"])
        // In English and Hindi.
        #expect(hints("pls", nil).isEmpty && hints("u", nil).isEmpty)
    }

    @Test func equivalentsAreOfTheReadersLanguage() {
        #expect(hints("спс", "ru", reader: "pt-BR").first?.equivalent == "obrigado, obrigada")
        #expect(hints("спс", "ru", reader: "ru").first?.equivalent == nil)
        #expect(hints("спс", "ru", reader: "fi").first?.equivalent == nil)
        #expect(hints("tbh", "en", reader: "ru").first?.equivalent == nil)
    }

    @Test func formalAddressIsSaidOnce() {
        #expect(found("¿Cómo está usted? ¿Y usted?", "es") == ["usted"])
        #expect(found("Haben Sie Zeit? Ihnen geht es gut?", "de") == ["Sie"])
        #expect(found("Sie kommt morgen. Ihr Bruder auch.", "de").isEmpty)
        #expect(found("Вы придёте завтра?", "ru") == ["Вы"])
        #expect(found("Você e o senhor", "pt") == ["senhor"])
        #expect(found("감사합니다", "ko") == ["감사합니다"])
        #expect(found("お世話になっております", "ja") == ["お世話になっております"])
        #expect(found("du kommst morgen", "de").isEmpty)
    }

    @Test func whatIsKeptHasNone() {
        #expect(found("see https://x.y/brb brb", "en", keeping: [4..<19]) == ["brb"])
        #expect(hints("brb https://x.y", "en", keeping: [4..<15]).map(\.end) == [3])
    }

    @Test func thereAreNoMoreThanSoMany() {
        let text = "brb btw idk imo lmk omg omw rofl smh tbh ttyl yolo fyi sir"
        let found = hints(text, "en")
        #expect(found.count == Hint.maxCount)
        #expect(found.last?.kind == .formality)
        #expect(zip(found, found.dropFirst()).allSatisfy { $0.end <= $1.start })
        #expect(hints(String(repeating: "brb ", count: 20_000), "en").count == 1)
    }

    @Test func theTableSaysSomethingOfEachLanguage() {
        #expect(ChatAbbreviations.count >= 280)
        for language in ChatAbbreviations.languages { #expect(LanguageTag(wellFormed: language) != nil) }
    }
}

@Suite("WordNet's files")
struct WordNetTests {
    private static let index = """
          1 This software and database is being provided to you
        kick_the_bucket v 1 1 @ 1 0 00000010
        take_a_hit v 2 2 @ ~ 2 0 00000020 00000030
        ungainly v 1 1 @ 1 0 00000040
        """

    private func offsets(_ text: String, _ chosen: [String: Int]) -> [Int] {
        WordNet.offsets(in: Array(text.utf8), of: .verb, chosen: chosen).map(\.offset)
    }

    @Test func offsetsAreOfTheChosenSense() {
        #expect(offsets(Self.index, ["kick_the_bucket": 1, "take_a_hit": 2]) == [10, 30])
        #expect(offsets(Self.index, ["take_a_hit": 3]).isEmpty)
        #expect(offsets(Self.index, ["take_a_hit": 0]).isEmpty)
        #expect(WordNet.offsets(in: Array(Self.index.utf8), of: .noun, chosen: ["take_a_hit": 1]).isEmpty)
    }

    /// Whatever stands before, between and behind them.
    @Test func eachLineOfASortedFileIsFound() {
        let lemmas = (0..<64).map { "word\($0 / 8)_\($0 % 8)" + String(repeating: "_x", count: $0 % 3) }
        let lines = lemmas.enumerated().map { "\($1) v 1 0 1 0 \(10_000 + $0)" }
        for count in 0...lines.count {
            let text = (["  2 licence", "  10 licence"] + lines.prefix(count)).joined(separator: "\n")
            let chosen = Dictionary(uniqueKeysWithValues: (lemmas + ["word", "word0", "zero"]).map { ($0, 1) })
            let expected = (0..<count).map { 10_000 + $0 }
            #expect(offsets(text, chosen) == expected)
            #expect(offsets(text + "\n", chosen) == expected)
        }
    }

    @Test(arguments: [
        "a_b v 1 1 @ 1 0", "a_b v 1 99 @ 1 0 00000010", "a_b v 99999999999999999999 1 @ 1 0 00000010",
        "a_b v 1 1 @ 1 0 0000001x", "a_b v 1 1 @ 1 0 999999999", "a_b", "", "a_b v 2 1 @ 1 0 00000010",
    ])
    func brokenLinesSayNothing(line: String) { #expect(offsets(line, ["a_b": 1]).isEmpty) }

    @Test func meaningsAreWithoutExamples() {
        func meaning(_ gloss: String, at offset: Int = 10) -> String? {
            WordNet.meaning(in: Array("00000010 30 v 01 kick_the_bucket 0 001 @ 0 v 0000 | \(gloss)".utf8), at: offset)
        }
        #expect(meaning("die; \"He kicked\"  ") == "die")
        #expect(meaning("chip away: \"These\"; x") == "chip away")
        #expect(meaning("die", at: 20) == nil)
        #expect(meaning("  ; x") == nil && meaning("\"x\"") == nil)
        #expect(meaning(String(repeating: "x", count: 301)) == nil)
        #expect(WordNet.meaning(in: [], at: 0) == nil)
    }

    @Test func irregularFormsAreOfTheVerbsThatAreAskedFor() {
        let forms = WordNet.irregularForms(in: Array("kept keep\nran run rin\n\nx\n".utf8), of: ["keep", "run"])
        #expect(forms == ["keep": ["kept"], "run": ["ran"]])
    }
}
