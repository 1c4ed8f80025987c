import Foundation
import Languages
import Logging
import ProviderCodecs
import Providers
import Services
import Translators

/// What translates texts.
struct TranslationParts: Sendable {
    /// The provider, then Apertium.
    let engines: TranslationEngines
    /// In their order.
    let all: [any TriedTranslationEngine]
    let limits: TranslationWorker.Limits
    private let command: CommandTranslator?
    private let apertium: ApertiumTranslator?

    init(_ configuration: ServerConfiguration, logger: Logger) throws(ConfigurationError) {
        var limits = TranslationWorker.Limits()
        limits.timeout = .seconds(configuration[\.languages.translation.timeoutSeconds])
        limits.running = configuration[\.languages.translation.concurrency]
        self.limits = limits
        let provider = try Self.provider(configuration)
        command = provider as? CommandTranslator
        if let command, !command.isInstalled {
            logger.warning(
                "languages.translation.command: the program \(command.program) is not installed: it translates nothing")
        }
        let apertium = configuration[\.languages.apertium] ? ApertiumTranslator() : nil
        self.apertium = apertium.flatMap { $0.modes.isEmpty ? nil : $0 }
        all = [provider, self.apertium as (any TriedTranslationEngine)?].compactMap(\.self)
        // Programs take texts of 2,000 characters with what stands for kept parts.
        engines = TranslationEngines(
            all.map { engine in
                engine is CommandTranslator || engine is ApertiumTranslator
                    ? LongTexts(engine, pieceLength: 1_500) : engine as any TranslationEngine
            })
        for engine in all {
            logger.info(
                "texts are translated",
                metadata: ["engine": "\(engine.name)", "hosted": "\(engine.isHosted)"])
        }
    }

    /// Tries each, at the same time.
    func reports() async -> [EngineReport] {
        let timeout = limits.timeout
        return await withTaskGroup(of: (Int, EngineReport).self) { group in
            for (index, engine) in all.enumerated() {
                group.addTask { (index, await engine.report(deadline: .now + timeout)) }
            }
            return await group.reduce(into: []) { $0.append($1) }.sorted { $0.0 < $1.0 }.map(\.1)
        }
    }

    /// The programs that this process runs for it.
    var programs: [(name: String, status: SupervisedChild.Status)] {
        let directions = apertium?.statuses.map { (name: "apertium-\($0.mode)", status: $0.status) } ?? []
        return (command.map { [(name: $0.name, status: $0.status)] } ?? []) + directions
    }

    /// Starts programs again that ended too often, as after a reload.
    func reset() {
        command?.reset()
        apertium?.reset()
    }

    /// - Throws: if the settings are wrong; nothing is started or asked.
    static func provider(
        _ configuration: ServerConfiguration
    ) throws(ConfigurationError) -> (any TriedTranslationEngine)? {
        guard let pairs = LanguagePairs(configuration[\.languages.translation.pairs]) else {
            throw ConfigurationError(
                "languages.translation.pairs must be pairs of BCP 47 language tags, such as en:pt-BR or *:en.")
        }
        let isHosted = configuration[\.languages.translation.hosted] != .local
        switch configuration[\.languages.translation.provider] {
        case .openai:
            return OpenAITranslator(
                url: try url(configuration), model: try model(configuration), key: try key(configuration),
                pairs: pairs, isHosted: isHosted)
        case .anthropic:
            return AnthropicTranslator(
                url: try url(configuration), model: try model(configuration), key: try key(configuration),
                pairs: pairs, isHosted: isHosted)
        case .libretranslate:
            return LibreTranslateTranslator(
                url: try url(configuration), key: try key(configuration), pairs: pairs, isHosted: isHosted)
        case .webhook:
            let secret = configuration[\.languages.translation.webhookSecret]
            guard secret.utf8.count >= 16 else {
                throw ConfigurationError("languages.translation.webhookSecret must have 16 bytes or more.")
            }
            let webhook = WebhookTranslator(
                url: try url(configuration), secret: secret,
                allowsPrivate: configuration[\.languages.translation.allowPrivateAddresses], pairs: pairs,
                isHosted: isHosted)
            guard let webhook else { throw noURL }
            return webhook
        case .command: return try command(configuration, pairs)
        case .none: return nil
        }
    }

    private static func command(
        _ configuration: ServerConfiguration, _ pairs: LanguagePairs
    ) throws(ConfigurationError) -> CommandTranslator {
        let arguments = configuration[\.languages.translation.command]
        guard arguments.first?.isEmpty == false else {
            throw ConfigurationError("languages.translation.command must name a program.")
        }
        guard pairs != .all else {
            throw ConfigurationError("languages.translation.pairs must list what the program translates.")
        }
        var limits = SupervisedChild.Limits()
        limits.request = .seconds(configuration[\.languages.translation.timeoutSeconds])
        limits.addressSpace = UInt(configuration[\.languages.translation.memoryMegabytes]) << 20
        let style: PlaceholderStyle =
            switch configuration[\.languages.translation.placeholders] {
            case .square: .square
            case .brackets: .brackets
            case .tags: .tags
            }
        return CommandTranslator(
            arguments, pairs: pairs, style: style,
            isHosted: configuration[\.languages.translation.hosted] == .hosted, limits: limits)
    }

    private static let noURL = ConfigurationError(
        "languages.translation.url must be an http:// or https:// URL without a user.")

    private static func url(_ configuration: ServerConfiguration) throws(ConfigurationError) -> String {
        let text = configuration[\.languages.translation.url]
        guard let parts = URLComponents(string: text), let host = parts.host, !host.isEmpty, parts.user == nil,
            ["http", "https"].contains(parts.scheme?.lowercased())
        else { throw noURL }
        return text
    }

    private static func model(_ configuration: ServerConfiguration) throws(ConfigurationError) -> String {
        let model = configuration[\.languages.translation.model]
        guard !model.isEmpty else { throw ConfigurationError("languages.translation.model must name a model.") }
        return model
    }

    /// Nil: without one.
    private static func key(_ configuration: ServerConfiguration) throws(ConfigurationError) -> String? {
        let key = configuration[\.languages.translation.apiKey]
        // It becomes part of a header.
        guard key.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else {
            throw ConfigurationError(
                "languages.translation.apiKey must consist of printable characters without spaces.")
        }
        return key.isEmpty ? nil : key
    }
}
