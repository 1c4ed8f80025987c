package import Model

/// The transcript of a recording, with speakers and times, merged from the transcripts of its tracks. In JSON:
/// `RecordingTranscript`.
///
/// It is pending while any track is pending, and failed if any track has failed; the segments of the other tracks are
/// included anyway.
package struct RecordingTranscript: Hashable, Sendable, Encodable {
    package struct Segment: Hashable, Sendable, Encodable {
        /// Milliseconds from the start of the recording.
        package let start: Int64
        package let end: Int64
        package let text: String
        package let user: UserID
        package let source: LegTrack.Source
        /// The track's index in the recording's list of tracks.
        package let track: Int
    }

    /// The status of a track that has audio.
    package struct Track: Hashable, Sendable, Encodable {
        package let track: Int
        package let user: UserID
        package let source: LegTrack.Source
        package let status: FileTranscript.Status
        /// In which is spoken, as the transcriber says.
        package let language: String?
        package let failure: FileTranscript.Failure?
    }

    package let status: FileTranscript.Status
    /// The language of most of the text.
    package let language: String?
    /// Sorted by start; segments of simultaneous speakers overlap.
    package let segments: [Segment]
    package let tracks: [Track]
    /// The failure of the first track that failed.
    package let failure: FileTranscript.Failure?

    /// Nil unless the transcript of every track with audio was requested.
    package init?(of recording: Recording, _ transcripts: [FileID: FileTranscript]) {
        var segments: [Segment] = []
        var tracks: [Track] = []
        var languages: [String: Int] = [:]
        for (index, track) in recording.tracks.enumerated() where track.hasAudio {
            guard let transcript = transcripts[track.file] else { return nil }
            tracks.append(
                Track(
                    track: index, user: track.user, source: track.source, status: transcript.status,
                    language: transcript.language, failure: transcript.failure))
            for segment in transcript.segments ?? [] {
                segments.append(
                    Segment(
                        start: segment.start &+ track.offset, end: segment.end &+ track.offset, text: segment.text,
                        user: track.user, source: track.source, track: index))
            }
            if let language = transcript.language {
                languages[language, default: 0] += transcript.text?.utf8.count ?? 0
            }
        }
        self.segments = segments.sorted { ($0.start, $0.end, $0.track) < ($1.start, $1.end, $1.track) }
        self.tracks = tracks
        language = languages.max { ($0.value, $1.key) < ($1.value, $0.key) }?.key
        failure = tracks.lazy.compactMap(\.failure).first
        status =
            if tracks.contains(where: { $0.status == .pending }) {
                .pending
            } else if failure != nil {
                .failed
            } else {
                .complete
            }
    }
}

extension Recording.Track {
    /// Whether its file contains audio.
    package var hasAudio: Bool { (duration ?? 0) > 0 }
}

/// A track that is to be transcribed.
package struct UntranscribedTrack: Hashable, Sendable {
    package let recording: RecordingID
    package let file: FileID

    package init(recording: RecordingID, file: FileID) {
        self.recording = recording
        self.file = file
    }
}
