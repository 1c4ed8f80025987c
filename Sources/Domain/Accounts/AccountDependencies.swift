package import Model

// The interfaces that the commands depend on. `PasswordHasher` has its own file.

/// Generates and hashes secrets.
package protocol SecretSource: Sendable {
    /// 256 random bits as 43 characters of `[A-Za-z0-9_-]`.
    func makeSecret() -> String
    /// SHA-256 of the secret's UTF-8.
    func digest(_ secret: String) -> [UInt8]
}

/// Issues access tokens and revokes those of ended sign-ins.
package protocol AccessTokenIssuer: Sendable {
    /// The lifetime of a token in seconds.
    var lifetime: Int { get }
    /// - Parameter actor: who acts for the user, if it is somebody else: the `act` claim.
    func issue(user: UserID, signIn: SignInID, actor: String?, at now: Timestamp) throws -> String
    /// Rejects the tokens of these sign-ins from now on; they were issued at `now` or before.
    func revoke(_ signIns: [SignInID], at now: Timestamp)
}

extension AccessTokenIssuer {
    func issue(user: UserID, signIn: SignInID, at now: Timestamp) throws -> String {
        try issue(user: user, signIn: signIn, actor: nil, at: now)
    }
}

/// The settings of accounts; times are in seconds.
package struct AccountSettings: Hashable, Sendable {
    package var signUp: SignUpPolicy
    /// A sign-in expires if it is not refreshed for this time.
    package var signInLifetime: Int64
    /// How long after its use a refresh token may be presented again by a client that lost the response. A day, because
    /// a phone that loses the network at the wrong moment may sleep until the next morning, and a signed-out phone does
    /// not ring; `RefreshRotation` explains why that is safe.
    package var refreshGrace: Int64
    /// The media quota of a user, which includes the photo.
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

/// The result of a command.
package struct AccountOutcome<Value: Sendable>: Sendable {
    package var value: Value
    /// The positions of its changes in their streams.
    package var positions: [StreamName: Position]
    /// A file of the removed data; the caller removes it.
    package var removedFile: FileID?

    package init(value: Value, positions: [StreamName: Position], removedFile: FileID? = nil) {
        self.value = value
        self.positions = positions
        self.removedFile = removedFile
    }
}
