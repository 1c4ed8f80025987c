package import Model
internal import Synchronization

extension AccountCommands {
    /// Signs in with e-mail and password. The responses to a wrong password and to an unknown address are the same and
    /// take the same time.
    ///
    /// - Parameter address: the client's IP address, without a port; attempts are rate-limited by it.
    package func signIn(_ request: SignInRequest, from address: String) async throws -> SignedIn {
        let device = try AccountRules.device(request.device)
        let key = AccountRules.emailKey(request.email)
        guard key.utf8.count <= 254, request.password.utf8.count <= 512 else { throw Self.wrong }
        let (found, isKnownDevice) = try await database.readAccounts { store in
            let user = try store.user(emailKey: key)
            guard let user, let id = device.id else { return (user, false) }
            return (user, try store.device(id, of: user.id) != nil)
        }
        let attempt = SignInDelays.keys(
            account: key, address: address, knownDevice: isKnownDevice ? device.id?.text : nil)
        try begin(attempt)

        let verdict = try await passwords.verify(request.password, against: found?.passwordHash)
        guard let user = found, case .right(let isOutdated) = verdict else { throw Self.wrong }
        delays.withLock { $0.succeeded(attempt) }
        if user.disabledAt != nil { throw Self.disabled }

        // If the hashing threads are busy, the rehash can wait for another sign-in.
        let newHash = isOutdated ? try? await passwords.hash(request.password) : nil
        let secret = newSignInSecrets()
        let lifetime = settings.signInLifetime
        let (current, opened) = try await database.writeAccounts { store in
            var current = try store.existingUser(user.id)
            // The password may have been changed while this one was being compared.
            guard current.passwordHash == user.passwordHash else {
                throw Problem(.unavailable, "The password was changed just now; try again.", retryAfter: 100)
            }
            if let newHash {
                current.passwordHash = newHash
                try store.update(current)
            }
            return (current, try store.open(secret, for: user.id, on: device, lifetime: lifetime))
        }.value
        return try signedIn(current, opened, with: secret)
    }

    /// Exchanges a refresh token for a new pair. `RefreshRotation` has the rules.
    package func refresh(_ token: String) async throws -> TokenPair {
        guard let presented = RefreshToken(token) else { throw Self.unknownRefreshToken }
        let (familyHash, secretHash) = (secrets.digest(presented.family), secrets.digest(presented.secret))
        let successor = secrets.makeSecret()
        let successorHash = secrets.digest(successor)
        let settings = settings

        enum RefreshResult: Sendable {
            case refreshed(SignInRecord, counter: Int64)
            case rejected(Problem)
            case ended(SignInRecord, SignInEnd, at: Timestamp)
        }
        let result: RefreshResult = try await database.writeAccounts { store in
            guard var signIn = try store.signIn(presented.signIn) else { return .rejected(Self.unknownRefreshToken) }
            var rotation = signIn.rotation
            let verdict = rotation.redeem(
                counter: presented.counter, familyHash: familyHash, secretHash: secretHash, successor: successorHash,
                at: store.now, grace: settings.refreshGrace, lifetime: settings.signInLifetime,
                restoredAt: try store.restoredAt())
            if verdict == .unknown { return .rejected(Self.unknownRefreshToken) }
            if signIn.endedAt != nil { return .rejected(Self.ended(because: signIn.endReason)) }
            switch verdict {
            case .unknown: return .rejected(Self.unknownRefreshToken)
            case .expired: return .rejected(Self.expiredSession)
            case .reused, .unknownSinceRestore:
                let reason: SignInEnd = verdict == .reused ? .reused : .restored
                _ = try store.endSignIns(of: signIn.user, because: reason) { $0.id == signIn.id }
                return .ended(signIn, reason, at: store.now)
            case .accepted(let counter):
                _ = try store.existingUser(signIn.user)
                signIn.rotation = rotation
                signIn.lastUsedAt = store.now
                try store.update(signIn)
                if var device = try store.device(signIn.device, of: signIn.user) {
                    device.lastSeenAt = store.now
                    try store.save(device)
                }
                return .refreshed(signIn, counter: counter)
            }
        }.value

        switch result {
        case .rejected(let problem): throw problem
        case .ended(let signIn, let reason, let now):
            announceEnd(of: [signIn.id], of: signIn.user, at: now)
            throw Self.ended(because: reason)
        case .refreshed(let signIn, let counter):
            let next = RefreshToken(signIn: signIn.id, counter: counter, family: presented.family, secret: successor)
            return TokenPair(
                accessToken: try tokens.issue(
                    user: signIn.user, signIn: signIn.id, actor: signIn.actor, at: signIn.lastUsedAt),
                refreshToken: next.text, expiresIn: tokens.lifetime)
        }
    }

