import Model
internal import Synchronization

// What the app's own back end does with a server key. Each write and its entry in the audit log are one transaction.
extension AccountCommands {
    /// The maximum number of identities in one request.
    package static let maxIdentities = 8

    /// Creates the user with the app's own id, or replaces the profile of that user. A user who was disabled stays so.
    package func putUser(
        _ reference: UserReference, _ request: PutUser, by key: KeyPrincipal
    ) async throws -> (user: ServerUserDocument, isNew: Bool, written: AuditEntry) {
        guard case .external(let ext) = reference else {
            throw Problem.invalid("user", "Name the user by your own id: ext:<id>.")
        }
        let name = try AccountRules.displayName(request.displayName)
        let languages = try AccountRules.languages(request.languages ?? [])
        let identities = try Self.identities(request.identities ?? [])
        return try await database.writeAccounts { store in
            var isNew = false
            let user: UserRecord
            if var known = try store.user(issuer: UserReference.issuer, subject: ext) {
                known.displayName = name
                known.languages = languages
                known.callWaiting = request.callWaiting ?? false
                try store.update(known)
                user = known
            } else {
                user = UserRecord(
                    id: .make(at: store.now), displayName: name, languages: languages,
                    callWaiting: request.callWaiting ?? false, createdAt: store.now)
                let identity = ExternalIdentity(issuer: UserReference.issuer, subject: ext)
                guard try store.create(user, as: identity) else {
                    throw Problem(.unavailable, "Try again.", retryAfter: 100)
                }
                isNew = true
            }
            for (index, identity) in identities.enumerated() {
                if let owner = try store.user(issuer: identity.issuer, subject: identity.subject) {
                    guard owner.id == user.id else {
                        throw Problem(
                            .conflict, "This identity belongs to another user.", field: "identities[\(index)]")
                    }
                } else {
                    // Whoever has the identity signs in as somebody who is there, as with a token.
                    guard isNew || key.scopes.contains(.tokens) else {
                        throw Problem(
                            .forbidden, "Only a key with the scope tokens gives an identity to a user who is there.",
                            field: "identities[\(index)]")
                    }
                    try store.link(identity, to: user.id)
                }
            }
            let entry = key.audit("server.users.put", user.id.text)
            try store.insert(entry)
            return (ServerUserDocument(user, ext: ext), isNew, entry)
        }.value
    }

    package func serverUser(_ reference: UserReference) async throws -> ServerUserDocument {
        try await database.readAccounts { store in try store.document(of: store.user(reference)) }
    }

    /// All users in the order of their ids.
    package func serverUsers(
        limit: Int = 100, cursor: String? = nil
    ) async throws -> AccountPage<ServerUserDocument> {
        let limit = try Self.limit(limit)
        let after = try Self.userCursor(cursor)
        return try await database.readAccounts { store in
            let found = try store.users(after: after, limit: limit + 1)
            let page = Array(found.prefix(limit))
            let ids = try store.outsideSubjects(of: page.map(\.id), issuer: UserReference.issuer)
            return AccountPage(
                items: page.map { ServerUserDocument($0, ext: ids[$0.id]) },
                nextCursor: found.count > limit ? page.last?.id.text : nil)
        }
    }

    /// Disables a user, which ends all sign-ins, or enables the user again.
    ///
    /// - Parameter area: begins the action in the audit log: `server`, or `admin` for an operator.
    package func setDisabled(
        _ isDisabled: Bool, _ reference: UserReference, by key: KeyPrincipal, area: String = "server"
    ) async throws -> (user: ServerUserDocument, written: AuditEntry) {
        let (user, document, ended, entry, now) = try await database.writeAccounts { store in
            var user = try store.user(reference)
            try store.setDisabled(isDisabled, &user)
            let ended = isDisabled ? try store.endSignIns(of: user.id, because: .disabled) { _ in true } : []
            let entry = key.audit("\(area).users.\(isDisabled ? "disable" : "enable")", user.id.text)
            try store.insert(entry)
            return (user, try store.document(of: user), ended, entry, store.now)
        }.value
        applyDisabled(isDisabled, user.id, ended: ended, at: now)
        return (document, entry)
    }

    /// Ends all sign-ins of a user. Calls that the user joined with them end for the user.
    package func signOutEverywhere(
        _ reference: UserReference, by key: KeyPrincipal, area: String = "server"
    ) async throws -> (ended: Int, written: AuditEntry) {
        let (user, ended, entry, now) = try await database.writeAccounts { store in
            let user = try store.user(reference)
            let ended = try store.endSignIns(of: user.id, because: .revoked) { _ in true }
            let entry = key.audit("\(area).users.signOut", user.id.text)
            try store.insert(entry)
            return (user.id, ended, entry, store.now)
        }.value
        announceEnd(of: ended, of: user, at: now)
        return (ended.count, entry)
    }

