package import Model

// What the commands need of the outside world. `PasswordHasher` stands in a file of its own.

/// Makes and digests secrets.
package protocol SecretSource: Sendable {
    /// 256 random bits as 43 characters of `[A-Za-z0-9_-]`.
    func makeSecret() -> String
    /// SHA-256 of the secret's UTF-8.
    func digest(_ secret: String) -> [UInt8]
}

/// Makes access tokens, and knows which sign-ins' tokens are good no longer.
package protocol AccessTokenIssuer: Sendable {
    /// Seconds that a token is good for.
    var lifetime: Int { get }
    func issue(user: UserID, signIn: SignInID, at now: Timestamp) throws -> String
    /// From now on refuses the tokens of these sign-ins, which were issued at `now` or before.
    func revoke(_ signIns: [SignInID], at now: Timestamp)
}

/// How long things live, in seconds.
package struct AccountSettings: Hashable, Sendable {
    package var signUp: SignUpPolicy
    /// A sign-in that is not refreshed for so long is over.
    package var signInLifetime: Int64
    /// How long after its use a refresh token may be shown again by a client that lost the answer. A day, because a
    /// phone that loses the network at the wrong moment may sleep until the next morning, and a telephone that has signed
    /// itself out does not ring; `RefreshRotation` tells why that is safe.
    package var refreshGrace: Int64
    /// What media a user may have, of which a photo is one.
    package var quota: MediaQuota

    package init(
        signUp: SignUpPolicy = .open, signInLifetime: Int64 = 90 * 86_400, refreshGrace: Int64 = 86_400,
        quota: MediaQuota = MediaQuota()
    ) {
        self.signUp = signUp
        self.signInLifetime = signInLifetime
        self.refreshGrace = refreshGrace
        self.quota = quota
    }
}

/// What a command came to.
package struct AccountOutcome<Value: Sendable>: Sendable {
    package var value: Value
    /// Where its changes stand in their streams.
    package var positions: [StreamName: Position]
    /// A file that belonged to what was removed, and is left to the caller to remove.
    package var removedFile: FileID?
}
