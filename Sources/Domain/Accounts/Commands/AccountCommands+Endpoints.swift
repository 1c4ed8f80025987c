package import Model
internal import Synchronization

/// A cached authentication of an endpoint: the first 128 bits of a digest of endpoint, user, sign-in and secret. It is small
/// because the server also creates endpoints for legs, so there are many.
struct EndpointProof: Hashable, Sendable {
    private let high: UInt64
    private let low: UInt64

    /// Nil if the digest is shorter.
    init?(_ digest: [UInt8]) {
        guard digest.count >= 16 else { return nil }
        high = digest[..<8].reduce(0) { $0 << 8 | UInt64($1) }
        low = digest[8..<16].reduce(0) { $0 << 8 | UInt64($1) }
    }
}

/// A recently authenticated endpoint, with the time in milliseconds of the monotonic clock.
struct ProvedEndpoint: Sendable {
    var proof: EndpointProof
    var at: Int64
}

// Endpoints: the running clients of a user, which authenticate with a secret chosen by them or by the server.
extension AccountCommands {
    /// The maximum number of endpoints per user: browser tabs and apps that are or recently were in use.
    package static let endpointsPerUser = 64
    /// The last use of an endpoint is written no more often than this, since each update is a durable write.
    private static let lastUseIntervalSeconds: Int64 = 3600

    /// Registers an endpoint at its first use, and authenticates it later. Beyond `endpointsPerUser`, the user's least
    /// recently used endpoints are removed; if one of them comes back, it is registered again.
    ///
    /// - Parameters:
    ///   - id: the client's; nil generates one.
    ///   - secret: the client's; nil generates one, which is possible only for a new endpoint.
    /// - Returns: the endpoint, and its secret if it was generated here.
    package func endpoint(
        _ id: EndpointID?, secret: String?, of principal: Principal
    ) async throws -> (id: EndpointID, newSecret: String?) {
        let presented = try secret.map { try AccountRules.endpointSecret($0) }
        if let id, isProved(id, presented, principal) { return (id, nil) }
        let hash = presented.map(secrets.digest)
        if let id, let (known, now) = try await read(id) {
            try Self.check(known, hash, principal.user)
            let signIn = principal.signIn
            if known.signIn != signIn || known.usedAt.adding(seconds: Self.lastUseIntervalSeconds) <= now {
                // On a full disk, known endpoints may still read.
                _ = try? await database.writeAccounts { try $0.updateLastUse(of: id, by: signIn) }
            }
            remember(id, presented, principal)
            return (id, nil)
        }
        let made = presented == nil ? secrets.makeSecret() : nil
        let newHash = hash ?? made.map(secrets.digest) ?? []
        let (record, removed) = try await database.writeAccounts { store in
            _ = try store.existingUser(principal.user)
            let record = EndpointRecord(
                id: id ?? .make(at: store.now), user: principal.user, secretHash: newHash, signIn: principal.signIn,
                usedAt: store.now)
            if try store.insert(record) {
                return (record, try store.removeUnusedEndpoints(of: principal.user, keeping: Self.endpointsPerUser))
            }
            // Another request of the same client registered it in the meantime.
            guard let other = try store.endpoint(record.id) else { throw Self.unproved }
            try Self.check(other, newHash, principal.user)
            return (other, [])
        }.value
        provedEndpoints.withLock { proved in
            for id in removed { proved[id] = nil }
        }
        if !removed.contains(record.id) { remember(record.id, presented ?? made, principal) }
        return (record.id, made)
    }

    private func read(_ id: EndpointID) async throws -> (EndpointRecord, now: Timestamp)? {
        try await database.readAccounts { store in try store.endpoint(id).map { ($0, store.now) } }
    }

    private func isProved(_ id: EndpointID, _ secret: String?, _ principal: Principal) -> Bool {
        guard let proof = proof(id, secret, principal), let known = provedEndpoints.withLock({ $0[id] }) else {
            return false
        }
        return known.proof == proof && uptime() &- known.at < Self.lastUseIntervalSeconds * 1000
    }

    private func remember(_ id: EndpointID, _ secret: String?, _ principal: Principal) {
        guard let proof = proof(id, secret, principal) else { return }
        let proved = ProvedEndpoint(proof: proof, at: uptime())
        provedEndpoints.withLock { $0[id] = proved }
    }

    private func proof(_ id: EndpointID, _ secret: String?, _ principal: Principal) -> EndpointProof? {
        // With the sign-in: another one must be written, since the endpoint is then on another device, perhaps.
        let signIn = principal.signIn?.text ?? "-"
        return secret.flatMap { EndpointProof(secrets.digest("\(id.text) \(principal.user.text) \(signIn) \($0)")) }
    }

    private static func check(_ record: EndpointRecord, _ hash: [UInt8]?, _ user: UserID) throws {
        guard let hash, record.user == user, hash.count == record.secretHash.count,
            zip(hash, record.secretHash).reduce(UInt8(0), { $0 | ($1.0 ^ $1.1) }) == 0
        else { throw unproved }
    }

    private static let unproved = Problem(
        .forbidden, "This endpoint belongs to another client: use a new id and secret.", field: "endpoint")
}
