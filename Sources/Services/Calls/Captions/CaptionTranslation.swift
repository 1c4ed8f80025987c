import Calls
import Languages
import Messaging
import Model

/// A caption in a listener's language.
struct CaptionTranslation: Hashable, Sendable {
    typealias Reason = MessageTranslation.Reason

    enum Result: Hashable, Sendable {
        case done(String, engine: String, kind: TranslationKind)
        case failed(Reason)
        /// Nothing can make it as things are.
        case unavailable(Reason)
    }

    var caption: Caption
    var language: LanguageTag
    /// The language that was spoken.
    var from: LanguageTag?
    var result: Result

    /// An event of `captions:<call>:<language>`.
    var json: String {
        var writer = JSONWriter()
        writer.object { writer in
            writer.member("user", caption.user)
            writer.member("source", caption.source.rawValue)
            writer.member("startedAt", caption.startedAt)
            writer.member("language", language.string)
            writer.member("from", from?.string)
            switch result {
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
        return writer.text
    }
}
