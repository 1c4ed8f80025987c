/// What the gateway forwarded and dropped, as running totals.
package struct GatewayTally: Hashable, Sendable {
    package var received: UInt64 = 0
    package var forwarded: UInt64 = 0
    package var repaired: UInt64 = 0
    package var keyFramesAsked: UInt64 = 0
    /// Not RTP or RTCP.
    package var malformed: UInt64 = 0
    /// Of no section that the leg has, or of one SSRC too many.
    package var unknownStream: UInt64 = 0
    /// Received before.
    package var repeated: UInt64 = 0
    /// Asked for again beyond what a slot may have sent again, or no longer kept.
    package var repairsRefused: UInt64 = 0
    /// Packets of video that had to wait before they were sent, and those that were not sent in the end.
    package var waited: UInt64 = 0
    package var givenUp: UInt64 = 0
    /// Bursts that tried whether a leg can receive more, and the packets that were repeated for them.
    package var probes: UInt64 = 0
    package var padded: UInt64 = 0
    /// Of a track beyond its limits.
    package var overRate: UInt64 = 0
    /// Feedback that spoke of more packets than were sent.
    package var feedbackRefused: UInt64 = 0
    /// The host had no room for them.
    package var noRoom: UInt64 = 0

    package init() {}

    package static func += (left: inout Self, right: Self) {
        left.received &+= right.received
        left.forwarded &+= right.forwarded
        left.repaired &+= right.repaired
        left.keyFramesAsked &+= right.keyFramesAsked
        left.malformed &+= right.malformed
        left.unknownStream &+= right.unknownStream
        left.repeated &+= right.repeated
        left.repairsRefused &+= right.repairsRefused
        left.waited &+= right.waited
        left.givenUp &+= right.givenUp
        left.probes &+= right.probes
        left.padded &+= right.padded
        left.overRate &+= right.overRate
        left.feedbackRefused &+= right.feedbackRefused
        left.noRoom &+= right.noRoom
    }
}
