/// The maximum number of media bytes per user: what they sent, and what was made at their request.
package struct MediaQuota: Hashable, Sendable {
    /// 0 means no limit.
    package var userBytes: Int64

    package init(userBytes: Int64 = 5 << 30) { self.userBytes = userBytes }

    /// Call it before bytes are received, and again in the transaction that writes the file's row.
    ///
    /// - Parameter bytes: how many bytes will be added; 1 if that is not known yet.
    /// - Throws: `quota_exceeded` with the used and the allowed bytes.
    package func check(_ user: UserID, adding bytes: Int64 = 1, in store: some MediaUsageStore) throws {
        guard userBytes > 0 else { return }
        let used = try store.mediaBytes(of: user)
        let (sum, overflows) = used.addingReportingOverflow(bytes)
        guard overflows || sum > userBytes else { return }
        throw Problem(
            .quotaExceeded,
            "Your voice messages, recordings and other files use \(used) of the allowed \(userBytes) bytes. "
                + "Delete some first.",
            members: ["used": String(used), "allowed": String(userBytes)])
    }
}

/// The storage of media usage, inside one transaction.
package protocol MediaUsageStore {
    /// The bytes of files that count against the user's quota.
    func mediaBytes(of user: UserID) throws -> Int64
}
