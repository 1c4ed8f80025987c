package import Wire

/// Selects the voices of a call that one receiver gets when it has fewer slots than there are voices.
///
/// A selected voice stays selected. A voice that becomes loud replaces the one that has been silent the longest, at
/// once, so that the first word is not lost; while all selected voices speak, it must be clearly louder than the
/// weakest for a while.
package struct TopNSelector: Sendable {
    private static let challengePeriod: UInt64 = 200_000_000
    /// A pause between words is no silence.
    private static let silencePeriod: UInt64 = 500_000_000

    private var challenge: (id: UInt32, since: Instant)?

    package init() {}

    /// At most `limit` of the candidates. Those in `chosen`, the current selection, keep their index, and a replacement
    /// gets the index of the voice that it replaces.
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
            if silence.map({ $0 > Self.silencePeriod }) ?? true {
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
        if now.nanoseconds(since: since.since) >= Self.challengePeriod, let weakest = weakest(of: chosen, ranking) {
            chosen[weakest] = challenger
            challenge = nil
        }
        return chosen
    }

    /// The voice that was last loud the longest ago; if all speak now, the quietest.
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
