import STUN
import Synchronization
import TURN
import Wire

/// State that all workers share because it must be exact: how many allocations each user has, and the reserved ports.
///
/// It is locked only when an allocation begins or ends.
final class RelayLedger: Sendable {
    /// How long a reserved port is held (RFC 8656 section 7.2).
    private static let reservationSeconds: UInt32 = 30
    private static let reservationsPerUser = 32

    private struct Reservation {
        let socket: HeldSocket
        let user: String
        let claimant: String
        let expiry: Instant
    }

    private struct State {
        var limits: RelayLimits
        /// Rejects new allocations: the server is about to stop.
        var isDraining = false
        var total = 0
        var perUser: [String: Int] = [:]
        /// The byte buckets of users whose credentials the API issued. Those of `idle` users, who have no allocation
        /// any more, are kept until they are full, so that a new allocation does not start with a full bucket.
        var supplies: [String: ByteBucket] = [:]
        var idle: Set<String> = []
        var reservations: [UInt64: Reservation] = [:]
    }

    private let state: Mutex<State>
    /// The byte bucket of all allocations.
    let total: ByteBucket

    init(_ limits: RelayLimits, at now: Instant) {
        state = Mutex(State(limits: limits))
        total = ByteBucket(perSecond: limits.totalBytesPerSecond, at: now)
    }

    /// Applies new limits. Allocations that exceed them already go on.
    func adopt(_ limits: RelayLimits) {
        total.limit(perSecond: limits.totalBytesPerSecond)
        state.withLock { state in
            state.limits = limits
            // Test accounts have a limit of their own, which no setting changes.
            for (user, supply) in state.supplies where !user.hasPrefix(":") {
                supply.limit(perSecond: limits.userBytesPerSecond)
            }
        }
    }

    /// The byte bucket that a user's allocations share; nil when only the general limits apply.
    func supply(of user: String, _ scope: CredentialScope?, at now: Instant) -> ByteBucket? {
        guard let scope else { return nil }
        return state.withLock { state in
            if let known = state.supplies[user] { return known }
            let rate = scope == .test ? CredentialScope.testBytesPerSecond : state.limits.userBytesPerSecond
            let bucket = ByteBucket(perSecond: rate, at: now)
            state.supplies[user] = bucket
            return bucket
        }
    }

    /// Whether new allocations are rejected.
    var isDraining: Bool {
        get { state.withLock { $0.isDraining } }
        set { state.withLock { $0.isDraining = newValue } }
    }

    /// Counts one more allocation of a user, or returns the error of the limit that it would exceed.
    func charge(_ user: String, _ scope: CredentialScope? = nil) -> ErrorCode? {
        state.withLock { state in
            guard !state.isDraining else { return .insufficientCapacity }
            let quota = state.limits.allocationsPerUser
            guard
                state.perUser[user, default: 0] < (scope == .test ? min(quota, CredentialScope.testAllocations) : quota)
            else {
                return .allocationQuotaReached
            }
            guard state.total < state.limits.allocations else { return .insufficientCapacity }
            state.perUser[user, default: 0] += 1
            state.idle.remove(user)
            state.total += 1
            return nil
        }
    }

    func release(_ user: String) {
        state.withLock { state in
            guard let count = state.perUser[user] else { return }
            state.perUser[user] = count > 1 ? count - 1 : nil
            if count == 1, state.supplies[user] != nil { state.idle.insert(user) }
            state.total -= 1
        }
    }

    /// Holds a port for the user and returns its token, nil when the user holds too many.
    func hold(_ socket: HeldSocket, for request: RelayRequest, at now: Instant) -> UInt64? {
        state.withLock { state in
            guard state.reservations.values.count(where: { $0.user == request.user }) < Self.reservationsPerUser else {
                return nil
            }
            var token = UInt64.random(in: .min ... .max)
            while state.reservations[token] != nil { token = .random(in: .min ... .max) }
            state.reservations[token] = Reservation(
                socket: socket, user: request.user, claimant: request.claimant,
                expiry: now.adding(seconds: Self.reservationSeconds))
            return token
        }
    }

    /// Returns a held port, once and only to the claimant who reserved it.
    func claim(_ token: UInt64, for claimant: String, at now: Instant) -> HeldSocket? {
        state.withLock { state in
            guard let reservation = state.reservations[token], reservation.claimant == claimant,
                reservation.expiry > now
            else {
                return nil
            }
            state.reservations[token] = nil
            return reservation.socket
        }
    }

    /// Releases expired reservations.
    func expire(at now: Instant) {
        let expired = state.withLock { state in
            for user in state.idle where state.supplies[user]?.isFull(at: now) ?? true {
                state.supplies[user] = nil
                state.idle.remove(user)
            }
            let tokens = state.reservations.filter { $0.value.expiry <= now }.keys
            return tokens.compactMap { state.reservations.removeValue(forKey: $0) }
        }
        // The sockets close here, outside of the lock.
        withExtendedLifetime(expired) {}
    }

    func endReservations() {
        expire(at: .distantFuture)
    }

    var heldPorts: Int {
        state.withLock { $0.reservations.count }
    }

    var charged: Int {
        state.withLock { $0.total }
    }
}

/// A flag that exactly one caller can set.
final class OnceFlag: Sendable {
    private let isSet = Atomic(false)

    func set() -> Bool {
        isSet.compareExchange(expected: false, desired: true, ordering: .acquiringAndReleasing).exchanged
    }
}
