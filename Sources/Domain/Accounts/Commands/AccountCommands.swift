package import Model
internal import Synchronization

/// The operations on accounts: REST, realtime and the command line all end here.
///
/// A command validates the request, does slow work (hashing) outside the database, and then decides and writes in one
/// job. After the commit that ends a sign-in, its access tokens are revoked in `tokens`, and `signInsEnded` closes its
/// sockets.
package final class AccountCommands: Sendable {
    let database: any AccountDatabase
    let passwords: any PasswordHasher
    let secrets: any SecretSource
    let tokens: any AccessTokenIssuer
    let settings: AccountSettings
    let uptime: @Sendable () -> Int64
    let signInsEnded: @Sendable (UserID, [SignInID]) -> Void
    let userDisabled: @Sendable (UserID) -> Void
    let userDeleted: @Sendable (UserID) -> Void

    let delays = Mutex(SignInDelays())
    let provedEndpoints = Mutex(RecentMap<EndpointID, ProvedEndpoint>(capacity: 50_000))
    let externalUsers = Mutex(RecentMap<ExternalKey, ExternalUser>(capacity: 50_000))
    /// Users disabled or deleted since the start, for checks of data that was read before; everything else queries the database.
    let disabledUsers = Mutex<Set<UserID>>([])

    /// - Parameters:
    ///   - uptime: milliseconds of a monotonic clock, for delays after failed sign-ins.
    ///   - signInsEnded: called when sign-ins of a user have ended, to close their sockets.
    ///   - userDisabled: called when a user was disabled or deleted, to close all of their sockets.
    ///   - userDeleted: called after that when a user was deleted: the erasure of what is stored may begin.
    package init(
        database: any AccountDatabase, passwords: any PasswordHasher, secrets: any SecretSource,
        tokens: any AccessTokenIssuer, settings: AccountSettings = AccountSettings(),
        uptime: @escaping @Sendable () -> Int64,
        signInsEnded: @escaping @Sendable (UserID, [SignInID]) -> Void = { _, _ in },
        userDisabled: @escaping @Sendable (UserID) -> Void = { _ in },
        userDeleted: @escaping @Sendable (UserID) -> Void = { _ in }
    ) {
        self.database = database
        self.passwords = passwords
        self.secrets = secrets
        self.tokens = tokens
        self.settings = settings
        self.uptime = uptime
        self.signInsEnded = signInsEnded
        self.userDisabled = userDisabled
        self.userDeleted = userDeleted
    }

    /// Removes cache entries that were not used since the last call: a proof is of no use after `lastUseIntervalSeconds`,
    /// and an entry that is missed is read again.
    package func ageCaches() {
        provedEndpoints.withLock { $0.age() }
        externalUsers.withLock { $0.age() }
    }

    /// Loads recently ended sign-ins into `tokens`. Call it once, before the first request.
    package func loadRevocations() async throws {
        let lifetime = Int64(tokens.lifetime)
        let ended = try await database.readAccounts { store in
            try store.signInsEnded(since: store.now.adding(seconds: -lifetime - 60))
        }
        for signIn in ended { tokens.revoke([signIn.id], at: signIn.at) }
    }

    /// Tells the hasher whether there are passwords of another system; call it before the first sign-in.
    package func loadPasswordKinds() async throws {
        if let hash = try await database.readAccounts({ try $0.firebaseHash() }) { passwords.expect(hash) }
    }

    /// Such a password was imported.
    package func expectPassword(_ hash: String) { passwords.expect(hash) }

    /// Removes a batch of sign-ins, devices and endpoints that were not used for long; call it periodically. Returns
    /// the number of removed rows.
    @discardableResult
    package func removeStale(limit: Int = 200) async throws -> Int {
        let lifetime = settings.signInLifetime
        return try await database.writeAccounts { store in
            try store.removeStale(before: store.now.adding(seconds: -lifetime), limit: limit)
        }.value
    }

    /// Throws if the user was disabled since the start of the process. It does not query the database: it is for
    /// callers that read the user a moment ago, and may be called on an event loop.
    package func checkNotDisabled(_ user: UserID) throws {
        if disabledUsers.withLock({ $0.contains(user) }) { throw Self.disabled }
    }

    /// Call it after the commit that ended `signIns` of `user`.
    func announceEnd(of signIns: [SignInID], of user: UserID, at now: Timestamp) {
        guard !signIns.isEmpty else { return }
        tokens.revoke(signIns, at: now)
        signInsEnded(user, signIns)
    }
}

extension AccountStore {
    /// The user. Throws a problem if there is none: a token may outlive its account.
    package func existingUser(_ id: UserID) throws -> UserRecord {
        guard let user = try user(id), user.deletedAt == nil else { throw AccountCommands.deleted }
        guard user.disabledAt == nil else { throw AccountCommands.disabled }
        return user
    }

    /// Ends the user's sign-ins that `isIncluded` selects and appends that to the user's stream.
    func endSignIns(
        of user: UserID, because reason: SignInEnd, where isIncluded: (SignInRecord) -> Bool
    ) throws -> [SignInID] {
        let open = try openSignIns(of: user, after: nil, limit: 2 * AccountRules.maxSignIns).map(\.signIn)
        let ended = open.filter(isIncluded)
        try end(ended, of: user, because: reason)
        return ended.map(\.id)
    }

    func end(_ signIns: [SignInRecord], of user: UserID, because reason: SignInEnd) throws {
        for var signIn in signIns {
            signIn.endedAt = now
            signIn.endReason = reason
            try update(signIn)
            try append(.signOut, SignInChange(session: signIn.id), to: user)
        }
    }
}

extension AccountCommands {
    static let disabled = Problem(.forbidden, "This account is disabled.")
    static let deleted = Problem(.unauthenticated, "This account was deleted.")
}
