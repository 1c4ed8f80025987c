/// A voice message that the server records from a peer connection of the app.
///
/// Nothing needs to be uploaded, however bad the connection is by then. It ends with ``finish()``, at the maximum length of a
/// message, or with its peer connection; after that it can be finished for ten minutes.
public struct VoiceRecording: Sendable, Identifiable {
    private struct Parameters: Encodable { var recording: VoiceRecordingID }
    private struct Response: Decodable { var file: VoiceFile }

    /// The recording's id.
    public let id: VoiceRecordingID
    /// The session description of the answer.
    public let answer: String
    let endpoint: RealtimeEndpoint

    /// Ends the recording and makes a file of it, which can be sent. Close the peer connection then. A retry has the same file.
    ///
    /// - Throws: ``Problem/Kind/invalidRequest`` if there is no audio yet, and ``Problem/Kind/notFound`` if the
    ///   recording no longer exists: it was discarded, or the server was restarted.
    public func finish() async throws -> VoiceFile {
        let response: Response = try await endpoint.request("voice.finishRecording", Parameters(recording: id))
        return response.file
    }

    /// Ends the recording and discards it.
    public func discard() async throws {
        let _: Nothing = try await endpoint.request("voice.discardRecording", Parameters(recording: id))
    }
}
