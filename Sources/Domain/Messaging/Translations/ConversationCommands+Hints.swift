package import Languages
package import Model

// Hints on messages: who may get them, and which have to be made.
extension ConversationCommands {
    /// Hints on a message that the user sees: those of a model, if there are any, else those of the lexicons, which are
    /// available at once. If there is a model that may be asked, it is. Hints of lexicons are made again for each user
    /// who asks: that takes some microseconds, and hints that are not stored need not be erased, nor updated when a
    /// lexicon changes.
    ///
    /// - Parameters:
    ///   - isAutomatic: whether nobody has asked for them. Then the hints are stored, since they are sent on a stream,
    ///     whose state are rows.
    /// - Returns: nil if something has to be written for it, and `writes` is false.
    /// - Throws: `not_found` if the user does not see the message.
    package func hints(
        on number: Int64, in id: ConversationID, by user: UserID, support: HintSupport, isAutomatic: Bool = false,
        writes: Bool, store: some MessagingStore
    ) throws -> MessageHints? {
        let found = try get(id, by: user, for: .listen, in: store)
        let reader = try translationReader(user, in: id, store)
        let page = PageReader(found: found, user: user, store: store)
        guard let message = try page.message(number)?.message else {
            throw Problem.notFound("message", field: "number")
        }
        var levels = MessageLevels(found.conversation, rules: intelligence, in: store)
        return try hints(
            on: message, for: reader, &levels, support: support, isAutomatic: isAutomatic, writes: writes, store: store)
    }

    /// - Parameter message: as the reader sees it.
    private func hints<Store: MessagingStore>(
        on message: Message, for reader: TranslationReader, _ levels: inout MessageLevels<Store>, support: HintSupport,
        isAutomatic: Bool, writes: Bool, store: Store
    ) throws -> MessageHints? {
        let level = try levels.level(of: message)
        var row = MessageHints(
            conversation: message.conversation, number: message.number, language: reader.hintLanguage,
            of: message.textVersion, status: .done, engine: HintLexicon.name, kind: .lexicon)
        func without(_ reason: MessageTranslation.Reason) -> MessageHints {
            var none = row
            (none.status, none.reason, none.engine, none.kind) = (.unavailable, reason, nil, nil)
            return none
        }
        guard let text = message.translatableText, text.hasWords else { return without(.noText) }
        guard level >= .local else { return without(.consentRequired) }
        let language = try self.language(of: message, in: store)
        row.items = support.lexicon.hints(
            in: text.original, keeping: text.keptRanges, language: language?.code,
            isCertain: language?.confidence == .high, reader: reader.hintLanguage)
        let stored = try store.hints(
            of: message.number, textVersion: message.textVersion, in: reader.hintLanguage, in: message.conversation)
        var given = GivenMessages(message.conversation, store)
        if let stored = try stored.map({ try given.shown($0, at: level, &levels) }) {
            if stored.status == .done && stored.kind == .model || stored.status == .queued { return stored }
            if isAutomatic, !stored.isWithdrawn { return stored }
        }
        guard let isHosted = support.isModelHosted else {
            return try save(row, if: isAutomatic && !row.items.isEmpty, message, writes: writes, store)
        }
        row.reason = try reasonAgainstModel(
            on: message, text, level, isHosted: isHosted, payer: isAutomatic ? message.author : reader.user, store)
        if row.reason != nil {
            return try save(row, if: isAutomatic && !row.items.isEmpty, message, writes: writes, store)
        }
        guard writes else { return nil }
        try store.demand(
            TranslationJob(
                conversation: message.conversation, number: message.number,
                target: TranslationTarget(reader.hintLanguage), of: message.textVersion, author: message.author,
                source: language?.code ?? HintLexicon.language, payer: isAutomatic ? message.author : reader.user,
                purpose: .hints))
        row.status = .queued
        return try save(row, if: true, message, writes: true, store)
    }

    /// Why a model is not asked.
    private func reasonAgainstModel(
        on message: Message, _ text: MaskedText, _ level: IntelligenceLevel, isHosted: Bool, payer: UserID,
        _ store: some MessagingStore
    ) throws -> MessageTranslation.Reason? {
        guard level.allowsModel(isHosted: isHosted) else { return .consentRequired }
        guard text.length <= HintWork.maxLength else { return .textTooLong }
        guard let current = try store.message(message.number, in: message.conversation),
            current.textVersion == message.textVersion || current.isTextWithheld
        else { return .edited }
        guard isHosted else { return nil }
        return try isWithinBudget(payer, Int64(text.length), in: store) ? nil : .budgetExhausted
    }

