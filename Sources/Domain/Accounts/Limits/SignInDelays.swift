/// Slows down guessing of passwords without ever locking anybody out.
///
/// A few attempts are free; after that each one costs a wait that doubles up to a limit, and trying earlier is refused
/// without costing more. Attempts count when they begin, so that many at once do not slip through, and are taken back when
/// the password was right. Waits hang on two things: the account, with a low limit, so that a stranger's guessing
/// costs its owner seconds at most (and nothing on a device that the owner has used before, which counts by itself);
/// and the address, with a high one. All is forgotten after a while without attempts.
package struct SignInDelays: Sendable {
    package enum Key: Hashable, Sendable {
        /// Somebody who tries an account from an unknown device.
        case account(String)
        /// A device on which this account was signed in before.
        case device(account: String, device: String)
        case address(String)
    }

    private struct Entry: Sendable {
        var attempts: Int
        /// Milliseconds of the monotonic clock.
        var lastAttempt: Int64
        var nextAllowed: Int64
    }

    private var entries: RecentMap<Key, Entry>
    private let forgetAfter: Int64 = 15 * 60 * 1000

    package init(capacity: Int = 100_000) { entries = RecentMap(capacity: capacity) }

    package var count: Int { entries.count }

    /// Begins an attempt. Returns nil when it may go on, else how many milliseconds to wait.
    package mutating func begin(_ keys: [Key], at now: Int64) -> Int64? {
        let current = keys.map { ($0, entry($0, at: now)) }
        let wait = current.map { $0.1.nextAllowed &- now }.max() ?? 0
        guard wait <= 0 else { return wait }
        for (key, entry) in current {
            let attempts = min(entry.attempts + 1, 1000)
            entries[key] = Entry(
                attempts: attempts, lastAttempt: now, nextAllowed: now &+ Self.delay(after: attempts, key))
        }
        return nil
    }

    /// Takes back what an attempt cost whose password was right. The account starts afresh; the address only gets this
    /// attempt back, since the next one may guess somebody else's.
    package mutating func succeeded(_ keys: [Key]) {
        for key in keys {
            guard case .address = key, var entry = entries[key] else {
                entries[key] = nil
                continue
            }
            entry.attempts = max(0, entry.attempts - 1)
            entry.nextAllowed = entry.lastAttempt &+ Self.delay(after: entry.attempts, key)
            entries[key] = entry
        }
    }

    /// Milliseconds to wait after that many attempts.
    package static func delay(after attempts: Int, _ key: Key) -> Int64 {
        let (free, longest): (Int, Int64) =
            switch key {
            case .account, .device: (5, 15_000)
            case .address: (20, 300_000)
            }
        guard attempts >= free else { return 0 }
        return min(longest, 500 << Int64(min(attempts - free, 20)))
    }

    private mutating func entry(_ key: Key, at now: Int64) -> Entry {
        guard let entry = entries[key], now &- entry.lastAttempt < forgetAfter else {
            return Entry(attempts: 0, lastAttempt: now, nextAllowed: now)
        }
        return entry
    }
}
