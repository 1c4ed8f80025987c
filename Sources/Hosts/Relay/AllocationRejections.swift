import STUN
import Synchronization

/// Why allocations were refused, counted for all workers.
package final class AllocationRefusals: Sendable {
    package enum Reason: String, CaseIterable, Sendable {
        /// The user has as many as one may have: 486.
        case user
        /// As many as the relay may have: 508.
        case total
        /// The server is about to stop: 508.
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

    /// For an error of the ledger, which knows users and totals.
    func count(charging error: ErrorCode, isDraining: Bool) {
        count(isDraining ? .draining : error == .allocationQuotaReached ? .user : .total)
    }

    /// For an error of opening ports.
    func count(opening error: ErrorCode) {
        count(error == .addressFamilyNotSupported ? .family : .ports)
    }

    var counts: [(reason: Reason, count: UInt64)] {
        let counts = state.withLock { $0 }
        return Reason.allCases.map { ($0, counts[$0] ?? 0) }
    }
}
