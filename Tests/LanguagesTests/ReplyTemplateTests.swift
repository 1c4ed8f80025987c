import Languages
import Testing

@Suite("Templates of replies")
struct ReplyTemplateTests {
    @Test func allLanguagesHaveThreeOfEachClass() throws {
        #expect(Set(ReplyTemplates.languages) == ["ar", "de", "en", "es", "fr", "hi", "it", "pt", "ru", "uk"])
        for name in ReplyTemplates.languages {
            let language = try #require(LanguageTag(wellFormed: name))
            for intent in MessageIntent.allCases {
                for register in [FormalityRules.Register.formal, .informal] {
                    let replies = try #require(ReplyTemplates.replies(to: intent, in: language, register: register))
                    #expect(
                        replies.count == ReplyPrompt.count && Set(replies).count == replies.count, "\(name) \(intent)")
                    for reply in replies {
                        // What a model may write, they are.
                        #expect(ModelText.words(reply, length: 100) == reply)
                        let marks = FormalityRules.marks(in: reply, keeping: [], language: language)
                        #expect(marks.allSatisfy { $0.register == register }, "\(name) \(register): \(reply)")
                    }
                }
            }
        }
    }

    @Test func theyAreInformalUnlessPeopleAreFormal() throws {
        let german = try #require(LanguageTag(wellFormed: "de-AT"))
        let plain = ReplyTemplates.replies(to: .request, in: german)
        #expect(plain?.last == "Bis wann brauchst du es?")
        #expect(ReplyTemplates.replies(to: .request, in: german, register: .informal) == plain)
        #expect(
            ReplyTemplates.replies(to: .request, in: german, register: .formal)?.last == "Bis wann benötigen Sie es?")
    }

    @Test func thereAreNoneInOtherLanguages() throws {
        let greek = try #require(LanguageTag(wellFormed: "el"))
        #expect(ReplyTemplates.replies(to: .talk, in: greek) == nil)
    }

    @Test(arguments: ["Really?", "真的吗？", "حقًا؟ ", "Kdy\u{37E}\n"])
    func questionMarksOfAllScriptsCount(text: String) { #expect(MessageIntent.isQuestion(text)) }

    @Test(arguments: ["", "No.", "What? No."])
    func onlyTheEndCounts(text: String) { #expect(!MessageIntent.isQuestion(text)) }
}
