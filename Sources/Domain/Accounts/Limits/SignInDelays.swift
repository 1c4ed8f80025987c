/// Slows down guessing of passwords without ever locking anybody out.
///
/// A few attempts are free; after that each one requires a delay that doubles up to a limit, and an earlier attempt is
/// rejected without further cost. Attempts count when they begin, so that concurrent ones cannot evade the limit, and
/// are reverted if the password was right. Entries expire after a while without attempts.
///
/// An attempt on a device that the account has used before counts for that device only: other people's guessing does
/// not delay its owner. Any other attempt counts three times: for the account from this address, with the longest
/// delays; for the account from anywhere, with mild delays, since they also affect the owner on a new device; and for
/// the address by the number of accounts tried from it, so that users behind one address who mistype are not affected.
package struct SignInDelays: Sendable {
    package enum Key: Hashable, Sendable {
        /// A device on which this account was signed in before.
        case device(account: String, device: String)
        /// Attempts on an account from unknown devices at this address.
        case accountAtAddress(account: String, address: String)
        /// Attempts on an account from unknown devices anywhere.
        case account(String)
        /// Attempts from this address, currently on that account.
        case address(String, account: String)

        /// The key of the entry: an address has one entry for all accounts.
        fileprivate var entry: Key {
            if case .address(let address, _) = self { .address(address, account: "") } else { self }
        }
    }

    /// The keys that an attempt with e-mail and password counts for.
    package static func keys(account: String, address: String, knownDevice: String?) -> [Key] {
        if let knownDevice { return [.device(account: account, device: knownDevice)] }
        return [
            .accountAtAddress(account: account, address: address), .account(account),
            .address(address, account: account),
        ]
    }

    private struct Entry: Sendable {
        var attempts: Int
        /// Hashes of the accounts that were tried from an address; `attempts` is their number.
        var accounts: [Int32]
        /// Milliseconds of the monotonic clock.
        var lastAttempt: Int64
        var nextAllowed: Int64
    }

    private var entries: RecentMap<Key, Entry>
    private let forgetAfter: Int64 = 15 * 60 * 1000
    /// More accounts change nothing: the delay has reached its maximum by then.
    private static let accountsCounted = 40

    package init(capacity: Int = 100_000) { entries = RecentMap(capacity: capacity) }

    package var count: Int { entries.count }

    /// Begins an attempt. Returns nil if it may proceed, else the milliseconds to wait.
    package mutating func begin(_ keys: [Key], at now: Int64) -> Int64? {
        let current = keys.map { ($0, entry($0, at: now)) }
        let wait = current.map { $0.1.nextAllowed &- now }.max() ?? 0
        guard wait <= 0 else { return wait }
        for (key, entry) in current {
            var entry = entry
            if case .address(_, let account) = key {
                let hash = Self.hash(account)
                if entry.accounts.count < Self.accountsCounted, !entry.accounts.contains(hash) {
                    entry.accounts.append(hash)
                }
                entry.attempts = entry.accounts.count
            } else {
                entry.attempts = min(entry.attempts + 1, 1000)
            }
            entry.lastAttempt = now
            entry.nextAllowed = now &+ Self.delay(after: entry.attempts, key)
            entries[key.entry] = entry
        }
        return nil
    }

    /// Reverts an attempt whose password was right. The account's entries are reset; the address's entry loses only
    /// this account, since the next one may be somebody else's.
    package mutating func succeeded(_ keys: [Key]) {
        for key in keys {
            guard case .address(_, let account) = key, var entry = entries[key.entry] else {
                entries[key.entry] = nil
                continue
            }
            entry.accounts.removeAll { $0 == Self.hash(account) }
            entry.attempts = entry.accounts.count
            entry.nextAllowed = entry.lastAttempt &+ Self.delay(after: entry.attempts, key)
            entries[key.entry] = entry
        }
    }

    /// Milliseconds to wait after that many attempts; of an address, after attempts at that many accounts.
    package static func delay(after attempts: Int, _ key: Key) -> Int64 {
        let (free, maximum): (Int, Int64) =
            switch key {
            case .device: (5, 15_000)
            case .accountAtAddress: (5, 60_000)
            case .account: (20, 5000)
            case .address: (20, 60_000)
            }
        guard attempts >= free else { return 0 }
        return min(maximum, 500 << Int64(min(attempts - free, 20)))
    }

    /// The account's hash with the process's seed: two accounts that collide count as one.
    private static func hash(_ account: String) -> Int32 { Int32(truncatingIfNeeded: account.hashValue) }

    private mutating func entry(_ key: Key, at now: Int64) -> Entry {
        guard let entry = entries[key.entry], now &- entry.lastAttempt < forgetAfter else {
            return Entry(attempts: 0, accounts: [], lastAttempt: now, nextAllowed: now)
        }
        return entry
    }
}
