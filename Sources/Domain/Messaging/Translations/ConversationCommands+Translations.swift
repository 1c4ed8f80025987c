package import Languages
package import Model

// Translations of messages: who may get one, and which have to be made.
extension ConversationCommands {
    /// As `requestTranslations`, if nothing has to be demanded for it. All messages are looked through, so that the
    /// request need not do it in its transaction.
    ///
    /// - Returns: nil if something has.
    package func knownTranslations(
        of numbers: [Int64], into language: LanguageTag?, in id: ConversationID, by user: UserID,
        support: TranslationSupport, store: some MessagingStore
    ) throws -> [MessageTranslation]? {
        var rows: [MessageTranslation] = []
        try visit(numbers, into: language, in: id, by: user, support: support, store: store) {
            demand, message, target in
            if let row = try demand.known(message, into: target) { rows.append(row) }
        }
        return rows.count == numbers.count ? rows : nil
    }

    /// Translations of messages that the user sees: those that there are, and `queued` ones of those that are made now.
    ///
    /// - Parameters:
    ///   - numbers: 1 to `limits.translatedAtOnce`.
    ///   - language: nil for the language in which the user reads this conversation.
    ///   - isAutomatic: whether nobody has asked for them.
    /// - Throws: `not_found` of the field whose message the user does not see.
    package func requestTranslations(
        of numbers: [Int64], into language: LanguageTag?, in id: ConversationID, by user: UserID,
        support: TranslationSupport, isAutomatic: Bool = false, store: some MessagingStore
    ) throws -> [MessageTranslation] {
        var rows: [MessageTranslation] = []
        try visit(
            numbers, into: language, in: id, by: user, support: support, isAutomatic: isAutomatic, store: store
        ) { demand, message, target in
            rows.append(try demand.translation(of: message, into: target))
        }
        return rows
    }

    private func visit<Store: MessagingStore>(
        _ numbers: [Int64], into language: LanguageTag?, in id: ConversationID, by user: UserID,
        support: TranslationSupport, isAutomatic: Bool = false, store: Store,
        _ body: (inout TranslationDemand<Store>, Message, TranslationTarget) throws -> Void
    ) throws {
        guard (1...limits.translatedAtOnce).contains(numbers.count) else {
            throw Problem.invalid("numbers", "Expected 1 to \(limits.translatedAtOnce) numbers of messages.")
        }
        let found = try get(id, by: user, for: .listen, in: store)
        let reader = try translationReader(user, in: id, store)
        guard let target = language.map({ TranslationTarget($0, tone: reader.tone) }) ?? reader.target else {
            throw Problem.invalid("language", "Say into which language: your profile names none.")
        }
        var demand = TranslationDemand(
            found: found, user: user, commands: self, support: support, isAutomatic: isAutomatic, store: store)
        for (index, number) in numbers.enumerated() {
            guard let message = try demand.page.message(number) else {
                throw Problem.notFound("message", field: "numbers[\(index)]")
            }
            try body(&demand, message.message, target)
        }
    }

    /// The messages after a number that somebody reads automatically and nobody has demanded yet, the newest first.
    package func untranslated(
        after number: Int64, in id: ConversationID, for user: UserID, support: TranslationSupport,
        store: some MessagingStore
    ) throws -> [Int64] {
        try untranslated(in: id, for: user, support: support, store: store) { page, conversation in
            try page.page(earlier: limits.window, upTo: conversation.lastNumber, later: 0, after: number)
                .messages.map(\.message).reversed()
        }
    }

    /// Those of these messages.
    package func untranslated(
        of numbers: [Int64], in id: ConversationID, for user: UserID, support: TranslationSupport,
        store: some MessagingStore
    ) throws -> [Int64] {
        try untranslated(in: id, for: user, support: support, store: store) { page, _ in
            try numbers.prefix(limits.translatedAtOnce).compactMap { try page.message($0)?.message }
        }
    }

    private func untranslated<Store: MessagingStore>(
        in id: ConversationID, for user: UserID, support: TranslationSupport, store: Store,
        _ messages: (PageReader<Store>, Conversation) throws -> [Message]
    ) throws -> [Int64] {
        let reader = try translationReader(user, in: id, store)
        guard reader.mode == .automatic, let target = reader.target else { return [] }
        let found = try get(id, by: user, for: .listen, in: store)
        var demand = TranslationDemand(
            found: found, user: user, commands: self, support: support, isAutomatic: true, store: store)
        return try messages(demand.page, found.conversation).filter { message in
            guard reader.needs(message, in: try self.language(of: message, in: store)) else { return false }
            // A failed translation is tried again when a user asks for it.
            let known = try store.translation(
                of: message.number, textVersion: message.textVersion, into: target, in: id)
            return try known == nil && demand.known(message, into: target) == nil
        }.map(\.number)
    }