    private func save(
        _ row: MessageHints, if isStored: Bool, _ message: Message, writes: Bool, _ store: some MessagingStore
    ) throws -> MessageHints? {
        guard isStored else { return row }
        guard writes else { return nil }
        var row = row
        row.touched = try store.nextCounter()
        guard let whole = try store.message(message.number, in: message.conversation) else { return row }
        try store.save(row, for: audience(ofTranslationOf: row.of, whole))
        return row
    }

    /// Those of the messages that somebody has explained automatically, and that nothing is known of yet, the newest
    /// first.
    ///
    /// - Parameter numbers: nil for the newest that they see, after `number`.
    package func unexplained(
        of numbers: [Int64]? = nil, after number: Int64 = 0, in id: ConversationID, for user: UserID,
        store: some MessagingStore
    ) throws -> [Int64] {
        let found = try get(id, by: user, for: .listen, in: store)
        let reader = try translationReader(user, in: id, store)
        guard reader.hints == .automatic else { return [] }
        let page = PageReader(found: found, user: user, store: store)
        let messages =
            if let numbers {
                try numbers.prefix(limits.translatedAtOnce).compactMap { try page.message($0)?.message }
            } else {
                try Array(
                    page.page(
                        earlier: limits.translatedAtOnce, upTo: found.conversation.lastNumber, later: 0, after: number
                    ).messages.map(\.message).reversed())
            }
        let known = try store.hints(of: messages.map(\.number), in: reader.hintLanguage, in: id)
        return try messages.filter { message in
            guard message.author != user, message.translatableText?.hasWords == true,
                !known.contains(where: {
                    $0.number == message.number && $0.of == message.textVersion && !$0.isWithdrawn
                })
            else { return false }
            // What somebody reads best needs no explanation.
            let language = try self.language(of: message, in: store)
            return language.map { !$0.code.isReadable(knowing: [reader.hintLanguage]) } ?? true
        }.map(\.number)
    }
}

extension TranslationReader {
    /// In which language messages are explained.
    package var hintLanguage: LanguageTag { language ?? HintLexicon.language }

    /// By which listeners are told apart.
    package var hintAudience: String { MessageHints.audience(in: hintLanguage) }
}

extension MessageHints {
    /// What no translation's language is.
    package static func audience(in language: LanguageTag) -> String { "hints " + language.string }
}

/// What a model is given for a claimed job.
package struct HintWork: Hashable, Sendable {
    /// Of a text, in Unicode scalars: of longer ones a model is not asked.
    package static let maxLength = 4_000

    package var claim: ClaimedJob
    package var text: MaskedText
    package var language: LanguageTag?
    /// What may be made of it.
    package var level: IntelligenceLevel
    package var earlier: [EarlierMessage]
    /// Of which messages those are.
    package var sources: [HintSource]
}

/// A message that a model is given to explain a later one.
package struct HintSource: Hashable, Sendable {
    package var number: Int64
    /// The `textVersion` that was read.
    package var of: Int64
}

package enum HintOutcome: Hashable, Sendable {
    case explained([Hint], engine: String, isHosted: Bool, sources: [HintSource] = [])
    /// The lexicons' hints stay.
    case failed(MessageTranslation.Reason)
    case unavailable(MessageTranslation.Reason)
}

// The work for workers that ask models.
extension ConversationCommands {
    /// What a model is asked for a claim; nil if its message has changed, or it is no longer demanded.
    package func hintWork(
        for claim: ClaimedJob, isHosted: Bool, in store: some MessagingStore
    ) throws -> HintWork? {
        let job = claim.job
        guard let conversation = try store.conversation(job.conversation),
            let message = try store.message(job.number, in: job.conversation),
            try store.hints(of: job.number, textVersion: job.of, in: job.target.language, in: job.conversation)?
                .status == .queued, let text = try text(of: job, message, in: store)
        else { return nil }
        var levels = MessageLevels(conversation, rules: intelligence, in: store)
        let level = try levels.level(of: message)
        let earlier = try earlier(
            than: message, as: job.of, in: conversation, isHosted: isHosted, levels: &levels, store)
        return HintWork(
            claim: claim, text: text, language: try language(of: message, in: store)?.code, level: level,
            earlier: earlier.map(\.shown), sources: earlier.map(\.source))
    }

