import STUN
import Synchronization
import TURN
import Wire

/// What all workers share because it must be exact: how many allocations each user has, and the ports held for them.
///
/// Locked, but only when an allocation begins or ends.
final class RelayLedger: Sendable {
    /// How long a port above an even one is held (RFC 8656 section 7.2).
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
        /// No new allocations: the server is about to stop.
        var isDraining = false
        var total = 0
        var perUser: [String: Int] = [:]
        /// What those may relay who got their credentials from the API; and who has no allocation any more, whose bucket is
        /// kept until it is full, so that nobody gets a new one by allocating anew.
        var supplies: [String: ByteBucket] = [:]
        var idle: Set<String> = []
        var reservations: [UInt64: Reservation] = [:]
    }

    private let state: Mutex<State>
    /// What all allocations may relay.
    let total: ByteBucket

    init(_ limits: RelayLimits, at now: Instant) {
        state = Mutex(State(limits: limits))
        total = ByteBucket(perSecond: limits.totalBytesPerSecond, at: now)
    }

    /// Takes other limits from now on. What is above them already stays.
    func adopt(_ limits: RelayLimits) {
        total.limit(perSecond: limits.totalBytesPerSecond)
        state.withLock { state in
            state.limits = limits
            // A test's account has a limit of its own, which no setting changes.
            for (user, supply) in state.supplies where !user.hasPrefix(":") {
                supply.limit(perSecond: limits.userBytesPerSecond)
            }
        }
    }

    /// What the allocations of a user may relay together; nil for those whom only the general limits bind.
    func supply(of user: String, _ scope: CredentialScope?, at now: Instant) -> ByteBucket? {
        guard let scope else { return nil }
        return state.withLock { state in
            if let known = state.supplies[user] { return known }
            let rate = scope == .test ? CredentialScope.testBytesPerSecond : state.limits.userBytesPerSecond
            let made = ByteBucket(perSecond: rate, at: now)
            state.supplies[user] = made
            return made
        }
    }

    /// Refuses new allocations, or no longer.
    var isDraining: Bool {
        get { state.withLock { $0.isDraining } }
        set { state.withLock { $0.isDraining = newValue } }
    }

    /// Charges one allocation, or says which limit it would break.
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

    /// Gives out a held port, once and to who reserved it.
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

    /// Gives back the ports whose time is over.
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

/// A flag that one caller finds unset.
final class TakenFlag: Sendable {
    private let isSet = Atomic(false)

    func set() -> Bool {
        isSet.compareExchange(expected: false, desired: true, ordering: .acquiringAndReleasing).exchanged
    }
}
