package import Accounts
package import Model
import Synchronization

/// Server keys: the operator's commands, and the check of each request.
///
/// All keys are in memory, so that a wrong key costs a digest and no query. They are loaded at the start and after every
/// command, which runs in the same process: a new key works at once, and a revoked one no longer does.
package final class ServerKeyService: Sendable {
    package let audit: AuditLog
    private let database: any AccountDatabase
    private let secrets: any SecretSource
    private let clock: @Sendable () -> Timestamp
    private let loaded = Mutex(Loaded())

    private struct Loaded: Sendable {
        var table = ServerKeyTable()
        /// The number of reads that began, and that of the read whose keys these are.
        var begun = 0
        var applied = 0
    }

    package init(
        database: any AccountDatabase, secrets: any SecretSource, audit: AuditLog,
        clock: @escaping @Sendable () -> Timestamp
    ) {
        self.database = database
        self.secrets = secrets
        self.audit = audit
        self.clock = clock
    }

    /// Reads the keys; call it before the first request.
    package func load() async throws {
        let number = loaded.withLock { loaded in
            loaded.begun += 1
            return loaded.begun
        }
        let table = ServerKeyTable(try await database.readAccounts { try $0.serverKeys() })
        loaded.withLock { loaded in
            // A read that began later has seen all that this one has.
            guard number > loaded.applied else { return }
            loaded.table = table
            loaded.applied = number
        }
    }
}

extension ServerKeyService {
    /// The keys in memory, the oldest first.
    package var records: [ServerKeyRecord] { loaded.withLock { $0.table }.records }
}

// Requests.
extension ServerKeyService {
    /// A request with a key, before its body is read.
    package struct Request: Sendable {
        /// The name of the operation, for the audit log.
        package var action: String
        /// The `Authorization` header.
        package var authorization: String?
        /// The client's address for limits.
        package var address: String
        /// Whether the request is that of a page of another origin.
        package var hasForeignOrigin: Bool
        package var scope: ServerKeyScope

        package init(
            action: String, authorization: String?, address: String, hasForeignOrigin: Bool, scope: ServerKeyScope
        ) {
            self.action = action
            self.authorization = authorization
            self.address = address
            self.hasForeignOrigin = hasForeignOrigin
            self.scope = scope
        }
    }

    /// Checks the key of a request, and counts the refusal if it is refused.
    package func authenticate(_ request: Request) throws(ServerKeyRefusal) -> KeyPrincipal {
        var presented: ServerKeyID?
        do throws(ServerKeyRefusal) {
            guard let text = BearerToken.read(from: request.authorization), ServerKey.hasPrefix(text) else {
                throw ServerKeyRefusal.missing
            }
            let key = try Self.parse(text)
            presented = key.id
            let now = clock()
            let digest = secrets.digest(key.text)
            let record = try loaded.withLock { loaded throws(ServerKeyRefusal) in
                try loaded.table.find(key.id, digest: digest, from: request.address, at: now)
            }
            guard !request.hasForeignOrigin else { throw ServerKeyRefusal.foreignOrigin }
            guard record.scopes.contains(request.scope) else { throw ServerKeyRefusal.wrongScope(request.scope) }
            audit.used(record.id, at: now)
            return KeyPrincipal(id: record.id, scopes: record.scopes, address: request.address)
        } catch {
            let actor = error.provesKey ? presented.map { AuditActor.key($0) } : nil
            audit.refused(
                request.action, by: actor ?? .unknown, because: error.reason, from: request.address)
            throw error
        }
    }

    /// Throws if a key was sent instead of the access token of a user, and counts it.
    package func rejectKey(_ token: String, in action: String, from address: String?) throws {
        guard ServerKey.hasPrefix(token) else { return }
        let refusal = ServerKeyRefusal.misplaced
        audit.refused(action, by: .unknown, because: refusal.reason, from: address)
        throw refusal.problem
    }

    private static func parse(_ text: String) throws(ServerKeyRefusal) -> ServerKey {
        do {
            return try ServerKey(text)
        } catch {
            throw .malformed(error)
        }
    }
}

// Commands of the operator.
extension ServerKeyService {
    /// Creates a key. Returns it as text, which is not stored and cannot be shown again.
    package func create(
        name: String, scopes: [String], lifetime: String?, addresses: [String]
    ) async throws -> ServerKey {
        let name = try ServerKeyRules.name(name)
        let scopes = try ServerKeyRules.scopes(scopes)
        let seconds = try lifetime.map { try ServerKeyRules.lifetime($0) }
        let addresses = try KeyAddresses.validated(addresses)
        var generator = SystemRandomNumberGenerator()
        let key = ServerKey.make(using: &generator)
        let hash = secrets.digest(key.text)
        try await change("key.create", key.id) { store in
            guard try store.serverKeys().count(where: { $0.revokedAt == nil }) < ServerKeyRules.maxKeys else {
                throw Problem(
                    .conflict, "There are \(ServerKeyRules.maxKeys) keys, the most there may be: revoke one first.")
            }
            try store.insert(
                ServerKeyRecord(
                    id: key.id, name: name, hash: hash, scopes: scopes, addresses: addresses, createdAt: store.now,
                    expiresAt: seconds.map { store.now.adding(seconds: $0) }))
        }
        return key
    }

    /// Gives a key a new secret. The old one is accepted for another day.
    package func rotate(_ id: String) async throws -> ServerKey {
        let id = try Self.id(id)
        var generator = SystemRandomNumberGenerator()
        let key = ServerKey.make(id: id, using: &generator)
        let hash = secrets.digest(key.text)
        try await change("key.rotate", id) { store in
            guard var record = try store.serverKey(id) else { throw Problem.notFound("key", field: "id") }
            try record.rotate(to: hash, at: store.now)
            try store.update(record)
        }
        return key
    }

    /// Revokes a key at once.
    package func revoke(_ id: String) async throws -> ServerKeyID {
        let id = try Self.id(id)
        try await change("key.revoke", id) { store in
            guard var record = try store.serverKey(id) else { throw Problem.notFound("key", field: "id") }
            record.revoke(at: store.now)
            try store.update(record)
            try store.removeRevokedServerKeys(keeping: ServerKeyRules.maxRevokedKeys)
        }
        return id
    }

    /// All keys, the oldest first, and the time for their states.
    package func list() async throws -> (keys: [ServerKeyRecord], now: Timestamp) {
        try await audit.flush()
        return try await database.readAccounts { (try $0.serverKeys(), $0.now) }
    }

    private func change(
        _ action: String, _ key: ServerKeyID, _ body: @escaping @Sendable (any AccountStore) throws -> Void
    ) async throws {
        let entry = AuditEntry(actor: .commandLine, action: action, subject: key.text)
        _ = try await database.writeAccounts { store in
            try body(store)
            try store.insert(entry)
        }
        audit.log(entry)
        try await load()
    }

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
