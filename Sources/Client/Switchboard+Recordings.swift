import NIOCore
import NIOHTTP1

extension Switchboard {
    private struct Listing: Decodable { var recordings: [Recording] }
    private struct Answer: Decodable { var recording: Recording }
    private struct TranscriptAnswer: Decodable { var transcript: RecordingTranscript }
    /// Hours of words.
    private static let transcriptLimit = 16 << 20
    private static let fileSeconds: Int64 = 60

    /// The recordings of a call that one was in, in the order in which they began.
    public func recordings(of call: CallID) async throws -> [Recording] {
        let answer: Listing = try await realtime.ask("calls.recordings", ["call": call])
        return answer.recordings
    }

    /// One recording, with new addresses of its files.
    public func recording(_ id: RecordingID) async throws -> Recording {
        let answer: Answer = try await realtime.ask("recordings.get", ["recording": id])
        return answer.recording
    }

    /// Deletes a recording, its files and what is written down of it; only who began it may.
    public func deleteRecording(_ id: RecordingID) async throws {
        let _: Nothing = try await realtime.ask("recordings.remove", ["recording": id])
    }

    /// Has all tracks of a recording that has ended put into one file, or tries again after that failed. The answer says
    /// how far that is, in ``Recording/mix``; it is made once, for everybody.
    public func mix(_ recording: RecordingID) async throws -> Recording {
        let answer: Answer = try await realtime.ask("recordings.mix", ["recording": recording])
        return answer.recording
    }

    /// What was said in a recording, as far as it is written down.
    ///
    /// - Throws: ``Problem`` with the kind `not_found` when nobody has asked for that yet.
    public func transcript(of recording: RecordingID) async throws -> RecordingTranscript {
        let answer: TranscriptAnswer = try await realtime.ask("recordings.transcript", ["recording": recording])
        return answer.transcript
    }

    /// Has a recording that has ended written down, or tries again with those of its tracks that failed.
    ///
    /// - Throws: ``Problem`` with the kind `provider_not_configured` where the server has nobody who does it.
    public func transcribe(_ recording: RecordingID) async throws -> RecordingTranscript {
        let answer: TranscriptAnswer = try await realtime.ask("recordings.transcribe", ["recording": recording])
        return answer.transcript
    }

    /// A complete transcript as a file, in which everybody stands by name.
    public func transcript(of recording: RecordingID, as format: RecordingTranscript.Format) async throws -> String {
        let token = try await credentials.accessToken()
        let bytes = try await door.exchange(
            .GET, "/v1/recordings/\(recording)/transcript/\(format.rawValue)", token: token.text, body: nil,
            timeout: .seconds(Self.fileSeconds), limit: Self.transcriptLimit)
        return String(decoding: bytes, as: UTF8.self)
    }
}
