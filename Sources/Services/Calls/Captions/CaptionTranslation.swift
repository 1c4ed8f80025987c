import Calls
import Languages
import Messaging
import Model

/// A caption in a listener's language.
struct CaptionTranslation: Hashable, Sendable {
    var caption: Caption
    var language: LanguageTag
    /// The language that was spoken.
    var from: LanguageTag?
    var result: SpeechTranslation

    /// An event of `captions:<call>:<language>`.
    var json: String {
        var writer = JSONWriter()
        writer.object { writer in
            writer.member("user", caption.user)
            writer.member("source", caption.source.rawValue)
            writer.member("startedAt", caption.startedAt)
            writer.member("language", language.string)
            writer.member("from", from?.string)
            result.write(to: &writer)
        }
        return writer.text
    }
}
