// Voice messages, which need a connection.
extension Messages {
    private struct Sending: Encodable, Sendable {
        var conversation: ConversationID
        var clientID: MessageClientID
        var kind = "voice"
        var file: String
        var replyTo: Int?
    }
    private struct Of: Encodable, Sendable { var conversation: ConversationID; var number: Int }
    private struct MessageResult: Decodable, Sendable { var message: Message }
    private struct LinkResult: Decodable, Sendable { var audio: AudioLink }
    private struct TranscriptResult: Decodable, Sendable { var transcript: Transcript }
    private struct OwnResult: Decodable, Sendable { var own: OwnMessage }

    /// Sends a file as a voice message; it is sent once. Unlike a text it does not wait for a connection.
    ///
    /// - Parameters:
    ///   - file: Made by ``Switchboard/uploadVoice(_:as:)`` or ``VoiceRecording/finish()``.
    ///   - number: The number of the message that it replies to.
    ///   - clientID: Whoever repeats it sends one message.
    /// - Throws: ``Problem/Kind/notFound`` or ``Problem/Kind/conflict`` with the field `file` if it is gone or was sent, and
    ///   ``Problem/Kind/forbidden`` where the other person has not accepted the request.
    @discardableResult
    public func sendVoice(
        _ file: VoiceFile, replyTo number: Int? = nil, as clientID: MessageClientID? = nil
    ) async throws -> Message {
        let result: MessageResult = try await realtime.request(
            "messages.send",
            Sending(
                conversation: conversation, clientID: clientID ?? MessageClientID(newUUID()), file: file.id,
                replyTo: number))
        await realtime.keep([result.message], in: conversation)
        return result.message
    }

    /// A link to the audio of a voice message, for any player.
    ///
    /// - Parameter number: The message's number.
    public func audioLink(of number: Int) async throws -> AudioLink {
        let result: LinkResult = try await ask("messages.audio", of: number)
        return result.audio
    }

    /// Notes that the user has listened to a voice message, on all of their devices: ``OwnMessage/listened``. Nobody else
    /// learns of it.
    ///
    /// - Parameter number: The message's number.
    @discardableResult
    public func markListened(_ number: Int) async throws -> OwnMessage {
        let result: OwnResult = try await ask("messages.listen", of: number)
        await realtime.keep(result.own, in: conversation)
        return result.own
    }

    /// The transcript of a voice message, with its segments.
    ///
    /// - Parameter number: The message's number.
    public func transcript(of number: Int) async throws -> Transcript {
        let result: TranscriptResult = try await ask("messages.transcript", of: number)
        return result.transcript
    }

    /// Asks for the transcript of a voice message, or retries it after a failure. ``VoiceRecord/transcript`` has the result.
    ///
    /// - Parameter number: The message's number.
    /// - Throws: ``Problem`` with the kind `provider_not_configured` if the server has no transcription provider.
    @discardableResult
    public func transcribe(_ number: Int) async throws -> Transcript {
        let result: TranscriptResult = try await ask("messages.transcribe", of: number)
        return result.transcript
    }

    private func ask<Result: Decodable & Sendable>(_ request: String, of number: Int) async throws -> Result {
        try await realtime.request(request, Of(conversation: conversation, number: number))
    }
}
