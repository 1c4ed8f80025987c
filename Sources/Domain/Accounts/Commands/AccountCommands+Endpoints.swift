package import Model
internal import Synchronization

/// That an endpoint of a user was proved with a secret: the first 128 bits of a digest of the three, since there are as
/// many of them as legs came and went.
struct EndpointProof: Hashable, Sendable {
    private let high: UInt64
    private let low: UInt64

    /// nil when the digest is shorter.
    init?(_ digest: [UInt8]) {
        guard digest.count >= 16 else { return nil }
        high = digest[..<8].reduce(0) { $0 << 8 | UInt64($1) }
        low = digest[8..<16].reduce(0) { $0 << 8 | UInt64($1) }
    }
}

// Endpoints: the running clients of a user, which prove themselves with a secret they (or the server) chose.
extension AccountCommands {
    /// Registers an endpoint at its first use, or proves it later.
    ///
    /// - Parameters:
    ///   - id: the client's; nil makes one.
    ///   - secret: the client's; nil makes one, which is possible only for an endpoint that is new.
    /// - Returns: the endpoint, and its secret when it was made here.
    package func endpoint(
        _ id: EndpointID?, secret: String?, of principal: Principal
    ) async throws -> (id: EndpointID, newSecret: String?) {
        let shown = try secret.map { try AccountRules.endpointSecret($0) }
        if let id, let proof = proof(id, shown, principal), provedEndpoints.withLock({ $0[proof] }) != nil {
            return (id, nil)
        }
        let hash = shown.map(secrets.digest)
        if let id, let known = try await database.readAccounts({ try $0.endpoint(id) }) {
            try Self.check(known, hash, principal.user)
            remember(id, shown, principal)
            return (id, nil)
        }
        let made = shown == nil ? secrets.makeSecret() : nil
        let newHash = hash ?? made.map(secrets.digest) ?? []
        let record = try await database.writeAccounts { store in
            _ = try store.existingUser(principal.user)
            let record = EndpointRecord(
                id: id ?? .make(at: store.now), user: principal.user, secretHash: newHash)
            guard try !store.insert(record) else { return record }
            // Another request of the same client registered it in the meantime.
            guard let other = try store.endpoint(record.id) else { throw Self.unproved }
            try Self.check(other, newHash, principal.user)
            return other
        }.value
        remember(record.id, shown ?? made, principal)
        return (record.id, made)
    }

    private func remember(_ id: EndpointID, _ secret: String?, _ principal: Principal) {
        guard let proof = proof(id, secret, principal) else { return }
        provedEndpoints.withLock { $0[proof] = true }
    }

    private func proof(_ id: EndpointID, _ secret: String?, _ principal: Principal) -> EndpointProof? {
        secret.flatMap { EndpointProof(secrets.digest("\(id.text) \(principal.user.text) \($0)")) }
    }

    private static func check(_ record: EndpointRecord, _ hash: [UInt8]?, _ user: UserID) throws {
        guard let hash, record.user == user, hash.count == record.secretHash.count,
            zip(hash, record.secretHash).reduce(UInt8(0), { $0 | ($1.0 ^ $1.1) }) == 0
        else { throw unproved }
    }

    private static let unproved = Problem(
        .forbidden, "This endpoint belongs to another client; make a new id and secret.", field: "endpoint")
}
