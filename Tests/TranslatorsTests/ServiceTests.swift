import Foundation
import HTTPTestSupport
import Languages
import NIOHTTP1
import Providers
import TestSupport
import Testing

@testable import Translators

/// The services here are scripted: they say what the test wants to be said, and translate nothing.
@Suite("Translation by services over HTTP", .timeLimit(.minutes(3)))
struct ServiceTests {
    private let english: LanguageTag
    private let portuguese: LanguageTag

    init() throws {
        english = try LanguageTag("en")
        portuguese = try LanguageTag("pt-BR")
    }

    private func request(_ texts: [String], keeping ranges: [Range<Int>] = []) -> TranslationRequest {
        .init(texts: texts.map { MaskedText($0, keeping: ranges) }, source: english, target: portuguese)
    }

    private func translate(
        _ engine: some TranslationEngine, _ request: TranslationRequest, within timeout: Duration = .seconds(100)
    ) async -> Result<[TranslationResult], TranslationFailure> {
        do throws(TranslationFailure) {
            return .success(try await engine.translate(request, deadline: .now + timeout))
        } catch {
            return .failure(error)
        }
    }

    private func openAI(_ address: String, key: String? = nil) -> OpenAITranslator {
        OpenAITranslator(url: address + "/v1", model: "m", key: key)
    }

    private func anthropic(_ address: String, key: String? = nil) -> AnthropicTranslator {
        AnthropicTranslator(url: address, model: "m", key: key)
    }

    private func libre(_ address: String) -> LibreTranslateTranslator {
        LibreTranslateTranslator(url: address, key: "k")
    }

    private func webhook(_ address: String) throws -> WebhookTranslator {
        let hook = WebhookTranslator(
            url: address + "/hook", secret: "0123456789abcdef", allowsPrivate: true, now: { 1_700_000_000 })
        return try #require(hook)
    }

