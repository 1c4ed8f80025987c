import Languages
import Messaging
import Model
package import Tokens

/// Short texts that several people wrote, such as greetings, are translated once for all conversations: see `PhraseRules`.
/// What is stored are digests, by the server's secret key, and translations.
///
/// A conversation's own terms are nobody else's business: what has one in it is not remembered. Nor is what an engine was
/// given with other texts, which might have said how it is to be translated.
package struct PhraseMemory: Sendable {
    /// What became of a text that is a phrase.
    enum Use: Hashable, Sendable {
        case recalled(String)
        case made(String, text: String)
    }

    private let key: MediaKey

    package init(key: MediaKey) { self.key = key }

    /// Of the text, and of all that its translation depends on; nil if it is no phrase, or is not worth remembering.
    ///
    /// A name alone would not do: what a hosted engine made is never taken for what an own one did.
    func hash(of work: TranslationWork, by engine: any TranslationEngine) -> String? {
        guard engine.isHosted || engine.kind == .model, !work.hasOwnTerms, work.text.isPhrase else { return nil }
        let job = work.claim.job
        let parts = [
            job.source.string, job.target.text, GlossaryTerm.fingerprint(of: work.terms),
            engine.isHosted ? "hosted" : "own", engine.name, work.text.original,
        ]
        return key.digest(of: parts.joined(separator: "\n"), for: "phrase")
    }

    /// Stands for somebody who wrote phrases.
    func author(_ user: UserID) -> String { key.digest(of: user.text, for: "author of phrases") }
}
