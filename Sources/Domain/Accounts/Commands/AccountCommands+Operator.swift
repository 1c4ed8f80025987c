package import Model
internal import Synchronization

// Commands of the operator, available only from the command line.
extension AccountCommands {
    /// Creates an account, whatever the sign-up policy is.
    package func createAccount(email: String, password: String, displayName: String) async throws -> OwnProfile {
        let email = try AccountRules.email(email)
        let name = try AccountRules.displayName(displayName)
        let password = try AccountRules.password(password)
        try await checkEmailAvailable(email)
        let hash = try await passwords.hash(password)
        return try await database.writeAccounts { store in
            let user = UserRecord(
                id: .make(at: store.now), email: email, passwordHash: hash, displayName: name, createdAt: store.now)
            guard try store.create(user) else { throw Self.emailTaken }
            return user.ownProfile
        }.value
    }

    /// The user whom the operator names.
    package func user(of reference: AccountReference) async throws -> UserID {
        try await database.readAccounts { try $0.user(reference).id }
    }

    /// Issues access tokens of test users (`load-1@load.invalid` and so on), which are created if missing. They have no
    /// password, so nobody can sign in as one of them.
    package func virtualUsers(count: Int, prefix: String) async throws -> [(user: UserID, accessToken: String)] {
        var issued: [(user: UserID, accessToken: String)] = []
        let secret = newSignInSecrets()
        let lifetime = settings.signInLifetime
        var first = 1
        while first <= count {
            let numbers = first...min(count, first + 499)
            let opened = try await database.writeAccounts { store in
                try numbers.map { number in
                    let email = "\(prefix)-\(number)@\(prefix).invalid"
                    var user = try store.user(emailKey: AccountRules.emailKey(email))
                    if user == nil {
                        let new = UserRecord(
                            id: .make(at: store.now), email: email, displayName: "\(prefix)-\(number)",
                            createdAt: store.now)
                        guard try store.create(new) else { throw Self.emailTaken }
                        user = new
                    }
                    guard let user else { throw Self.emailTaken }
                    let device = DeviceClaim(name: "switchboard token", platform: "load")
                    return try store.open(secret, for: user.id, on: device, lifetime: lifetime)
                }
            }.value
            for made in opened {
                let signIn = made.signIn
                announceEnd(of: made.ended, of: signIn.user, at: signIn.createdAt)
                let token = try tokens.issue(user: signIn.user, signIn: signIn.id, at: signIn.createdAt)
                issued.append((signIn.user, token))
            }
            first += 500
        }
        return issued
    }

    package func accounts(limit: Int = 100, cursor: String? = nil) async throws -> AccountPage<UserRecord> {
        let limit = try Self.limit(limit)
        let after = try Self.userCursor(cursor)
        let found = try await database.readAccounts { try $0.users(after: after, limit: limit + 1) }
        let page = Array(found.prefix(limit))
        return AccountPage(items: page, nextCursor: found.count > limit ? page.last?.id.text : nil)
    }

    /// Disables an account and ends all its sign-ins, or enables it again.
    package func setDisabled(_ isDisabled: Bool, email: String) async throws -> OwnProfile {
        let key = AccountRules.emailKey(email)
        let (user, ended, now) = try await database.writeAccounts { store in
            guard var user = try store.user(emailKey: key) else { throw Problem.notFound("account", field: "email") }
            try store.setDisabled(isDisabled, &user)
            let ended = isDisabled ? try store.endSignIns(of: user.id, because: .disabled) { _ in true } : []
            return (user, ended, store.now)
        }.value
        applyDisabled(isDisabled, user.id, ended: ended, at: now)
        return user.ownProfile
    }

    /// Call it after the commit that disabled a user, which ended these sign-ins, or enabled one.
    func applyDisabled(_ isDisabled: Bool, _ user: UserID, ended: [SignInID], at now: Timestamp) {
        guard isDisabled else {
            disabledUsers.withLock { _ = $0.remove(user) }
            return
        }
        // First, so that no data that was read before the commit is cached or used afterwards.
        disabledUsers.withLock { _ = $0.insert(user) }
        externalUsers.withLock { $0.removeAll { $1.user == user } }
        announceEnd(of: ended, of: user, at: now)
        userDisabled(user)
    }

    /// Creates invite codes for one sign-up each. Only their digests are stored, so they are shown once.
    package func createInvites(count: Int) async throws -> [String] {
        let codes = (0..<min(max(1, count), 1000)).map { _ in String(secrets.makeSecret().prefix(22)) }
        let hashes = codes.map(secrets.digest)
        _ = try await database.writeAccounts { store in
            for hash in hashes { try store.insertInvite(hash: hash) }
        }
        return codes
    }
}
