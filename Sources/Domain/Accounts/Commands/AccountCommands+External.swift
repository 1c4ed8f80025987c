package import Model
internal import Synchronization

/// The issuer and subject that identify an external user.
struct ExternalKey: Hashable, Sendable {
    let issuer: String
    let subject: String
}

extension AccountCommands {
    /// The user of a verified token of an external issuer, created at the first use.
    ///
    /// The e-mail claim is stored only if no account has the address: an issuer must not be able to take over an
    /// account that signs in here by naming its address.
    package func user(of identity: ExternalIdentity) async throws -> UserID {
        let key = ExternalKey(issuer: identity.issuer, subject: identity.subject)
        if let user = externalUsers.withLock({ $0[key] }) { return user }
        let found = try await database.readAccounts { store in
            try store.user(issuer: identity.issuer, subject: identity.subject)
        }
        let user: UserRecord
        if let found {
            user = found
        } else {
            user = try await database.writeAccounts { store in
                if let user = try store.user(issuer: identity.issuer, subject: identity.subject) { return user }
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
            externalUsers[key] = user.id
        }
        return user.id
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
