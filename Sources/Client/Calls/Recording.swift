public import Foundation

/// What was said in a call, kept as a file for each track, with who spoke and when.
public struct Recording: Decodable, Hashable, Sendable, Identifiable {
    /// One track of one participant, from when it was first heard to its end.
    public struct Track: Decodable, Hashable, Sendable {
        /// Who is heard.
        public var user: UserID
        /// The client that sent it.
        public var endpoint: EndpointID
        /// `microphone`, `camera` or `screen`.
        public var source: String
        /// From the beginning of the recording to that of the file, in milliseconds.
        public var offsetMs: Int
        /// In milliseconds; absent while it is written.
        public var durationMs: Int?
        /// Absent while it is written.
        public var byteCount: Int?
        /// Where the file is: Ogg with Opus. Absent while it is written, and when nothing can be heard.
        public var audio: VoiceMessage.Audio?
    }

    /// The recording's id.
    public var id: RecordingID
    /// The call that was recorded.
    public var call: CallID
    /// Who began it.
    public var by: UserID
    /// `ongoing`, `complete`, `failed` or `interrupted`; what failed or was interrupted can be heard as far as it goes.
    public var status: String
    /// When it began.
    public var startedAt: Date
    /// When it ended; absent while it goes on.
    public var endedAt: Date?
    /// Why it failed, in words.
    public var failure: String?
    /// Why it ended, where nobody ended it, nor the call: `longest`, `failed`, `interrupted` or `quota_exceeded`.
    public var reason: String?
    /// In the order in which they were first heard.
    public var tracks: [Track]
    /// All tracks in one file; absent until somebody asks for it.
    public var mix: Mix?

    /// One file of all tracks, in which everybody is heard when they were.
    public struct Mix: Decodable, Hashable, Sendable {
        /// `pending`, `complete` or `failed`.
        public var status: String
        /// Why it failed, in words.
        public var failure: String?
        /// In milliseconds, once it is complete.
        public var durationMs: Int?
        /// Once it is complete.
        public var byteCount: Int?
        /// Where the file is, once it is complete: Ogg with Opus.
        public var audio: VoiceMessage.Audio?
    }
}

/// What was said in a recording, and by whom, as far as it is written down.
public struct RecordingTranscript: Decodable, Hashable, Sendable {
    /// Something that one of them said at a stretch.
    public struct Segment: Decodable, Hashable, Sendable {
        /// When it begins, in milliseconds from the beginning of the recording.
        public var start: Int
        /// When it ends, in milliseconds.
        public var end: Int
        /// The words.
        public var text: String
        /// Who says it.
        public var user: UserID
        /// `microphone`, `camera` or `screen`.
        public var source: String
        /// Where the track stands in ``Recording/tracks``.
        public var track: Int
    }

    /// How far a track is that can be heard.
    public struct Track: Decodable, Hashable, Sendable {
        /// Where it stands in ``Recording/tracks``.
        public var track: Int
        /// Who is heard.
        public var user: UserID
        /// `pending`, `complete` or `failed`.
        public var status: String
        /// Once it has failed.
        public var failure: Transcript.Failure?
    }

    /// A file of the words with the names of those who say them.
    public enum Format: String, Sendable, CaseIterable {
        /// A line for everything that is said.
        case text
        /// SubRip subtitles.
        case srt
        /// WebVTT subtitles.
        case vtt
    }

    /// `pending` while a track is being written down; `failed` when one has failed, whatever the others say.
    public var status: String
    /// That most of the words are in, as BCP 47 writes it.
    public var language: String?
    /// In the order in which they begin, as far as they are known.
    public var segments: [Segment]
    /// Those that can be heard.
    public var tracks: [Track]
    /// Of the first track that failed.
    public var failure: Transcript.Failure?
}
