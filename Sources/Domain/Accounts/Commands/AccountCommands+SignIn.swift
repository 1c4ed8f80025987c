package import Model
internal import Synchronization

extension AccountCommands {
    /// Signs in with e-mail and password. The answer to a wrong password and to an unknown address is the same, and takes
    /// the same time.
    ///
    /// - Parameter address: where the request comes from, without a port; guessing is slowed down by it.
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

        // A better hash can wait for another day when the hashing threads are busy.
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
        guard let shown = RefreshToken(token) else { throw Self.unknownRefreshToken }
        let (familyHash, secretHash) = (secrets.digest(shown.family), secrets.digest(shown.secret))
        let successor = secrets.makeSecret()
        let successorHash = secrets.digest(successor)
        let settings = settings

        enum Answer: Sendable {
            case refreshed(SignInRecord, counter: Int64)
            case refused(Problem)
            case ended(SignInRecord, SignInEnd, at: Timestamp)
        }
        let answer: Answer = try await database.writeAccounts { store in
            guard var signIn = try store.signIn(shown.signIn) else { return .refused(Self.unknownRefreshToken) }
            var rotation = signIn.rotation
            let verdict = rotation.show(
                counter: shown.counter, familyHash: familyHash, secretHash: secretHash, successor: successorHash,
                at: store.now, grace: settings.refreshGrace, lifetime: settings.signInLifetime,
                restoredAt: try store.restoredAt())
            if verdict == .unknown { return .refused(Self.unknownRefreshToken) }
            if signIn.endedAt != nil { return .refused(Self.ended(because: signIn.endReason)) }
            switch verdict {
            case .unknown: return .refused(Self.unknownRefreshToken)
            case .expired: return .refused(Problem(.unauthenticated, "This session was not used for too long."))
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

        switch answer {
        case .refused(let problem): throw problem
        case .ended(let signIn, let reason, let now):
            announceEnd(of: [signIn.id], of: signIn.user, at: now)
            throw Self.ended(because: reason)
        case .refreshed(let signIn, let counter):
            let next = RefreshToken(signIn: signIn.id, counter: counter, family: shown.family, secret: successor)
            return TokenPair(
                accessToken: try tokens.issue(user: signIn.user, signIn: signIn.id, at: signIn.lastUsedAt),
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
            throw Problem(.conflict, "This account signs in elsewhere and has no password here.")
        }
        // Who holds a stolen access token must not be able to guess the password with it.
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
                throw Problem(.conflict, "The password was changed elsewhere at the same time.")
            }
            user.passwordHash = hash
            try store.update(user)
            let ended = try store.endSignIns(of: user.id, because: .passwordChanged) { $0.id != principal.signIn }
            return (ended, store.now)
        }
        announceEnd(of: written.value.0, of: principal.user, at: written.value.1)
        return AccountOutcome(value: (), positions: written.positions)
    }

    private func begin(_ attempt: [SignInDelays.Key]) throws {
        let now = uptime()
        guard let wait = delays.withLock({ $0.begin(attempt, at: now) }) else { return }
        throw Problem(
            .rateLimited, "Too many attempts; wait \((wait + 999) / 1000) s before the next.", retryAfter: wait)
    }

    static let wrong = Problem(.unauthenticated, "E-mail or password is wrong.")
    static let unknownRefreshToken = Problem(
        .unauthenticated, "This refresh token is not known.", field: "refreshToken")

    static func ended(because reason: SignInEnd?) -> Problem {
        let detail =
            switch reason {
            case .reused:
                "This session was ended, because one of its refresh tokens was used twice: somebody may have copied it. "
                    + "Sign in again."
            case .passwordChanged: "This session was ended, because the password was changed. Sign in again."
            case .disabled: "This account is disabled."
            case .restored:
                "The server was restored from a backup, which does not know this session's tokens. Sign in again."
            case .tooMany:
                "This session was ended, because a user has at most \(AccountRules.mostSignIns): the one that was not "
                    + "used for longest makes way. Sign in again."
            case .revoked: "This session was ended from another one. Sign in again."
            case .signedOut, nil: "This session was signed out."
            }
        return Problem(reason == .restored ? .signInAgain : .unauthenticated, detail)
    }
}
