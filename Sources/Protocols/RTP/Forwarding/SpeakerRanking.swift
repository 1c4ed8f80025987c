package import Wire

/// Who is heard in a call: the active speaker, and the loudest N whose audio is worth forwarding, from the levels that
/// clients write into their packets (RFC 6464).
///
/// Each voice has a loudness that rises within a few packets and falls slowly. Whoever is in stays until somebody is
/// clearly louder for a while, so that a cough takes nobody's place and pauses between words cost nobody theirs.
package struct SpeakerRanking: Sendable {
    package struct Change: Hashable, Sendable {
        package var speaker = false
        package var loudest = false

        package init(speaker: Bool = false, loudest: Bool = false) {
            self.speaker = speaker
            self.loudest = loudest
        }
    }

    private struct Voice {
        let id: UInt32
        /// 0 is silence, 127 the loudest.
        var loudness: Float = 0
        var lastHeard: Instant
        /// Since when it has been louder than whom it would replace.
        var challenging: Instant?
        var leading: Instant?
    }

    /// dB by which a challenger must be louder.
    private static let margin: Float = 6
    /// Quieter than this nobody speaks: 60 dB below full scale, smoothed.
    private static let floor: Float = 67
    private static let timeToEnter: UInt64 = 200_000_000
    private static let timeToLead: UInt64 = 300_000_000
    /// Without packets for so long (DTX, mute) a voice is silent.
    private static let timeToFade: UInt64 = 400_000_000

    package let limit: Int
    private var voices: [Voice] = []
    /// Nil until somebody speaks; then it stays on whoever spoke last.
    package private(set) var speaker: UInt32?
    /// At most `limit`, in the order in which they came in.
    package private(set) var loudest: [UInt32] = []

    package init(limit: Int) {
        self.limit = max(limit, 1)
    }

    /// One packet's level.
    package mutating func receive(_ level: AudioLevel, from id: UInt32, at now: Instant) {
        let loudness = Float(127 - level.below)
        guard let index = voices.firstIndex(where: { $0.id == id }) else {
            voices.append(Voice(id: id, loudness: loudness * 0.3, lastHeard: now))
            return
        }
        let old = voices[index].loudness
        voices[index].loudness = old + (loudness - old) * (loudness > old ? 0.3 : 0.05)
        voices[index].lastHeard = now
    }

    /// A track that is gone, or muted.
    package mutating func remove(_ id: UInt32) -> Change {
        voices.removeAll { $0.id == id }
        let change = Change(speaker: speaker == id, loudest: loudest.contains(id))
        loudest.removeAll { $0 == id }
        if speaker == id { speaker = nil }
        return change
    }

    /// Decides anew, every 100 ms or so.
    package mutating func advance(to now: Instant) -> Change {
        for index in voices.indices where now.nanoseconds(since: voices[index].lastHeard) > Self.timeToFade {
            voices[index].loudness *= 0.7
        }
        return Change(speaker: chooseSpeaker(at: now), loudest: chooseLoudest(at: now))
    }

    private mutating func chooseSpeaker(at now: Instant) -> Bool {
        let current = loudness(of: speaker)
        var best: Int?
        for index in voices.indices where voices[index].id != speaker {
            let isLouder = voices[index].loudness > max(Self.floor, current + Self.margin)
            voices[index].leading = isLouder ? voices[index].leading ?? now : nil
            guard let since = voices[index].leading, now.nanoseconds(since: since) >= Self.timeToLead else { continue }
            if best.map({ voices[index].loudness > voices[$0].loudness }) ?? true { best = index }
        }
        guard let best else { return false }
        speaker = voices[best].id
        for index in voices.indices { voices[index].leading = nil }
        return true
    }

    private mutating func chooseLoudest(at now: Instant) -> Bool {
        var isChanged = false
        for index in voices.indices where !loudest.contains(voices[index].id) {
            guard voices[index].loudness > Self.floor else {
                voices[index].challenging = nil
                continue
            }
            if loudest.count < limit {
                // With room to spare the first word is not to be lost.
                loudest.append(voices[index].id)
                isChanged = true
                continue
            }
            guard let weakest = loudest.indices.min(by: { loudness(of: loudest[$0]) < loudness(of: loudest[$1]) }),
                voices[index].loudness > loudness(of: loudest[weakest]) + Self.margin
            else {
                voices[index].challenging = nil
                continue
            }
            let since = voices[index].challenging ?? now
            voices[index].challenging = since
            guard now.nanoseconds(since: since) >= Self.timeToEnter else { continue }
            voices[index].challenging = nil
            loudest.remove(at: weakest)
            loudest.append(voices[index].id)
            isChanged = true
        }
        return isChanged
    }

    private func loudness(of id: UInt32?) -> Float {
        guard let id else { return 0 }
        return voices.first { $0.id == id }?.loudness ?? 0
    }
}