    /// Changes the password and ends all other sign-ins of the user.
    package func changePassword(
        of principal: Principal, from current: String, to new: String
    ) async throws -> AccountOutcome<Void> {
        let password = try AccountRules.password(new, field: "newPassword")
        let user = try await database.readAccounts { try $0.existingUser(principal.user) }
        guard let stored = user.passwordHash else {
            throw Problem(.conflict, "This account signs in with an external issuer and has no password here.")
        }
        // A stolen access token must not allow guessing the password.
        let attempt: [SignInDelays.Key] = [.device(account: user.id.text, device: "password")]
        try begin(attempt)
        guard current.utf8.count <= 512, case .right = try await passwords.verify(current, against: stored) else {
            throw Problem.invalid("currentPassword", "This is not your password.")
        }
        delays.withLock { $0.succeeded(attempt) }
        let hash = try await passwords.hash(password)
        let written = try await database.writeAccounts { store in
            var user = try store.existingUser(principal.user)
            guard user.passwordHash == stored else {
                throw Problem(.conflict, "The password was changed by another request at the same time.")
            }
            user.passwordHash = hash
            try store.update(user)
            let ended = try store.endSignIns(of: user.id, because: .passwordChanged) { $0.id != principal.signIn }
            return (ended, store.now)
        }
        announceEnd(of: written.value.0, of: principal.user, at: written.value.1)
        return AccountOutcome(value: (), positions: written.positions)
    }

    func begin(_ attempt: [SignInDelays.Key]) throws {
        let now = uptime()
        guard let wait = delays.withLock({ $0.begin(attempt, at: now) }) else { return }
        throw Problem(
            .rateLimited, "Too many attempts; wait \((wait + 999) / 1000) s before the next.", retryAfter: wait)
    }

    static let wrong = Problem(.unauthenticated, "E-mail or password is wrong.")
    static let unknownRefreshToken = Problem(
        .unauthenticated, "This refresh token is unknown.", field: "refreshToken",
        members: RefreshRefusal.unknown.members)
    static let expiredSession = Problem(
        .unauthenticated, "This session has expired. Sign in again.", members: RefreshRefusal.expired.members)

    static func ended(because reason: SignInEnd?) -> Problem {
        let detail =
            switch reason {
            case .reused:
                "This session was ended: one of its refresh tokens was used twice, so somebody may have copied it. "
                    + "Sign in again."
            case .passwordChanged: "This session was ended because the password was changed. Sign in again."
            case .disabled: "This account is disabled."
            case .deleted: "This account was deleted."
            case .restored:
                "The server was restored from a backup, which does not know this session's tokens. Sign in again."
            case .tooMany:
                "This session was ended: a user has at most \(AccountRules.maxSignIns) sessions, and it was the least "
                    + "recently used one. Sign in again."
            case .revoked: "This session was ended from another one. Sign in again."
            case .signedOut, nil: "This session was signed out."
            }
        return Problem(
            reason == .restored ? .signInAgain : .unauthenticated, detail,
            members: RefreshRefusal.ended(reason ?? .signedOut).members)
    }
}
