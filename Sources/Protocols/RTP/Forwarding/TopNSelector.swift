package import Wire

/// Which of a call's voices one receiver hears when it has fewer slots than there are voices.
///
/// Who is in stays in. A voice that becomes loud takes the place of whoever has been silent the longest, at once, so that
/// the first word is not lost; while all that are in speak it must be clearly louder than the weakest for a while.
package struct LoudestSelection: Sendable {
    private static let timeToEnter: UInt64 = 200_000_000
    /// A pause between words is no silence.
    private static let timeToYield: UInt64 = 500_000_000

    private var challenge: (id: UInt32, since: Instant)?

    package init() {}

    /// At most `limit` of the candidates. Those of `chosen`, who are in now, keep their order, and who replaces one of
    /// them takes its place.
    package mutating func select(
        _ limit: Int, of candidates: [UInt32], chosen: [UInt32], by ranking: SpeakerRanking, at now: Instant
    ) -> [UInt32] {
        var chosen = Array(chosen.filter { candidates.contains($0) }.prefix(limit))
        // The loudest first; the silent ones in their own order.
        let waiting = candidates.filter { !chosen.contains($0) }
        let loud = waiting.filter { ranking.isLoud($0) }.sorted { ranking.loudness(of: $0) > ranking.loudness(of: $1) }
        for id in loud + waiting.filter({ !ranking.isLoud($0) }) where chosen.count < limit { chosen.append(id) }
        var challenger: UInt32?
        for id in loud where !chosen.contains(id) {
            guard let weakest = weakest(of: chosen, ranking) else { break }
            let silence = ranking.lastLoud(chosen[weakest]).map { now.nanoseconds(since: $0) }
            if silence.map({ $0 > Self.timeToYield }) ?? true {
                chosen[weakest] = id
            } else if ranking.loudness(of: id) > ranking.loudness(of: chosen[weakest]) + SpeakerRanking.margin {
                challenger = id
                break
            }
        }
        guard let challenger, let since = challenge, since.id == challenger else {
            challenge = challenger.map { ($0, now) }
            return chosen
        }
        if now.nanoseconds(since: since.since) >= Self.timeToEnter, let weakest = weakest(of: chosen, ranking) {
            chosen[weakest] = challenger
            challenge = nil
        }
        return chosen
    }

    /// Who was loud the longest ago; of those who speak now the quietest.
    private func weakest(of chosen: [UInt32], _ ranking: SpeakerRanking) -> Int? {
        chosen.indices.min { left, right in
            let (one, other) = (chosen[left], chosen[right])
            let (isLoud, isOtherLoud) = (ranking.isLoud(one), ranking.isLoud(other))
            guard isLoud == isOtherLoud else { return isOtherLoud }
            if isLoud { return ranking.loudness(of: one) < ranking.loudness(of: other) }
            let start = Instant(nanoseconds: 0)
            return ranking.lastLoud(one) ?? start < ranking.lastLoud(other) ?? start
        }
    }
}
