import STUN
package import Wire

/// Who may use the relay: static users, and anyone whose name was signed with one of the shared secrets.
package struct Credentials: Sendable {
    package var realm: String
    /// Passwords by user name.
    package var users: [String: String]
    /// Any of these signs ephemeral names; two are live while one is being replaced.
    package var secrets: [String]
    /// Keys shared with authorization servers, by their ids, 16 or 32 bytes long (RFC 7635).
    package var tokenKeys: [String: [UInt8]]

    package init(
        realm: String, users: [String: String], secrets: [String], tokenKeys: [String: [UInt8]] = [:]
    ) {
        self.realm = realm
        self.users = users
        self.secrets = secrets
        self.tokenKeys = tokenKeys
    }

    var acceptsTokens: Bool {
        !tokenKeys.isEmpty
    }

    /// USERHASH is offered only where every name can be found by its hash: with static users and no others (RFC 8489
    /// section 9.2). `serve` therefore never offers it: it always has a secret, with which the API signs every user's
    /// credentials. A static user who sends USERHASH all the same is accepted.
    var features: NonceGenerator.Features {
        secrets.isEmpty && tokenKeys.isEmpty && !users.isEmpty ? .usernameAnonymity : .passwordAlgorithms
    }

    /// The passwords that may belong to a name: one for a static user, one per secret for an ephemeral name that is
    /// not expired, none otherwise.
    func passwords(of username: String, unixSeconds: Int64, _ authentication: some MessageAuthentication) -> [[UInt8]] {
        if let password = users[username] {
            return [Array(password.utf8)]
        }
        guard let name = EphemeralName(username), name.expiresAt > unixSeconds else { return [] }
        return secrets.compactMap { secret in
            EphemeralCredential.password(of: username, secret: secret, authentication)
        }
    }
}

/// The names of the static users by their hashes, made once for each set of credentials: USERHASH hides the name from
/// eavesdroppers (RFC 8489 sections 9.2 and 14.4).
struct UserHashes {
    private let names: [Digest: String]

    init(_ credentials: Credentials, _ authentication: some MessageAuthentication) {
        var names: [Digest: String] = [:]
        for name in credentials.users.keys {
            let text = Array("\(name):\(credentials.realm)".utf8)
            if let hash = authentication.hash(.sha256, text.span.bytes) { names[hash] = name }
        }
        self.names = names
    }

    /// The user whose USERHASH this is.
    func name(of hash: RawSpan) -> String? {
        hash.byteCount == 32 ? names[Digest(hash)] : nil
    }
}

/// Keys of one user, by password algorithm. The allocation keeps them, so that a rotated secret never ends a call.
struct CredentialKeys {
    let md5: Digest
    let sha256: Digest

    init?(username: String, realm: String, password: [UInt8], _ authentication: some MessageAuthentication) {
        let name = Array(username.utf8)
        guard
            let md5 = PasswordAlgorithm.md5.key(
                username: name.span.bytes, realm: realm, password: password, authentication),
            let sha256 = PasswordAlgorithm.sha256.key(
                username: name.span.bytes, realm: realm, password: password, authentication)
        else { return nil }
        self.md5 = md5
        self.sha256 = sha256
    }

    /// An access token's key, which signs without hashing.
    init(macKey: [UInt8]) {
        md5 = Digest(macKey.span.bytes)
        sha256 = md5
    }

    func key(_ algorithm: PasswordAlgorithm) -> Digest {
        algorithm == .md5 ? md5 : sha256
    }
}

/// The parts of an ephemeral user name: `expiry:user`, `expiry:user:call`, or with a scope (see `CredentialScope`).
package struct EphemeralName: Hashable, Sendable {
    /// Unix time in seconds.
    package let expiresAt: Int64
    package let user: String
    package let call: String?
    /// nil in a name that the API did not issue.
    package let scope: CredentialScope?
    /// Milliseconds since 1970, with a scope.
    package let issuedAt: Int64?

    package init?(_ username: String) {
        let parts = username.split(separator: ":", maxSplits: 2, omittingEmptySubsequences: false)
        guard parts.count >= 2, let expiresAt = Self.number(parts[0], digits: 15) else { return nil }
        self.expiresAt = expiresAt
        user = String(parts[1])
        let label = parts.count == 3 ? parts[2] : ""
        if let mark = label.lastIndex(of: "@"), let scope = CredentialScope(label[..<mark]),
            let issued = Self.number(label[label.index(after: mark)...], digits: 18)
        {
            self.scope = scope
            issuedAt = issued
            call = scope.call
        } else {
            scope = nil
            issuedAt = nil
            call = parts.count == 3 ? String(parts[2]) : nil
        }
    }

    private static func number(_ text: Substring, digits: Int) -> Int64? {
        guard (1...digits).contains(text.utf8.count), text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else {
            return nil
        }
        return Int64(text)
    }
}

/// Credentials that live for minutes, as in draft-uberti-behave-turn-rest: the name carries its own expiry, and the
/// password is the HMAC-SHA1 of the name under a secret that the API and the relay share.
package enum EphemeralCredential {
    package static func username(user: String, call: String?, expiresAt: Int64) -> String {
        call.map { "\(expiresAt):\(user):\($0)" } ?? "\(expiresAt):\(user)"
    }

    /// A name with a scope.
    ///
    /// - Parameters:
    ///   - user: whose credentials they are.
    ///   - scope: what they may be used for.
    ///   - expiresAt: Unix time in seconds.
    ///   - issuedAt: milliseconds since 1970, later than those of all credentials that were revoked.
    package static func username(
        user: String, scope: CredentialScope, expiresAt: Int64, issuedAt: Int64
    ) -> String {
        "\(expiresAt):\(user):\(scope.text)@\(issuedAt)"
    }

    /// The password in base64, nil when the library failed.
    package static func password(
        of username: String, secret: String, _ authentication: some MessageAuthentication
    ) -> [UInt8]? {
        let key = Array(secret.utf8)
        let name = Array(username.utf8)
        guard let code = authentication.code(.sha1, key: key.span.bytes, name.span.bytes) else { return nil }
        return code.withBytes { Base64.encode($0) }
    }
}
