package import Model

/// The stored state of a sign-in's refresh tokens, and the rules of their rotation.
///
/// Each use of the token with counter n issues one with counter n + 1. `used` is the highest counter that was ever
/// presented. A client that lost the response presents n again: as long as n + 1 was not presented, it gets another
/// token n + 1 in addition to the lost one. Any of those may be presented next, but only one of them: if a second one
/// is presented, two parties hold tokens of this sign-in, and it ends. An older token ends it as well. A thief can thus
/// never go unnoticed beside the owner, however long the grace period; it only limits how long a stolen used token is
/// valid while the owner is inactive.
package struct RefreshRotation: Hashable, Sendable {
    package var familyHash: [UInt8]
    /// The highest counter presented so far; 0 before the first refresh.
    package var used: Int64
    /// Digest of the token that was presented with that counter; empty before the first refresh.
    package var usedHash: [UInt8]
    package var usedAt: Timestamp
    /// Digests of the issued tokens with counter `used + 1`, the latest last.
    package var next: [[UInt8]]
    /// When the sign-in expires unless it is refreshed.
    package var expiresAt: Timestamp

    package init(
        familyHash: [UInt8], used: Int64 = 0, usedHash: [UInt8] = [], usedAt: Timestamp, next: [[UInt8]],
        expiresAt: Timestamp
    ) {
        self.familyHash = familyHash
        self.used = used
        self.usedHash = usedHash
        self.usedAt = usedAt
        self.next = next
        self.expiresAt = expiresAt
    }

    package enum Verdict: Hashable, Sendable {
        /// The token is valid; the one to issue has this counter.
        case accepted(counter: Int64)
        /// Not a token of this sign-in; it has no effect.
        case unknown
        /// A replaced token of this sign-in: somebody has a copy.
        case reused
        /// The same, but the store may have lost it with the restore: no sign of theft.
        case unknownSinceRestore
        case expired
    }

    /// The maximum number of issued tokens with the same counter. If more responses are lost in a row, the first ones
    /// were certainly never received.
    package static let maxSuccessors = 8

    /// Verifies a presented token and, if it is valid, records that `successor` is issued for it.
    ///
    /// - Parameter restoredAt: when the store was restored from a backup. Until a token of the sign-in has been
    ///   accepted since then, its client may be ahead of the store.
    package mutating func redeem(
        counter: Int64, familyHash: [UInt8], secretHash: [UInt8], successor: [UInt8], at now: Timestamp,
        grace: Int64, lifetime: Int64, restoredAt: Timestamp? = nil
    ) -> Verdict {
        guard equal(familyHash, self.familyHash) else { return .unknown }
        guard now < expiresAt else { return .expired }
        let following = used &+ 1
        if counter == following, next.contains(where: { equal($0, secretHash) }) {
            used = following
            usedHash = secretHash
            usedAt = now
            next = [successor]
        } else if counter == used, equal(usedHash, secretHash), now.milliseconds(since: usedAt) <= grace &* 1000 {
            next = next.suffix(Self.maxSuccessors - 1) + [successor]
        } else {
            // Whoever knows the family's secret without a current token has it from an older one.
            return restoredAt.map { usedAt <= $0 } ?? false ? .unknownSinceRestore : .reused
        }
        expiresAt = now.adding(seconds: lifetime)
        return .accepted(counter: used &+ 1)
    }

    /// Compares in constant time.
    private func equal(_ left: [UInt8], _ right: [UInt8]) -> Bool {
        guard left.count == right.count else { return false }
        return zip(left, right).reduce(UInt8(0)) { $0 | ($1.0 ^ $1.1) } == 0
    }
}
