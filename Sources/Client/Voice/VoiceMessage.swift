public import Foundation

/// Something that one person said to another, to be heard when there is time.
public struct VoiceMessage: Decodable, Hashable, Sendable, Identifiable {
    /// Where a sound is, for a while and for this user alone.
    public struct Audio: Decodable, Hashable, Sendable {
        /// Relative to the server's address. It needs no token, so that any player can have it.
        public var url: String
        /// When it runs out. ``Switchboard/voiceMessage(_:)`` has another.
        public var expiresAt: Date
    }

    /// The message's id.
    public var id: VoiceMessageID
    /// Who said it.
    public var from: UserID
    /// Who is to hear it.
    public var to: UserID
    /// When it was sent.
    public var createdAt: Date
    /// How long it is, in milliseconds.
    public var durationMs: Int
    /// Bytes of its sound.
    public var byteCount: Int
    /// The media type of its sound: Ogg with Opus.
    public var contentType: String
    /// The loudest of each of at most a hundred equal parts, 0 to 100.
    public var waveform: [Int]
    /// How loud it is on the whole, in decibels of full scale: 0 to -127.
    public var level: Int
    /// Where its sound is.
    public var audio: Audio
    /// What is said in it; absent where the server does not write that down.
    public var transcript: Transcript?
}

/// What is said in a sound, or what became of the attempt to write it down.
public struct Transcript: Decodable, Hashable, Sendable {
    /// Something that was said at a stretch.
    public struct Segment: Decodable, Hashable, Sendable {
        /// When it begins, in milliseconds from the beginning of the sound.
        public var start: Int
        /// When it ends, in milliseconds.
        public var end: Int
        /// The words.
        public var text: String
    }

    /// What stood in the way.
    public struct Failure: Decodable, Hashable, Sendable {
        /// A stable word for it.
        public var type: String
        /// The same for people.
        public var detail: String
        /// Trying again may help.
        public var mayRetry: Bool
    }

    /// `pending`, `complete` or `failed`.
    public var status: String
    /// As BCP 47 writes it, where the provider told.
    public var language: String?
    /// All of the words, once it is complete.
    public var text: String?
    /// The words with their times, once it is complete.
    public var segments: [Segment]?
    /// Once it has failed.
    public var failure: Failure?
}

/// A part of the voice messages with somebody, and where the next one begins.
public struct VoiceMessagePage: Decodable, Hashable, Sendable {
    /// The messages, the newest first.
    public var messages: [VoiceMessage]
    /// What to give ``Switchboard/voiceMessages(with:limit:after:)`` for the next part; nil where there is none.
    public var nextCursor: String?
}
