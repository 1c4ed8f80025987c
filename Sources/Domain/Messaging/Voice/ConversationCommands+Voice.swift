import Languages
package import Model
internal import Voice

/// A sound that is to be sent.
package struct OutgoingVoice: Hashable, Sendable {
    package let file: FileID
    /// Whether it is transcribed once it is sent, if that is allowed.
    package let isTranscribed: Bool

    package init(file: FileID, isTranscribed: Bool) {
        self.file = file
        self.isTranscribed = isTranscribed
    }
}

// Voice messages. A user may listen to a message as long as they see it.
extension ConversationCommands {
    /// The sound of a message that is to be sent.
    ///
    /// - Throws: `not_found` and `conflict` of `file`, and `forbidden` in a request.
    func record(
        of voice: OutgoingVoice, _ conversation: Conversation, by user: UserID, in store: some MessagingStore
    ) throws -> VoiceRecord {
        guard conversation.kind != .direct || conversation.memberCount > 1 else {
            throw Problem(
                .forbidden, "You can send only texts until the other person accepts the request.", field: "kind")
        }
        guard let file = try store.voiceFile(voice.file), file.author == user else {
            throw Problem.notFound("voice file", field: "file")
        }
        guard file.location == nil else {
            throw Problem(.conflict, "This file was sent before: make another one.", field: "file")
        }
        let isTranscribed = try voice.isTranscribed && allowsTranscription(of: user, in: conversation.id, store: store)
        return VoiceRecord(file: file.id, audio: file.audio, transcript: isTranscribed ? .pending : nil)
    }

    /// The message has the file now.
    func attach(_ voice: OutgoingVoice?, _ message: Message, in store: some MessagingStore) throws {
        guard let voice else { return }
        try store.save(.init(conversation: message.conversation, number: message.number), of: voice.file)
        if message.voice?.transcript != nil { try store.transcribeVoiceFile(voice.file) }
    }

    /// The file of a voice message, for somebody who sees the message.
    package func voiceFile(
        _ number: Int64, in id: ConversationID, by user: UserID, store: some MessagingStore
    ) throws -> FileID {
        guard let file = try voice(number, in: id, by: user, store: store).voice?.file else {
            throw Problem(.conflict, "The audio of this message is not on this server: it was imported without.")
        }
        return file
    }

    /// Whether the user may hear the file now, whatever link was issued before.
    package func mayListen(to id: FileID, _ user: UserID, in store: some MessagingStore) throws -> Bool {
        guard try store.isActive(user), let location = try store.voiceFile(id)?.location else { return false }
        do {
            return try message(location.number, in: location.conversation, by: user, store: store).voice?.file == id
        } catch let problem as Problem where problem.kind == .notFound || problem.kind == .forbidden {
            return false
        }
    }

    /// Notes that the user has listened to a voice message. Noting it twice changes nothing, and nobody else is told.
    package func listen(
        _ number: Int64, in id: ConversationID, by user: UserID, store: some MessagingStore
    ) throws -> OwnMessage {
        _ = try voice(number, in: id, by: user, store: store)
        var row = try ownRow(number, of: user, in: id, store)
        if row.listenedAt == nil {
            row.listenedAt = store.now
            try save(&row, of: user, in: store)
        }
        return try own(row, of: user, in: store)
    }

    private func voice(
        _ number: Int64, in id: ConversationID, by user: UserID, store: some MessagingStore
    ) throws -> SeenMessage {
        let message = try message(number, in: id, by: user, store: store)
        guard message.kind == .voice else { throw Problem(.conflict, "This is no voice message.", field: "number") }
        guard message.voice != nil else { throw Problem(.conflict, "This message was deleted.", field: "number") }
        return message
    }
}

// Transcripts of voice messages.
extension ConversationCommands {
    /// The whole transcript, for somebody who sees the message with it.
    package func transcript(
        of number: Int64, in id: ConversationID, by user: UserID, store: some MessagingStore
    ) throws -> FileTranscript {
        guard let seen = try voice(number, in: id, by: user, store: store).voice, let transcript = seen.transcript
        else {
            throw Problem.notFound("transcript")
        }
        return try seen.file.flatMap { try store.transcript(of: $0) } ?? transcript
    }

    /// Requests a transcript, unless there is one or it is pending. Every member who sees the message may do that.
    package func requestTranscript(
        of number: Int64, in id: ConversationID, by user: UserID, store: some MessagingStore
    ) throws -> FileTranscript {
        let found = try get(id, by: user, for: .listen, in: store)
        guard found.member.state == .member else { throw Problem(.forbidden, "You are not in this conversation.") }
        let file = try voiceFile(number, in: id, by: user, store: store)
        try found.checkIsOpen(number)
        if let known = try store.transcript(of: file), known.status != .failed { return known }
        guard try transcribableAuthor(of: file, in: store) != nil else {
            throw try consentProblem(
                "machines transcribe this", of: number, in: id, levels: [.local, .translate], by: user,
                field: "number", store: store)
        }
        try store.transcribeVoiceFile(file)
        try transcribed(file, .pending, in: store)
        return .pending
    }

    /// Saves the result of a transcription: the message changes, as by an edit. Does nothing if it was deleted
    /// meanwhile.
    package func transcribed(_ id: FileID, _ transcript: FileTranscript, in store: some MessagingStore) throws {
        guard let location = try store.voiceFile(id)?.location,
            var message = try store.message(location.number, in: location.conversation),
            message.asOf(store.now).deletedAt == nil, message.voice?.file == id,
            var conversation = try store.conversation(location.conversation)
        else { return }
        try store.save(transcript, of: id)
        message.voice?.transcript = transcript.withoutSegments
        message.language = try language(of: transcript, by: message.author, in: store)
        message.change(to: conversation.change(), isWithheld: false)
        message.textVersion = message.version
        try removeDerived(of: message.number, in: conversation.id, store)
        try store.noteChangedText(of: message.number, in: conversation.id)
        try store.update(message)
        try store.update(conversation)
    }

    /// Erases at most `limit` voice messages that were sent before `time`, for all, like messages that are too old.
    ///
    /// - Returns: how many; there may be more even if it is fewer than `limit`.
    package func eraseVoiceMessages(
        before time: Timestamp, limit: Int, in store: some MessagingStore
    ) throws -> Int {
        let files = try store.sentVoiceFiles(before: time, limit: limit)
        for file in files {
            guard let location = file.location,
                var message = try store.message(location.number, in: location.conversation),
                message.deletedAt == nil, message.voice?.file == file.id,
                var conversation = try store.conversation(location.conversation)
            else {
                // Nothing refers to it.
                try store.removeVoiceFile(file.id)
                continue
            }
            try delete(&message, in: &conversation, store: store)
        }
        return files.count
    }
}