    /// What the user reads translations in, and when they want them.
    package func translationReader(
        _ user: UserID, in id: ConversationID, _ store: some MessagingStore
    ) throws -> TranslationReader {
        let (own, general) = (try store.membership(of: user, in: id), try store.languageChoices(of: user))
        let settings = own.choices.translation ?? general.choices.translation ?? TranslationSettings()
        let languages = try store.languages(of: user)
        return TranslationReader(
            user: user, mode: settings.mode, language: settings.into ?? languages.lazy.compactMap(\.asTarget).first,
            tone: settings.tone ?? intelligence.tone, known: languages,
            since: max(own.choicesSince, general.since),
            hints: own.choices.hints ?? general.choices.hints ?? .onRequest)
    }

    /// Who sees that a translation of this version of the message has changed. Only its author sees a text that is
    /// withheld, and everybody else sees the text before it: the author must not learn that anybody reads that one.
    func audience(ofTranslationOf version: Int64, _ message: Message) -> TranslationAudience {
        if message.isWithheld { return .author(message.author) }
        guard message.isTextWithheld else { return .readers }
        return message.textVersion == version ? .author(message.author) : .others(than: message.author)
    }
}

/// Which of the users who see the message and read its language are told of a change of a translation.
package enum TranslationAudience: Hashable, Sendable {
    case readers
    case author(UserID)
    case others(than: UserID)
}

/// How a member reads what others write.
package struct TranslationReader: Hashable, Sendable {
    package var user: UserID
    package var mode: TranslationMode
    /// Nil if the user named no language.
    package var language: LanguageTag?
    package var tone: TranslationTone?
    /// In the order of preference.
    package var known: [LanguageTag]
    /// The store's counter since when this holds.
    package var since: Int64
    /// When they want messages explained.
    package var hints: TranslationMode

    package var target: TranslationTarget? { language.map { TranslationTarget($0, tone: tone) } }

    /// Whether the message is in a language that the user does not know. If it is a guess, and may be a language that
    /// they know, the message is not translated.
    func needs(_ message: Message, in language: MessageLanguage?) -> Bool {
        guard message.author != user, let language, !language.code.isReadable(knowing: known),
            self.language.map({ !language.code.isReadable(knowing: [$0]) }) ?? false
        else { return false }
        return language.confidence == .high || !known.contains { $0.usesSameScript(as: language.code) }
    }
}

extension LanguageTag {
    fileprivate func usesSameScript(as other: LanguageTag) -> Bool {
        (effectiveScript ?? "Latn") == (other.effectiveScript ?? "Latn")
    }
}

/// Finds or demands translations for one member.
struct TranslationDemand<Store: MessagingStore> {
    let page: PageReader<Store>
    private let commands: ConversationCommands
    private let support: TranslationSupport
    private let store: Store
    /// Without a request, the author's budget pays: nobody can make the author write more.
    private let isAutomatic: Bool
    private var levels: MessageLevels<Store>
    private var glossaries: [LanguageTag: LazyGlossary] = [:]

    init(
        found: MemberConversation, user: UserID, commands: ConversationCommands, support: TranslationSupport,
        isAutomatic: Bool = false, store: Store
    ) {
        self.isAutomatic = isAutomatic
        page = PageReader(found: found, user: user, store: store)
        self.commands = commands
        self.support = support
        self.store = store
        levels = MessageLevels(found.conversation, rules: commands.intelligence, in: store)
    }

    /// What there is, or why there is none; nil if it has to be demanded.
    ///
    /// - Parameter message: as the user sees it.
    mutating func known(_ message: Message, into target: TranslationTarget) throws -> MessageTranslation? {
        func unavailable(_ reason: MessageTranslation.Reason) -> MessageTranslation {
            MessageTranslation(
                conversation: message.conversation, number: message.number, target: target, of: message.textVersion,
                status: .unavailable, reason: reason)
        }
        guard let words = message.words, let finding = try finding(of: message, target.language), finding.hasWords
        else { return unavailable(.noText) }
        guard let source = try commands.language(of: message, in: store)?.code else {
            return unavailable(.languageUnknown)
        }
        if source.isReadable(knowing: [target.language]) { return unavailable(.sameLanguage) }
        let level = try levels.level(of: message)
        guard level.allowsTranslation(byHosted: false) else { return unavailable(.consentRequired) }
        if let seen = try stored(message, into: target)?.seen(at: level), seen.isFinal {
            if seen.terms == finding.terms { return seen }
        }
        if try isSuperseded(message) { return unavailable(.edited) }
        switch support.answer(source, target.language, level.allowsTranslation(byHosted: true)) {
        case .supported(true):
            let isPaid = try commands.isWithinBudget(
                isAutomatic ? message.author : page.user, Int64(words.count), in: store)
            return isPaid ? nil : unavailable(.budgetExhausted)
        case .supported(false): return nil
        case .hostedOnly: return unavailable(.consentRequired)
        case .pairNotSupported: return unavailable(.pairNotSupported)
        }
    }

