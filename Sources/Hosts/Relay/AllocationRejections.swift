import STUN
import Synchronization

/// Counts rejected allocations of all workers by reason.
package final class AllocationRejections: Sendable {
    package enum Reason: String, CaseIterable, Sendable {
        /// The user's quota is reached: 486.
        case user
        /// The relay's limit is reached: 508.
        case total
        /// The server is draining: 508.
        case draining
        /// No free port, or no descriptor for it: 508.
        case ports
        /// No address of the family: 440.
        case family
    }

    private let state = Mutex<[Reason: UInt64]>([:])

    func count(_ reason: Reason) {
        state.withLock { $0[reason, default: 0] &+= 1 }
    }

    /// Counts an error of `RelayLedger.charge`.
    func count(charging error: ErrorCode, isDraining: Bool) {
        count(isDraining ? .draining : error == .allocationQuotaReached ? .user : .total)
    }

    /// Counts an error of opening ports.
    func count(opening error: ErrorCode) {
        count(error == .addressFamilyNotSupported ? .family : .ports)
    }

    var counts: [(reason: Reason, count: UInt64)] {
        let counts = state.withLock { $0 }
        return Reason.allCases.map { ($0, counts[$0] ?? 0) }
    }
}
