package import Wire

/// When to request a key frame from a publisher, however many receivers ask for one (RFC 4585 section 6.3.1, RFC 5104
/// section 3.5.1).
///
/// The first request is passed on at once; further ones wait until `interval` has passed since, because a key frame
/// costs the publisher many times what other frames do. A request without a response is repeated.
package struct KeyFrameRequests: Hashable, Sendable {
    package let interval: UInt64
    private var isPending = false
    private var lastRequest: Instant?

    package init(interval: UInt64 = 500_000_000) {
        self.interval = interval
    }

    /// True when a request is to be sent to the publisher now.
    package mutating func request(at now: Instant) -> Bool {
        isPending = true
        return advance(to: now)
    }

    /// A key frame began: the request is done.
    package mutating func keyFrameArrived() {
        isPending = false
    }

    package var deadline: Instant? {
        guard isPending else { return nil }
        return lastRequest.map { $0.adding(nanoseconds: interval) } ?? Instant(nanoseconds: 0)
    }

    /// True when a request is to be sent to the publisher now, for the first time or again.
    package mutating func advance(to now: Instant) -> Bool {
        guard let deadline, deadline <= now else { return false }
        lastRequest = now
        return true
    }
}
