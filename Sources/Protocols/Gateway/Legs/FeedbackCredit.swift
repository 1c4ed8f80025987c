/// Limits the feedback of a receiver in proportion to the packets sent to it, since a few bytes of feedback can cover
/// thousands of packets.
///
/// Each packet may be covered a few times: it is reported again with a late one next to it, and requested again when
/// its retransmission was lost.
struct FeedbackCredit {
    private static let perPacket = 4
    private static let maxBurst = 8_192
    private var left = 2_048

    /// A packet was sent.
    mutating func earn() {
        left = min(left &+ Self.perPacket, Self.maxBurst)
    }

    /// Takes as many of `requested` as there is credit for.
    mutating func take(upTo requested: Int) -> Int {
        let taken = max(0, min(requested, left))
        left &-= taken
        return taken
    }
}
