package import Model

// Transcripts of voice messages: the owners of the message reach them, and nobody else.
extension VoiceCommands {
    package func transcript(
        of id: VoiceMessageID, by principal: Principal, in store: some VoiceStore
    ) throws -> FileTranscript {
        let message = try get(id, by: principal, in: store)
        guard let transcript = try store.transcript(of: message.file) else { throw Problem.notFound("transcript") }
        return transcript
    }

    /// The message is to be written down, unless it is already, or is being. Returns it when there is something to do.
    package func askForTranscript(
        of id: VoiceMessageID, by principal: Principal, in store: some VoiceStore
    ) throws -> (transcript: FileTranscript, work: VoiceMessage?) {
        let message = try get(id, by: principal, in: store)
        if let known = try store.transcript(of: message.file), known.status != .failed { return (known, nil) }
        try transcribed(message, .pending, in: store)
        return (.pending, message)
    }

    /// Keeps what became of it, and tells its owners. Nothing happens when the message was deleted meanwhile.
    package func transcribed(_ message: VoiceMessage, _ transcript: FileTranscript, in store: some VoiceStore) throws {
        guard try store.voiceMessage(message.id) != nil else { return }
        try store.save(transcript, of: message.file)
        let news = VoiceNews(id: message.id, from: message.from, to: message.to, transcript: transcript)
        for user in message.owners { try store.append("voice.transcribed", news, to: .user(user)) }
    }
}

private struct VoiceNews: Encodable {
    let id: VoiceMessageID
    let from: UserID
    let to: UserID
    let transcript: FileTranscript
}
