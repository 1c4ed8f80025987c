package import Model

/// What was said in a recording, who said it and when: the transcripts of its tracks, put together. In JSON:
/// `RecordingTranscript`.
///
/// It is as far as its tracks are. While one is being written down it is pending; when one has failed it has, whatever
/// the others say, and what those say is there all the same.
package struct RecordingTranscript: Hashable, Sendable, Encodable {
    package struct Segment: Hashable, Sendable, Encodable {
        /// Milliseconds from the beginning of the recording.
        package let start: Int64
        package let end: Int64
        package let text: String
        package let user: UserID
        package let source: LegTrack.Source
        /// Where the track stands in the recording's list of tracks.
        package let track: Int
    }

    /// How far a track is that can be heard.
    package struct Track: Hashable, Sendable, Encodable {
        package let track: Int
        package let user: UserID
        package let source: LegTrack.Source
        package let status: FileTranscript.Status
        package let failure: FileTranscript.Failure?
    }

    package let status: FileTranscript.Status
    /// That most of the words are in.
    package let language: String?
    /// In the order in which they begin; those of people who speak at once overlap.
    package let segments: [Segment]
    package let tracks: [Track]
    /// Of the first track that failed.
    package let failure: FileTranscript.Failure?

    /// Nil while nobody has asked for that of each track.
    package init?(of recording: Recording, _ transcripts: [FileID: FileTranscript]) {
        var segments: [Segment] = []
        var tracks: [Track] = []
        var languages: [String: Int] = [:]
        for (index, track) in recording.tracks.enumerated() where track.isHeard {
            guard let transcript = transcripts[track.file] else { return nil }
            tracks.append(
                Track(
                    track: index, user: track.user, source: track.source, status: transcript.status,
                    failure: transcript.failure))
            for said in transcript.segments ?? [] {
                segments.append(
                    Segment(
                        start: said.start &+ track.offset, end: said.end &+ track.offset, text: said.text,
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
    /// There is something in its file.
    package var isHeard: Bool { (duration ?? 0) > 0 }
}

/// A track that is to be written down.
package struct UnwrittenTrack: Hashable, Sendable {
    package let recording: RecordingID
    package let file: FileID

    package init(recording: RecordingID, file: FileID) {
        self.recording = recording
        self.file = file
    }
}
