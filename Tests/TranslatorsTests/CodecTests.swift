import Languages
import Testing

@testable import ProviderCodecs
@testable import Translators

@Suite("Responses of language models and services")
struct CodecTests {
    private func chat(_ content: String, reason: String = "stop") -> [UInt8] {
        var text = ""
        for scalar in content.unicodeScalars {
            text += scalar == "\"" || scalar == "\\" ? "\\\(scalar)" : scalar == "\n" ? "\\n" : String(scalar)
        }
        return Array(
            """
            {"id": "x", "choices": [{"index": 0, "finish_reason": "\(reason)", "message": {"role": "assistant",
             "content": "\(text)", "refusal": null}}], "usage": {"prompt_tokens": 3}, "timings": {"x": [1.5, null]}}
            """.utf8)
    }

    private func isInvalid(_ body: () throws -> Void) -> Bool {
        do {
            try body()
            return false
        } catch TranslationFailure.invalidResponse {
            return true
        } catch {
            return false
        }
    }

    @Test func chatCompletions() throws {
        #expect(try ChatCodec.translations(chat(#"{"1": "Oi", "2": "Ã \" ⟦1⟧"}"#), count: 2) == ["Oi", "Ã \" ⟦1⟧"])
        #expect(try ChatCodec.translations(chat("Sure:\n```json\n{\"1\": \"Oi\"}\n```"), count: 1) == ["Oi"])
        #expect(try ChatCodec.translations(chat(#"{"2": "Oi"}"#), count: 2) == [nil, "Oi"])
        let parts =
            #"{"choices":[{"finish_reason":"stop","message":{"content":[{"type":"text","text":"{\"1\":\"a\"}"}]}}]}"#
        #expect(try ChatCodec.translations(Array(parts.utf8), count: 1) == ["a"])
    }

    @Test(
        "what is cut, doubled or of another shape is no translation",
        arguments: [
            #"{"1": "Oi", "1": "Olá"}"#, #"{"1": "Oi", "3": "x"}"#, #"{"1": "Oi", "01": "x"}"#, #"{"1": 5}"#,
            #"{"1": "Oi""#,
            "Oi", "", "[]", #"{"1": ["Oi"]}"#, #"{"1": "Oi"} {"1": "Oi"}"#, "}{", #"{"": "x"}"#, #"{"-1": "x"}"#,
        ])
    func wrongContent(content: String) {
        #expect(isInvalid { _ = try ChatCodec.translations(chat(content), count: 2) })
    }

    @Test(
        arguments: [
            "", "{}", #"{"choices": []}"#, #"{"error": {"message": "overloaded"}}"#, "<html>", #"{"choices": [{}]}"#,
            #"{"choices": [{"finish_reason": "stop", "message": {"refusal": "No.", "content": "{\"1\": \"a\"}"}}]}"#,
            #"{"choices": [{"finish_reason": "stop", "message": {"content": null}}]}"#,
        ])
    func wrongChatResponses(response: String) {
        #expect(isInvalid { _ = try ChatCodec.translations(Array(response.utf8), count: 1) })
    }

    @Test func endsForOtherReasons() {
        for reason in ["length", "content_filter", "tool_calls"] {
            #expect(isInvalid { _ = try ChatCodec.translations(chat(#"{"1": "Oi"}"#, reason: reason), count: 1) })
        }
        let choice = #"{"finish_reason": "stop", "message": {"content": "{\"1\": \"a\"}"}}"#
        let twice = #"{"choices": [\#(choice), \#(choice)]}"#
        #expect(isInvalid { _ = try ChatCodec.translations(Array(twice.utf8), count: 1) })
    }

