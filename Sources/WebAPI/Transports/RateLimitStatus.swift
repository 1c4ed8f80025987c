import Synchronization

/// What a rate limit has left for one user or address.
struct RateLimitState: Hashable, Sendable {
    /// Nil if the request was counted, else the milliseconds until the next can be.
    var wait: Int64?
    /// How many requests can follow at once.
    var remaining: Int64
    /// Milliseconds after which all are free again, if no request is made.
    var reset: Int64
}

/// The rate limit that a request was counted against, in the header fields that tell it to the client:
///
///     RateLimit-Policy: "requests";q=600;w=60
///     RateLimit: "requests";r=599;t=1
///
/// Both are lists of RFC 9651 with one item, as in draft-ietf-httpapi-ratelimit-headers-10: the policy's name, its quota
/// `q` per window of `w` seconds, and `r` requests that remain, of which all are back after `t` seconds. A response with
/// `Retry-After` says when the next request is possible, which may be earlier than `t`.
struct RateLimitStatus: Hashable, Sendable {
    var limit: RequestLimit
    var rate: RequestRate
    var state: RateLimitState

    /// The value of `RateLimit-Policy` (section 4 of the draft).
    var policyField: String { "\"\(limit.rawValue)\";q=\(rate.quota);w=\(rate.windowSeconds)" }

    /// The value of `RateLimit` (section 5 of the draft).
    var rateLimitField: String {
        "\"\(limit.rawValue)\";r=\(max(0, state.remaining));t=\(Self.seconds(state.reset))"
    }

    /// Rounded up: a client that comes back then does not come too early.
    private static func seconds(_ milliseconds: Int64) -> Int64 {
        let (seconds, rest) = max(0, milliseconds).quotientAndRemainder(dividingBy: 1000)
        return rest == 0 ? seconds : seconds + 1
    }
}

extension RequestRate {
    /// How many requests a window has.
    var quota: Int64 {
        switch self {
        case .perMinute(_, let burst): Self.bounded(burst)
        case .perHour(let permits), .bytesPerDay(let permits): Self.bounded(permits)
        }
    }

    /// A token bucket's window is the time in which it fills.
    var windowSeconds: Int64 {
        switch self {
        case .perMinute(let permits, _): (quota * 60 + Self.bounded(permits) - 1) / Self.bounded(permits)
        case .perHour: 3600
        case .bytesPerDay: 86_400
        }
    }

    /// As the limiters bound it.
    private static func bounded(_ permits: Int) -> Int64 { Int64(min(max(1, permits), 1_000_000_000)) }
}

/// The rate limit that a request was counted against last: its address's, then its user's.
final class CountedLimit: Sendable {
    private let counted = Mutex<RateLimitStatus?>(nil)

    var status: RateLimitStatus? { counted.withLock { $0 } }

    func set(_ status: RateLimitStatus) { counted.withLock { $0 = status } }
}
