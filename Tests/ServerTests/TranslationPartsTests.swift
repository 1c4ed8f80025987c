import Languages
import Logging
import Testing

@testable import Server

@Suite("Translation from the configuration")
struct TranslationPartsTests {
    private func parts(_ arguments: [String]) throws -> TranslationParts {
        let flags = arguments.map { "--languages-" + $0 }
        return try TranslationParts(
            ServerConfiguration(file: nil, arguments: flags), logger: Logger(label: "translation"))
    }

    private let english = LanguageTag(wellFormed: "en")
    private let portuguese = LanguageTag(wellFormed: "pt-BR")

    @Test("nobody by default but what is installed") func none() throws {
        #expect(try parts(["apertium=false"]).engines.isEmpty)
        #expect(try parts([]).all.allSatisfy { $0.name == "apertium" && !$0.isHosted })
    }

    @Test(
        "errors name the setting",
        arguments: [
            (["provider=openai"], "url"), (["provider=openai", "url=localhost"], "url"),
            (["provider=openai", "url=http://h/v1"], "model"), (["provider=anthropic", "url=http://h"], "model"),
            (["provider=openai", "url=http://h/v1", "model=m", "api-key=a b"], "apiKey"),
            (["provider=libretranslate", "url=https://u@h/"], "url"),
            (["provider=webhook", "url=https://h/"], "webhookSecret"),
            (["provider=webhook", "webhook-secret=0123456789abcdef", "url=ftp://h/"], "url"),
            (["provider=command"], "command"), (["provider=command", "command=cat"], "pairs"),
            (["provider=command", "command=cat", "pairs=en-pt"], "pairs"), (["pairs=en:x"], "pairs"),
        ])
    func errors(arguments: [String], key: String) {
        do {
            _ = try parts(arguments.map { "translation-" + $0 })
            Issue.record("no error")
        } catch {
            #expect("\(error)".hasPrefix("languages.translation.\(key) "), "\(error)")
        }
    }

    @Test("the provider is asked first, and who may not leave the server is translated by what the operator runs")
    func order() throws {
        let source = try #require(english)
        let target = try #require(portuguese)
        let service = ["translation-provider=openai", "translation-url=http://h/v1", "translation-model=m"]
        let hosted = try parts(service + ["apertium=false"]).engines
        #expect(hosted.engine(from: source, into: target, allowsHosted: true)?.name == "m")
        #expect(hosted.engine(from: source, into: target, allowsHosted: false) == nil)
        let own = try parts(service + ["translation-hosted=false"]).engines
        #expect(own.engine(from: source, into: target, allowsHosted: false)?.name == "m")
        let program = try parts([
            "translation-provider=command", "translation-command=cat", "translation-pairs=en:pt",
        ]).engines
        #expect(program.engine(from: source, into: target, allowsHosted: false)?.name == "cat")
        #expect(program.engine(from: target, into: source, allowsHosted: true) == nil)
    }
}
