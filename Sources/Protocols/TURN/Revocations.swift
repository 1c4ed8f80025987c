/// Credentials that make no new allocation although they have not expired: who was disabled, or was in a call that has
/// ended, may still hold some, for as long as the API gave them out for.
///
/// A name is forgotten when the last credential that it voids has expired by itself. Credentials that were given out
/// after the revocation expire later, and are good.
struct Revocations {
    /// By name, the expiry (Unix seconds) of the last credential that is void.
    private var last: [RevokedName: Int64] = [:]

    mutating func void(_ name: RevokedName, until unixSeconds: Int64) {
        last[name] = max(last[name] ?? unixSeconds, unixSeconds)
    }

    func isVoid(_ username: String) -> Bool {
        guard !last.isEmpty, let name = EphemeralName(username) else { return false }
        if let until = last[.user(name.user)], name.expiresAt <= until { return true }
        guard let call = name.call, let until = last[.call(call)] else { return false }
        return name.expiresAt <= until
    }

    mutating func forget(before unixSeconds: Int64) {
        guard !last.isEmpty else { return }
        last = last.filter { $0.value >= unixSeconds }
    }

    var count: Int { last.count }
}