    /// The messages before one, the oldest first. It has only messages that everybody who sees that one sees with the
    /// same text, whose authors allow that a model gets them, and that do not disappear.
    private func earlier<Store: MessagingStore>(
        than message: Message, as version: Int64, in conversation: Conversation, isHosted: Bool,
        levels: inout MessageLevels<Store>, _ store: Store
    ) throws -> [(source: HintSource, shown: EarlierMessage)] {
        let number = message.number
        let first = max(
            try store.latestStart(before: number, in: conversation.id), number - Int64(EarlierMessage.maxCount) - 1)
        guard first + 1 < number else { return [] }
        let messages = try store.messages(
            in: conversation.id, first + 1...number - 1, visibleTo: message.author, isNewestFirst: true,
            limit: EarlierMessage.maxCount)
        // Users who had left before a text was changed do not see the change, even if they came back.
        let end = try store.earliestEnd(after: version, number, in: conversation.id)
        return try Self.numberedEarlier(
            messages.filter { !$0.isWithheld && !$0.isTextWithheld && $0.textVersion <= end ?? .max },
            isHosted: isHosted, &levels)
    }

    /// - Parameters:
    ///   - messages: the newest first.
    ///   - me: the user who is called “me”.
    static func earlier<Store: MessagingStore>(
        _ messages: [Message], isHosted: Bool, of me: UserID? = nil, _ levels: inout MessageLevels<Store>
    ) throws -> [EarlierMessage] {
        try numberedEarlier(messages, isHosted: isHosted, of: me, &levels).map(\.shown)
    }

    private static func numberedEarlier<Store: MessagingStore>(
        _ messages: [Message], isHosted: Bool, of me: UserID? = nil, _ levels: inout MessageLevels<Store>
    ) throws -> [(source: HintSource, shown: EarlierMessage)] {
        var names: [UserID: String] = [:]
        if let me { names[me] = "me" }
        var letters = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZ").map(String.init)
        return try messages.reversed().compactMap { message in
            guard message.deletedAt == nil, message.expiresAt == nil,
                let text = message.translatableText, text.hasWords,
                try levels.level(of: message).allowsModel(isHosted: isHosted)
            else { return nil }
            if names[message.author] == nil { names[message.author] = letters.isEmpty ? "Z" : letters.removeFirst() }
            return (
                HintSource(number: message.number, of: message.textVersion),
                EarlierMessage(author: names[message.author] ?? "Z", text)
            )
        }
    }

    /// Stores what became of a claim, unless somebody else has claimed it since, or the message has changed.
    ///
    /// - Returns: whether it was stored.
    @discardableResult
    package func completeHints(
        _ claim: ClaimedJob, _ outcome: HintOutcome, in store: some MessagingStore
    ) throws -> Bool {
        let job = claim.job
        guard try store.finish(claim), let message = try store.message(job.number, in: job.conversation),
            let conversation = try store.conversation(job.conversation),
            var row = try store.hints(
                of: job.number, textVersion: job.of, in: job.target.language, in: job.conversation),
            row.status == .queued
        else { return false }
        switch outcome {
        case .explained(let hints, let engine, let isHosted, let sources):
            var levels = MessageLevels(conversation, rules: intelligence, in: store)
            if try !levels.level(of: message).allowsModel(isHosted: isHosted) {
                (row.status, row.reason) = (.unavailable, .consentRequired)
            } else if try !areCurrent(sources, in: job.conversation, isHosted: isHosted, &levels, store) {
                // It may repeat an earlier message that no longer exists.
                (row.status, row.reason) = (.failed, .providerFailed)
            } else {
                row.level = isHosted ? .full : .local
                (row.status, row.reason, row.items, row.engine, row.kind) = (.done, nil, hints, engine, .model)
                row.earlier = sources.map(\.number)
            }
        case .failed(let reason): (row.status, row.reason) = (.failed, reason)
        case .unavailable(let reason): (row.status, row.reason) = (.unavailable, reason)
        }
        row.touched = try store.nextCounter()
        try store.save(row, for: audience(ofTranslationOf: row.of, message))
        return true
    }

    private func areCurrent<Store: MessagingStore>(
        _ sources: [HintSource], in id: ConversationID, isHosted: Bool, _ levels: inout MessageLevels<Store>,
        _ store: Store
    ) throws -> Bool {
        for source in sources {
            guard let message = try store.message(source.number, in: id), message.deletedAt == nil,
                message.textVersion == source.of, try levels.level(of: message).allowsModel(isHosted: isHosted)
            else { return false }
        }
        return true
    }

    /// Removes what was derived from a message whose text has changed or is gone.
    func removeDerived(of number: Int64, in id: ConversationID, _ store: some MessagingStore) throws {
        try store.removeTranslations(of: number, in: id)
        for row in try store.hints(restingOn: number, in: id) { try withdraw(row, store) }
    }