    @Test func messages() throws {
        let tool = """
            {"type": "message", "stop_reason": "tool_use", "content": [{"type": "text", "text": "Here:"},
             {"type": "tool_use", "id": "t", "name": "return_translations", "input": {"2": "b", "1": "a"}}]}
            """
        #expect(try MessagesCodec.translations(Array(tool.utf8), count: 2) == ["a", "b"])
        let text = #"{"stop_reason": "end_turn", "content": [{"type": "text", "text": "{\"1\": \"a\"}"}]}"#
        #expect(try MessagesCodec.translations(Array(text.utf8), count: 1) == ["a"])
        for wrong in [
            text.replacing("end_turn", with: "max_tokens"), text.replacing(#"\"a\""#, with: "1"), "{}",
            #"{"stop_reason": "tool_use", "content": [{"type": "tool_use"}]}"#,
            #"{"stop_reason": "tool_use", "content": [{"type": "tool_use", "input": {"1": "a", "1": "b"}}]}"#,
            #"{"stop_reason": "tool_use", "content": [{"type": "tool_use", "input": {"1": "a"}}, {"type": "tool_use", "input": {"1": "a"}}]}"#,
        ] {
            #expect(isInvalid { _ = try MessagesCodec.translations(Array(wrong.utf8), count: 1) }, "\(wrong)")
        }
    }

    @Test func libreTranslate() throws {
        let two = Array(#"{"translatedText": ["a", "b"], "detectedLanguage": []}"#.utf8)
        #expect(try LibreTranslateCodec.translations(two, count: 2) == ["a", "b"])
        #expect(isInvalid { _ = try LibreTranslateCodec.translations(two, count: 1) })
        for wrong in [#"{"translatedText": "a"}"#, "{}", #"{"translatedText": ["a"], "translatedText": ["a"]}"#] {
            #expect(isInvalid { _ = try LibreTranslateCodec.translations(Array(wrong.utf8), count: 1) })
        }
        let languages = Array(
            """
            [{"code": "en", "name": "English", "targets": ["en", "pt-BR"]}, {"code": "pt-BR", "targets": ["en"]},
             {"code": "de"}]
            """.utf8)
        #expect(
            try LibreTranslateCodec.languages(languages) == [
                "en": ["en", "pt-BR"], "pt-BR": ["en"], "de": ["en", "pt-BR", "de"],
            ])
    }

    @Test func lists() throws {
        let response = try ListCodec.response(Array(#"{"id": "7", "texts": ["a", null], "x": {}}"#.utf8))
        #expect(response == .init(id: "7", texts: ["a", nil], error: nil))
        for wrong in [#"{"id": 7}"#, #"{"id": "7", "id": "7"}"#, #"{"texts": "a"}"#, #"{"texts": [1]}"#, "", "[]"] {
            #expect(isInvalid { _ = try ListCodec.response(Array(wrong.utf8)) })
        }
        let request = TranslationRequest(
            texts: [], source: try LanguageTag("en"), target: try LanguageTag("pt-BR"), tone: .informal,
            terms: [GlossaryTerm(source: "a", target: "b")])
        #expect(
            String(decoding: ListCodec.request(id: "7", request, texts: ["x\ny"]), as: UTF8.self) == #"""
                {"id":"7","source":"en","target":"pt-BR","texts":["x\ny"],"tone":"informal",\#
                "terms":[{"source":"a","target":"b"}]}
                """#)
        let written = [MaskedText("a", keeping: []).written(as: .square)]
        #expect(isInvalid { _ = try ListCodec.Response(texts: ["a", "b"]).results(written) })
        #expect(isInvalid { _ = try ListCodec.Response(error: "no such pair").results(written) })
    }

    @Test("what is refused is left out, until there is nothing to leave out")
    func dialects() {
        let first = ChatDialect()
        let completion = first.adapted(
            to:
                "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead."
        )
        #expect(completion?.tokenLimit == .maxCompletionTokens)
        let colder = completion?.adapted(to: "'temperature' does not support 0 with this model. Only the default (1).")
        #expect(colder?.sendsTemperature == false && colder?.tokenLimit == .maxCompletionTokens)
        let object = first.adapted(to: "response_format.type json_schema is unavailable")
        #expect(object?.format == .object)
        #expect(object?.adapted(to: "Invalid response_format")?.format == .text)
        #expect(object?.adapted(to: "Invalid response_format")?.adapted(to: "response_format") == nil)
        #expect(first.adapted(to: "The model does not exist") == nil)
    }

    @Test func pairs() throws {
        let pairs = try #require(LanguagePairs(["en:pt-BR", "*:de", "zh-Hant:*"]))
        let cases = [
            ("en-GB", "pt", true), ("en", "pt-PT", true), ("pt", "en", false), ("ru", "de-AT", true),
            ("zh-TW", "ru", true), ("zh-Hans", "ru", false),
        ]
        for (source, target, expected) in cases {
            #expect(try pairs.contains(LanguageTag(source), LanguageTag(target)) == expected, "\(source) \(target)")
        }
        for wrong in ["en", "en:", ":pt", "en:pt:es", "en-pt", "x:en", ""] { #expect(LanguagePairs([wrong]) == nil) }
        #expect(try LanguagePairs.all.contains(LanguageTag("ru"), LanguageTag("uk")))
    }

    @Test("the instruction is the same for all texts, and what people wrote is data")
    func prompts() throws {
        let request = TranslationRequest(
            texts: [MaskedText("Hi @ann \"x\"\n", keeping: [3..<7])], source: try LanguageTag("en"),
            target: try LanguageTag("pt-BR"), tone: .formal, terms: [GlossaryTerm(source: "a\"b", target: "c")])
        let prompt = TranslationPrompt(request)
        #expect(prompt.data == #"{"terms":[{"source":"a\"b","target":"c"}],"texts":{"1":"Hi ⟦1⟧ \"x\"\n"}}"#)
        #expect(prompt.instruction.contains("(pt-BR)") && prompt.instruction.contains("formally"))
        #expect(!prompt.instruction.contains("Hi"))
        #expect(prompt.results(["Oi ⟦1⟧ \"x\""]) == [.text("Oi @ann \"x\"\n")])
        #expect(prompt.results(["Oi"]) == [.failed(.damaged)])
        let body = String(decoding: ChatCodec.request(prompt.request, model: "m", ChatDialect()), as: UTF8.self)
        #expect(body.contains(#""required":["1"],"additionalProperties":false"#))
        #expect(body.contains(#""max_tokens":\#(prompt.maxTokens)"#))
    }
}
