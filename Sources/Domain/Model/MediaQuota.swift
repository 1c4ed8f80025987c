/// How many bytes of media count for one user at most: what they sent, and what they had made.
package struct MediaQuota: Hashable, Sendable {
    /// 0: as many as the disk holds.
    package var userBytes: Int64

    package init(userBytes: Int64 = 5 << 30) { self.userBytes = userBytes }

    /// To be asked before bytes are taken, and once more in the transaction that writes the file's row.
    ///
    /// - Parameter bytes: those that are about to come; 1 where that is not known yet.
    /// - Throws: `quota_exceeded` with what is used and allowed.
    package func check(_ user: UserID, adding bytes: Int64 = 1, in store: some MediaUsageStore) throws {
        guard userBytes > 0 else { return }
        let used = try store.mediaBytes(of: user)
        let (sum, overflows) = used.addingReportingOverflow(bytes)
        guard overflows || sum > userBytes else { return }
        throw Problem(
            .quotaExceeded,
            "Your voice messages, recordings and other files have \(used) of the \(userBytes) bytes that they may have. "
                + "Delete some first.",
            members: ["used": String(used), "allowed": String(userBytes)])
    }
}

/// What a quota needs of a store, inside one transaction.
package protocol MediaUsageStore {
    /// Bytes of the files that count for the user.
    func mediaBytes(of user: UserID) throws -> Int64
}
