// Translations, and the settings for them. All of it needs a connection.
extension Messages {
    private struct LanguageCorrection: Encodable, Sendable {
        var conversation: ConversationID
        var number: Int
        var language: String
    }
    private struct MessageResult: Decodable, Sendable { var message: Message }

    /// Translates messages: existing translations come at once, the others as
    /// ``Translation/Status-swift.struct/queued``. Translations into the language in which the user reads the
    /// conversation are in ``State/messages`` too, where the result replaces a queued one. For other languages, call
    /// this again later.
    ///
    /// If the user's mode is automatic, you need this only for messages before the newest 50, such as those that were
    /// loaded with ``loadEarlier(limit:)``.
    ///
    /// - Parameters:
    ///   - numbers: The numbers of 1 to 50 messages.
    ///   - language: Into which, as a BCP 47 tag; nil for the one in which the user reads this conversation.
    /// - Throws: ``Problem/Kind/pairNotSupported`` or ``Problem/Kind/consentRequired`` if that is why none of them can
    ///   be made, and ``Problem/Kind/providerNotConfigured`` where nothing translates.
    @discardableResult
    public func translate(_ numbers: [Int], into language: String? = nil) async throws -> [Translation] {
        let list: TranslationList = try await realtime.request(
            "translations.request",
            RequestingTranslations(
                conversation: await realtime.resolve(conversation), numbers: numbers, language: language))
        await realtime.keep(list.translations.map { .translation($0) }, in: conversation)
        return list.translations
    }

    /// Says in which language a message of one's own is, where the server was wrong or did not know. It holds until the
    /// message is edited.
    ///
    /// - Parameters:
    ///   - number: The message's number.
    ///   - language: A BCP 47 tag, such as `pt-BR`.
    /// - Returns: The message.
    @discardableResult
    public func correctLanguage(of number: Int, to language: String) async throws -> Message {
        let result: MessageResult = try await realtime.request(
            "messages.setLanguage",
            LanguageCorrection(
                conversation: await realtime.resolve(conversation), number: number, language: language))
        await realtime.keep([result.message], in: conversation)
        return result.message
    }

    /// The terms that are always translated in the same way in this conversation.
    public func glossary() async throws -> [GlossaryTerm] {
        let glossary: Glossary = try await realtime.request(
            "glossary.get", ReadingGlossary(conversation: await realtime.resolve(conversation)))
        return glossary.terms
    }

    /// Replaces the terms of this conversation. The administrators of a group may do that, and both of two people.
    /// Existing translations stay until somebody asks for them again.
    ///
    /// - Parameter terms: At most 200.
    /// - Returns: The terms.
    @discardableResult
    public func setGlossary(_ terms: [GlossaryTerm]) async throws -> [GlossaryTerm] {
        let glossary: Glossary = try await realtime.request(
            "glossary.set", SettingGlossary(conversation: await realtime.resolve(conversation), terms: terms))
        return glossary.terms
    }
}
