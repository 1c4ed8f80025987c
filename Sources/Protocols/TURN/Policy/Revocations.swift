/// Whose allocations end.
package enum RevokedName: Hashable, Sendable {
    /// A static user, a whole ephemeral name, or the user part of one.
    case user(String)
    /// The call part of an ephemeral name.
    case call(String)
    /// One user in one call.
    case participant(user: String, call: String)

    func matches(_ username: String, _ name: EphemeralName?) -> Bool {
        switch self {
        case .user(let user): username == user || name?.user == user
        case .call(let call): name?.call == call
        case .participant(let user, let call): name?.user == user && name?.call == call
        }
    }
}

/// Credentials that make no new allocation although they have not expired: who was disabled, is out of a call, or was in one
/// that has ended, may still hold some, for as long as the API gave them out for.
///
/// A name is forgotten when the last credential that it voids has expired by itself. Credentials that were given out
/// after the revocation are good: a scoped name says when that was, others expire later.
struct Revocations {
    private struct Mark {
        /// The expiry (Unix seconds) of the last credential that is void.
        var expiry: Int64
        /// When the last scoped one was issued, in milliseconds.
        var issued: Int64
    }

    private var last: [RevokedName: Mark] = [:]
    /// No name can be forgotten before, in Unix seconds.
    private var nextExpiry = Int64.max

    mutating func void(_ name: RevokedName, until unixSeconds: Int64, issuedUntil milliseconds: Int64) {
        let mark = last[name]
        last[name] = Mark(
            expiry: max(mark?.expiry ?? unixSeconds, unixSeconds),
            issued: max(mark?.issued ?? milliseconds, milliseconds))
        nextExpiry = min(nextExpiry, unixSeconds)
    }

    func isVoid(_ name: EphemeralName) -> Bool {
        guard !last.isEmpty else { return false }
        if isVoid(name, .user(name.user)) { return true }
        guard let call = name.call else { return false }
        return isVoid(name, .call(call)) || isVoid(name, .participant(user: name.user, call: call))
    }

    private func isVoid(_ name: EphemeralName, _ revoked: RevokedName) -> Bool {
        guard let mark = last[revoked] else { return false }
        return name.issuedAt.map { $0 <= mark.issued } ?? (name.expiresAt <= mark.expiry)
    }

    mutating func forget(before unixSeconds: Int64) {
        guard nextExpiry < unixSeconds else { return }
        last = last.filter { $0.value.expiry >= unixSeconds }
        nextExpiry = last.values.map(\.expiry).min() ?? .max
    }

    var count: Int { last.count }
}

/// The slots of the allocations of each user and call, so that ending one's does not look at everybody's.
struct AllocationOwners {
    private var users: [String: Set<UInt32>] = [:]
    private var calls: [String: Set<UInt32>] = [:]

    mutating func insert(_ slot: UInt32, _ username: String, _ name: EphemeralName?) {
        users[name?.user ?? username, default: []].insert(slot)
        if let call = name?.call { calls[call, default: []].insert(slot) }
    }

    mutating func remove(_ slot: UInt32, _ username: String, _ name: EphemeralName?) {
        Self.remove(slot, name?.user ?? username, &users)
        if let call = name?.call { Self.remove(slot, call, &calls) }
    }

    private static func remove(_ slot: UInt32, _ key: String, _ slots: inout [String: Set<UInt32>]) {
        slots[key]?.remove(slot)
        if slots[key]?.isEmpty == true { slots[key] = nil }
    }

    /// Those that the name may match.
    func slots(of name: RevokedName) -> [UInt32] {
        switch name {
        case .user(let user): Array((users[user] ?? []).union(users[EphemeralName(user)?.user ?? user] ?? []))
        case .call(let call), .participant(_, let call): Array(calls[call] ?? [])
        }
    }
}
