package import Model

/// Something that one person said to another, to be heard when there is time. In JSON: `VoiceMessage`.
///
/// It belongs to its two users, and nobody else knows that it is there. A block keeps further messages away; what was
/// sent before stays with both, as calls stay in both histories.
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

    package init(
        id: VoiceMessageID, from: UserID, to: UserID, createdAt: Timestamp, sound: VoiceSound, file: FileID
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
    }

    /// Where the file is is told by a link that runs out, which each reader gets for themselves.
    private enum CodingKeys: String, CodingKey {
        case id, from, to, createdAt, durationMs, byteCount, contentType, waveform, level
    }

    package func belongs(to user: UserID) -> Bool { from == user || to == user }
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

    package init() {}
}
