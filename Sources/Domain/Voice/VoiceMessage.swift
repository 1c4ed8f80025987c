package import Model

/// Something that one person said to another, to be heard when there is time. In JSON: `VoiceMessage`.
///
/// It belongs to its two users, and nobody else knows that it is there. What was sent before a block stays with both, as
/// calls stay in both histories; what is sent during it is withheld from the recipient, for ever, and its sender cannot
/// tell.
package struct VoiceMessage: Hashable, Sendable, Encodable {
    package let id: VoiceMessageID
    package let from: UserID
    package let to: UserID
    package let createdAt: Timestamp
    package let durationMs: Int
    package let byteCount: Int
    package let contentType: String
    /// The loudest of each of at most a hundred equal parts, 0 to 100.
    package let waveform: [Int]
    /// How loud it is on the whole, in decibels of full scale: 0 to -127.
    package let level: Int
    package let file: FileID
    /// The recipient had blocked the sender, and knows nothing of it. In no JSON.
    package let isWithheld: Bool

    package init(
        id: VoiceMessageID, from: UserID, to: UserID, createdAt: Timestamp, sound: VoiceSound, file: FileID,
        isWithheld: Bool = false
    ) {
        self.id = id
        self.from = from
        self.to = to
        self.createdAt = createdAt
        durationMs = sound.durationMs
        byteCount = sound.byteCount
        contentType = sound.contentType
        waveform = sound.waveform
        level = sound.level
        self.file = file
        self.isWithheld = isWithheld
    }

    /// Where the file is is told by a link that runs out, which each reader gets for themselves.
    private enum CodingKeys: String, CodingKey {
        case id, from, to, createdAt, durationMs, byteCount, contentType, waveform, level
    }

    /// The users who may know of it.
    package var owners: [UserID] { isWithheld ? [from] : [from, to] }

    package func belongs(to user: UserID) -> Bool { owners.contains(user) }
}

/// What was found when a sound was decoded.
package struct VoiceSound: Hashable, Sendable {
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

/// The bounds that voice messages live by.
package struct VoiceRules: Hashable, Sendable {
    /// Values of a waveform.
    package static let waveformCount = 100

    package var byteLimit = 8 * 1024 * 1024
    package var secondsLimit = 300

    /// Messages count for who sent them.
    package var quota = MediaQuota()

    package init() {}
}
