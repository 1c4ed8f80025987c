package import Wire

/// The active speaker of a call and the loudness of each voice, from the audio levels that clients write into their
/// packets (RFC 6464).
///
/// Each voice has a loudness that rises within a few packets and falls slowly. The active speaker stays until somebody
/// is clearly louder for a while, so that neither a cough nor a pause between words changes the speaker. `TopNSelector`
/// uses it to select the audio to forward to a receiver.
package struct SpeakerRanking: Sendable {
    private struct Voice {
        let id: UInt32
        /// 0 is silence, 127 the loudest.
        var loudness: Float = 0
        var lastPacket: Instant
        var lastLoud: Instant?
        /// Since when it has been louder than the active speaker.
        var louderSince: Instant?
    }

    /// dB by which a challenger must be louder.
    static let margin: Float = 6
    /// Anything quieter is silence: 60 dB below full scale, smoothed.
    static let floor: Float = 67
    private static let timeToLead: UInt64 = 300_000_000
    /// Without packets for this long (DTX, mute) a voice is silent.
    private static let timeToFade: UInt64 = 400_000_000

    private var voices: [Voice] = []
    /// Current and former speakers, the latest first: the first is the active speaker, even while everybody is silent.
    package private(set) var speakers: [UInt32] = []

    package init() {}

    /// The level of one packet.
    package mutating func receive(_ level: AudioLevel, from id: UInt32, at now: Instant) {
        let loudness = Float(127 - level.below)
        guard let index = voices.firstIndex(where: { $0.id == id }) else {
            voices.append(Voice(id: id, loudness: loudness * 0.3, lastPacket: now))
            return
        }
        let old = voices[index].loudness
        voices[index].loudness = old + (loudness - old) * (loudness > old ? 0.3 : 0.05)
        voices[index].lastPacket = now
        if voices[index].loudness > Self.floor { voices[index].lastLoud = now }
    }

    /// A track ended.
    package mutating func remove(_ id: UInt32) {
        voices.removeAll { $0.id == id }
        speakers.removeAll { $0 == id }
    }

    /// Call it every 50 ms or so. True when the active speaker changed.
    package mutating func advance(to now: Instant) -> Bool {
        for index in voices.indices where now.nanoseconds(since: voices[index].lastPacket) > Self.timeToFade {
            voices[index].loudness *= 0.8
        }
        let current = speakers.first.map(loudness(of:)) ?? 0
        var best: Int?
        for index in voices.indices where voices[index].id != speakers.first {
            let isLouder = voices[index].loudness > max(Self.floor, current + Self.margin)
            voices[index].louderSince = isLouder ? voices[index].louderSince ?? now : nil
            guard let since = voices[index].louderSince, now.nanoseconds(since: since) >= Self.timeToLead
            else { continue }
            if best.map({ voices[index].loudness > voices[$0].loudness }) ?? true { best = index }
        }
        guard let best else { return false }
        let id = voices[best].id
        speakers.removeAll { $0 == id }
        speakers.insert(id, at: 0)
        for index in voices.indices { voices[index].louderSince = nil }
        return true
    }

    /// 0 is silence, 127 the loudest; 0 for an unknown voice.
    package func loudness(of id: UInt32) -> Float {
        voices.first { $0.id == id }?.loudness ?? 0
    }

    package func isLoud(_ id: UInt32) -> Bool { loudness(of: id) > Self.floor }

    /// When it was last loud; nil when it never was.
    package func lastLoud(_ id: UInt32) -> Instant? {
        voices.first { $0.id == id }?.lastLoud
    }
}
