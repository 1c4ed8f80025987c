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
        left.noRoom &+= right.noRoom
    }
}
