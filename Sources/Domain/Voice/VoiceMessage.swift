package import Model

/// A recorded message from one user to another, to be played later. In JSON: `VoiceMessage`.
///
/// It belongs to its two users and is visible to nobody else. Messages sent before a block stay with both users, as
/// calls stay in both histories. Messages sent during a block are withheld from the recipient for ever; the sender
/// cannot notice.
package struct VoiceMessage: Hashable, Sendable, Encodable {
    package let id: VoiceMessageID
    package let from: UserID
    package let to: UserID
    package let createdAt: Timestamp
    package let durationMs: Int
    package let byteCount: Int
    package let contentType: String
    /// Peak levels of at most a hundred equal parts, 0 to 100.
    package let waveform: [Int]
    /// The average level in dBFS: 0 to -127.
    package let level: Int
    package let file: FileID
    /// The recipient had blocked the sender and never sees the message. Not in JSON.
    package let isWithheld: Bool

    package init(
        id: VoiceMessageID, from: UserID, to: UserID, createdAt: Timestamp, audio: VoiceAudio, file: FileID,
        isWithheld: Bool = false
    ) {
        self.id = id
        self.from = from
        self.to = to
        self.createdAt = createdAt
        durationMs = audio.durationMs
        byteCount = audio.byteCount
        contentType = audio.contentType
        waveform = audio.waveform
        level = audio.level
        self.file = file
        self.isWithheld = isWithheld
    }

    /// The link to the file is not among them: it expires, and each reader gets their own.
    private enum CodingKeys: String, CodingKey {
        case id, from, to, createdAt, durationMs, byteCount, contentType, waveform, level
    }

    /// The users who may see the message.
    package var owners: [UserID] { isWithheld ? [from] : [from, to] }

    package func belongs(to user: UserID) -> Bool { owners.contains(user) }
}

/// Properties of a voice message's audio, found by decoding it.
package struct VoiceAudio: Hashable, Sendable {
    package let durationMs: Int
    package let byteCount: Int
    package let contentType: String
    package let waveform: [Int]
    package let level: Int

    package init(durationMs: Int, byteCount: Int, contentType: String, waveform: [Int], level: Int) {
        self.durationMs = durationMs
        self.byteCount = byteCount
        self.contentType = contentType
        self.waveform = waveform
        self.level = level
    }
}

/// The limits of voice messages.
package struct VoiceRules: Hashable, Sendable {
    /// The number of values of a waveform.
    package static let waveformCount = 100

    package var byteLimit = 8 * 1024 * 1024
    package var secondsLimit = 300

    /// Messages count against the sender's quota.
    package var quota = MediaQuota()

    package init() {}
}
