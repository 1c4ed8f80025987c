package import Wire

/// How many videos of a leg are paused for now, because its link does not carry even the lowest layer of all of them.
///
/// This is not derived from the estimate, which on a busy machine falls for other reasons, but from loss or delay that
/// lasts for seconds although only the lowest layers are sent. The least important video is paused first. It is retried
/// after a pause that doubles each time that the retry fails.
package struct PausedVideo: Hashable, Sendable {
    private static let pauseAfter: UInt64 = 3_000_000_000
    private static let minPause: UInt64 = 10_000_000_000
    private static let maxPause: UInt64 = 120_000_000_000
    /// A video that is paused again this soon after it resumed: the retry failed.
    private static let trial: UInt64 = 10_000_000_000

    package private(set) var count = 0
    /// For how long the link was strained, minus the time in which it was not: nanoseconds.
    private var strained: UInt64 = 0
    private var lastUpdate: Instant?
    private var lastChange: Instant?
    private var lastResumed: Instant?
    private var pause = Self.minPause

    package init() {}

    /// - Parameters:
    ///   - isStrained: only the lowest layers are sent, and much of that is lost or late.
    ///   - videoCount: how many videos can be paused.
    package mutating func advance(isStrained: Bool, videoCount: Int, to now: Instant) {
        let elapsed = min(lastUpdate.map { now.nanoseconds(since: $0) } ?? 0, 500_000_000)
        lastUpdate = now
        count = min(count, videoCount)
        strained = isStrained ? strained &+ elapsed : strained > elapsed ? strained &- elapsed : 0
        if strained >= Self.pauseAfter {
            strained = 0
            guard count < videoCount else { return }
            count &+= 1
            if let lastResumed, now.nanoseconds(since: lastResumed) < Self.trial {
                pause = min(pause &* 2, Self.maxPause)
            } else {
                pause = Self.minPause
            }
            lastChange = now
        } else if count > 0, strained == 0, let lastChange, now.nanoseconds(since: lastChange) >= pause {
            count &-= 1
            self.lastChange = now
            lastResumed = now
        }
    }
}
