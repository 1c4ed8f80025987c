package import Model
internal import Synchronization

/// The issuer and subject that identify an external user.
struct ExternalKey: Hashable, Sendable {
    let issuer: String
    let subject: String
}

/// The user of an external identity.
struct ExternalUser: Hashable, Sendable {
    let user: UserID
    /// When the identity's previous user was deleted, if there was one: tokens issued before are refused.
    let deletedAt: Timestamp?
}

extension AccountCommands {
    /// The user of a verified token of an external issuer, created at the first use.
    ///
    /// The e-mail claim is stored only if no account has the address: an issuer must not be able to take over an
    /// account that signs in here by naming its address.
    ///
    /// A token that was issued before the identity's user was deleted is refused: it creates no user anew.
    package func user(of identity: ExternalIdentity) async throws -> UserID {
        let key = ExternalKey(issuer: identity.issuer, subject: identity.subject)
        if let known = externalUsers.withLock({ $0[key] }) {
            try Self.check(identity, issuedAfter: known.deletedAt)
            return known.user
        }
        let hash = identity.tombstone(secrets)
        let (found, deletedAt) = try await database.readAccounts { store in
            (
                try store.user(issuer: identity.issuer, subject: identity.subject),
                try store.identityDeletedAt(hash: hash)
            )
        }
        try Self.check(identity, issuedAfter: deletedAt)
        let user: UserRecord
        if let found {
            user = found
        } else {
            user = try await database.writeAccounts { store in
                if let user = try store.user(issuer: identity.issuer, subject: identity.subject) { return user }
                // The user may have been deleted since the row was read.
                try Self.check(identity, issuedAfter: store.identityDeletedAt(hash: hash))
                var user = UserRecord(
                    id: .make(at: store.now), displayName: Self.name(of: identity), createdAt: store.now)
                user.email = try identity.email.flatMap { try? AccountRules.email($0) }.flatMap { email in
                    try store.user(emailKey: AccountRules.emailKey(email)) == nil ? email : nil
                }
                guard try store.create(user, as: identity) else {
                    throw Problem(.unavailable, "Try again.", retryAfter: 100)
                }
                return user
            }.value
        }
        guard user.disabledAt == nil else { throw Self.disabled }
        try externalUsers.withLock { externalUsers in
            // The user may have been disabled since the row was read. The check and the insertion are atomic with
            // respect to `setDisabled`, which marks the user before it removes the entry.
            try checkNotDisabled(user.id)
            externalUsers[key] = ExternalUser(user: user.id, deletedAt: deletedAt)
        }
        return user.id
    }

    /// A token that does not say when it was issued may be older than the deletion.
    private static func check(_ identity: ExternalIdentity, issuedAfter deletedAt: Timestamp?) throws {
        guard let deletedAt else { return }
        guard let issuedAt = identity.issuedAt, issuedAt > deletedAt else {
            throw Problem(
                .unauthenticated,
                "The account of this token was deleted after the token was issued. A newer token creates a new account."
            )
        }
    }

    private static func name(of identity: ExternalIdentity) -> String {
        let local = identity.email?.split(separator: "@").first.map(String.init)
        for candidate in [identity.name, local, identity.subject] {
            guard let candidate, candidate.utf8.count <= 4096 else { continue }
            // The issuer's rules may differ; invisible characters are removed rather than the whole name rejected.
            let short = String(NameCharacters.removingDisallowed(from: candidate).prefix(80))
            if let name = try? AccountRules.displayName(short) { return name }
        }
        return "Somebody"
    }
}
