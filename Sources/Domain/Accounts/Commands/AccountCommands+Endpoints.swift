package import Model
internal import Synchronization

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
        let hash = shown.map(secrets.digest)
        if let id, let hash, let known = endpoints.withLock({ $0[id] }) {
            try Self.check(known, hash, principal.user)
            return (id, nil)
        }
        if let id, let known = try await database.readAccounts({ try $0.endpoint(id) }) {
            try Self.check(known, hash, principal.user)
            endpoints.withLock { $0[id] = known }
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
        endpoints.withLock { $0[record.id] = record }
        return (record.id, made)
    }

    private static func check(_ record: EndpointRecord, _ hash: [UInt8]?, _ user: UserID) throws {
        guard let hash, record.user == user, hash.count == record.secretHash.count,
            zip(hash, record.secretHash).reduce(UInt8(0), { $0 | ($1.0 ^ $1.1) }) == 0
        else { throw unproved }
    }

    private static let unproved = Problem(
        .forbidden, "This endpoint belongs to another client; make a new id and secret.", field: "endpoint")
}