    private func withdraw(_ row: MessageHints, _ store: some MessagingStore) throws {
        guard let message = try store.message(row.number, in: row.conversation) else { return }
        var row = row.withdrawn()
        row.touched = try store.nextCounter()
        try store.save(row, for: audience(ofTranslationOf: row.of, message))
    }

    /// As `enforceLevels`, of hints.
    func enforceHintLevels(
        in conversation: Conversation, after number: Int64, limit: Int, _ store: some MessagingStore
    ) throws -> Int64? {
        var levels = MessageLevels(conversation, rules: intelligence, in: store)
        let rows = try store.hints(in: conversation.id, after: number, limit: limit)
        var given = GivenMessages(conversation.id, store)
        let next = rows.count < limit ? nil : rows.last.map { max($0.number - 1, number + 1) }
        for var row in rows where row.status != .unavailable || !row.items.isEmpty {
            guard let message = try store.message(row.number, in: conversation.id) else { continue }
            let level = try levels.level(of: message)
            guard level < row.level || level == .off else {
                if try !given.areAll(of: row, &levels) { try withdraw(row, store) }
                continue
            }
            row = row.seen(at: .off)
            (row.status, row.reason, row.items) = (.unavailable, .consentRequired, [])
            row.level = .local
            row.touched = try store.nextCounter()
            try store.save(row, for: audience(ofTranslationOf: row.of, message))
        }
        return next
    }
}

// Listening to hints, which go with translations.
extension ConversationCommands {
    /// Those of the newest messages that the listener sees.
    package func newestHints(
        of found: MemberConversation, _ reader: TranslationReader, in store: some MessagingStore
    ) throws -> [MessageHints] {
        let page = try PageReader(found: found, user: reader.user, store: store).page(
            earlier: limits.window, upTo: found.conversation.lastNumber, later: 0)
        return try hints(of: page.messages.map(\.message), found, reader, in: store)
    }

    /// Those that have changed after a counter.
    ///
    /// - Returns: nil if it is too much.
    package func seenHints(
        of found: MemberConversation, _ reader: TranslationReader, touchedAfter counter: Int64,
        in store: some MessagingStore
    ) throws -> [MessageHints]? {
        let id = found.conversation.id
        let rows = try store.hints(in: id, in: reader.hintLanguage, touchedAfter: counter, limit: limits.window + 1)
        guard rows.count <= limits.window else { return nil }
        let page = PageReader(found: found, user: reader.user, store: store)
        let messages = try Set(rows.map(\.number)).compactMap { try page.message($0)?.message }
        return try hints(of: messages, found, reader, in: store).filter { $0.touched > counter }
            .sorted { $0.touched < $1.touched }
    }

    private func hints(
        of messages: [Message], _ found: MemberConversation, _ reader: TranslationReader, in store: some MessagingStore
    ) throws -> [MessageHints] {
        let rows = try store.hints(of: messages.map(\.number), in: reader.hintLanguage, in: found.conversation.id)
        guard !rows.isEmpty else { return [] }
        var levels = MessageLevels(found.conversation, rules: intelligence, in: store)
        var given = GivenMessages(found.conversation.id, store)
        return try messages.compactMap { message in
            guard let row = rows.first(where: { $0.number == message.number && $0.of == message.textVersion }) else {
                return nil
            }
            return try given.shown(row, at: try levels.level(of: message), &levels)
        }
    }
}

/// Whether the earlier messages of which hints were made may still be given to the model that was given them.
private struct GivenMessages<Store: MessagingStore> {
    private let conversation: ConversationID
    private let store: Store
    private var levels: [Int64: IntelligenceLevel] = [:]

    init(_ conversation: ConversationID, _ store: Store) {
        self.conversation = conversation
        self.store = store
    }

    mutating func areAll(of row: MessageHints, _ levels: inout MessageLevels<Store>) throws -> Bool {
        for number in row.earlier {
            let level =
                try self.levels[number] ?? store.message(number, in: conversation).map { try levels.level(of: $0) }
            self.levels[number] = level ?? .off
            guard (level ?? .off).allowsModel(isHosted: row.level == .full) else { return false }
        }
        return true
    }

    /// As it is shown, before what its authors forbid is erased.
    mutating func shown(
        _ row: MessageHints, at level: IntelligenceLevel, _ levels: inout MessageLevels<Store>
    ) throws -> MessageHints {
        let seen = row.seen(at: level)
        guard seen.kind == .model, try !areAll(of: row, &levels) else { return seen }
        return row.withdrawn()
    }
}
