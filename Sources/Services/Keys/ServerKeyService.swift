package import Accounts
import Crypto
package import Model
import Synchronization

/// Server keys: the operator's commands, and the check of each request.
///
/// All keys are in memory, so that a wrong key costs a digest and no query. They are loaded at the start and after every
/// command, which runs in the same process: a new key works at once, and a revoked one no longer does.
package final class ServerKeyService: Sendable {
    package let audit: AuditLog
    let database: any AccountDatabase
    let secrets: any SecretSource
    /// Of this process; see `make`.
    let repetitionSecret = SymmetricKey(size: .bits256)
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

    /// Checks that a key which was presented before may still be used from this address, and has the scope.
    package func checkStillValid(
        _ id: ServerKeyID, scope: ServerKeyScope, from address: String
    ) throws(ServerKeyRefusal) -> KeyPrincipal {
        let now = clock()
        let record = try loaded.withLock { loaded throws(ServerKeyRefusal) in
            try loaded.table.find(id, from: address, at: now)
        }
        guard record.scopes.contains(scope) else { throw .wrongScope(scope) }
        audit.used(id, at: now)
        return KeyPrincipal(id: id, scopes: record.scopes, address: address)
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
