package import Wire

/// How many pictures of a leg are given up for now, because its link does not even carry the lowest layer of all.
///
/// That is not told from an estimate, which on a busy machine falls for other reasons, but from what was lost or came
/// late for seconds on end, while no more was sent than had to be. The least important picture goes first. It is tried
/// again after a while, which doubles each time that it has to go at once.
package struct PausedPictures: Hashable, Sendable {
    private static let patience: UInt64 = 3_000_000_000
    private static let shortestPause: UInt64 = 10_000_000_000
    private static let longestPause: UInt64 = 120_000_000_000
    /// A picture that has to go so soon after it came back was not carried.
    private static let trial: UInt64 = 10_000_000_000

    package private(set) var count = 0
    /// For how long, less the time in which it was not, the link was strained: nanoseconds.
    private var strained: UInt64 = 0
    private var lastLook: Instant?
    private var lastChange: Instant?
    private var lastResumed: Instant?
    private var pause = Self.shortestPause

    package init() {}

    /// - Parameters:
    ///   - isStrained: what is sent is the least, and much of it is lost or late.
    ///   - most: how many pictures there are to pause.
    package mutating func advance(isStrained: Bool, most: Int, to now: Instant) {
        let elapsed = min(lastLook.map { now.nanoseconds(since: $0) } ?? 0, 500_000_000)
        lastLook = now
        count = min(count, most)
        strained = isStrained ? strained &+ elapsed : strained > elapsed ? strained &- elapsed : 0
        if strained >= Self.patience {
            strained = 0
            guard count < most else { return }
            count &+= 1
            if let lastResumed, now.nanoseconds(since: lastResumed) < Self.trial {
                pause = min(pause &* 2, Self.longestPause)
            } else {
                pause = Self.shortestPause
            }
            lastChange = now
        } else if count > 0, strained == 0, let lastChange, now.nanoseconds(since: lastChange) >= pause {
            count &-= 1
            self.lastChange = now
            lastResumed = now
        }
    }
}
