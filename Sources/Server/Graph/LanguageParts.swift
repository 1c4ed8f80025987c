import Foundation
import LanguageEngines
import Languages
import Logging
import Messaging

/// What finds out about the languages of texts.
struct LanguageParts: Sendable {
    let analyzer: TextAnalyzer
    let rules: IntelligenceRules
    let translation: TranslationParts
    let embedding: EmbeddingParts
    let explanation: ExplanationParts

    /// - Throws: `ConfigurationError` if there is no such library.
    init(_ configuration: ServerConfiguration, logger: Logger) throws {
        let engine: (any LanguageEngine)?
        switch configuration[\.languages.identification] {
        case .none: engine = nil
        case .cld2: engine = CLD2Engine()
        case .eldc:
            let path = configuration[\.languages.eldcLibrary]
            do {
                engine = try EldcEngine(path: path)
            } catch {
                let key = SettingsTable.key(of: \.languages.eldcLibrary)
                throw ConfigurationError(
                    "\(key): cannot open \(path.isEmpty ? "a library without a path" : path): \(error.description)")
            }
        }
        analyzer = TextAnalyzer(engine: engine)
        rules = IntelligenceRules(
            ceiling: configuration[\.languages.ceiling], defaultLevel: configuration[\.languages.defaultLevel],
            budget: ProviderBudget(
                dailyCharacters: Int64(configuration[\.languages.budget.dailyCharacters]),
                monthlyCharacters: Int64(configuration[\.languages.budget.monthlyCharacters]),
                dailySpeechSeconds: Int64(configuration[\.languages.budget.dailySpeechSeconds]),
                monthlySpeechSeconds: Int64(configuration[\.languages.budget.monthlySpeechSeconds])),
            isTranscriberHosted: TranscriptionParts.isHosted(configuration),
            isEmbedderHosted: EmbeddingParts.isHosted(configuration),
            glossary: try Self.glossary(configuration[\.languages.glossary]),
            tone: TranslationTone(rawValue: configuration[\.languages.tone].rawValue),
            prices: Self.prices(configuration),
            minutePrice: configuration[\.transcription.price.minute])
        translation = try TranslationParts(configuration, logger: logger)
        embedding = try EmbeddingParts(configuration, logger: logger)
        explanation = try ExplanationParts(configuration, logger: logger)
        if let engine { logger.info("languages are identified", metadata: ["engine": "\(engine.name)"]) }
    }

    /// By the names of engines; the same model costs the same, whatever it is for.
    private static func prices(_ configuration: ServerConfiguration) -> [String: TokenPrice] {
        let translation = TokenPrice(
            input: configuration[\.languages.translation.price.input],
            cachedInput: configuration[\.languages.translation.price.cachedInput],
            output: configuration[\.languages.translation.price.output])
        let model = TokenPrice(
            input: configuration[\.languages.model.price.input],
            cachedInput: configuration[\.languages.model.price.cachedInput],
            output: configuration[\.languages.model.price.output])
        let embeddings = TokenPrice(input: configuration[\.languages.embeddings.price.input])
        var prices: [String: TokenPrice] = [:]
        for (name, price) in [
            (configuration[\.languages.embeddings.model], embeddings),
            (configuration[\.languages.translation.model], translation), (configuration[\.languages.model.name], model),
        ] where !name.isEmpty && price != TokenPrice() {
            prices[String(name.prefix(64))] = price
        }
        return prices
    }

    static let maxGlossaryTerms = 1_000

    /// - Parameter lines: such as `es: backup = copia de seguridad`.
    static func glossary(_ lines: [String]) throws(ConfigurationError) -> [GlossaryEntry] {
        let key = SettingsTable.key(of: \.languages.glossary)
        guard lines.count <= maxGlossaryTerms else {
            throw ConfigurationError("\(key) has more than \(maxGlossaryTerms) terms.")
        }
        var entries: [GlossaryEntry] = []
        for line in lines {
            let parts = line.split(separator: ":", maxSplits: 1).map(String.init)
            let terms = parts.last.map { $0.split(separator: "=", maxSplits: 1) } ?? []
            let words = terms.map { $0.trimmingCharacters(in: .whitespaces) }
            guard parts.count == 2, words.count == 2, words.allSatisfy(GlossaryEntry.isValid),
                let language = LanguageTag(wellFormed: parts[0].trimmingCharacters(in: .whitespaces))?.asTarget
            else {
                throw ConfigurationError(
                    "\(key): \(line) is no term: write it as `es: backup = copia de seguridad`.")
            }
            entries.append(GlossaryEntry(source: words[0], target: words[1], language: language))
        }
        return entries
    }
}
