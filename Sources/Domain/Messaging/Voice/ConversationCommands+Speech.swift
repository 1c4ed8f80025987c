package import Languages
package import Model
import Voice

// Speech. As for texts, the lowest level of server, conversation and speaker decides what machines may do with it.
extension ConversationCommands {
    /// Whether this server's provider may transcribe what somebody says.
    ///
    /// - Parameter id: of the conversation in which it is said; nil for a call without one.
    package func allowsTranscription(
        of speaker: UserID, in id: ConversationID?, store: some MessagingStore
    ) throws -> Bool {
        try level(ofSpeechBy: speaker, in: id, store).allowsTranscription(byHosted: intelligence.isTranscriberHosted)
    }

    private func level(
        ofSpeechBy speaker: UserID, in id: ConversationID?, _ store: some MessagingStore
    ) throws -> IntelligenceLevel {
        if let conversation = try id.flatMap({ try store.conversation($0) }) {
            var levels = MessageLevels(conversation, rules: intelligence, in: store)
            return try levels.level(ofWordsBy: speaker)
        }
        return try level(of: speaker, in: store)
    }

    /// What machines may make of what a user says or asks for outside of conversations.
    package func level(of user: UserID, in store: some MessagingStore) throws -> IntelligenceLevel {
        let own = try store.languageChoices(of: user).choices.intelligence
        return min(intelligence.ceiling, own ?? intelligence.defaultLevel)
    }

    /// The user who speaks in the file of a voice message; nil if it may not be transcribed, or is gone.
    package func transcribableAuthor(of id: FileID, in store: some MessagingStore) throws -> UserID? {
        guard let file = try store.voiceFile(id), let location = file.location,
            try allowsTranscription(of: file.author, in: location.conversation, store: store)
        else { return nil }
        return file.author
    }

    /// Words that somebody has spoken in a call, to be translated.
    ///
    /// - Parameters:
    ///   - spoken: the language that the transcriber heard, as a tag, if it said one.
    ///   - id: the id of the call's conversation. Without one, nobody has given consent: hosted services get nothing.
    package func speech(
        _ text: String, in spoken: String?, by speaker: UserID, during id: ConversationID?, into language: LanguageTag,
        store: some MessagingStore
    ) throws -> SpokenText {
        let masked = MaskedText(text, ranges: RangeFinder.ranges(in: text).ranges)
        var level = try store.isActive(speaker) ? level(ofSpeechBy: speaker, in: id, store) : .off
        if id == nil { level = min(level, .local) }
        let glossary =
            try id.map { try self.glossary(of: $0, into: language, in: store) }
            ?? Glossary(intelligence.glossary, into: language)
        return SpokenText(
            text: masked, language: try self.language(ofSpeech: text, in: spoken, by: speaker, store: store)?.code,
            level: level, target: TranslationTarget(language, tone: intelligence.tone),
            terms: glossary.terms(in: masked))
    }
}

/// What somebody has said in a call, as engines are given it.
package struct SpokenText: Hashable, Sendable {
    package var text: MaskedText
    /// Nil if it is not known.
    package var language: LanguageTag?
    /// What may be made of it.
    package var level: IntelligenceLevel
    package var target: TranslationTarget
    /// Of glossaries, those that stand in it.
    package var terms: [GlossaryTerm]
}
