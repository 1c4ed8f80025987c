package import Wire

/// When to ask a publisher for a key frame, however many receivers want one (RFC 4585 section 6.3.1, RFC 5104 section
/// 3.5.1).
///
/// The first wish is passed on at once; further ones wait until `interval` has passed since, because a key frame costs the
/// publisher many times what other frames do. What is not answered is asked again.
package struct KeyFrameRequests: Hashable, Sendable {
    package let interval: UInt64
    private var isWanted = false
    private var lastAsked: Instant?

    package init(interval: UInt64 = 500_000_000) {
        self.interval = interval
    }

    /// True when the publisher is to be asked now.
    package mutating func request(at now: Instant) -> Bool {
        isWanted = true
        return advance(to: now)
    }

    /// A key frame began: nobody waits any more.
    package mutating func keyFrameArrived() {
        isWanted = false
    }

    package var deadline: Instant? {
        guard isWanted else { return nil }
        return lastAsked.map { $0.adding(nanoseconds: interval) } ?? Instant(nanoseconds: 0)
    }

    /// True when the publisher is to be asked now, for the first time or again.
    package mutating func advance(to now: Instant) -> Bool {
        guard let deadline, deadline <= now else { return false }
        lastAsked = now
        return true
    }
}
