import Foundation
import LanguageEngines
import Languages
import Logging
import Translators

/// What explains messages, and helps to write them.
struct ExplanationParts: Sendable {
    /// Nil without one.
    let model: (any TriedLanguageModel)?
    /// Nil without one.
    private let wordnet: WordNetFiles?
    private let timeout: Duration

    init(_ configuration: ServerConfiguration, logger: Logger) throws(ConfigurationError) {
        model = try Self.model(configuration)
        wordnet = Self.wordnet(configuration)
        timeout = .seconds(configuration[\.languages.model.timeoutSeconds])
        if wordnet?.exist != true { logger.info("idioms are not explained: there is no WordNet") }
        if let model {
            logger.info(
                "a language model explains and rewrites",
                metadata: ["model": "\(model.name)", "hosted": "\(model.isHosted)"])
        }
    }

    /// Reads what is on disk.
    func lexicon(_ logger: Logger) -> HintLexicon {
        guard let wordnet, wordnet.exist else { return HintLexicon() }
        do {
            let idioms = try wordnet.idioms()
            logger.info("idioms are explained", metadata: ["idioms": "\(idioms.count)"])
            return HintLexicon(idioms: idioms)
        } catch {
            logger.warning("languages.lexicons.wordnet: idioms are not explained: \(error.description)")
            return HintLexicon()
        }
    }

    /// What of it works.
    func reports() async -> [EngineReport] {
        var reports: [EngineReport] = []
        if let wordnet {
            var report = EngineReport(name: "WordNet", isHosted: false)
            if !wordnet.exist {
                report.details = ["it is not installed: idioms are not explained"]
            } else {
                do {
                    report.details = ["\(try wordnet.idioms().count) idioms"]
                } catch {
                    report.problem = error.description
                }
            }
            reports.append(report)
        }
        if let model { reports.append(await model.report(deadline: .now + timeout)) }
        return reports
    }

    private static func wordnet(_ configuration: ServerConfiguration) -> WordNetFiles? {
        let path = configuration[\.languages.lexicons.wordnet]
        return path.isEmpty ? nil : WordNetFiles(directory: path)
    }

    /// - Throws: if the settings are wrong; nothing is asked.
    static func model(
        _ configuration: ServerConfiguration
    ) throws(ConfigurationError) -> (any TriedLanguageModel)? {
        let provider = configuration[\.languages.model.provider]
        guard provider != .none else { return nil }
        let url = configuration[\.languages.model.url]
        guard let parts = URLComponents(string: url), let host = parts.host, !host.isEmpty, parts.user == nil,
            ["http", "https"].contains(parts.scheme?.lowercased())
        else {
            throw ConfigurationError("languages.model.url must be an http:// or https:// URL without a user.")
        }
        let name = configuration[\.languages.model.name]
        guard !name.isEmpty else { throw ConfigurationError("languages.model.name must name a model.") }
        let key = configuration[\.languages.model.apiKey]
        // It becomes part of a header.
        guard key.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else {
            throw ConfigurationError("languages.model.apiKey must consist of printable characters without spaces.")
        }
        let isHosted = configuration[\.languages.model.hosted] != .local
        let apiKey = key.isEmpty ? nil : key
        return provider == .openai
            ? OpenAIModel(url: url, model: name, key: apiKey, isHosted: isHosted)
            : AnthropicModel(url: url, model: name, key: apiKey, isHosted: isHosted)
    }
}