    private static func chat(_ content: String) -> ScriptedServer.Reply {
        .response(
            200, #"{"choices": [{"finish_reason": "stop", "message": {"content": \#(quoted(content))}}]}"#)
    }

    private static func quoted(_ text: String) -> String {
        String(decoding: (try? JSONEncoder().encode(text)) ?? Data(), as: UTF8.self)
    }

    private static func body(_ request: ScriptedServer.Request) -> [String: Any] {
        (try? JSONSerialization.jsonObject(with: Data(request.body))) as? [String: Any] ?? [:]
    }

    @Test("models like OpenAI's") func chats() async throws {
        try await ScriptedServer.run { request in
            guard request.path == "/v1/chat/completions",
                request.headers.first(name: "Authorization") == "Bearer sk-1",
                let messages = Self.body(request)["messages"] as? [[String: String]], messages.count == 2,
                messages[1]["content"] == #"{"texts":{"1":"Hi ⟦1⟧!","2":"Yo ⟦1⟧!"}}"#
            else { return .response(400, "what?") }
            return Self.chat(#"{"2": "E aí ⟦1⟧!", "1": "Oi, ⟦ 1 ⟧!"}"#)
        } _: { address, _ in
            let results = await translate(
                openAI(address, key: "sk-1"), request(["Hi @ann!", "Yo @bob!"], keeping: [3..<7]))
            #expect(results == .success([.text("Oi, @ann!"), .text("E aí @bob!")]))
        }
    }

    @Test("what a model does not understand is left out from then on") func dialects() async throws {
        try await ScriptedServer.run { request in
            let body = Self.body(request)
            if body["max_tokens"] != nil { return .response(400, "Use 'max_completion_tokens' instead.") }
            if body["temperature"] != nil { return .response(400, "Unsupported value: 'temperature'") }
            if body["response_format"] != nil { return .response(422, "response_format is unknown") }
            return Self.chat(#"{"1": "Oi"}"#)
        } _: { address, server in
            let engine = openAI(address)
            for _ in 0..<2 { #expect(await translate(engine, request(["Hi"])) == .success([.text("Oi")])) }
            #expect(server.requests.count == 6)
        }
    }

    @Test("models like Anthropic's, with and without tools") func messages() async throws {
        try await ScriptedServer.run { request in
            guard request.path == "/v1/messages", request.headers.first(name: "x-api-key") == "sk-1",
                request.headers.first(name: "anthropic-version") == "2023-06-01", Self.body(request)["system"] != nil
            else { return .response(400, "what?") }
            if Self.body(request)["tools"] != nil {
                return .response(400, #"{"error": {"message": "tools are not supported"}}"#)
            }
            return .response(
                200, #"{"stop_reason": "end_turn", "content": [{"type": "text", "text": "{\"1\": \"Oi\"}"}]}"#)
        } _: { address, server in
            let engine = anthropic(address, key: "sk-1")
            for _ in 0..<2 { #expect(await translate(engine, request(["Hi"])) == .success([.text("Oi")])) }
            #expect(server.requests.count == 3)
        }
    }

    @Test(
        "refusals say when to ask again, if at all",
        arguments: [
            (429, [("Retry-After", "7")], "", TranslationFailure.limited(retryAfter: .seconds(7))),
            (429, [("retry-after-ms", "1500"), ("Retry-After", "7")], "", .limited(retryAfter: .milliseconds(1500))),
            (
                429, [("x-ratelimit-reset-requests", "1s"), ("x-ratelimit-reset-tokens", "6m0s")], "",
                .limited(retryAfter: .seconds(360))
            ),
            (429, [], "", .limited(retryAfter: nil)),
            (
                429, [("Retry-After", "7")], #"{"error": {"message": "You.", "code": "insufficient_quota"}}"#,
                .refused("status 429: You.")
            ),
            (529, [], #"{"error": {"message": "Overloaded"}}"#, .unavailable("status 529: Overloaded")),
            (503, [("Retry-After", "3")], "", .limited(retryAfter: .seconds(3))),
            (401, [], #"{"error": {"message": "Bad key sk-1"}}"#, .refused("status 401: Bad key …")),
            (404, [], #"{"error": {"message": "no such model"}}"#, .refused("status 404: no such model")),
            (307, [("Location", "http://127.0.0.1:1/")], "", .refused("status 307")),
        ])
    func refused(
        status: Int, headers: [(String, String)], body: String, failure: TranslationFailure
    ) async throws {
        try await ScriptedServer.run { _ in
            .response(status, body, headers)
        } _: { address, server in
            #expect(await translate(openAI(address, key: "sk-1"), request(["Hi"])) == .failure(failure))
            #expect(await translate(anthropic(address, key: "sk-1"), request(["Hi"])) == .failure(failure))
            #expect(server.requests.count == 2)
        }
    }

    @Test("what is cut, huge, slow or no translation is a failure of the text or of all") func lies() async throws {
        let engines: [(String) throws -> any TranslationEngine] = [
            { openAI($0) }, { anthropic($0) }, { libre($0) }, { try webhook($0) },
        ]
        let replies: [(ScriptedServer.Reply, Bool)] = [
            (.response(200, "<html>"), false), (.response(200, #"{"choices": [{"finish_"#), false),
            (.flood(5 << 20), false), (.hang, true), (.trickle, true), (.hangUp, true),
        ]
        for (reply, isTemporary) in replies {
            try await ScriptedServer.run { request in
                // LibreTranslate's pairs.
                guard request.path.hasSuffix("/languages") else { return reply }
                return .response(200, #"[{"code": "en", "targets": ["pt"]}, {"code": "pt", "targets": ["en"]}]"#)
            } _: { address, _ in
                for engine in engines {
                    let made = try engine(address)
                    // Those that never end are waited for; on a busy machine the others take a while.
                    let time = Duration.seconds(isTemporary ? 2 : 30)
                    guard case .failure(let failure) = await translate(made, request(["Hi"]), within: time) else {
                        Issue.record("\(made.name) translated \(reply)")
                        continue
                    }
                    #expect(failure.isTemporary == isTemporary, "\(made.name) \(reply) \(failure)")
                }
            }
        }
    }

    @Test("texts that are too long together are sent one by one") func split() async throws {
        try await ScriptedServer.run { request in
            let body = String(decoding: request.body, as: UTF8.self)
            if request.path == "/languages" {
                return .response(200, #"[{"code": "en", "targets": ["pt"]}, {"code": "pt", "targets": ["en"]}]"#)
            }
            if body.contains("first") && body.contains("third") || body.contains("endless") {
                return .response(400, #"{"error": "Invalid request: request (3) exceeds text limit (2)"}"#)
            }
            if request.path == "/translate" { return .response(200, #"{"translatedText": ["Oi"]}"#) }
            if request.path == "/v1/chat/completions" { return Self.chat(#"{"1": "Oi"}"#) }
            return .response(
                200, #"{"stop_reason": "end_turn", "content": [{"type": "text", "text": "{\"1\": \"Oi\"}"}]}"#)
        } _: { address, _ in
            let texts = request(["first", "endless", "third"])
            let expected: Result<[TranslationResult], TranslationFailure> = .success([
                .text("Oi"), .failed(.textTooLong), .text("Oi"),
            ])
            #expect(await translate(openAI(address), texts) == expected)
            #expect(await translate(anthropic(address), texts) == expected)
            #expect(await translate(libre(address), texts) == expected)
        }
    }

    @Test("damaged, missing, empty and endless translations fail alone") func items() async throws {
        let long = String(repeating: "a", count: 300)
        try await ScriptedServer.run { _ in
            Self.chat(#"{"1": "Oi ⟦1⟧", "2": "Oi", "3": "", "4": "\#(long)", "5": "⟦1⟧ ⟦1⟧", "6": "⟦1⟧ ⟦2⟧"}"#)
        } _: { address, _ in
            let texts = Array(repeating: "Hi @ann", count: 7)
            guard case .success(let results) = await translate(openAI(address), request(texts, keeping: [3..<7]))
            else {
                Issue.record("all failed")
                return
            }
            #expect(results[0] == .text("Oi @ann"))
            for index in [1, 4, 5] { #expect(results[index] == .failed(.damaged)) }
            for index in [2, 3, 6] {
                guard case .failed(.invalidResponse) = results[index] else {
                    Issue.record("\(results[index])")
                    continue
                }
            }
        }
    }

    @Test("LibreTranslate is asked for its pairs once, and again in HTML for what it damaged")
    func libreTranslate() async throws {
        try await ScriptedServer.run { request in
            if request.path == "/languages" {
                return .response(
                    200, #"[{"code": "en", "targets": ["pt-BR", "pt", "de"]}, {"code": "pt", "targets": ["en"]}]"#)
            }
            let body = Self.body(request)
            guard request.path == "/translate", body["api_key"] as? String == "k",
                body["source"] as? String == "en", body["target"] as? String == "pt-BR"
            else { return .response(400, "what?") }
            switch (body["format"] as? String, body["q"] as? [String]) {
            case ("text", ["Hi [X1] < 3", "Yo [X1] < 3"]):
                return .response(200, #"{"translatedText": ["Oi 1 < 3", "E aí [X1] < 3"]}"#)
            case ("html", [#"Hi <i translate="no">1</i> <i translate="no">2</i> 3"#]):
                return .response(
                    200, #"{"translatedText": ["Oi <i translate=\"no\">1</i> <i translate=\"no\">2</i> 3"]}"#)
            default: return .response(400, "what?")
            }
        } _: { address, server in
            let engine = libre(address)
            #expect(try engine.translates(from: LanguageTag("ru"), into: LanguageTag("de")))
            let results = await translate(engine, request(["Hi @ann < 3", "Yo @bob < 3"], keeping: [3..<7]))
            #expect(results == .success([.text("Oi @ann < 3"), .text("E aí @bob < 3")]))
            #expect(server.requests.map(\.path) == ["/languages", "/translate", "/translate"])
            #expect(try !engine.translates(from: LanguageTag("ru"), into: LanguageTag("de")))
            #expect(try engine.translates(from: LanguageTag("en-GB"), into: LanguageTag("de-AT")))
            let other = TranslationRequest(
                texts: [MaskedText("Hi", keeping: [])], source: try LanguageTag("ru"), target: try LanguageTag("de"))
            #expect(await translate(engine, other) == .failure(.pairNotSupported))
        }
    }

    @Test("a webhook gets signed requests") func signed() async throws {
        try await ScriptedServer.run { request in
            let id = Self.body(request)["id"] as? String ?? ""
            return .response(200, #"{"id": "\#(id)", "texts": ["Oi ⟦1⟧"]}"#)
        } _: { address, server in
            let hook = try webhook(address)
            for _ in 0..<2 {
                #expect(
                    await translate(hook, request(["Hi @ann"], keeping: [3..<7])) == .success([.text("Oi @ann")]))
            }
            let requests = server.requests
            #expect(requests[0].body == requests[1].body)
            let id = try #require(requests[0].headers.first(name: "webhook-id"))
            #expect(id == Self.body(requests[0])["id"] as? String)
            #expect(
                requests[0].headers.first(name: "webhook-signature")
                    == StandardWebhookSignature.sign(
                        id: id, timestamp: 1_700_000_000, body: requests[0].body, secret: Array("0123456789abcdef".utf8)
                    ))
            #expect(
                requests[0].headers.first(name: "Switchboard-Signature")
                    == WebhookSignature.sign(requests[0].body, at: 1_700_000_000, secret: "0123456789abcdef"))
        }
    }

    @Test("a webhook that responds to another request, or is at a private address, is refused")
    func wrongWebhooks() async throws {
        try await ScriptedServer.run { _ in
            .response(200, #"{"id": "7", "texts": ["Oi"]}"#)
        } _: { address, server in
            let hook = try webhook(address)
            #expect(
                await translate(hook, request(["Hi"]))
                    == .failure(.invalidResponse("Expected the id of the request.")))
            let closed = try #require(
                WebhookTranslator(url: address, secret: "0123456789abcdef", allowsPrivate: false))
            guard case .failure(.refused(let why)) = await translate(closed, request(["Hi"])) else {
                Issue.record("it was asked")
                return
            }
            #expect(why.contains("127.0.0.1"))
            #expect(server.requests.count == 1)
        }
    }

    @Test("a request ends with its task") func cancelled() async throws {
        try await ScriptedServer.run { _ in
            .hang
        } _: { address, server in
            let request = request(["Hi"])
            let task = Task { await translate(openAI(address), request) }
            try await eventually { !server.requests.isEmpty }
            task.cancel()
            #expect(await task.value == .failure(.cancelled))
        }
    }
}
