package import Model

/// The row of a server key. It holds digests, so the key itself is shown once, when it is made.
package struct ServerKeyRecord: Hashable, Sendable {
    package let id: ServerKeyID
    package var name: String
    /// SHA-256 of the key's text.
    package var hash: [UInt8]
    /// The digest of the key before the last rotation, and until when it is accepted.
    package var previous: Previous?
    package var scopes: Set<ServerKeyScope>
    /// The CIDR ranges from which the key may be used; empty for any address.
    package var addresses: [String]
    package var createdAt: Timestamp
    package var expiresAt: Timestamp?
    package var revokedAt: Timestamp?
    /// Accurate to one minute.
    package var lastUsedAt: Timestamp?

    package struct Previous: Hashable, Sendable {
        package var hash: [UInt8]
        package var until: Timestamp

        package init(hash: [UInt8], until: Timestamp) {
            self.hash = hash
            self.until = until
        }
    }

    package init(
        id: ServerKeyID, name: String, hash: [UInt8], previous: Previous? = nil, scopes: Set<ServerKeyScope>,
        addresses: [String] = [], createdAt: Timestamp, expiresAt: Timestamp? = nil, revokedAt: Timestamp? = nil,
        lastUsedAt: Timestamp? = nil
    ) {
        self.id = id
        self.name = name
        self.hash = hash
        self.previous = previous
        self.scopes = scopes
        self.addresses = addresses
        self.createdAt = createdAt
        self.expiresAt = expiresAt
        self.revokedAt = revokedAt
        self.lastUsedAt = lastUsedAt
    }
}

extension ServerKeyRecord {
    /// How long the old key is accepted beside the new one after a rotation, in seconds.
    package static let overlapSeconds: Int64 = 86_400

    package enum State: String, Hashable, Sendable {
        case active, expired, revoked
    }

    package func state(at now: Timestamp) -> State {
        if revokedAt != nil { return .revoked }
        if let expiresAt, expiresAt <= now { return .expired }
        return .active
    }

    /// Whether a key with this digest is the current one, or the previous one within its overlap. Compares both in
    /// constant time.
    package func accepts(_ hash: [UInt8], at now: Timestamp) -> Bool {
        let isCurrent = Self.equal(hash, self.hash)
        let isPrevious = Self.equal(hash, previous?.hash ?? [])
        let overlaps = previous.map { now < $0.until } ?? false
        return isCurrent || (isPrevious && overlaps)
    }

    /// Replaces the key. The old one is accepted for another `overlapSeconds`, and an older one no longer.
    package mutating func rotate(to hash: [UInt8], at now: Timestamp) throws {
        switch state(at: now) {
        case .revoked: throw Problem(.conflict, "This key was revoked: create another one.", field: "id")
        case .expired: throw Problem(.conflict, "This key has expired: create another one.", field: "id")
        case .active: break
        }
        previous = Previous(hash: self.hash, until: now.adding(seconds: Self.overlapSeconds))
        self.hash = hash
    }

    /// Revokes the key, and with it the one before the last rotation. Revoking it again changes nothing.
    package mutating func revoke(at now: Timestamp) {
        revokedAt = revokedAt ?? now
        previous = nil
    }

    private static func equal(_ one: [UInt8], _ other: [UInt8]) -> Bool {
        one.count == other.count && zip(one, other).reduce(UInt8(0)) { $0 | ($1.0 ^ $1.1) } == 0
    }
}
