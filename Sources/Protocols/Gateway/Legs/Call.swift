import RTP
import Wire

/// The legs that see and hear one another, and who of them speaks.
struct Call {
    /// How often it is decided who speaks, and whom those hear who have too few slots.
    static let rankingNanoseconds: UInt64 = 50_000_000

    let name: String
    /// Its legs by their places, in the order in which they joined.
    var places: [Int] = []
    /// Of its audio tracks, by their places.
    var ranking = SpeakerRanking()
    var nextRanking: Instant
    /// A track came in another codec.
    var needsAssignment = false
    /// What is said goes to who listens on the server too.
    var isTapped = false

    init(_ name: String, at now: Instant) {
        self.name = name
        nextRanking = now.adding(nanoseconds: Self.rankingNanoseconds)
    }
}

/// How often a leg may be told what its slots show: once a second, and a few times at once when many come together.
struct TellBudget {
    private static let nanoseconds: UInt64 = 1_000_000_000
    private static let most: UInt64 = 3
    private var earned = Self.most * Self.nanoseconds
    private var at = Instant(nanoseconds: 0)

    mutating func take(at now: Instant) -> Bool {
        earned = min(Self.most &* Self.nanoseconds, earned &+ min(now.nanoseconds(since: at), 10 &* Self.nanoseconds))
        at = now
        guard earned >= Self.nanoseconds else { return false }
        earned &-= Self.nanoseconds
        return true
    }
}
