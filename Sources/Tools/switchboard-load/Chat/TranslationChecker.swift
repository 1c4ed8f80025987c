/// What was looked at of translations, so that a check of nothing shows.
struct TranslationCounts: Hashable, Sendable {
    /// Messages that a listener should have had translated, each counted for each of them.
    var expected = 0
    /// Those of them that were.
    var seen = 0
    /// Texts that were translated, however many listeners saw that.
    var made = 0
    /// Those that listeners have asked for, since they were not made unasked.
    var askedFor = 0
    /// Messages that the server takes for another language than they are in, or is not sure of.
    var misidentified = 0
    /// What became of the others, by reason.
    var failures: [String: Int] = [:]
}

/// Checks the translations of a conversation: whoever does not know the language of a message has it translated, of its newest
/// text and once for all who listen; whoever does has none.
struct TranslationChecker {
    private(set) var counts = TranslationCounts()
    private(set) var violations: [ChatViolation] = []
    /// When each text was translated into each language, as the first listener saw it.
    private var made: [Text: Int64] = [:]

    private struct Text: Hashable {
        var language: ChatLanguage
        var key: SeenTranslation.Key
    }

    init(checking conversation: ChatHistory.Conversation, languages: [UUIDBits: ChatLanguage]) {
        guard let pages = conversation.pages.first else { return }
        for message in pages.messages where !message.isDeleted && !message.isNotice {
            let language = languages[message.author]?.rawValue
            if !message.isLanguageSure || message.language != language { counts.misidentified += 1 }
        }
        for listener in conversation.readers {
            check(listener, pages, "\(conversation.name), the translations of user \(listener.user)")
        }
        counts.made = made.count
    }

    private mutating func report(_ kind: ChatViolation.Kind, _ text: String) {
        violations.append(ChatViolation(kind: kind, text: text))
    }

    private mutating func check(_ listener: ChatHistory.Reader, _ pages: ChatHistory.Pages, _ what: String) {
        let held = listener.held
        counts.askedFor += held.asked.count
        for violation in held.violations { report(.protocolViolation, "\(what): \(violation)") }
        let messages = Dictionary(pages.messages.map { ($0.number, $0) }, uniquingKeysWith: { $1 })
        for message in pages.messages where held.reader.needs(message) { check(message, held, what) }
        for (key, row) in held.rows.sorted(by: { ($0.key.number, $0.key.of) < ($1.key.number, $1.key.of) }) {
            guard let message = messages[key.number], message.isDeleted || key.of <= message.textVersion else {
                report(.unexpected, "\(what): there is no \(key.number) of version \(key.of)")
                continue
            }
            if !message.isDeleted, key.of == message.textVersion, knows(message, held.reader) {
                report(.needlessTranslation, "\(what): \(key.number) is in their language")
            }
            guard row.isDone else { continue }
            let text = Text(language: held.reader.language, key: key)
            if let other = made.updateValue(row.touched, forKey: text), other != row.touched {
                report(
                    .translatedTwice,
                    "\(what): \(key.number) of version \(key.of) was made at \(row.touched) and at \(other)")
            }
        }
    }

    /// What the author themselves reads others' translations of is of no interest.
    private func knows(_ message: SeenMessage, _ reader: ChatTranslationReader) -> Bool {
        message.isNotice || message.author != reader.author && !reader.needs(message)
            || message.author == reader.author && message.language == reader.language.rawValue
    }

    private mutating func check(_ message: SeenMessage, _ held: HeldTranslations, _ what: String) {
        counts.expected += 1
        let row = held.rows[SeenTranslation.Key(number: message.number, of: message.textVersion)]
        guard row?.isDone != true else { return counts.seen += 1 }
        let became = row?.outcome ?? "never demanded"
        counts.failures[became, default: 0] += 1
        report(.untranslated, "\(what): \(message.number) of version \(message.textVersion) is \(became)")
    }
}

extension TranslationCounts {
    mutating func add(_ other: TranslationCounts) {
        expected += other.expected
        seen += other.seen
        made += other.made
        askedFor += other.askedFor
        misidentified += other.misidentified
        failures.merge(other.failures, uniquingKeysWith: +)
    }
}
