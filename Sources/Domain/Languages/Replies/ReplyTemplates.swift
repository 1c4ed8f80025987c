/// Short replies that fit to every message of a class, where no language model writes some: the first agrees or says what
/// happens next, the others decline or ask. They are written so that they say nothing of who sends or reads them: no form
/// in them depends on somebody's gender.
package enum ReplyTemplates {
    package static var languages: [String] { all.keys.sorted() }

    /// - Parameter register: how people write to each other here; nil if nothing says so.
    /// - Returns: nil for a language that has none.
    package static func replies(
        to intent: MessageIntent, in language: LanguageTag, register: FormalityRules.Register? = nil
    ) -> [String]? {
        guard let replies = all[language.primaryLanguage]?[intent] else { return nil }
        return register == .formal ? replies.formal : replies.informal
    }

    struct Replies: Sendable {
        var informal: [String]
        var formal: [String]

        /// Of each register three, with bars between them.
        init(_ informal: String, formal: String) {
            self.informal = informal.split(separator: "|").map(String.init)
            self.formal = formal.split(separator: "|").map(String.init)
        }
    }

    private static let all: [String: [MessageIntent: Replies]] = [
        "en": english, "es": spanish, "pt": portuguese, "fr": french, "it": italian, "de": german, "ru": russian,
        "uk": ukrainian, "hi": hindi, "ar": arabic,
    ]
}
