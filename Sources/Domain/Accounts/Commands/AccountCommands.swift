package import Model
internal import Synchronization

/// What can be done with accounts: every door (REST, realtime, the command line) ends here.
///
/// A command checks what was asked, does its slow work (hashing) outside the database, and then decides and writes in one
/// job. What ends a sign-in is told to `tokens`, so that its access tokens stop working at once, and to
/// `signInsEnded`, which closes its sockets; both after the commit.
package final class AccountCommands: Sendable {
    let database: any AccountDatabase
    let passwords: any PasswordHasher
    let secrets: any SecretSource
    let tokens: any AccessTokenIssuer
    let settings: AccountSettings
    let uptime: @Sendable () -> Int64
    let signInsEnded: @Sendable (UserID, [SignInID]) -> Void
    let userDisabled: @Sendable (UserID) -> Void

    let delays = Mutex(SignInDelays())
    let provedEndpoints = Mutex(RecentMap<EndpointID, ProvedEndpoint>(capacity: 50_000))
    let outsiders = Mutex(RecentMap<OutsideKey, UserID>(capacity: 50_000))
    /// Users disabled since the start, for what was read before and is used after: everything else asks the database.
    let disabledUsers = Mutex<Set<UserID>>([])

    /// - Parameters:
    ///   - uptime: milliseconds of a monotonic clock, by which failed sign-ins are slowed down.
    ///   - signInsEnded: called when sign-ins of a user have ended; their sockets are to be closed.
    ///   - userDisabled: called when a user may do nothing any more; all of their sockets are to be closed.
    package init(
        database: any AccountDatabase, passwords: any PasswordHasher, secrets: any SecretSource,
        tokens: any AccessTokenIssuer, settings: AccountSettings = AccountSettings(),
        uptime: @escaping @Sendable () -> Int64,
        signInsEnded: @escaping @Sendable (UserID, [SignInID]) -> Void = { _, _ in },
        userDisabled: @escaping @Sendable (UserID) -> Void = { _ in }
    ) {
        self.database = database
        self.passwords = passwords
        self.secrets = secrets
        self.tokens = tokens
        self.settings = settings
        self.uptime = uptime
        self.signInsEnded = signInsEnded
        self.userDisabled = userDisabled
    }

    /// Tells `tokens` which sign-ins ended lately. Run once, before the first request.
    package func loadRevocations() async throws {
        let lifetime = Int64(tokens.lifetime)
        let ended = try await database.readAccounts { store in
            try store.signInsEnded(since: store.now.adding(seconds: -lifetime - 60))
        }
        for signIn in ended { tokens.revoke([signIn.id], at: signIn.at) }
    }

    /// Removes sign-ins, devices and endpoints that were not used for long, a few at a time; to be called now and then.
    /// Returns how many rows went.
    @discardableResult
    package func removeStale(limit: Int = 200) async throws -> Int {
        let lifetime = settings.signInLifetime
        return try await database.writeAccounts { store in
            try store.removeStale(before: store.now.adding(seconds: -lifetime), limit: limit)
        }.value
    }

    /// Throws when the user was disabled since the start of the process. It does not ask the database: it is for what
    /// read the user a moment ago, and it may be called on an event loop.
    package func checkNotDisabled(_ user: UserID) throws {
        if disabledUsers.withLock({ $0.contains(user) }) { throw Self.disabled }
    }

    /// To be called after the commit that ended `signIns` of `user`.
    func announceEnd(of signIns: [SignInID], of user: UserID, at now: Timestamp) {
        guard !signIns.isEmpty else { return }
        tokens.revoke(signIns, at: now)
        signInsEnded(user, signIns)
    }
}

extension AccountStore {
    /// The user, or a problem: a token may outlive its account.
    func existingUser(_ id: UserID) throws -> UserRecord {
        guard let user = try user(id) else { throw Problem(.unauthenticated, "This account is no more.") }
        guard user.disabledAt == nil else { throw AccountCommands.disabled }
        return user
    }

    /// Ends those of the user's sign-ins that `isMeant` picks and says so in the user's stream.
    func endSignIns(
        of user: UserID, because reason: SignInEnd, where isMeant: (SignInRecord) -> Bool
    ) throws -> [SignInID] {
        let open = try openSignIns(of: user, after: nil, limit: 2 * AccountRules.mostSignIns).map(\.signIn)
        let ended = open.filter(isMeant)
        try end(ended, of: user, because: reason)
        return ended.map(\.id)
    }

    func end(_ signIns: [SignInRecord], of user: UserID, because reason: SignInEnd) throws {
        for var signIn in signIns {
            signIn.endedAt = now
            signIn.endReason = reason
            try update(signIn)
            try append("signOut", SignInChange(session: signIn.id), to: .user(user))
        }
    }
}

extension AccountCommands {
    static let disabled = Problem(.forbidden, "This account is disabled.")
}
