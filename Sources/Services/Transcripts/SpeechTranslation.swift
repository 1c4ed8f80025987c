package import Languages
package import Messaging
package import Model

/// What became of something that was said, in another language.
package enum SpeechTranslation: Hashable, Sendable {
    package typealias Reason = MessageTranslation.Reason

    case done(String, engine: String, kind: TranslationKind)
    case failed(Reason)
    /// Nothing can make it as things are.
    case unavailable(Reason)

    init(_ result: TranslationResult, by engine: any TranslationEngine) {
        self =
            switch result {
            case .text(let text): .done(text, engine: engine.name, kind: engine.kind)
            case .failed(.damaged): .failed(.damaged)
            case .failed(.unknownWords): .unavailable(.unknownWords)
            case .failed(.pairNotSupported): .unavailable(.pairNotSupported)
            case .failed(.textTooLong): .unavailable(.textTooLong)
            case .failed: .failed(.providerFailed)
            }
    }

    /// Members of an object.
    package func write(to writer: inout JSONWriter) {
        switch self {
        case .done(let text, let engine, let kind):
            writer.member("status", MessageTranslation.Status.done.rawValue)
            writer.member("text", text)
            writer.member("engine", engine)
            writer.member("kind", kind.rawValue)
        case .failed(let reason):
            writer.member("status", MessageTranslation.Status.failed.rawValue)
            writer.member("reason", reason.rawValue)
        case .unavailable(let reason):
            writer.member("status", MessageTranslation.Status.unavailable.rawValue)
            writer.member("reason", reason.rawValue)
        }
    }
}

/// Who translates something that was said.
enum SpeechRoute: Sendable {
    case engine(any TranslationEngine, from: LanguageTag)
    /// Nobody does.
    case none(SpeechTranslation)
    /// It is in that language already.
    case same
}

extension TextTranslator {
    func route(of speech: SpokenText, into language: LanguageTag) -> SpeechRoute {
        guard speech.text.hasWords else { return .none(.unavailable(.noText)) }
        guard let source = speech.language else { return .none(.unavailable(.languageUnknown)) }
        guard !source.isReadable(knowing: [language]) else { return .same }
        guard speech.level.allowsTranslation(byHosted: false) else { return .none(.unavailable(.consentRequired)) }
        let isHostedAllowed = speech.level.allowsTranslation(byHosted: true)
        guard let engine = engines.engine(from: source, into: language, allowsHosted: isHostedAllowed) else {
            let isConsent = engines.engine(from: source, into: language, allowsHosted: true) != nil
            return .none(.unavailable(isConsent ? .consentRequired : .pairNotSupported))
        }
        guard pause(of: engine) == nil else { return .none(.failed(.providerFailed)) }
        return .engine(engine, from: source)
    }
}
