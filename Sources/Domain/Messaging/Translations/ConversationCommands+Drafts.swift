package import Languages
package import Model

/// The context of a draft, or of a message to which the user wants to reply, for the user who asks.
package struct WritingContext: Hashable, Sendable {
    package var text: MaskedText
    /// Nil if it is not known.
    package var language: LanguageTag?
    /// What may be made of the text.
    package var level: IntelligenceLevel
    /// What a model may be given to understand it, the oldest first.
    package var earlier: [EarlierMessage]
    /// How the others write here; nil if nothing says so.
    package var register: FormalityRules.Register?
    /// Whether all readers know the abbreviations of its language, according to the languages that they say they know.
    package var knowsAbbreviations: Bool
    /// The language in which the user who asks reads.
    package var reader: LanguageTag
}

// Drafts and suggested replies. They are for the user who asks, and are not stored.
extension ConversationCommands {
    /// Of a draft for a conversation, in which the user may write.
    ///
    /// - Parameters:
    ///   - isHosted: whether the model is; nil if there is none.
    ///   - language: of the draft, as its author says.
    package func context(
        ofDraft text: String, in id: ConversationID, by user: UserID, language: LanguageTag?, isHosted: Bool?,
        store: some MessagingStore
    ) throws -> WritingContext {
        let draft = try analyzer.analyzed(MessageText(text))
        guard draft.text.unicodeScalars.count <= HintWork.maxLength else {
            throw Problem.invalid("text", "A text that is looked at has at most \(HintWork.maxLength) characters.")
        }
        let found = try get(id, by: user, for: .write, in: store)
        let analysis = analyzer.analysis(of: draft)
        let masked = MaskedText(draft.text, ranges: analysis.ranges)
        guard masked.hasWords else { throw Problem.invalid("text", "There are no words in it.") }
        var levels = MessageLevels(found.conversation, rules: intelligence, in: store)
        let seen = try page(of: found, by: user, before: found.conversation.lastNumber + 1, store)
        let language = try language ?? self.language(analysis, by: user, in: store)?.code
        return WritingContext(
            text: masked, language: language, level: try levels.level(ofWordsBy: user),
            earlier: try isHosted.map { try Self.earlier(seen, isHosted: $0, of: user, &levels) } ?? [],
            register: try register(of: seen.filter { $0.author != user }, &levels, store),
            knowsAbbreviations: try language.map { try allRead($0, in: found.conversation, but: user, store) } ?? true,
            reader: try translationReader(user, in: id, store).hintLanguage)
    }

    /// Of a message of somebody else that the user wants to reply to.
    ///
    /// - Throws: `not_found` if they do not see it.
    package func context(
        ofReplyTo number: Int64, in id: ConversationID, by user: UserID, isHosted: Bool?, store: some MessagingStore
    ) throws -> WritingContext {
        let found = try get(id, by: user, for: .write, in: store)
        guard let message = try PageReader(found: found, user: user, store: store).message(number)?.message else {
            throw Problem.notFound("message", field: "number")
        }
        guard let text = message.translatableText, text.hasWords, text.length <= HintWork.maxLength else {
            throw Problem(.conflict, "There are no words in this message to reply to, or too many.", field: "number")
        }
        var levels = MessageLevels(found.conversation, rules: intelligence, in: store)
        let seen = try page(of: found, by: user, before: number, store)
        return WritingContext(
            text: text, language: try language(of: message, in: store)?.code, level: try levels.level(of: message),
            earlier: try isHosted.map { try Self.earlier(seen, isHosted: $0, of: user, &levels) } ?? [],
            register: try register(of: ([message] + seen).filter { $0.author != user }, &levels, store),
            knowsAbbreviations: true, reader: try translationReader(user, in: id, store).hintLanguage)
    }

    /// The newest first.
    private func page(
        of found: MemberConversation, by user: UserID, before number: Int64, _ store: some MessagingStore
    ) throws -> [Message] {
        try PageReader(found: found, user: user, store: store).page(
            earlier: EarlierMessage.maxCount, upTo: number - 1, later: 0
        ).messages.map(\.message).reversed()
    }

    private func register<Store: MessagingStore>(
        of messages: [Message], _ levels: inout MessageLevels<Store>, _ store: Store
    ) throws -> FormalityRules.Register? {
        var texts: [(text: String, kept: [Range<Int>], language: LanguageTag?)] = []
        for message in messages {
            guard let text = message.translatableText, try levels.level(of: message) >= .local else { continue }
            texts.append((text.original, text.keptRanges, try language(of: message, in: store)?.code))
        }
        return DraftCheck.register(of: texts)
    }

    /// Others whose languages are looked at.
    private static let readersLookedAt = 20

    private func allRead(
        _ language: LanguageTag, in conversation: Conversation, but user: UserID, _ store: some MessagingStore
    ) throws -> Bool {
        let members = try store.members(of: conversation.id, after: nil, limit: Self.readersLookedAt + 1)
        return try members.filter { $0.user != user && $0.state == .member }.allSatisfy { member in
            // Users know the abbreviations of their own languages. Members who have not named any language do not
            // count.
            guard let first = try store.languages(of: member.user).first else { return true }
            return language.isReadable(knowing: [first])
        }
    }
}
