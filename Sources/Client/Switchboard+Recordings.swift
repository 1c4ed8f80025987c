import NIOCore
import NIOHTTP1

extension Switchboard {
    private struct Listing: Decodable { var recordings: [Recording] }
    private struct Response: Decodable { var recording: Recording }
    private struct TranslationRequest: Encodable {
        var recording: RecordingID
        var language: String
        var from: Int
        var before: Int?
    }

    private struct TranscriptResponse: Decodable { var transcript: RecordingTranscript }
    /// Enough for a transcript of many hours.
    private static let transcriptLimit = 16 << 20
    private static let fileSeconds: Int64 = 60

    /// The recordings of a call that the user may access, in the order of their start.
    public func recordings(of call: CallID) async throws -> [Recording] {
        let response: Listing = try await realtime.request("calls.recordings", ["call": call])
        return response.recordings
    }

    /// One recording, with new links to its files.
    public func recording(_ id: RecordingID) async throws -> Recording {
        let response: Response = try await realtime.request("recordings.get", ["recording": id])
        return response.recording
    }

    /// Deletes a recording with its files and transcript; only the user who started it may.
    public func deleteRecording(_ id: RecordingID) async throws {
        let _: Nothing = try await realtime.request("recordings.remove", ["recording": id])
    }

    /// Requests a mix of all tracks of an ended recording into one file, or retries a failed one. ``Recording/mix`` of
    /// the result has its status; the mix is made once, for everybody.
    public func mix(_ recording: RecordingID) async throws -> Recording {
        let response: Response = try await realtime.request("recordings.mix", ["recording": recording])
        return response.recording
    }

    /// The transcript of a recording, as far as it is complete.
    ///
    /// - Throws: ``Problem`` with the kind `not_found` if nobody has requested it yet.
    public func transcript(of recording: RecordingID) async throws -> RecordingTranscript {
        let response: TranscriptResponse = try await realtime.request("recordings.transcript", ["recording": recording])
        return response.transcript
    }

    /// Requests the transcript of an ended recording, or retries its failed tracks.
    ///
    /// - Throws: ``Problem`` with the kind `provider_not_configured` if the server has no transcription provider.
    public func transcribe(_ recording: RecordingID) async throws -> RecordingTranscript {
        let response: TranscriptResponse = try await realtime.request("recordings.transcribe", ["recording": recording])
        return response.transcript
    }

    /// What was said in a recording in another language, some segments at a time: go on from
    /// ``TranscriptTranslations/next``. It is made within the user's budget and stored nowhere, so keep it while it is shown.
    ///
    /// - Parameters:
    ///   - recording: the recording.
    ///   - language: a BCP 47 tag.
    ///   - first: the index of the first segment.
    ///   - limit: the index of the first one that is not wanted, such as one that was translated before; nil for all.
    /// - Throws: ``Problem`` with the kind `conflict` while the transcript is pending, or `provider_not_configured` if the
    ///   server translates nothing.
    public func translations(
        of recording: RecordingID, into language: String, from first: Int = 0, before limit: Int? = nil
    ) async throws -> TranscriptTranslations {
        try await realtime.request(
            "recordings.translateTranscript",
            TranslationRequest(recording: recording, language: language, from: first, before: limit))
    }

    /// A complete transcript as a file with the speakers' names.
    public func transcript(of recording: RecordingID, as format: RecordingTranscript.Format) async throws -> String {
        let token = try await credentials.accessToken()
        let bytes = try await rest.exchange(
            .GET, "/v1/recordings/\(recording)/transcript/\(format.rawValue)", token: token.text, body: nil,
            timeout: .seconds(Self.fileSeconds), limit: Self.transcriptLimit)
        return String(decoding: bytes, as: UTF8.self)
    }
}
