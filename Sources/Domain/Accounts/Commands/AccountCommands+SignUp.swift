internal import Model

extension AccountCommands {
    /// Creates an account and signs it in.
    package func signUp(_ request: SignUpRequest) async throws -> SignedIn {
        if settings.signUp == .closed {
            throw Problem(.forbidden, "Sign-ups are closed on this server; ask its operator for an account.")
        }
        let email = try AccountRules.email(request.email)
        let password = try AccountRules.password(request.password)
        let name = try AccountRules.displayName(request.displayName)
        let languages = try AccountRules.languages(request.languages ?? [])
        let device = try AccountRules.device(request.device)
        var inviteHash: [UInt8]?
        if settings.signUp == .invite {
            guard let invite = request.invite.map(AccountRules.trimmed), !invite.isEmpty else {
                throw Problem(.forbidden, "Signing up here needs an invite.", field: "invite")
            }
            let digest = secrets.digest(invite)
            // Before anything is said of the address: that is for those who may sign up.
            guard try await database.readAccounts({ try $0.isInviteUnused(hash: digest) }) else {
                throw Self.unknownInvite
            }
            inviteHash = digest
        }
        try await checkEmailAvailable(email)
        let hash = try await passwords.hash(password)
        let secret = newSignInSecrets()
        let (usedInvite, lifetime) = (inviteHash, settings.signInLifetime)
        let (user, opened) = try await database.writeAccounts { store in
            let user = UserRecord(
                id: .make(at: store.now), email: email, passwordHash: hash, displayName: name, languages: languages,
                createdAt: store.now)
            if let usedInvite, try !store.isInviteUnused(hash: usedInvite) { throw Self.unknownInvite }
            guard try store.create(user) else { throw Self.emailTaken }
            if let usedInvite, try !store.useInvite(hash: usedInvite, by: user.id) { throw Self.unknownInvite }
            return (user, try store.open(secret, for: user.id, on: device, lifetime: lifetime))
        }.value
        return try signedIn(user, opened, with: secret)
    }

    /// Checks before the expensive hashing; the insert is what decides.
    func checkEmailAvailable(_ email: String) async throws {
        let key = AccountRules.emailKey(email)
        if try await database.readAccounts({ try $0.user(emailKey: key) }) != nil { throw Self.emailTaken }
    }

    private static let unknownInvite = Problem(
        .forbidden, "This invite is unknown or was already used.", field: "invite")
    static let emailTaken = Problem(.conflict, "There is an account with this e-mail address already.", field: "email")

    /// The secrets of a new sign-in.
    struct SignInSecrets: Sendable {
        let family: String
        let familyHash: [UInt8]
        let secret: String
        let secretHash: [UInt8]
    }

    func newSignInSecrets() -> SignInSecrets {
        let (family, secret) = (secrets.makeSecret(), secrets.makeSecret())
        return SignInSecrets(
            family: family, familyHash: secrets.digest(family), secret: secret, secretHash: secrets.digest(secret))
    }

    /// Call it after the commit that opened the sign-in.
    func signedIn(_ user: UserRecord, _ opened: OpenedSignIn, with secret: SignInSecrets) throws -> SignedIn {
        announceEnd(of: opened.ended, of: user.id, at: opened.signIn.createdAt)
        let (signIn, device) = (opened.signIn, opened.device)
        let refresh = RefreshToken(signIn: signIn.id, counter: 1, family: secret.family, secret: secret.secret)
        return SignedIn(
            user: user.ownProfile, session: signIn.document(on: device, current: true),
            accessToken: try tokens.issue(user: user.id, signIn: signIn.id, at: signIn.createdAt),
            refreshToken: refresh.text, expiresIn: tokens.lifetime)
    }
}

/// A new sign-in, and those that ended because of the limit.
struct OpenedSignIn: Sendable {
    var signIn: SignInRecord
    var device: DeviceRecord
    var ended: [SignInID]
}

extension AccountStore {
    /// Opens a sign-in on the device, which is created or updated. Beyond the limit per user, the least recently used
    /// sign-ins and devices are ended.
    func open(
        _ secret: AccountCommands.SignInSecrets, for user: UserID, on claim: DeviceClaim, by actor: String? = nil,
        lifetime: Int64
    ) throws -> OpenedSignIn {
        var device = DeviceRecord(
            id: claim.id ?? .make(at: now), user: user, name: claim.name, platform: claim.platform, createdAt: now,
            lastSeenAt: now)
        if let id = claim.id, let known = try self.device(id, of: user) { device.createdAt = known.createdAt }
        try save(device)
        let signIn = SignInRecord(
            id: .make(at: now), user: user, device: device.id, createdAt: now, lastUsedAt: now,
            rotation: RefreshRotation(
                familyHash: secret.familyHash, usedAt: now, next: [secret.secretHash],
                expiresAt: now.adding(seconds: lifetime)), actor: actor)
        try insert(signIn)
        try append(.signIn, SignInChange(session: signIn.id), to: user)
        return OpenedSignIn(
            signIn: signIn, device: device, ended: try endExcessSignIns(for: signIn.id, on: device.id, of: user))
    }

    /// Both limits are enforced at each sign-in, so there are at most a few to end.
    private func endExcessSignIns(for new: SignInID, on device: DeviceID, of user: UserID) throws -> [SignInID] {
        let limit = AccountRules.maxSignIns
        let devices = try devices(of: user, after: nil, limit: 2 * limit).filter { $0.id != device }
            .dropFirst(limit - 1)
        let signIns = try openSignIns(of: user, after: nil, limit: 2 * limit).filter { $0.signIn.id != new }
        let surplus = Set(signIns.dropFirst(limit - 1).map(\.signIn.id))
        let removed = Set(devices.map(\.id))
        let ended = signIns.map(\.signIn).filter { surplus.contains($0.id) || removed.contains($0.device) }
        try end(ended, of: user, because: .tooMany)
        for device in devices { try removeDevice(device.id, of: user) }
        return ended.map(\.id)
    }
}

extension SignInRecord {
    func document(on device: DeviceRecord, current: Bool) -> SignInDocument {
        SignInDocument(
            id: id, device: .init(id: device.id, name: device.name, platform: device.platform), createdAt: createdAt,
            lastUsedAt: lastUsedAt, current: current, client: client)
    }
}
