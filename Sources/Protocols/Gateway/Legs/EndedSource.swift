import BasicContainers
import SDP
package import Wire

/// An SSRC that a leg no longer uses, in one direction.
///
/// State per source may be removed, but only after a while: when a track ends, some of its packets are still in flight,
/// and clients go on sending until they receive the answer.
package struct EndedSource: Hashable, Sendable {
    static let delayNanoseconds: UInt64 = 5_000_000_000

    package let leg: LegID
    package let ssrc: UInt32
    /// The leg sent it; otherwise it was sent to the leg.
    package let isPublished: Bool
    let at: Instant
}

extension GatewayEngine {
    /// The sources that ended a while ago and did not return, each once.
    package mutating func takeEndedSources(at now: Instant) -> [EndedSource] {
        let count = endedSources.prefix { now.nanoseconds(since: $0.at) >= EndedSource.delayNanoseconds }.count
        guard count > 0 else { return [] }
        let due = endedSources.prefix(count).filter { !isUsed($0) }
        endedSources.removeFirst(count)
        return due
    }

    private func isUsed(_ source: EndedSource) -> Bool {
        guard let legIndex = index(of: source.leg) else { return false }
        return source.isPublished
            ? legs[legIndex].streams[source.ssrc] != nil
            : legs[legIndex].slots.contains {
                $0.identity.ssrc == source.ssrc || $0.identity.retransmissionSSRC == source.ssrc
            }
    }

    mutating func end(_ ssrc: UInt32, ofLeg legIndex: Int, isPublished: Bool, at now: Instant) {
        endedSources.append(EndedSource(leg: legs[legIndex].id, ssrc: ssrc, isPublished: isPublished, at: now))
    }
}
