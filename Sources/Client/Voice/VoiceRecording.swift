/// A voice message that is recorded on the server while it is spoken, by a peer connection of the app's with the server.
///
/// What was said is there already when it is sent, however bad the way to the server has become by then. Nobody else knows
/// of it before. It ends with ``send()``, when it is as long as a message may be, or with its peer connection; what was
/// said until then can be sent for ten minutes.
public struct VoiceRecording: Sendable, Identifiable {
    private struct Asking: Encodable { var recording: VoiceRecordingID }
    private struct Answer: Decodable { var message: VoiceMessage }

    /// The recording's id.
    public let id: VoiceRecordingID
    /// The session description that answers one's own.
    public let answer: String
    let endpoint: RealtimeEndpoint

    /// Ends it and sends it. The peer connection is of no more use then. May be tried again where it failed, and sends
    /// nothing twice.
    ///
    /// - Throws: ``Problem/Kind/invalidRequest`` where nothing was said yet, and ``Problem/Kind/notFound`` where it is not
    ///   there any more: it was thrown away, or the server was restarted.
    public func send() async throws -> VoiceMessage {
        let answer: Answer = try await endpoint.ask("voice.sendRecording", Asking(recording: id))
        return answer.message
    }

    /// Ends it and throws it away.
    public func discard() async throws {
        let _: Nothing = try await endpoint.ask("voice.discardRecording", Asking(recording: id))
    }
}
