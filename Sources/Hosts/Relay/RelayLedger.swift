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
        var reservations: [UInt64: Reservation] = [:]
    }

    private let state: Mutex<State>

    init(_ limits: RelayLimits) {
        state = Mutex(State(limits: limits))
    }

    /// Takes other limits from now on. What is above them already stays.
    func adopt(_ limits: RelayLimits) {
        state.withLock { $0.limits = limits }
    }

    /// Refuses new allocations, or no longer.
    var isDraining: Bool {
        get { state.withLock { $0.isDraining } }
        set { state.withLock { $0.isDraining = newValue } }
    }

    /// Charges one allocation, or says which limit it would break.
    func charge(_ user: String) -> ErrorCode? {
        state.withLock { state in
            guard !state.isDraining else { return .insufficientCapacity }
            guard state.perUser[user, default: 0] < state.limits.allocationsPerUser else {
                return .allocationQuotaReached
            }
            guard state.total < state.limits.allocations else { return .insufficientCapacity }
            state.perUser[user, default: 0] += 1
            state.total += 1
            return nil
        }
    }

    func release(_ user: String) {
        state.withLock { state in
            guard let count = state.perUser[user] else { return }
            state.perUser[user] = count > 1 ? count - 1 : nil
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
