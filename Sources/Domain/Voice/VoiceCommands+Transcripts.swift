package import Model

// Transcripts of voice messages. Only the owners of a message may read its transcript.
extension VoiceCommands {
    package func transcript(
        of id: VoiceMessageID, by principal: Principal, in store: some VoiceStore
    ) throws -> FileTranscript {
        let message = try get(id, by: principal, in: store)
        guard let transcript = try store.transcript(of: message.file) else { throw Problem.notFound("transcript") }
        return transcript
    }

    /// Requests a transcript of the message. Returns the message as `work` unless it is transcribed already or pending.
    package func requestTranscript(
        of id: VoiceMessageID, by principal: Principal, in store: some VoiceStore
    ) throws -> (transcript: FileTranscript, work: VoiceMessage?) {
        let message = try get(id, by: principal, in: store)
        if let known = try store.transcript(of: message.file), known.status != .failed { return (known, nil) }
        try transcribed(message, .pending, in: store)
        return (.pending, message)
    }

    /// Saves the result of a transcription and notifies the owners. Does nothing if the message was deleted meanwhile.
    package func transcribed(_ message: VoiceMessage, _ transcript: FileTranscript, in store: some VoiceStore) throws {
        guard try store.voiceMessage(message.id) != nil else { return }
        try store.save(transcript, of: message.file)
        let notice = TranscriptNotice(id: message.id, from: message.from, to: message.to, transcript: transcript)
        for user in message.owners { try store.append(.voiceTranscribed, notice, to: user) }
    }
}

private struct TranscriptNotice: Encodable {
    let id: VoiceMessageID
    let from: UserID
    let to: UserID
    let transcript: FileTranscript
}
