/// How much a receiver may say about what it was sent: so that feedback costs in proportion to what is sent, and not to
/// what a few bytes announce.
///
/// Each packet may be spoken of a few times: it is reported again when a late one turned up beside it, and asked for again
/// when its repair was lost.
struct FeedbackCredit {
    private static let perPacket = 4
    private static let most = 8_192
    private var left = 2_048

    /// A packet was sent.
    mutating func earn() {
        left = min(left &+ Self.perPacket, Self.most)
    }

    /// As many of `wanted` as there is credit for.
    mutating func take(upTo wanted: Int) -> Int {
        let taken = max(0, min(wanted, left))
        left &-= taken
        return taken
    }
}
