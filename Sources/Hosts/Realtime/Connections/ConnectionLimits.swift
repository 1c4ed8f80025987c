import Synchronization
import Wire

/// Limits the connections of a port, in total and for each address.
///
/// A connection counts until it is closed, whatever its protocol. Its address is counted once it is known, which behind
/// a load balancer is after the PROXY header; trusted proxies have many clients and count only in the total.
package final class ConnectionLimits: Sendable {
    private struct Counts {
        var total = 0
        var byAddress: [IPAddress: Int] = [:]
        var refused = 0
    }

    private let total: Int
    private let perAddress: Int
    private let counts = Mutex(Counts())

    package init(total: Int = .max, perAddress: Int = .max) {
        self.total = total
        self.perAddress = perAddress
    }

    /// The open connections, and how many were refused since the start.
    package var stats: (open: Int, rejected: Int) { counts.withLock { ($0.total, $0.refused) } }

    func acquire() -> Bool {
        counts.withLock { counts in
            guard counts.total < total else {
                counts.refused += 1
                return false
            }
            counts.total += 1
            return true
        }
    }

    func release() { counts.withLock { $0.total -= 1 } }

    func acquire(from address: IPAddress) -> Bool {
        let key = address.sourcePrefix
        return counts.withLock { counts in
            guard counts.byAddress[key, default: 0] < perAddress else {
                counts.refused += 1
                return false
            }
            counts.byAddress[key, default: 0] += 1
            return true
        }
    }

    func release(from address: IPAddress) {
        let key = address.sourcePrefix
        counts.withLock { counts in
            let left = counts.byAddress[key, default: 1] - 1
            counts.byAddress[key] = left > 0 ? left : nil
        }
    }
}
