public import Foundation

/// A recorded message from one user to another, to be played later.
public struct VoiceMessage: Decodable, Hashable, Sendable, Identifiable {
    /// A link to an audio file, which expires and is for this user only.
    public struct Audio: Decodable, Hashable, Sendable {
        /// A path on the server. It needs no token, so that any player can load it.
        public var url: String
        /// When it expires. ``Switchboard/voiceMessage(_:)`` returns a new one.
        public var expiresAt: Date
    }

    /// The message's id.
    public var id: VoiceMessageID
    /// The sender.
    public var from: UserID
    /// The recipient.
    public var to: UserID
    /// When it was sent.
    public var createdAt: Date
    /// How long it is, in milliseconds.
    public var durationMs: Int
    /// The size of its audio in bytes.
    public var byteCount: Int
    /// The media type of its audio: Ogg with Opus.
    public var contentType: String
    /// Peak levels of at most a hundred equal parts, 0 to 100.
    public var waveform: [Int]
    /// The average level in dBFS: 0 to -127.
    public var level: Int
    /// The link to its audio.
    public var audio: Audio
    /// Its transcript; absent if the server does not transcribe.
    public var transcript: Transcript?
}

/// The transcript of an audio file, or the state of the attempt to make it.
public struct Transcript: Decodable, Hashable, Sendable {
    /// An utterance.
    public struct Segment: Decodable, Hashable, Sendable {
        /// The start in milliseconds from the start of the audio.
        public var start: Int
        /// The end in milliseconds.
        public var end: Int
        /// The text.
        public var text: String
    }

    /// Why the transcription failed.
    public struct Failure: Decodable, Hashable, Sendable {
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
    /// The text with times, once it is complete.
    public var segments: [Segment]?
    /// Once it has failed.
    public var failure: Failure?
}

/// A page of the voice messages with a user.
public struct VoiceMessagePage: Decodable, Hashable, Sendable {
    /// The messages, newest first.
    public var messages: [VoiceMessage]
    /// The cursor of the next page for ``Switchboard/voiceMessages(with:limit:after:)``; nil on the last page.
    public var nextCursor: String?
}
