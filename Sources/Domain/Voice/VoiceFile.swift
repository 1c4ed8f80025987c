package import Model

/// A sound that somebody recorded or uploaded, to be sent as a message of kind `voice`. In JSON: `VoiceFile`.
///
/// Only its author knows of it until it is sent; then the message decides who may hear it. One that is not sent in time is
/// removed.
package struct VoiceFile: Hashable, Sendable {
    /// The message that it was sent as.
    package struct Location: Hashable, Sendable {
        package let conversation: ConversationID
        package let number: Int64

        package init(conversation: ConversationID, number: Int64) {
            self.conversation = conversation
            self.number = number
        }
    }

    package let id: FileID
    package let author: UserID
    package let createdAt: Timestamp
    package let audio: VoiceAudio
    /// Nil until it is sent.
    package var location: Location?

    package init(id: FileID, author: UserID, createdAt: Timestamp, audio: VoiceAudio, location: Location? = nil) {
        self.id = id
        self.author = author
        self.createdAt = createdAt
        self.audio = audio
        self.location = location
    }
}

/// Properties of a voice message's audio, found by decoding it.
package struct VoiceAudio: Hashable, Sendable {
    package let durationMs: Int
    package let byteCount: Int
    package let contentType: String
    /// Peak levels of at most a hundred equal parts, 0 to 100.
    package let waveform: [Int]
    /// The average level in dBFS: 0 to -127.
    package let level: Int

    package init(durationMs: Int, byteCount: Int, contentType: String, waveform: [Int], level: Int) {
        self.durationMs = durationMs
        self.byteCount = byteCount
        self.contentType = contentType
        self.waveform = waveform
        self.level = level
    }
}

extension VoiceAudio {
    package func writeMembers(to writer: inout JSONWriter) {
        writer.member("durationMs", Int64(durationMs))
        writer.member("byteCount", Int64(byteCount))
        writer.member("contentType", contentType)
        writer.name("waveform")
        writer.array(waveform) { $0.write(Int64($1)) }
        writer.member("level", Int64(level))
    }
}

/// The limits of voice messages.
package struct VoiceRules: Hashable, Sendable {
    /// The number of values of a waveform.
    package static let waveformCount = 100

    package var byteLimit = 8 * 1024 * 1024
    package var secondsLimit = 300
    /// Files of one user that are not sent.
    package var unsentLimit = 20
    /// How long a file that is not sent is kept.
    package var unsentSeconds: Int64 = 86_400

    /// Files count against their author's quota, sent or not.
    package var quota = MediaQuota()

    package init() {}
}
