/// What the author of a draft may want to change before sending it.
package struct DraftFinding: Hashable, Sendable {
    package enum Kind: String, Hashable, Sendable, CaseIterable {
        /// It is more formal than what others write here,
        case tooFormal = "too_formal"
        /// or less.
        case tooInformal = "too_informal"
        /// It addresses its reader both formally and informally.
        case mixedAddress = "mixed_address"
        /// Written in capitals, which is read as shouting.
        case shouting
        /// Somebody here may not know it.
        case abbreviation
        /// What a model says about it.
        case tone
    }

    package static let maxCount = 8

    package var kind: Kind
    /// In UTF-16 code units.
    package var start: Int
    package var length: Int
    /// In words, where the kind does not say it.
    package var advice: String?
    /// What could stand there instead.
    package var suggestion: String?

    package init(
        _ kind: Kind, start: Int, length: Int, advice: String? = nil, suggestion: String? = nil
    ) {
        self.kind = kind
        self.start = start
        self.length = length
        self.advice = advice
        self.suggestion = suggestion
    }

    package init(_ kind: Kind, _ range: Range<Int>, advice: String? = nil, suggestion: String? = nil) {
        self.init(kind, start: range.lowerBound, length: range.count, advice: advice, suggestion: suggestion)
    }
}

/// How a draft sounds.
package struct DraftReport: Hashable, Sendable {
    package enum Tone: String, Hashable, Sendable, CaseIterable {
        case formal, informal, mixed
        /// Nothing in it says so.
        case neutral
    }

    package var tone: Tone
    /// In the order of the text.
    package var findings: [DraftFinding]

    package init(tone: Tone, findings: [DraftFinding]) {
        self.tone = tone
        self.findings = findings
    }
}

/// Checks drafts by rules, at once and on this server.
package enum DraftCheck {
    /// Of a text of this many words, most of them in capitals, somebody shouts.
    private static let shoutedWords = 3
    private static let shoutedMarks = 3

    /// - Parameters:
    ///   - expected: how the others write here; nil if nothing says so.
    ///   - knowsAbbreviations: whether all who read it know the language's abbreviations.
    package static func report(
        on draft: String, keeping kept: [Range<Int>], language: LanguageTag?, expected: FormalityRules.Register? = nil,
        knowsAbbreviations: Bool = true
    ) -> DraftReport {
        let words = HintWords(draft, keeping: kept).words
        let marks = FormalityRules.marks(in: words, language: language)
        var findings: [DraftFinding] = []
        let tone: DraftReport.Tone =
            switch FormalityRules.register(of: marks) {
            case .formal: .formal
            case .informal: .informal
            case nil: marks.isEmpty ? .neutral : .mixed
            }
        if tone == .mixed, let odd = marks.first(where: { $0.register != marks[0].register }) {
            findings.append(DraftFinding(.mixedAddress, odd.range))
        } else if let expected, let mark = marks.first, mark.register != expected {
            findings.append(DraftFinding(expected == .formal ? .tooInformal : .tooFormal, mark.range))
        }
        if let shout = shouting(in: words, of: draft) { findings.append(DraftFinding(.shouting, shout)) }
        if !knowsAbbreviations {
            for word in words where findings.count < DraftFinding.maxCount {
                guard let row = ChatAbbreviations.row(for: word, language: language, isCertain: language != nil),
                    !findings.contains(where: { $0.suggestion == row.expansion })
                else { continue }
                findings.append(
                    DraftFinding(.abbreviation, word.range, advice: row.meaning, suggestion: row.expansion))
            }
        }
        return DraftReport(tone: tone, findings: findings.sorted { $0.start < $1.start })
    }

    private static func shouting(in words: [HintWords.Word], of draft: String) -> Range<Int>? {
        let long = words.filter { $0.text.unicodeScalars.count >= 2 }
        let loud = long.filter(\.isUppercase)
        if loud.count >= shoutedWords, loud.count * 2 > long.count, let first = loud.first, let last = loud.last {
            return first.range.lowerBound..<last.range.upperBound
        }
        // `!!!`
        var (run, offset) = (0, 0)
        for unit in draft.utf16 {
            run = unit == 0x21 ? run + 1 : 0
            offset += 1
            if run == shoutedMarks { return offset - run..<offset }
        }
        return nil
    }

    /// How these texts address their readers, if most that say so agree.
    package static func register(
        of texts: [(text: String, kept: [Range<Int>], language: LanguageTag?)]
    ) -> FormalityRules.Register? {
        let registers = texts.compactMap { text in
            FormalityRules.register(
                of: FormalityRules.marks(in: text.text, keeping: text.kept, language: text.language))
        }
        let formal = registers.count { $0 == .formal }
        guard registers.count >= 2, formal * 2 != registers.count else { return nil }
        return formal * 2 > registers.count ? .formal : .informal
    }
}
