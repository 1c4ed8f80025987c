/// A voice message that the server records from a peer connection of the app.
///
/// Nothing needs to be uploaded to send it, however bad the connection is by then. Nobody else sees it before. It ends
/// with ``send()``, at the maximum length of a message, or with its peer connection; after that it can be sent for ten
/// minutes.
public struct VoiceRecording: Sendable, Identifiable {
    private struct Parameters: Encodable { var recording: VoiceRecordingID }
    private struct Response: Decodable { var message: VoiceMessage }

    /// The recording's id.
    public let id: VoiceRecordingID
    /// The session description of the answer.
    public let answer: String
    let endpoint: RealtimeEndpoint

    /// Ends the recording and sends it. Close the peer connection then. A retry after a failure never sends it twice.
    ///
    /// - Throws: ``Problem/Kind/invalidRequest`` if there is no audio yet, and ``Problem/Kind/notFound`` if the
    ///   recording no longer exists: it was discarded, or the server was restarted.
    public func send() async throws -> VoiceMessage {
        let response: Response = try await endpoint.request("voice.sendRecording", Parameters(recording: id))
        return response.message
    }

    /// Ends the recording and discards it.
    public func discard() async throws {
        let _: Nothing = try await endpoint.request("voice.discardRecording", Parameters(recording: id))
    }
}
