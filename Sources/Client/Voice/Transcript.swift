/// The transcript of an audio file, or the state of the attempt to make it.
public struct Transcript: Codable, Hashable, Sendable {
    /// An utterance.
    public struct Segment: Codable, Hashable, Sendable {
        /// The start in milliseconds from the start of the audio.
        public var start: Int
        /// The end in milliseconds.
        public var end: Int
        /// The text.
        public var text: String
    }

    /// Why the transcription failed.
    public struct Failure: Codable, Hashable, Sendable {
        /// A stable token for programs.
        public var type: String
        /// A human-readable explanation.
        public var detail: String
        /// A retry may succeed.
        public var mayRetry: Bool
    }

    /// `pending`, `complete` or `failed`.
    public var status: String
    /// The language as a BCP 47 tag, if the provider reported it.
    public var language: String?
    /// The whole text, once it is complete.
    public var text: String?
    /// The text with times, once it is complete; nil in a ``VoiceRecord``.
    public var segments: [Segment]?
    /// Once it has failed.
    public var failure: Failure?
}