    /// Issues an access token of a user, for a client of the app. It opens a sign-in on the named device, or uses the
    /// one that the same key opened there before.
    ///
    /// With `refresh`, a refresh token comes with it, and an earlier one of that sign-in is no longer valid.
    package func issueToken(
        of reference: UserReference, _ request: IssueToken, by key: KeyPrincipal
    ) async throws -> (token: IssuedToken, written: AuditEntry) {
        let device = try AccountRules.device(
            DeviceClaim(id: request.device.id, name: request.device.name, platform: request.device.platform))
        let wantsRefresh = request.refresh ?? false
        let secret = newSignInSecrets()
        let (lifetime, actor) = (settings.signInLifetime, key.actor)
        let (user, opened, entry) = try await database.writeAccounts { store in
            let user = try store.user(reference)
            guard user.deletedAt == nil else { throw Self.deleted }
            guard user.disabledAt == nil else { throw Self.disabled }
            let opened = try store.reopen(
                secret, for: user.id, on: device, by: actor, renewsSecrets: wantsRefresh, lifetime: lifetime)
            let entry = key.audit("server.tokens.create", user.id.text)
            try store.insert(entry)
            return (user, opened, entry)
        }.value
        let signIn = opened.signIn
        announceEnd(of: opened.ended, of: user.id, at: signIn.lastUsedAt)
        let refresh = RefreshToken(signIn: signIn.id, counter: 1, family: secret.family, secret: secret.secret)
        let token = IssuedToken(
            user: user.id, session: signIn.id,
            accessToken: try tokens.issue(user: user.id, signIn: signIn.id, actor: actor, at: signIn.lastUsedAt),
            expiresIn: tokens.lifetime, refreshToken: wantsRefresh ? refresh.text : nil)
        return (token, entry)
    }

    private static func identities(_ identities: [PutUser.Identity]) throws -> [ExternalIdentity] {
        guard identities.count <= maxIdentities else {
            throw Problem.invalid("identities", "At most \(maxIdentities) identities.")
        }
        return try identities.enumerated().map { index, identity in
            guard (1...255).contains(identity.issuer.utf8.count), identity.issuer != UserReference.issuer else {
                throw Problem.invalid(
                    "identities[\(index)].issuer", "Expected the issuer as in accounts.issuers, of 1 to 255 bytes.")
            }
            guard (1...255).contains(identity.subject.utf8.count) else {
                throw Problem.invalid("identities[\(index)].subject", "Expected a subject of 1 to 255 bytes.")
            }
            return ExternalIdentity(issuer: identity.issuer, subject: identity.subject)
        }
    }
}

extension AccountStore {
    /// The user of a reference, disabled or not.
    package func user(_ reference: UserReference, field: String = "user") throws -> UserRecord {
        guard let found = try userIfPresent(reference) else { throw Problem.notFound("user", field: field) }
        return found
    }

    func userIfPresent(_ reference: UserReference) throws -> UserRecord? {
        switch reference {
        case .id(let id): try user(id)
        case .external(let ext): try user(issuer: UserReference.issuer, subject: ext)
        }
    }

    func document(of user: UserRecord) throws -> ServerUserDocument {
        ServerUserDocument(user, ext: try outsideSubjects(of: [user.id], issuer: UserReference.issuer)[user.id])
    }

    /// Opens a sign-in of a key on the device, or uses the one that it opened there before.
    fileprivate func reopen(
        _ secret: AccountCommands.SignInSecrets, for user: UserID, on claim: DeviceClaim, by actor: String,
        renewsSecrets: Bool, lifetime: Int64
    ) throws -> OpenedSignIn {
        let known = try openSignIns(of: user, after: nil, limit: 2 * AccountRules.maxSignIns).first { signIn, device in
            device.id == claim.id && signIn.actor == actor
        }
        guard var (signIn, device) = known else {
            return try open(secret, for: user, on: claim, by: actor, lifetime: lifetime)
        }
        (device.name, device.platform, device.lastSeenAt) = (claim.name, claim.platform, now)
        try save(device)
        signIn.lastUsedAt = now
        signIn.rotation.expiresAt = now.adding(seconds: lifetime)
        if renewsSecrets {
            signIn.rotation = RefreshRotation(
                familyHash: secret.familyHash, usedAt: now, next: [secret.secretHash],
                expiresAt: now.adding(seconds: lifetime))
        }
        try update(signIn)
        return OpenedSignIn(signIn: signIn, device: device, ended: [])
    }
}
