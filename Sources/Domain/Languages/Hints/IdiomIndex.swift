/// Idioms by the first word of each of their forms.
package struct IdiomIndex: Sendable {
    struct Idiom: Hashable, Sendable {
        /// As WordNet writes it: `kick_the_bucket`.
        var key: String
        /// The words after the first.
        var rest: [String]
        /// Of one whose first word is a verb: an object may stand behind it, as in "sweep it under the rug".
        var isVerb: Bool
        /// Of one whose last word is a noun.
        var hasPlural: Bool
        var meaning: String
    }

    struct Match {
        var idiom: Idiom
        /// Of words.
        var count: Int
    }

    private var byFirstWord: [String: [Idiom]] = [:]
    package private(set) var count = 0

    package init() {}

    /// - Parameters:
    ///   - lemma: as WordNet writes it.
    ///   - irregular: forms of verbs that no rule makes, by their lemmas.
    package mutating func add(
        _ lemma: String, as part: WordNet.PartOfSpeech, meaning: String, irregular: [String: [String]]
    ) {
        let words = lemma.split { $0 == "_" || $0 == "-" }.map(String.init)
        guard let first = words.first, words.count >= 2, !meaning.isEmpty else { return }
        let idiom = Idiom(
            key: lemma, rest: Array(words.dropFirst()), isVerb: part == .verb, hasPlural: part == .noun,
            meaning: meaning)
        let forms = part == .verb ? EnglishForms.verb(first, irregular: irregular[first] ?? []) : [first]
        // Longer ones first, so that the longest matches.
        for form in forms where byFirstWord[form]?.contains(where: { $0.rest == idiom.rest }) != true {
            byFirstWord[form, default: []].append(idiom)
            byFirstWord[form]?.sort { ($1.rest.count, $0.key) < ($0.rest.count, $1.key) }
        }
        count += 1
    }

    func match(_ words: [HintWords.Word], at index: Int) -> Match? {
        guard let idioms = byFirstWord[words[index].text] else { return nil }
        for idiom in idioms {
            if let end = end(of: idiom, in: words, after: index) { return Match(idiom: idiom, count: end - index) }
        }
        return nil
    }

    private func end(of idiom: Idiom, in words: [HintWords.Word], after index: Int) -> Int? {
        if let end = end(of: idiom.rest[...], idiom, in: words, from: index + 1) { return end }
        let object = index + 1
        guard idiom.isVerb, idiom.rest.count >= 2, object < words.count, words[object].followsDirectly,
            EnglishForms.objects.contains(words[object].text)
        else { return nil }
        return end(of: idiom.rest[...], idiom, in: words, from: object + 1)
    }

    private func end(
        of rest: ArraySlice<String>, _ idiom: Idiom, in words: [HintWords.Word], from start: Int
    ) -> Int? {
        let end = start + rest.count
        guard end <= words.count else { return nil }
        for (offset, wanted) in rest.enumerated() {
            let word = words[start + offset]
            guard word.followsDirectly else { return nil }
            let isLast = offset == rest.count - 1
            let isSame =
                switch wanted {
                case "one's", "someone's", "somebody's":
                    EnglishForms.possessives.contains(word.text) || word.text.hasSuffix("'s")
                case "oneself": EnglishForms.reflexives.contains(word.text)
                default:
                    word.text == wanted
                        || idiom.hasPlural && isLast && (word.text == wanted + "s" || word.text == wanted + "es")
                }
            guard isSame else { return nil }
        }
        return end
    }
}

/// Forms of English words.
enum EnglishForms {
    static let possessives: Set = ["my", "your", "his", "her", "its", "our", "their", "one's"]
    static let reflexives: Set = [
        "myself", "yourself", "himself", "herself", "itself", "ourselves", "yourselves", "themselves", "oneself",
    ]
    static let objects: Set = [
        "me", "you", "him", "her", "it", "us", "them", "this", "that", "everything", "everyone", "everybody",
        "someone", "somebody",
    ]

    /// All of a verb; rules make some that nobody writes, which does no harm.
    static func verb(_ verb: String, irregular: [String]) -> Set<String> {
        var forms: Set = [verb]
        forms.formUnion(irregular)
        let vowels: Set<Character> = ["a", "e", "i", "o", "u"]
        let stem = String(verb.dropLast())
        if verb.hasSuffix("e") {
            forms.formUnion([verb + "s", verb + "d", stem + "ing"])
        } else if verb.hasSuffix("y"), let before = stem.last, !vowels.contains(before) {
            forms.formUnion([stem + "ies", stem + "ied", verb + "ing"])
        } else if ["s", "x", "z", "ch", "sh", "o"].contains(where: verb.hasSuffix) {
            forms.formUnion([verb + "es", verb + "ed", verb + "ing"])
        } else {
            forms.formUnion([verb + "s", verb + "ed", verb + "ing"])
        }
        return forms
    }
}
