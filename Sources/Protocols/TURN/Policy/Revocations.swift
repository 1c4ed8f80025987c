/// The name whose allocations are ended.
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

/// Credentials that were revoked before they expire: those of users who were disabled, left a call, or were in a call
/// that has ended.
///
/// A name is forgotten when the last credential that it revokes has expired by itself. Credentials that were issued
/// after the revocation are valid: a scoped name contains the time, others expire later.
struct Revocations {
    private struct Mark {
        /// The expiry (Unix seconds) of the last revoked credential.
        var expiry: Int64
        /// When the last revoked one with a scope was issued, in milliseconds.
        var issued: Int64
    }

    private var last: [RevokedName: Mark] = [:]
    /// When the first name can be forgotten, in Unix seconds.
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

/// The slots of the allocations of each user and call, so that a revocation does not scan the table.
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

    /// Candidates: slots whose allocations may match the name.
    func slots(of name: RevokedName) -> [UInt32] {
        switch name {
        case .user(let user): Array((users[user] ?? []).union(users[EphemeralName(user)?.user ?? user] ?? []))
        case .call(let call), .participant(_, let call): Array(calls[call] ?? [])
        }
    }
}
