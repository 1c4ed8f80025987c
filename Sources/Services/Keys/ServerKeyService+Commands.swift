package import Accounts
package import Model

/// Who manages server keys.
package enum KeyAdministrator: Sendable {
    case commandLine
    /// An operator, with the client id of a request that makes a key: repeated with it, the request has the same result
    /// and is executed once.
    case `operator`(KeyPrincipal, request: ClientID? = nil)

    fileprivate func entry(_ action: String, _ subject: ServerKeyID) -> AuditEntry {
        switch self {
        case .commandLine: AuditEntry(actor: .commandLine, action: "key.\(action)", subject: subject.text)
        case .operator(let key, _): key.audit("admin.keys.\(action)", subject.text)
        }
    }
}

/// A key that was created or rotated.
package struct MadeKey: Sendable {
    /// The key itself, which is not stored.
    package var key: ServerKey
    package var record: ServerKeyRecord
    /// Whether the request was executed before.
    package var isDuplicate: Bool
}

// Commands of the operator, on the command line and on the operator's page.
extension ServerKeyService {
    /// Creates a key, which cannot be shown again.
    package func create(
        name: String, scopes: [String], lifetime: String?, addresses: [String],
        by administrator: KeyAdministrator = .commandLine
    ) async throws -> MadeKey {
        let name = try ServerKeyRules.name(name)
        let scopes = try ServerKeyRules.scopes(scopes)
        let seconds = try lifetime.map { try ServerKeyRules.lifetime($0) }
        let addresses = try KeyAddresses.validated(addresses)
        let key = make(by: administrator, for: "create")
        let hash = secrets.digest(key.text)
        return try await change(administrator.entry("create", key.id)) { store in
            if let known = try store.serverKey(key.id) {
                // Only the same request makes the same id.
                guard known.hash == hash, known.revokedAt == nil, known.name == name, known.scopes == scopes,
                    known.addresses == addresses,
                    known.expiresAt == seconds.map({ known.createdAt.adding(seconds: $0) })
                else { throw Self.clientIDReused }
                return MadeKey(key: key, record: known, isDuplicate: true)
            }
            guard try store.serverKeys().count(where: { $0.revokedAt == nil }) < ServerKeyRules.maxKeys else {
                throw Problem(
                    .conflict, "There are \(ServerKeyRules.maxKeys) keys, the most there may be: revoke one first.")
            }
            let record = ServerKeyRecord(
                id: key.id, name: name, hash: hash, scopes: scopes, addresses: addresses, createdAt: store.now,
                expiresAt: seconds.map { store.now.adding(seconds: $0) })
            try store.insert(record)
            return MadeKey(key: key, record: record, isDuplicate: false)
        }
    }

    /// Gives a key a new secret. The old one is accepted for another day.
    package func rotate(_ id: String, by administrator: KeyAdministrator = .commandLine) async throws -> MadeKey {
        let id = try Self.id(id)
        let key = make(id: id, by: administrator, for: "rotate")
        let hash = secrets.digest(key.text)
        return try await change(administrator.entry("rotate", id)) { store in
            guard var record = try store.serverKey(id) else { throw Problem.notFound("key", field: "id") }
            if record.hash == hash { return MadeKey(key: key, record: record, isDuplicate: true) }
            // It was rotated again since.
            if record.previous?.hash == hash { throw Self.clientIDReused }
            try record.rotate(to: hash, at: store.now)
            try store.update(record)
            return MadeKey(key: key, record: record, isDuplicate: false)
        }
    }

    /// Revokes a key at once. Revoking it again changes nothing.
    package func revoke(_ id: String, by administrator: KeyAdministrator = .commandLine) async throws -> ServerKeyRecord
    {
        let id = try Self.id(id)
        let entry = administrator.entry("revoke", id)
        let record = try await database.writeAccounts { store in
            guard var record = try store.serverKey(id) else { throw Problem.notFound("key", field: "id") }
            record.revoke(at: store.now)
            try store.update(record)
            try store.removeRevokedServerKeys(keeping: ServerKeyRules.maxRevokedKeys)
            try store.insert(entry)
            return record
        }.value
        audit.log(entry)
        try await load()
        return record
    }

    /// All keys, the oldest first, and the time for their states.
    package func list() async throws -> (keys: [ServerKeyRecord], now: Timestamp) {
        try await audit.flush()
        return try await database.readAccounts { (try $0.serverKeys(), $0.now) }
    }

    private func change(
        _ entry: AuditEntry, _ body: @escaping @Sendable (any AccountStore) throws -> MadeKey
    ) async throws -> MadeKey {
        let made = try await database.writeAccounts { store in
            let made = try body(store)
            if !made.isDuplicate { try store.insert(entry) }
            return made
        }.value
        if !made.isDuplicate { audit.log(entry) }
        try await load()
        return made
    }

    /// Makes a key: from random numbers, or for a request that may be repeated from numbers that only this process can
    /// derive, so that nothing secret has to be kept for the repetition.
    private func make(id: ServerKeyID? = nil, by administrator: KeyAdministrator, for purpose: String) -> ServerKey {
        guard case .operator(let key, let request?) = administrator else {
            var generator = SystemRandomNumberGenerator()
            return ServerKey.make(id: id, using: &generator)
        }
        var generator = DerivedNumbers(
            secret: repetitionSecret, label: "\(purpose) \(id?.text ?? "-") \(key.id.text) \(request.text)")
        return ServerKey.make(id: id, using: &generator)
    }

    private static let clientIDReused = Problem(
        .clientIDReused, "This client id was used for another request.", field: "clientID")

    /// Takes the id, also as a part of a key: `sbk_<id>`.
    private static func id(_ text: String) throws -> ServerKeyID {
        let text = ServerKey.hasPrefix(text) ? String(text.dropFirst(ServerKey.prefix.count)) : text
        guard let id = ServerKeyID(text) else {
            throw Problem.invalid(
                "id", "The id of a key has \(ServerKeyID.length) letters and digits; `key list` has it.")
        }
        return id
    }
}
