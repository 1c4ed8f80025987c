import Foundation
import Logging
import Services
import Transcription
import Translators

/// The transcription provider, and its queue.
struct TranscriptionParts: Sendable {
    /// Nil if no provider is configured.
    let queue: TranscriptionQueue?
    let transcriber: (any Transcriber)?
    /// Whether what is transcribed leaves what the operator runs.
    let isHosted: Bool
    private let timeout: Duration

    /// - Parameter accounting: nil if nobody counts what the provider is given.
    init(
        _ configuration: ServerConfiguration, accounting: ProviderAccounting?, logger: Logger
    ) throws(ConfigurationError) {
        let language = configuration[\.transcription.language]
        guard language.isEmpty || Self.isLanguage(language) else {
            throw ConfigurationError(
                "transcription.language must be a BCP 47 language tag, such as en or pt-BR.")
        }
        var limits = TranscriptionQueue.Limits()
        limits.running = configuration[\.transcription.concurrency]
        limits.waiting = configuration[\.transcription.queueLength]
        limits.attempt = .seconds(configuration[\.transcription.timeoutSeconds])
        limits.language = language.isEmpty ? nil : language
        let isHosted = Self.isHosted(configuration)
        self.isHosted = isHosted
        timeout = limits.attempt
        transcriber = try Self.provider(configuration, logger: logger)
        queue = transcriber.map { transcriber in
            TranscriptionQueue(
                transcriber, accounting: accounting.map { SpeechAccounting($0, isHosted: isHosted) }, limits: limits)
        }
    }

    /// What transcribes, by the name that people read; nil without a provider.
    var engine: (name: String, isHosted: Bool)? { transcriber.map { ($0.name, isHosted) } }

    /// Gives it a second of a tone, which a hosted one may charge for.
    func reports() async -> [EngineReport] {
        guard let transcriber else { return [] }
        var report = EngineReport(name: transcriber.name, isHosted: isHosted)
        let tone = SpeechAudio((0..<16_000).map { Int16(2_000 * sin(Double($0) * 440 * 2 * .pi / 16_000)) })
        do throws(TranscriptionFailure) {
            _ = try await transcriber.transcribe(tone, language: nil, deadline: .now + timeout)
            report.details.append("it listens to a second")
        } catch {
            let reason = error.description
            report.problem = String(reason.hasSuffix(".") ? reason.dropLast() : reason[...])
        }
        return [report]
    }

    /// Whether what is transcribed leaves what the operator runs.
    static func isHosted(_ configuration: ServerConfiguration) -> Bool {
        switch configuration[\.transcription.hosted] {
        case .hosted: true
        case .local: false
        case .auto: [.openai, .webhook].contains(configuration[\.transcription.provider])
        }
    }

    private static func provider(
        _ configuration: ServerConfiguration, logger: Logger
    ) throws(ConfigurationError) -> (any Transcriber)? {
        switch configuration[\.transcription.provider] {
        case .openai:
            let model = configuration[\.transcription.model]
            guard !model.isEmpty else { throw ConfigurationError("transcription.model must name a model.") }
            let key = configuration[\.transcription.apiKey]
            // The key becomes part of a header.
            guard key.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else {
                throw ConfigurationError("transcription.apiKey must consist of printable characters without spaces.")
            }
            return OpenAITranscriber(url: try url(configuration), model: model, key: key.isEmpty ? nil : key)
        case .webhook:
            let secret = configuration[\.transcription.webhookSecret]
            guard secret.utf8.count >= 16 else {
                throw ConfigurationError("transcription.webhookSecret must have 16 bytes or more.")
            }
            let webhook = WebhookTranscriber(
                url: try url(configuration), secret: secret,
                allowsPrivate: configuration[\.transcription.allowPrivateAddresses])
            guard let webhook else { throw Self.noURL }
            return webhook
        case .command:
            let arguments = configuration[\.transcription.command]
            let command = arguments.isEmpty ? CommandTranscriber.pocketsphinx() : CommandTranscriber(arguments)
            if !command.isInstalled {
                logger.warning(
                    "transcription.command: the program \(command.program) is not installed: nothing is transcribed"
                )
            }
            return command
        case .none: return nil
        }
    }

    private static let noURL = ConfigurationError(
        "transcription.url must be an http:// or https:// URL without a user.")

    private static func url(_ configuration: ServerConfiguration) throws(ConfigurationError) -> String {
        let text = configuration[\.transcription.url]
        guard let parts = URLComponents(string: text), let host = parts.host, !host.isEmpty, parts.user == nil,
            ["http", "https"].contains(parts.scheme?.lowercased())
        else { throw noURL }
        return text
    }

    private static func isLanguage(_ text: String) -> Bool {
        (2...35).contains(text.utf8.count)
            && text.split(separator: "-", omittingEmptySubsequences: false).allSatisfy { part in
                (1...8).contains(part.utf8.count) && part.utf8.allSatisfy { $0 < 0x80 }
                    && part.allSatisfy { $0.isLetter || $0.isNumber }
            }
    }
}
