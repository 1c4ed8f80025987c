public import Foundation

/// A recording of a call: one file per track, with the speaker and the time.
public struct Recording: Decodable, Hashable, Sendable, Identifiable {
    /// One track of one participant, from its first audio to its end.
    public struct Track: Decodable, Hashable, Sendable {
        /// The speaker.
        public var user: UserID
        /// The client that sent it.
        public var endpoint: EndpointID
        /// `microphone`, `camera` or `screen`.
        public var source: String
        /// From the start of the recording to the start of the file, in milliseconds.
        public var offsetMs: Int
        /// In milliseconds; absent while it is written.
        public var durationMs: Int?
        /// Absent while it is written.
        public var byteCount: Int?
        /// The link to the file, Ogg with Opus. Absent while it is written, and if it has no audio.
        public var audio: AudioLink?
    }

    /// The recording's id.
    public var id: RecordingID
    /// The call that was recorded.
    public var call: CallID
    /// Who started it.
    public var by: UserID
    /// `ongoing`, `complete`, `failed` or `interrupted`; failed and interrupted recordings are playable up to their
    /// end.
    public var status: String
    /// When it began.
    public var startedAt: Date
    /// When it ended; absent while it is in progress.
    public var endedAt: Date?
    /// Why it failed, as a text.
    public var failure: String?
    /// Why it ended, if neither a participant nor the call's end stopped it: `longest`, `failed`, `interrupted` or
    /// `quota_exceeded`.
    public var reason: String?
    /// In the order of their first audio.
    public var tracks: [Track]
    /// All tracks in one file; absent until somebody requests it.
    public var mix: Mix?

    /// All tracks mixed into one file.
    public struct Mix: Decodable, Hashable, Sendable {
        /// `pending`, `complete` or `failed`.
        public var status: String
        /// Why it failed, as a text.
        public var failure: String?
        /// In milliseconds, once it is complete.
        public var durationMs: Int?
        /// Once it is complete.
        public var byteCount: Int?
        /// The link to the file, Ogg with Opus, once it is complete.
        public var audio: AudioLink?
    }
}

/// The transcript of a recording, with speakers, as far as it is complete.
public struct RecordingTranscript: Decodable, Hashable, Sendable {
    /// An utterance of one speaker.
    public struct Segment: Decodable, Hashable, Sendable {
        /// The start in milliseconds from the start of the recording.
        public var start: Int
        /// The end in milliseconds.
        public var end: Int
        /// The text.
        public var text: String
        /// The speaker.
        public var user: UserID
        /// `microphone`, `camera` or `screen`.
        public var source: String
        /// The index of the track in ``Recording/tracks``.
        public var track: Int
    }

    /// The status of a track that has audio.
    public struct Track: Decodable, Hashable, Sendable {
        /// Its index in ``Recording/tracks``.
        public var track: Int
        /// The speaker.
        public var user: UserID
        /// `pending`, `complete` or `failed`.
        public var status: String
        /// The language that is spoken, as a BCP 47 tag: as the provider reported it, or as its words look, if that is certain.
        public var language: String?
        /// Once it has failed.
        public var failure: Transcript.Failure?
    }

    /// A file format of a transcript with the speakers' names. Newer servers may have more.
    public struct Format: RawRepresentable, Hashable, Sendable {
        /// The format as it stands in the route.
        public let rawValue: String
        /// Takes any format.
        public init(rawValue: String) { self.rawValue = rawValue }

        /// Plain text, one line per utterance.
        public static let text = Self(rawValue: "text")
        /// SubRip subtitles.
        public static let srt = Self(rawValue: "srt")
        /// WebVTT subtitles.
        public static let vtt = Self(rawValue: "vtt")
    }

    /// `pending` while any track is pending; `failed` if any track has failed.
    public var status: String
    /// The language of most of the text, as a BCP 47 tag.
    public var language: String?
    /// The known segments, sorted by start.
    public var segments: [Segment]
    /// The tracks that have audio.
    public var tracks: [Track]
    /// The failure of the first track that failed.
    public var failure: Transcript.Failure?
}

/// What was said in a recording, in another language: some segments of its transcript.
public struct TranscriptTranslations: Decodable, Hashable, Sendable {
    /// A segment in another language. Show it beside the segment with its index, of the transcript as it was when it was asked
    /// for: after ``Switchboard/transcribe(_:)`` others may come between them.
    public struct Segment: Decodable, Hashable, Sendable {
        /// The index in ``RecordingTranscript/segments``.
        public var segment: Int
        /// The index of the track in ``Recording/tracks``.
        public var track: Int
        /// The start in milliseconds from the start of the recording.
        public var start: Int
        /// The language that was spoken; nil if nobody knows it.
        public var from: String?
        /// Done, failed or unavailable.
        public var status: Translation.Status
        /// Why there is none.
        public var reason: Translation.Reason?
        /// The translated text.
        public var text: String?
        /// What made it, such as "apertium".
        public var engine: String?
        /// How it was made.
        public var kind: Translation.Kind?
    }

    /// The language into which they are, as a BCP 47 tag.
    public var language: String
    /// In the order of the transcript.
    public var translations: [Segment]
    /// The index of the first segment that is not among them; nil after the last.
    public var next: Int?
}
