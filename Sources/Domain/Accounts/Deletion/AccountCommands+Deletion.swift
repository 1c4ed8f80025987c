package import Model
internal import Synchronization

// The deletion of accounts. The transaction ends the sign-ins, releases the e-mail address and the identities, leaves a
// tombstone, and adds the erasure of everything else to a table, which `ErasurePlan` describes.
extension AccountCommands {
    /// The age up to which a token proves that a user without a password is present, in seconds.
    package static let freshTokenSeconds: Int64 = 300

    /// Deletes the principal's own account.
    ///
    /// - Parameter password: of an account that has one. Without one, the token must be fresh.
    package func deleteAccount(of principal: Principal, password: String?) async throws -> AuditEntry {
        let (user, now) = try await database.readAccounts { (try $0.existingUser(principal.user), $0.now) }
        if let stored = user.passwordHash {
            try await checkPassword(password, of: user.id, against: stored)
        } else {
            try Self.checkIsFresh(principal, at: now)
        }
        let entry = AuditEntry(actor: .user(user.id), action: "me.delete", subject: user.id.text)
        let secrets = secrets
        let deletion = try await database.writeAccounts { store in
            let current = try store.existingUser(principal.user)
            guard current.passwordHash == user.passwordHash else {
                throw Problem(.conflict, "The password was changed by another request at the same time.")
            }
            return try store.delete(current, secrets, entry)
        }.value
        finish(deletion)
        return entry
    }

    /// Deletes a user at the request of the app's back end, or of an operator. Returns nil if the user was deleted before.
    ///
    /// - Parameter area: whose request it is in the audit log: `server` or `admin`.
    package func deleteUser(
        _ reference: UserReference, by key: KeyPrincipal, area: String = "server"
    ) async throws -> AuditEntry? {
        let secrets = secrets
        let deletion = try await database.writeAccounts { store -> AccountDeletion? in
            let user = try store.user(reference)
            guard user.deletedAt == nil else { return nil }
            return try store.delete(user, secrets, key.audit("\(area).users.delete", user.id.text))
        }.value
        guard let deletion else { return nil }
        finish(deletion)
        return deletion.entry
    }

    /// Deletes an account by command of the operator. Returns nil if it was deleted before.
    package func deleteAccount(_ reference: AccountReference) async throws -> AuditEntry? {
        let secrets = secrets
        let deletion = try await database.writeAccounts { store -> AccountDeletion? in
            let user = try store.user(reference)
            guard user.deletedAt == nil else { return nil }
            let entry = AuditEntry(actor: .commandLine, action: "account.delete", subject: user.id.text)
            return try store.delete(user, secrets, entry)
        }.value
        guard let deletion else { return nil }
        finish(deletion)
        return deletion.entry
    }

    /// Call it after the commit.
    private func finish(_ deletion: AccountDeletion) {
        applyDisabled(true, deletion.user, ended: deletion.ended, at: deletion.at)
        userDeleted(deletion.user)
    }

    /// A stolen access token must not allow guessing the password.
    private func checkPassword(_ password: String?, of user: UserID, against stored: String) async throws {
        guard let password, !password.isEmpty else {
            throw Problem.invalid("password", "Deleting the account needs its password.")
        }
        let attempt: [SignInDelays.Key] = [.device(account: user.text, device: "password")]
        try begin(attempt)
        guard password.utf8.count <= 512, case .right = try await passwords.verify(password, against: stored) else {
            throw Problem.invalid("password", "This is not your password.")
        }
        delays.withLock { $0.succeeded(attempt) }
    }

    /// The kind is `unauthenticated`, upon which clients get a new token and repeat the request.
    private static func checkIsFresh(_ principal: Principal, at now: Timestamp) throws {
        guard let issuedAt = principal.tokenIssuedAt, now <= issuedAt.adding(seconds: freshTokenSeconds) else {
            throw Problem(
                .unauthenticated,
                "This account has no password: deleting it needs an access token that is at most five minutes old. "
                    + "Get a new one.")
        }
    }
}

/// What was deleted, and what is to be done after the commit.
struct AccountDeletion: Sendable {
    var user: UserID
    var ended: [SignInID]
    var entry: AuditEntry
    var at: Timestamp
}

extension AccountStore {
    /// Makes a tombstone of the user: only the id remains. What else is stored is erased by a job that this adds.
    func delete(_ user: UserRecord, _ secrets: any SecretSource, _ entry: AuditEntry) throws -> AccountDeletion {
        let ended = try endSignIns(of: user.id, because: .deleted) { _ in true }
        try recordDeleted(user.id)
        for identity in try removeIdentities(of: user.id) {
            try insertDeletedIdentity(hash: identity.tombstone(secrets))
        }
        try update(user.tombstone(at: now))
        try insertErasure(of: user.id, photo: user.photoURL.flatMap { PhotoAddress.file(at: $0) })
        try insert(entry)
        return AccountDeletion(user: user.id, ended: ended, entry: entry, at: now)
    }

    func user(_ reference: AccountReference) throws -> UserRecord {
        switch reference {
        case .user(let reference): return try user(reference, field: "account")
        case .email(let email):
            guard let user = try user(emailKey: AccountRules.emailKey(email)) else {
                throw Problem.notFound("account", field: "account")
            }
            return user
        }
    }
}

extension UserRecord {
    /// Every check that the account is not disabled holds for a tombstone as well.
    func tombstone(at now: Timestamp) -> UserRecord {
        UserRecord(
            id: id, displayName: DeletedUser.name, presence: .nobody, createdAt: createdAt,
            disabledAt: disabledAt ?? now, deletedAt: now)
    }

    mutating func setDisabled(_ isDisabled: Bool, at now: Timestamp) throws {
        guard deletedAt == nil else {
            if isDisabled { return }
            throw Problem(.conflict, "This account was deleted; that cannot be undone.")
        }
        disabledAt = isDisabled ? disabledAt ?? now : nil
    }
}

extension ExternalIdentity {
    /// The digest under which the deletion of its user is remembered, without naming the person.
    package func tombstone(_ secrets: any SecretSource) -> [UInt8] {
        // The length separates the two: both may contain any character.
        secrets.digest("\(issuer.utf8.count) \(issuer) \(subject)")
    }
}
