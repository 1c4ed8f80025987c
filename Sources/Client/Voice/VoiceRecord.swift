public import Foundation

/// The sound of a message of kind ``Message/Kind/voice``.
public struct VoiceRecord: Codable, Hashable, Sendable {
    /// The audio's id, the same for everybody; nil of an imported message, whose audio is not on the server, and of one that
    /// waits to be sent, whose audio is ``Messages/waitingSound(of:)``.
    public var file: String?
    /// How long it is, in milliseconds; of a message that waits to be sent, what the app said.
    public var durationMs: Int
    /// The size of its audio in bytes.
    public var byteCount: Int
    /// The media type of its audio: Ogg with Opus.
    public var contentType: String
    /// Peak levels of at most a hundred equal parts, 0 to 100; none of a message that waits to be sent.
    public var waveform: [Int]
    /// The average level in dBFS: 0 to -127.
    public var level: Int
    /// Its transcript without segments; nil if none was asked for.
    public var transcript: Transcript?
}

/// A sound that the server keeps until it is sent, with ``Messages/sendVoice(_:replyTo:inThreadOf:)``, or its time is over.
public struct VoiceFile: Codable, Hashable, Sendable, Identifiable {
    /// The file's id.
    public var id: String
    /// When it was made.
    public var createdAt: Date
    /// Unless it is sent by then, it is removed.
    public var expiresAt: Date
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
}

/// A link to an audio file, which expires and is for this user only.
public struct AudioLink: Decodable, Hashable, Sendable {
    /// A path on the server. It needs no token, so that any player can load it.
    public var url: String
    /// When it expires. Ask for a new one then.
    public var expiresAt: Date
}
