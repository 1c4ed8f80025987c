import RTP
import Wire

/// The legs between which one call is forwarded, and their active speaker.
struct ForwardedCall {
    /// How often the speaker ranking and the slots that depend on it are updated.
    static let rankingNanoseconds: UInt64 = 50_000_000

    let name: String
    /// The indices of its legs, in the order in which they joined.
    var legs: [Int] = []
    /// Of its audio tracks, by index.
    var ranking = SpeakerRanking()
    var nextRanking: Instant
    /// The codec of a track changed.
    var needsAssignment = false
    /// Its audio is also passed to recorders on the server.
    var isTapped = false

    init(_ name: String, at now: Instant) {
        self.name = name
        nextRanking = now.adding(nanoseconds: Self.rankingNanoseconds)
    }
}

/// Limits how often a leg is notified of its slots: once a second, with bursts of three.
struct NotificationBudget {
    private static let nanoseconds: UInt64 = 1_000_000_000
    private static let maxBurst: UInt64 = 3
    private var credit = Self.maxBurst * Self.nanoseconds
    private var at = Instant(nanoseconds: 0)

    mutating func take(at now: Instant) -> Bool {
        credit = min(
            Self.maxBurst &* Self.nanoseconds, credit &+ min(now.nanoseconds(since: at), 10 &* Self.nanoseconds))
        at = now
        guard credit >= Self.nanoseconds else { return false }
        credit &-= Self.nanoseconds
        return true
    }
}
