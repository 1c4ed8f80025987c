import Languages
import Testing

/// What a language model returns is read with suspicion: these are answers of one that follows whatever a text says.
@Suite("What language models return")
struct ModelPromptTests {
    private static let text = "Ella colgó los tenis: https://x.y/z ayer 😀 tenis"
    private let masked = MaskedText(text, keeping: [22..<35])

    private func hints(_ json: String) throws -> [Hint] {
        let prompt = HintPrompt(
            masked, language: LanguageTag(wellFormed: "es"), reader: try #require(LanguageTag(wellFormed: "en")))
        return try prompt.hints(Array(json.utf8))
    }

    private func hint(_ quote: String, meaning: String = "died", kind: String = "idiom") -> String {
        #"{"hints": [{"quote": "\#(quote)", "kind": "\#(kind)", "meaning": "\#(meaning)", "equivalent": null, "relevance": "high"}]}"#
    }

    @Test func whatIsQuotedIsFound() throws {
        let found = try hints(hint("colgó los tenis"))
        #expect(found == [Hint(start: 5, length: 15, kind: .idiom, meaning: "died", relevance: .high)])
        #expect(try hints(#"{"hints": []}"#).isEmpty)
    }

    @Test(arguments: [
        // Not in the text, in what is kept, half of a word or of a character, nothing, not words.
        "colgo los tenis", "x.y", "https", "olgó los", "\\ud83d", "", ":", "⟦1⟧",
    ])
    func otherQuotesAreLeftOut(quote: String) throws { #expect(try hints(hint(quote)).isEmpty) }

    @Test(arguments: [
        "see https://evil.example/", "go to evil.example", "www.evil.example", "<@all>", "a\\u0000b", "a\\u202eb",
        "⟦1⟧",
        "", " ", "!!!", "one\\ntwo", "`rm`",
    ])
    func meaningsAreWordsAlone(meaning: String) throws {
        #expect(try hints(hint("colgó los tenis", meaning: meaning)).isEmpty)
    }

    @Test func whatIsTooMuchIsLeftOut() throws {
        #expect(try hints(hint("colgó los tenis", meaning: String(repeating: "a ", count: 400))).isEmpty)
        #expect(try hints(hint("colgó los tenis", kind: "advertisement")).isEmpty)
        let many = (0..<50).map { _ in
            #"{"quote": "tenis", "kind": "slang", "meaning": "shoes", "equivalent": "http://evil.example", "relevance": "x"}"#
        }
        // They overlap.
        let found = try hints("{\"hints\": [\(many.joined(separator: ","))]}")
        #expect(found.map(\.start) == [15] && found[0].equivalent == nil && found[0].relevance == .low)
    }

    @Test(arguments: [
        "", "[]", "{}", #"{"hints": 5}"#, #"{"hints": [5]}"#, #"{"hints": [{"quote": 5}]}"#, #"{"hints": []"#,
        #"{"hints": []} x"#,
    ])
    func otherDocumentsAreRefused(json: String) {
        #expect(throws: TranslationFailure.self) { try hints(json) }
    }

    @Test func requestsHaveNoNamesAndNoLinks() throws {
        let earlier = [EarlierMessage(author: "A", MaskedText("mira https://secret.example", keeping: [5..<27]))]
        let prompt = HintPrompt(
            masked, language: nil, reader: try #require(LanguageTag(wellFormed: "en")), earlier: earlier)
        let request = prompt.request
        #expect(request.data.contains("⟦1⟧") && !request.data.contains("x.y") && !request.data.contains("secret"))
        #expect(request.data.contains("mira …"))
        #expect(request.schema.contains("\"additionalProperties\":false"))
    }

    @Test func rewritingsKeepWhatIsKept() throws {
        let prompt = RewritePrompt(masked, style: .formal, language: nil)
        func text(_ text: String) throws -> String { try prompt.text(Array("{\"text\": \"\(text)\"}".utf8)) }
        #expect(try text("Ella murió: ⟦1⟧ ayer") == "Ella murió: https://x.y/z ayer")
        for wrong in ["Ella murió", "⟦1⟧ ⟦1⟧", "⟦1⟧ ⟦2⟧", "", String(repeating: "a", count: 10_000) + "⟦1⟧"] {
            #expect(throws: TranslationFailure.self, "\(wrong.prefix(20))") { try text(wrong) }
        }
        #expect(throws: TranslationFailure.self) { try prompt.text(Array("{}".utf8)) }
    }

    @Test func repliesAreWordsAndDiffer() throws {
        let prompt = ReplyPrompt(masked, language: nil)
        func replies(_ json: String) throws -> [String] { try prompt.replies(Array(json.utf8)) }
        #expect(try replies(#"{"replies": ["Sí", "No", "¿Cuándo?", "Otra"]}"#) == ["Sí", "No", "¿Cuándo?"])
        #expect(try replies(#"{"replies": ["Sí", "Sí", "http://evil.example", "a\nb"]}"#) == ["Sí"])
        for wrong in [#"{"replies": []}"#, #"{"replies": ["👍"]}"#, #"{"replies": "Sí"}"#, "{}"] {
            #expect(throws: TranslationFailure.self) { try replies(wrong) }
        }
    }

    @Test func draftsAreJudged() throws {
        let prompt = DraftCheckPrompt(
            masked, language: nil, reader: try #require(LanguageTag(wellFormed: "en")))
        func report(_ json: String) throws -> DraftReport { try prompt.report(Array(json.utf8)) }
        let good = #"""
            {"tone": "informal", "findings": [{"quote": "Ella", "advice": "sounds cold", "suggestion": null},
             {"quote": "nowhere", "advice": "x", "suggestion": "y"}]}
            """#
        let found = try report(good)
        #expect(found.tone == .informal && found.findings == [DraftFinding(.tone, 0..<4, advice: "sounds cold")])
        for wrong in [#"{"tone": "loud", "findings": []}"#, #"{"tone": "formal"}"#, "{}"] {
            #expect(throws: TranslationFailure.self) { try report(wrong) }
        }
    }
}

@Suite("Drafts by rules")
struct DraftCheckTests {
    private func report(
        _ draft: String, _ language: String?, expected: FormalityRules.Register? = nil, knows: Bool = true
    ) -> DraftReport {
        DraftCheck.report(
            on: draft, keeping: [], language: language.flatMap { LanguageTag(wellFormed: $0) }, expected: expected,
            knowsAbbreviations: knows)
    }

    @Test func toneIsOfForms() {
        #expect(report("¿Cómo está usted?", "es").tone == .formal)
        #expect(report("¿Tú vienes?", "es").tone == .informal)
        #expect(report("Usted dijo que tú vienes", "es").findings.map(\.kind) == [.mixedAddress])
        #expect(report("La mesa es grande", "es").tone == .neutral)
        #expect(report("Du kommst", nil).tone == .neutral)
    }

    @Test func itIsComparedWithTheConversation() {
        #expect(report("¿Tú vienes?", "es", expected: .formal).findings.map(\.kind) == [.tooInformal])
        #expect(report("Kommen Sie?", "de", expected: .informal).findings.map(\.kind) == [.tooFormal])
        #expect(report("Kommst du?", "de", expected: .informal).findings.isEmpty)
    }

    @Test func shoutingIsSeen() {
        #expect(report("WHERE ARE YOU NOW", "en").findings.map(\.kind) == [.shouting])
        #expect(report("come now!!!", "en").findings.map(\.start) == [8])
        #expect(report("the NATO and the EU and the UN met today in a town", "en").findings.isEmpty)
        #expect(report("OK", "en").findings.isEmpty)
    }

    @Test func abbreviationsAreForThoseWhoDoNotKnowThem() {
        #expect(report("brb", "en").findings.isEmpty)
        let found = report("brb, idk", "en", knows: false).findings
        #expect(found.map(\.kind) == [.abbreviation, .abbreviation])
        #expect(found.first?.suggestion == "be right back")
    }

    @Test func registersAreOfMost() throws {
        let (es, formal, informal) = (LanguageTag(wellFormed: "es"), "¿Cómo está usted?", "¿Tú vienes?")
        func register(_ texts: [String]) -> FormalityRules.Register? {
            DraftCheck.register(of: texts.map { ($0, [], es) })
        }
        #expect(register([formal, formal, informal]) == .formal)
        #expect(register([informal, informal]) == .informal)
        #expect(register([formal]) == nil && register([formal, informal]) == nil && register([]) == nil)
    }
}
