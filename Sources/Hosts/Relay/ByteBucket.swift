import Synchronization
import TURN
import Wire

/// A token bucket of bytes that the workers share. They take slices, so the lock is taken some hundred times a second
/// however many packets there are.
final class ByteBucket: ByteSupply {
    /// A slice is what the bucket gains in a hundredth of a second, within these bounds.
    private static let sliceBounds = 1_500...262_144

    private struct State {
        var rate: TokenRate
        var bucket: TokenBucket
    }

    private let state: Mutex<State>

    /// - Parameter perSecond: bytes; 0 for no limit.
    init(perSecond: UInt64, at now: Instant) {
        let rate = Self.rate(perSecond)
        state = Mutex(State(rate: rate, bucket: TokenBucket(rate, at: now)))
    }

    /// The largest datagram must fit.
    private static func rate(_ perSecond: UInt64) -> TokenRate {
        TokenRate(perSecond, burst: max(perSecond, 65_536))
    }

    func limit(perSecond: UInt64) {
        state.withLock { state in
            state.rate = Self.rate(perSecond)
            state.bucket.limit(to: state.rate)
        }
    }

    func take(_ needed: Int, at now: Instant) -> Int {
        state.withLock { state in
            let perSecond = Int(clamping: state.rate.perSecond)
            let slice = min(max(perSecond / 100, Self.sliceBounds.lowerBound), Self.sliceBounds.upperBound)
            let requested = max(needed, perSecond == 0 ? Self.sliceBounds.upperBound : slice)
            let rate = state.rate
            let count = state.bucket.available(upTo: requested, rate, at: now)
            guard count >= needed else { return 0 }
            return state.bucket.take(count, rate, at: now) ? count : 0
        }
    }

    /// Whether the bucket is full, as a new one would be.
    func isFull(at now: Instant) -> Bool {
        state.withLock { state in
            let burst = Int(clamping: state.rate.burst)
            let rate = state.rate
            return state.bucket.available(upTo: burst, rate, at: now) >= burst
        }
    }
}
