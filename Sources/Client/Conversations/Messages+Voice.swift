public import Foundation

// Voice messages. They are sent as texts are; to hear them needs a connection.
extension Messages {
    private struct Of: Encodable, Sendable { var conversation: ConversationID; var number: Int }
    private struct LinkResult: Decodable, Sendable { var audio: AudioLink }
    private struct TranscriptResult: Decodable, Sendable { var transcript: Transcript }

    /// Sends a sound as a voice message, now or as soon as there is a connection, in order with the other messages of
    /// the conversation. It is kept in a file beside the store until it is sent or given up.
    ///
    /// - Parameters:
    ///   - sound: The content of a file with Opus in Ogg or WebM, within the server's limits:
    ///     ``ServerDescription/voice``.
    ///   - durationMs: How long it is, in milliseconds, which is shown until it is sent.
    ///   - message: The message that it replies to, which may wait too.
    ///   - root: The message in whose thread it is, which may wait too.
    /// - Returns: The message's identity, by which ``State/messages`` shows it at once.
    /// - Throws: ``SwitchboardError/overflow`` if 10,000 writes, or sounds of 256 MiB, wait already, and
    ///   ``SwitchboardError/storeFailed(_:)``.
    @discardableResult
    public func sendVoice(
        _ sound: Data, durationMs: Int? = nil, replyTo message: Message.ID? = nil, inThreadOf root: Message.ID? = nil
    ) async throws -> Message.ID {
        try await realtime.sendVoice(sound, durationMs: durationMs, replyTo: message, thread: root, in: conversation)
    }

    /// Sends a file that the server has as a voice message, now or as soon as there is a connection.
    ///
    /// - Parameters:
    ///   - file: Made by ``Switchboard/uploadVoice(_:as:)`` or ``VoiceRecording/finish()``. If it is gone by then, or
    ///     was sent, the message fails with ``Problem/Kind/notFound`` or ``Problem/Kind/conflict`` of the field `file`.
    ///   - message: The message that it replies to, which may wait too.
    ///   - root: The message in whose thread it is, which may wait too.
    /// - Returns: The message's identity, by which ``State/messages`` shows it at once.
    @discardableResult
    public func sendVoice(
        _ file: VoiceFile, replyTo message: Message.ID? = nil, inThreadOf root: Message.ID? = nil
    ) async throws -> Message.ID {
        try await realtime.sendVoice(file, replyTo: message, thread: root, in: conversation)
    }

    /// The sound of a voice message of ``sendVoice(_:durationMs:replyTo:inThreadOf:)`` that waits to be sent, or was
    /// refused; nil of any other.
    public func waitingSound(of message: Message.ID) async -> Data? { await realtime.waitingSound(of: message) }

    /// A link to the audio of a voice message, for any player.
    ///
    /// - Parameter number: The message's number.
    public func audioLink(of number: Int) async throws -> AudioLink {
        let result: LinkResult = try await ask("messages.audio", of: number)
        return result.audio
    }

    /// Notes that the user has listened to a voice message, on all of their devices, now or as soon as there is a
    /// connection: ``OwnMessage/listened``. Nobody else is told. Noting it twice changes nothing.
    ///
    /// - Parameter number: The message's number.
    public func markListened(_ number: Int) async throws { try await realtime.write(.listen, number, in: conversation) }

    /// The transcript of a voice message, with its segments.
    ///
    /// - Parameter number: The message's number.
    public func transcript(of number: Int) async throws -> Transcript {
        let result: TranscriptResult = try await ask("messages.transcript", of: number)
        return result.transcript
    }

    /// Asks for the transcript of a voice message, or retries it after a failure. ``VoiceRecord/transcript`` has the
    /// result.
    ///
    /// - Parameter number: The message's number.
    /// - Throws: ``Problem`` with the kind `provider_not_configured` if the server has no transcription provider.
    @discardableResult
    public func transcribe(_ number: Int) async throws -> Transcript {
        let result: TranscriptResult = try await ask("messages.transcribe", of: number)
        return result.transcript
    }

    private func ask<Result: Decodable & Sendable>(_ request: String, of number: Int) async throws -> Result {
        try await realtime.request(
            request, Of(conversation: await realtime.resolve(conversation), number: number))
    }
}
