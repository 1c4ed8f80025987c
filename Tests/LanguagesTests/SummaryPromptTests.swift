import Languages
import Model
import Testing

@Suite("Summaries that a model writes")
struct SummaryPromptTests {
    private let prompt: SummaryPrompt

    init() throws {
        let at = try #require(Timestamp("2026-11-27T15:30:00Z"))
        prompt = SummaryPrompt(
            [
                SummaryPrompt.Source(person: "p1", at: at, text: "Could @p3 pay the deposit?"),
                SummaryPrompt.Source(person: "p2", at: at, text: "We take the house"),
            ], in: try #require(LanguageTag(wellFormed: "en")))
    }

    private func items(
        kind: String = "action", text: String = "The deposit is to be paid.", owner: String = "\"p3\"",
        due: String = "\"2026-12-01\"", messages: String = "[\"m1\"]"
    ) throws -> [SummaryPrompt.Item] {
        let json =
            #"{"items": [{"kind": "\#(kind)", "text": "\#(text)", "owner": \#(owner), "due": \#(due), "messages": \#(messages)}]}"#
        return try prompt.items(Array(json.utf8))
    }

    @Test func whatRestsOnMessagesIsTaken() throws {
        let found = try #require(try items().first)
        #expect(found.kind == .action && found.text == "The deposit is to be paid." && found.sources == [0])
        #expect(found.owner == "p3" && found.due?.text == "2026-12-01")
        #expect(try items(messages: #"["m2", "m1", "m2", "m9"]"#).first?.sources == [0, 1])
        #expect(try prompt.items(Array(#"{"items": []}"#.utf8)).isEmpty)
    }

    @Test(arguments: [#"[]"#, #"["m3"]"#, #"["1"]"#, #"["m0"]"#, #"["n1"]"#, #"["m01"]"#])
    func whatRestsOnNothingIsLeftOut(messages: String) throws { #expect(try items(messages: messages).isEmpty) }

    @Test(arguments: [
        "see https://evil.example/", "go to evil.example", "<@all>", "a\\u202eb", "", "!!!", "⟦1⟧", "`rm`", "one\\ntwo",
    ])
    func textsAreWordsAlone(text: String) throws { #expect(try items(text: text).isEmpty) }

    @Test(arguments: ["\"p9\"", "\"Ann\"", "null", "\"\""])
    func ownersAreThoseWhoWroteOrWereMentioned(owner: String) throws {
        #expect(try items(owner: owner).first?.owner == nil)
    }

    @Test(arguments: ["\"tomorrow\"", "\"2020-01-01\"", "\"2199-01-01\"", "\"2026-02-30\"", "null"])
    func daysAreThoseThatSomebodyCanMean(due: String) throws {
        let found = try items(due: due)
        #expect(found.count == 1 && found.first?.due == nil)
    }

    @Test func onlyActionsHaveThem() throws {
        let found = try items(kind: "point")
        #expect(found.first?.owner == nil && found.first?.due == nil)
        #expect(try items(kind: "advertisement").isEmpty)
    }

    @Test(arguments: [
        "", "[]", "{}", #"{"items": 5}"#, #"{"items": [5]}"#, #"{"items": [{"text": 5}]}"#, #"{"items": [}"#,
    ])
    func otherDocumentsAreRefused(json: String) {
        #expect(throws: TranslationFailure.self) { try prompt.items(Array(json.utf8)) }
    }

    @Test func thereAreNotTooMany() throws {
        let one = #"{"kind": "point", "text": "It is so.", "owner": null, "due": null, "messages": ["m1"]}"#
        let json = "{\"items\": [\(Array(repeating: one, count: 50).joined(separator: ","))]}"
        #expect(try prompt.items(Array(json.utf8)).count == SummaryPrompt.maxItems)
    }
}
