package import Model

/// What the store knows of a sign-in's refresh tokens, and the rule by which they rotate.
///
/// Each use of the token with counter n gives one with counter n + 1. `used` is the highest counter that was ever shown.
/// A client that lost the answer shows n again: as long as nobody has shown n + 1, it gets another token n + 1 beside the
/// lost one. Any of those may be shown next, but only one of them: when a second one turns up, two parties hold
/// tokens of this sign-in, and it ends. So does showing anything older. A thief can thus never go on unseen beside the
/// owner, however long the grace; the grace bounds how long a stolen used token is good while the owner is silent.
package struct RefreshRotation: Hashable, Sendable {
    package var familyHash: [UInt8]
    /// The highest counter shown so far; 0 before the first refresh.
    package var used: Int64
    /// Digest of the token that was shown with that counter; empty before the first refresh.
    package var usedHash: [UInt8]
    package var usedAt: Timestamp
    /// Digests of the tokens with counter `used + 1` that were given out, the latest last.
    package var next: [[UInt8]]
    /// When the sign-in runs out unless it is refreshed.
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
        /// The token is right; the one to give out has this counter.
        case accepted(counter: Int64)
        /// Not a token of this sign-in: nothing follows from it.
        case unknown
        /// A token of this sign-in that was replaced: somebody holds a copy.
        case reused
        /// The same, but the store may have forgotten that it was given out: nobody is to blame.
        case unknownSinceRestore
        case expired
    }

    /// Tokens with the same counter that are remembered. Of more answers lost one after another, the first were surely
    /// never received.
    package static let longestSeries = 8

    /// Judges a shown token and, when it is right, notes that `successor` is given out for it.
    ///
    /// - Parameter restoredAt: when the store was restored from a backup. Until a token of the sign-in has been taken
    ///   since, its client may be ahead of the store.
    package mutating func show(
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
            next = next.suffix(Self.longestSeries - 1) + [successor]
        } else {
            // Whoever knows the family's secret without one of its tokens has them from an older one.
            return restoredAt.map { usedAt <= $0 } ?? false ? .unknownSinceRestore : .reused
        }
        expiresAt = now.adding(seconds: lifetime)
        return .accepted(counter: used &+ 1)
    }

    /// Compares without telling by its time how much is equal.
    private func equal(_ left: [UInt8], _ right: [UInt8]) -> Bool {
        guard left.count == right.count else { return false }
        return zip(left, right).reduce(UInt8(0)) { $0 | ($1.0 ^ $1.1) } == 0
    }
}
