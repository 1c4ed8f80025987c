package import Model
package import Notifications

/// A user as an operator sees one: with the devices, the open sign-ins, and by what the devices are told that sleep.
package struct OperatorUserDocument: Codable, Hashable, Sendable {
    package var user: ServerUserDocument
    package var devices: [Device]
    /// Open sign-ins, the latest use first.
    package var sessions: [Session]
    /// Of devices that may not be among `devices`: those of users without a sign-in. The last renewed first.
    package var pushes: [PushRegistrationDocument]

    package struct Device: Codable, Hashable, Sendable {
        package var id: DeviceID
        package var name: String
        package var platform: String
        package var createdAt: Timestamp
        package var lastSeenAt: Timestamp
    }

    package struct Session: Codable, Hashable, Sendable {
        package var id: SignInID
        package var device: DeviceID
        package var createdAt: Timestamp
        package var lastUsedAt: Timestamp
        /// The client that last connected with it, if it named itself.
        package var client: ClientInfo?
        /// The server key that opened it, such as `key:<id>`; nil if the user signed in.
        package var openedBy: String?
    }
}

// What operators see of users.
extension AccountCommands {
    private static let maxQueryBytes = 600

    /// Finds users, disabled ones too: by their id, `ext:` and the app's own id, a whole e-mail address, or prefixes of
    /// the words in their names. An empty query is all users, in the order of their ids.
    package func findUsers(
        _ query: String, limit: Int, cursor: String?
    ) async throws -> AccountPage<ServerUserDocument> {
        let query = AccountRules.trimmed(query)
        guard !query.isEmpty else { return try await serverUsers(limit: limit, cursor: cursor) }
        guard query.utf8.count <= Self.maxQueryBytes else {
            throw Problem.invalid("query", "A query has at most \(Self.maxQueryBytes) bytes.")
        }
        if UserID(query) != nil || query.utf8.starts(with: UserReference.prefix.utf8) {
            let reference = try UserReference(query, field: "query")
            return try await onlyUser { try $0.userIfPresent(reference) }
        }
        if query.contains("@") {
            let key = AccountRules.emailKey(query)
            return try await onlyUser { try $0.user(emailKey: key) }
        }
        let terms = Array(SearchTerms.terms(in: query).prefix(4))
        guard !terms.isEmpty else {
            throw Problem.invalid(
                "query", "Expected a name, a whole e-mail address, an id, or ext: and the app's own id.")
        }
        let limit = try Self.limit(limit)
        let after = try cursor.map { try NameCursor(text: $0) }
        return try await database.readAccounts { store in
            let found = try store.users(matching: terms, for: nil, after: after, limit: limit + 1)
            let page = found.prefix(limit)
            let ids = try store.outsideSubjects(of: page.map(\.user.id), issuer: UserReference.issuer)
            return AccountPage(
                items: page.map { ServerUserDocument($0.user, ext: ids[$0.user.id]) },
                nextCursor: found.count > limit ? page.last?.cursor.text : nil)
        }
    }

    /// A user with the devices and the open sign-ins, the latest use first, and the registrations for pushes.
    package func userInDetail(_ reference: UserReference) async throws -> OperatorUserDocument {
        try await database.readAccounts { store in
            let user = try store.user(reference)
            let devices = try store.devices(of: user.id, after: nil, limit: 2 * AccountRules.maxSignIns)
            let signIns = try store.openSignIns(of: user.id, after: nil, limit: 2 * AccountRules.maxSignIns)
            return OperatorUserDocument(
                user: try store.document(of: user),
                devices: devices.map { device in
                    OperatorUserDocument.Device(
                        id: device.id, name: device.name, platform: device.platform, createdAt: device.createdAt,
                        lastSeenAt: device.lastSeenAt)
                },
                sessions: signIns.map { signIn, device in
                    OperatorUserDocument.Session(
                        id: signIn.id, device: device.id, createdAt: signIn.createdAt, lastUsedAt: signIn.lastUsedAt,
                        client: signIn.client, openedBy: signIn.actor)
                }, pushes: try store.pushRegistrations(of: user.id).map(\.document))
        }
    }

    /// Has a device of a user told nothing more by a service, until its app registers it again.
    ///
    /// - Returns: the entry of the audit log, which is written; nil if there was no such registration.
    package func removePushRegistration(
        _ kind: PushKind, on device: DeviceID, of reference: UserReference, by key: KeyPrincipal
    ) async throws -> AuditEntry? {
        try await database.writeAccounts { store in
            let user = try store.user(reference)
            guard try store.removePushRegistration(of: user.id, on: device, kind) else { return nil }
            let entry = key.audit("admin.users.push.remove", user.id.text)
            try store.insert(entry)
            return entry
        }.value
    }

    private func onlyUser(
        _ find: @escaping @Sendable (any AccountStore) throws -> UserRecord?
    ) async throws -> AccountPage<ServerUserDocument> {
        try await database.readAccounts { store in
            AccountPage(items: try find(store).map { [try store.document(of: $0)] } ?? [], nextCursor: nil)
        }
    }
}
