package import Model

/// What was said in a voice message, or what became of the attempt to write it down. In JSON: `Transcript`.
package struct VoiceTranscript: Hashable, Sendable, Codable {
    package enum Status: String, Hashable, Sendable, Codable, CaseIterable {
        case pending, complete, failed
    }

    package struct Segment: Hashable, Sendable, Codable {
        /// Milliseconds from the beginning.
        package let start: Int64
        package let end: Int64
        package let text: String

        package init(start: Int64, end: Int64, text: String) {
            self.start = start
            self.end = end
            self.text = text
        }
    }

    package struct Failure: Hashable, Sendable, Codable {
        /// A stable word for programs.
        package let type: String
        package let detail: String
        /// Trying again may help.
        package let mayRetry: Bool

        package init(type: String, detail: String, mayRetry: Bool) {
            self.type = type
            self.detail = detail
            self.mayRetry = mayRetry
        }
    }

    package let status: Status
    package let language: String?
    package let text: String?
    package let segments: [Segment]?
    package let failure: Failure?

    package static let pending = Self(status: .pending)

    package static func complete(language: String?, text: String, segments: [Segment]) -> Self {
        Self(status: .complete, language: language, text: text, segments: segments)
    }

    package static func failed(_ failure: Failure) -> Self { Self(status: .failed, failure: failure) }

    private init(
        status: Status, language: String? = nil, text: String? = nil, segments: [Segment]? = nil,
        failure: Failure? = nil
    ) {
        self.status = status
        self.language = language
        self.text = text
        self.segments = segments
        self.failure = failure
    }
}

// Transcripts of voice messages: both users reach them, and nobody else.
extension VoiceCommands {
    package func transcript(
        of id: VoiceMessageID, by principal: Principal, in store: some VoiceStore
    ) throws -> VoiceTranscript {
        let message = try get(id, by: principal, in: store)
        guard let transcript = try store.transcript(of: message.file) else { throw Problem.notFound("transcript") }
        return transcript
    }

    /// The message is to be written down, unless it is already, or is being. Returns it when there is something to do.
    package func askForTranscript(
        of id: VoiceMessageID, by principal: Principal, in store: some VoiceStore
    ) throws -> (transcript: VoiceTranscript, work: VoiceMessage?) {
        let message = try get(id, by: principal, in: store)
        if let known = try store.transcript(of: message.file), known.status != .failed { return (known, nil) }
        try transcribed(message, .pending, in: store)
        return (.pending, message)
    }

    /// Keeps what became of it, and tells both. Nothing happens when the message was deleted meanwhile.
    package func transcribed(_ message: VoiceMessage, _ transcript: VoiceTranscript, in store: some VoiceStore) throws {
        guard try store.voiceMessage(message.id) != nil else { return }
        try store.save(transcript, of: message.file)
        let news = VoiceNews(id: message.id, from: message.from, to: message.to, transcript: transcript)
        for user in [message.from, message.to] { try store.append("voice.transcribed", news, to: .user(user)) }
    }
}

private struct VoiceNews: Encodable {
    let id: VoiceMessageID
    let from: UserID
    let to: UserID
    let transcript: VoiceTranscript
}