    /// What there is, or is made now.
    mutating func translation(of message: Message, into target: TranslationTarget) throws -> MessageTranslation {
        if let known = try known(message, into: target) { return known }
        guard let source = try commands.language(of: message, in: store)?.code else {
            return MessageTranslation(queued: message, into: target)
        }
        try store.demand(
            TranslationJob(
                conversation: message.conversation, number: message.number, target: target, of: message.textVersion,
                author: message.author, source: source, payer: isAutomatic ? message.author : page.user))
        if let waiting = try stored(message, into: target), waiting.status == .queued { return waiting }
        var row = MessageTranslation(queued: message, into: target)
        row.touched = try store.nextCounter()
        guard let whole = try store.message(message.number, in: message.conversation) else { return row }
        try store.save(row, for: commands.audience(ofTranslationOf: row.of, whole))
        return row
    }

    private mutating func finding(of message: Message, _ language: LanguageTag) throws -> TextFindings.Finding? {
        var glossary =
            try glossaries[language] ?? LazyGlossary(commands.terms(of: page.id, into: language, in: store))
        defer { glossaries[language] = glossary }
        return commands.findings.finding(of: message, &glossary)
    }

    /// Whether the user sees a text that its author has changed for all others: nothing is made of it any more.
    private func isSuperseded(_ message: Message) throws -> Bool {
        guard let current = try store.message(message.number, in: message.conversation) else { return true }
        return current.textVersion != message.textVersion && !current.isTextWithheld
    }

    private func stored(_ message: Message, into target: TranslationTarget) throws -> MessageTranslation? {
        try store.translation(
            of: message.number, textVersion: message.textVersion, into: target, in: message.conversation)
    }
}

extension MessageTranslation {
    /// Whether asking again would bring the same.
    fileprivate var isFinal: Bool {
        status == .done || status == .unavailable && (reason == .unknownWords || reason == .textTooLong)
    }

    fileprivate init(queued message: Message, into target: TranslationTarget) {
        self.init(
            conversation: message.conversation, number: message.number, target: target, of: message.textVersion,
            status: .queued)
    }
}

extension Message {
    /// What somebody wrote or said; nil if there is none, or not yet.
    var words: String? {
        guard deletedAt == nil else { return nil }
        return kind == .voice ? voice?.words : kind == .text ? text : nil
    }

    /// What of it engines are given; nil if it has no words of somebody.
    package var translatableText: MaskedText? {
        words.map { MaskedText($0, ranges: kind == .voice ? RangeFinder.ranges(in: $0).ranges : ranges) }
    }
}

extension MaskedText {
    /// A message's text. Parts that are the same in every language, and parts that may leave no server, are kept as
    /// they are.
    package init(_ text: String, ranges: [TextRange]) {
        let same = ranges.filter(\.kind.isSameInEveryLanguage).map { $0.start..<$0.end }
        self.init(text, keeping: same + SensitiveText.ranges(in: text))
    }
}

// Listening to translations.
extension ConversationCommands {
    /// Those of the newest messages that the listener sees.
    package func newestTranslations(
        of found: MemberConversation, _ reader: TranslationReader, in store: some MessagingStore
    ) throws -> [MessageTranslation] {
        let page = try PageReader(found: found, user: reader.user, store: store).page(
            earlier: limits.window, upTo: found.conversation.lastNumber, later: 0)
        return try translations(of: page.messages.map(\.message), found, reader, in: store)
    }

    /// Those that have changed after a counter.
    ///
    /// - Returns: nil if it is too much.
    package func seenTranslations(
        of found: MemberConversation, _ reader: TranslationReader, touchedAfter counter: Int64,
        in store: some MessagingStore
    ) throws -> [MessageTranslation]? {
        guard let target = reader.target else { return [] }
        let id = found.conversation.id
        let rows = try store.translations(in: id, into: target, touchedAfter: counter, limit: limits.window + 1)
        guard rows.count <= limits.window else { return nil }
        let page = PageReader(found: found, user: reader.user, store: store)
        let messages = try Set(rows.map(\.number)).compactMap { try page.message($0)?.message }
        return try translations(of: messages, found, reader, in: store).filter { $0.touched > counter }
            .sorted { $0.touched < $1.touched }
    }

    /// - Parameter messages: as the reader sees them.
    private func translations(
        of messages: [Message], _ found: MemberConversation, _ reader: TranslationReader, in store: some MessagingStore
    ) throws -> [MessageTranslation] {
        guard let target = reader.target else { return [] }
        let rows = try store.translations(of: messages.map(\.number), into: target, in: found.conversation.id)
        var levels = MessageLevels(found.conversation, rules: intelligence, in: store)
        return try messages.compactMap { message in
            guard let row = rows.first(where: { $0.number == message.number && $0.of == message.textVersion }) else {
                return nil
            }
            return row.seen(at: try levels.level(of: message))
        }
    }
}
