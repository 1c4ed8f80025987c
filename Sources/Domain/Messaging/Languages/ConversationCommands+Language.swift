package import Languages
package import Model

// The languages of messages.
extension ConversationCommands {
    /// Says in which language a message of one's own is. It holds until the text is edited.
    package func setLanguage(
        _ code: LanguageTag, of number: Int64, in id: ConversationID, by user: UserID, store: some MessagingStore
    ) throws -> SeenMessage {
        var (found, message) = try change(number, in: id, by: user, store: store)
        guard message.author == user else {
            throw Problem(.forbidden, "Only its author may say in which language a message is.")
        }
        try checkAccepted(found, "say in which language a message is")
        guard message.deletedAt == nil else { throw Problem(.conflict, "This message was deleted.") }
        guard message.words != nil else {
            throw Problem(
                .conflict,
                "Only a text, or a voice message with a transcript, has a language that its author can correct.")
        }
        guard let code = code.replacingRetiredCode().ofText else {
            throw Problem.invalid("language", "The language of a text has a code of two or three letters, such as en.")
        }
        let language = MessageLanguage(code: code, confidence: .high)
        if message.language == language { return try found.seen(message, by: user, in: store) }
        message.language = language
        // Users who do not see the text see the language of the text before it.
        message.change(to: found.conversation.change(), isWithheld: message.isTextWithheld)
        try store.update(message)
        try store.update(found.conversation)
        try retranslate(message, in: store)
        return try found.seen(message, by: user, in: store)
    }

    /// The language of a stored message. A message that was imported, or stored before there was detection, has no
    /// language yet: it is detected each time, and not stored.
    package func language(of message: Message, in store: some MessagingStore) throws -> MessageLanguage? {
        if let known = message.language { return known }
        if let transcript = message.voice?.transcript {
            return try language(of: transcript, by: message.author, in: store)
        }
        guard let text = message.words else { return nil }
        return try language(analyzer.analysis(of: text, message.ranges), by: message.author, in: store)
    }

    /// What the transcriber says that was spoken, or else what the words look like.
    func language(
        of transcript: FileTranscript, by author: UserID, in store: some MessagingStore
    ) throws -> MessageLanguage? {
        guard transcript.status == .complete, let text = transcript.text else { return nil }
        return try language(ofSpeech: text, in: transcript.language, by: author, store: store)
    }

    /// A transcript with the language of its words where the transcriber names none, if that is certain.
    package func withLanguage(
        _ transcript: FileTranscript, by speaker: UserID, in store: some MessagingStore
    ) throws -> FileTranscript {
        // Hours of speech are in the language of their beginning.
        let length = 4_000
        guard transcript.language == nil, let text = transcript.text, let segments = transcript.segments,
            let found = try language(ofSpeech: String(text.prefix(length)), in: nil, by: speaker, store: store),
            found.confidence == .high
        else { return transcript }
        return .complete(language: found.code.string, text: text, segments: segments)
    }

    /// - Parameter spoken: as the transcriber said it.
    func language(
        ofSpeech text: String, in spoken: String?, by author: UserID, store: some MessagingStore
    ) throws -> MessageLanguage? {
        if let spoken = spoken.flatMap({ LanguageTag(wellFormed: $0) })?.replacingRetiredCode().ofText {
            return MessageLanguage(code: spoken, confidence: .high)
        }
        return try language(analyzer.analysis(of: text, RangeFinder.ranges(in: text).ranges), by: author, in: store)
    }

    /// The language of a text by somebody.
    func language(
        _ analysis: TextAnalysis, by author: UserID, in store: some MessagingStore
    ) throws -> MessageLanguage? {
        try analysis.scores.flatMap { $0.language(knowing: try store.languages(of: author)) }
    }
}
