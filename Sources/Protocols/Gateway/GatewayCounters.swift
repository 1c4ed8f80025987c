/// What the gateway forwarded and dropped, as running totals.
package struct GatewayCounters: Hashable, Sendable {
    package var received: UInt64 = 0
    package var forwarded: UInt64 = 0
    package var repaired: UInt64 = 0
    package var keyFramesRequested: UInt64 = 0
    /// Not RTP or RTCP.
    package var malformed: UInt64 = 0
    /// Matching no section of the leg, or one SSRC too many.
    package var unknownStream: UInt64 = 0
    /// Duplicates.
    package var repeated: UInt64 = 0
    /// Retransmission requests beyond the budget, or for packets that are no longer kept.
    package var repairsRejected: UInt64 = 0
    /// Video packets that had to wait before they were sent, and those dropped while waiting.
    package var waited: UInt64 = 0
    package var givenUp: UInt64 = 0
    /// Bandwidth probes, and the packets that were retransmitted as their padding.
    package var probes: UInt64 = 0
    package var padded: UInt64 = 0
    /// Packets of a track beyond its limits.
    package var overRate: UInt64 = 0
    /// Feedback about more packets than were sent.
    package var feedbackRejected: UInt64 = 0
    /// Packets that the host had no buffer for.
    package var noBuffer: UInt64 = 0

    package init() {}

    package static func += (left: inout Self, right: Self) {
        left.received &+= right.received
        left.forwarded &+= right.forwarded
        left.repaired &+= right.repaired
        left.keyFramesRequested &+= right.keyFramesRequested
        left.malformed &+= right.malformed
        left.unknownStream &+= right.unknownStream
        left.repeated &+= right.repeated
        left.repairsRejected &+= right.repairsRejected
        left.waited &+= right.waited
        left.givenUp &+= right.givenUp
        left.probes &+= right.probes
        left.padded &+= right.padded
        left.overRate &+= right.overRate
        left.feedbackRejected &+= right.feedbackRejected
        left.noBuffer &+= right.noBuffer
    }
}
