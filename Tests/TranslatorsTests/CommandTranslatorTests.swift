import Foundation
import Languages
import ProviderCodecs
import Providers
import TestSupport
import Testing

@testable import Translators

/// The programs here are scripts that translate nothing: they turn letters into capitals, or do what the text says.
@Suite("Translation by a program", .timeLimit(.minutes(2)))
struct CommandTranslatorTests {
    private static let scripted = """
        import json, os, sys, time
        for line in sys.stdin:
            request = json.loads(line)
            texts = request["texts"]
            if "die" in texts: os._exit(3)
            if "hang" in texts: time.sleep(1000)
            answer = {"id": request["id"]}
            if "error" in texts: answer["error"] = "no such word"
            else: answer["texts"] = [text.upper() if text != "none" else None for text in texts]
            if "other" in texts: answer["id"] = "7"
            print(json.dumps(answer), flush=True)
        """

    private func engine(_ change: (inout SupervisedChild.Limits) -> Void = { _ in }) throws -> CommandTranslator {
        var limits = SupervisedChild.Limits()
        change(&limits)
        return CommandTranslator(
            ["python3", "-c", Self.scripted], pairs: try #require(LanguagePairs(["en:pt-BR"])), limits: limits)
    }

    private func translate(
        _ texts: [String], _ engine: CommandTranslator, keeping ranges: [Range<Int>] = []
    ) async throws -> [TranslationResult] {
        try await engine.translate(
            .init(
                texts: texts.map { MaskedText($0, keeping: ranges) }, source: LanguageTag("en"),
                target: LanguageTag("pt-BR"), tone: .informal, terms: [GlossaryTerm(source: "a", target: "b")]),
            deadline: .now + .seconds(100))
    }

    @Test("texts go there with placeholders and come back without") func texts() async throws {
        let engine = try engine()
        #expect(
            try await translate(["hi @ann [x]", "bo @bob [y]"], engine, keeping: [3..<7])
                == [.text("HI @ann [X]"), .text("BO @bob [Y]")])
        #expect(try await translate(["none"], engine) == [.failed(.invalidResponse("a text without a translation"))])
        #expect(try await translate(["error"], engine) == [.failed(.invalidResponse("no such word"))])
        #expect(engine.status.starts == 1)
        await engine.rest()
    }

    @Test("other pairs, long texts and missing programs") func refused() async throws {
        let engine = try engine()
        #expect(try engine.translates(from: LanguageTag("en-GB"), into: LanguageTag("pt")))
        #expect(try !engine.translates(from: LanguageTag("pt"), into: LanguageTag("en")))
        #expect(
            try await translate([String(repeating: "a", count: 2_001), "b"], engine)
                == [.failed(.textTooLong), .text("B")])
        await engine.rest()
        let missing = CommandTranslator(["nonexistent-engine"], pairs: .all)
        #expect(try !missing.translates(from: LanguageTag("en"), into: LanguageTag("pt")))
        #expect(
            try await translate(["a"], missing)
                == [.failed(.unavailable("The program nonexistent-engine cannot be run."))])
    }

    @Test("a text that ends it twice is not given to it again, and those beside it are translated")
    func fatal() async throws {
        let engine = try engine()
        let together = try await translate(["one", "die"], engine)
        #expect(together.allSatisfy { $0 == .failed(.unavailable("The program ended with exit code 3.")) })
        // Alone now, each.
        #expect(try await translate(["one", "die"], engine) == [.text("ONE"), .failed(.ended)])
        let starts = engine.status.starts
        #expect(try await translate(["one", "die"], engine) == [.text("ONE"), .failed(.ended)])
        #expect(engine.status.starts == starts + 1 && engine.status.ends == 2)
        await engine.rest()
    }

    @Test("one that hangs or responds to something else is killed") func wrong() async throws {
        let engine = try engine { $0.request = .milliseconds(500) }
        #expect(try await translate(["hang"], engine) == [.failed(.unavailable("It did not respond in time."))])
        guard case .failed(.unavailable)? = try await translate(["other"], engine).first else {
            Issue.record("it was accepted")
            return
        }
        #expect(engine.status.ends == 2)
    }
}
