import Languages
import Synchronization

/// What texts were found to have. Each request asks for it again, and looking through a long text takes a fraction of a
/// millisecond, for which others would wait in a transaction. Of the texts nothing is kept but a hash.
final class TextFindings: Sendable {
    struct Finding: Hashable, Sendable {
        var hasWords: Bool
        /// `GlossaryTerm.fingerprint` of the terms that stand in it.
        var terms: String
    }

    /// The older ones are forgotten when there are as many new ones.
    private struct Generations {
        var new: [Int: Finding] = [:]
        var old: [Int: Finding] = [:]
    }

    /// Of a generation.
    static let limit = 8_192
    private let known = Mutex(Generations())

    var count: Int { known.withLock { $0.new.count + $0.old.count } }

    /// Nil of a message without a text.
    func finding(of message: Message, _ glossary: inout LazyGlossary) -> Finding? {
        guard let words = message.words else { return nil }
        var hasher = Hasher()
        hasher.combine(words)
        hasher.combine(message.kind)
        hasher.combine(message.ranges)
        hasher.combine(glossary.hash)
        let key = hasher.finalize()
        if let found = known.withLock({ $0.new[key] ?? $0.old[key] }) { return found }
        guard let text = message.translatableText else { return nil }
        let terms = glossary.isEmpty ? [] : glossary.value.terms(in: text)
        let found = Finding(hasWords: text.hasWords, terms: GlossaryTerm.fingerprint(of: terms))
        known.withLock { known in
            if known.new.count >= Self.limit { known = Generations(old: known.new) }
            known.new[key] = found
        }
        return found
    }
}

/// The terms of a glossary, which is made of them when it is needed.
struct LazyGlossary: Sendable {
    private let terms: [GlossaryTerm]
    let hash: Int
    private(set) lazy var value = Glossary(terms)

    init(_ terms: [GlossaryTerm]) {
        self.terms = terms
        hash = terms.hashValue
    }

    var isEmpty: Bool { terms.isEmpty }
}
