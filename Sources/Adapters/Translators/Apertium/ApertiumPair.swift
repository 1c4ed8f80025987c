internal import Languages

/// A direction between close languages, in which rules and dictionaries translate most messages well enough to be
/// understood. Between distant ones, such as English and Spanish, they do not: those are left out.
struct ApertiumPair: Hashable, Sendable {
    /// Of the mode's file in `modes`, and of its data.
    var mode: String
    var source: String
    var target: String
    /// The perceptron of its tagger crashes on most sentences in Apertium 3.8 (its issues 165 and 223), with 4 GB of
    /// address space: the rules before it choose alone.
    var isTaggerBroken = false

    /// The first that fits counts: a regional variant stands before the language.
    static let all: [ApertiumPair] = [
        .init(mode: "rus-ukr", source: "ru", target: "uk", isTaggerBroken: true),
        .init(mode: "ukr-rus", source: "uk", target: "ru", isTaggerBroken: true),
        .init(mode: "bel-rus", source: "be", target: "ru"),
        .init(mode: "rus-bel", source: "ru", target: "be", isTaggerBroken: true),
        .init(mode: "urd-hin", source: "ur", target: "hi"),
        .init(mode: "hin-urd", source: "hi", target: "ur"),
        .init(mode: "es-pt_BR", source: "es", target: "pt-BR"),
        .init(mode: "es-pt", source: "es", target: "pt"),
        .init(mode: "pt-es", source: "pt", target: "es"),
        .init(mode: "spa-cat", source: "es", target: "ca"),
        .init(mode: "cat-spa", source: "ca", target: "es"),
        .init(mode: "por-cat", source: "pt", target: "ca"),
        .init(mode: "cat-por_BR", source: "ca", target: "pt-BR"),
        .init(mode: "cat-por", source: "ca", target: "pt"),
        .init(mode: "spa-ita", source: "es", target: "it"),
        .init(mode: "ita-spa", source: "it", target: "es"),
        .init(mode: "dan-nob", source: "da", target: "nb"),
        .init(mode: "dan-nno", source: "da", target: "nn"),
        .init(mode: "nob-dan", source: "nb", target: "da"),
        .init(mode: "nno-dan", source: "nn", target: "da"),
        .init(mode: "swe-dan", source: "sv", target: "da"),
        .init(mode: "dan-swe", source: "da", target: "sv"),
        .init(mode: "swe-nob", source: "sv", target: "nb"),
        .init(mode: "swe-nno", source: "sv", target: "nn"),
        .init(mode: "nob-swe", source: "nb", target: "sv"),
        .init(mode: "nno-swe", source: "nn", target: "sv"),
        .init(mode: "nno-nob", source: "nn", target: "nb"),
        .init(mode: "nob-nno", source: "nb", target: "nn"),
        .init(mode: "afr-nld", source: "af", target: "nl"),
        .init(mode: "nld-afr", source: "nl", target: "af"),
    ]

    /// Whether it translates what is tagged so into what is asked for. `no` is Bokmål here: who writes it mostly means that.
    func fits(_ source: LanguageTag, _ target: LanguageTag) -> Bool {
        guard let own = LanguageTag(wellFormed: self.source), let made = LanguageTag(wellFormed: self.target),
            Self.isSame(source, own), Self.isSame(target, made)
        else { return false }
        return made.region == nil || made.region == target.region
    }

    /// In the same script too; those whose usual script is not known here are written in Latin letters.
    private static func isSame(_ tag: LanguageTag, _ own: LanguageTag) -> Bool {
        let language = tag.primaryLanguage == "no" ? "nb" : tag.primaryLanguage
        return language == own.primaryLanguage
            && (tag.script == nil || tag.script == (own.effectiveScript ?? "Latn"))
    }
}
