import BasicContainers
import STUN
import Wire

/// The client of an authenticated request, and how its response is signed.
struct Credential {
    let username: String
    /// Who is charged: the static user, or the user part of an ephemeral name.
    let user: String
    /// The parts of an ephemeral name.
    var name: EphemeralName?
    let keys: CredentialKeys
    let responseIntegrity: (algorithm: IntegrityAlgorithm, key: Digest)
    /// When the request's access token expires, in Unix seconds.
    var tokenExpiry: Int64?

    /// Who may claim a reserved port: the user, or the holder of any valid token, since tokens name no user.
    var claimant: String {
        tokenExpiry == nil ? user : ":token"
    }

    /// When its allocations end at the latest, in Unix seconds: with the access token, or with the scope.
    var end: Int64? {
        tokenExpiry ?? (name?.scope?.endsWithCredential == true ? name?.expiresAt : nil)
    }
}

/// The context of an authenticated request.
struct Request {
    let flow: Flow
    let now: Instant
    let credential: Credential
    let hasFingerprint: Bool

    var signing: ResponseSigning {
        ResponseSigning(integrity: credential.responseIntegrity, hasFingerprint: hasFingerprint)
    }
}

/// Why a request is answered with an error response.
struct RequestError: Error {
    let code: ErrorCode
    /// With REALM, NONCE and PASSWORD-ALGORITHMS, so that the client can try again.
    let isChallenge: Bool

    static let unauthenticated = RequestError(code: .unauthenticated, isChallenge: true)
    static let staleNonce = RequestError(code: .staleNonce, isChallenge: true)
    static let badRequest = RequestError(code: .badRequest, isChallenge: false)
}

extension TURNEngine {
    /// SHA-256 before MD5, in order of preference: type, length of parameters (RFC 8489 section 14.11).
    static var passwordAlgorithms: [UInt8] { [0, 2, 0, 0, 0, 1, 0, 0] }

    /// The long-term credential mechanism, RFC 8489 section 9.2.4, in its order but for one check: the nonce comes
    /// first, as in RFC 5389 section 10.2.2, so that nothing is looked up or computed for a nonce that was never
    /// issued.
    mutating func authenticate(
        _ message: borrowing Message, on flow: Flow, of slot: Int?, at now: Instant
    ) -> Result<Credential, RequestError> {
        guard let integrity = message.integrityToCheck else { return .failure(.unauthenticated) }
        guard message.has(.username) || message.has(.userHash), let realm = message.text(.realm),
            let nonce = message.attribute(.nonce)
        else { return .failure(.badRequest) }
        guard nonces.isValid(nonce, for: flow.noncedSource, at: now, authentication) else {
            return .failure(.staleNonce)
        }
        guard !message.has(.accessToken) || !credentials.acceptsTokens else {
            return authenticateToken(message, realm: realm, at: now, integrity)
        }
        guard let algorithm = chosenAlgorithm(message) else { return .failure(.badRequest) }
        guard let username = username(message), username.utf8.count <= 508, realm == credentials.realm else {
            return .failure(.unauthenticated)
        }

        guard
            let keys = keys(
                of: username, on: flow, of: slot, at: now, verifying: message, integrity, algorithm.password)
        else {
            return .failure(.unauthenticated)
        }
        // RFC 8489 section 9.2.4: SHA-256 signs the response unless the request named no algorithm.
        let responseAlgorithm: IntegrityAlgorithm = algorithm.wasNamed ? .sha256 : .sha1
        let name = credentials.users[username] == nil ? EphemeralName(username) : nil
        let user = name.map { $0.scope?.account(of: $0.user) ?? $0.user } ?? username
        return .success(
            Credential(
                username: username, user: user, name: name, keys: keys,
                responseIntegrity: (responseAlgorithm, keys.key(algorithm.password))))
    }

    /// ACCESS-TOKEN: the key that USERNAME names decrypts it, and the key in it signs (RFC 7635 sections 4.1 and 7).
    private func authenticateToken(
        _ message: borrowing Message, realm: String, at now: Instant, _ integrity: IntegrityAlgorithm
    ) -> Result<Credential, RequestError> {
        let unixSeconds = unixSeconds(at: now)
        guard realm == credentials.realm, let kid = message.text(.username), let key = credentials.tokenKeys[kid],
            let decryption, let value = message.attribute(.accessToken),
            let token = AccessToken(value, key: key, serverName: credentials.realm, decryption),
            token.isValid(at: unixSeconds)
        else { return .failure(.unauthenticated) }
        guard let keys = token.keys.first(where: { hasValidIntegrity(message, integrity, $0.md5) }),
            let name = authentication.hash(.sha256, token.macKey.span.bytes)
        else { return .failure(.unauthenticated) }
        // Each token is an account of its own. The colon keeps it apart from every user name.
        let user = ":" + String(decoding: name.withBytes { Base64.encode($0) }, as: UTF8.self)
        return .success(
            Credential(
                username: kid, user: user, keys: keys, responseIntegrity: (integrity, keys.md5),
                tokenExpiry: token.expiresAt))
    }

    /// USERNAME, or the static user whose USERHASH it is.
    private func username(_ message: borrowing Message) -> String? {
        if message.has(.username) { return message.text(.username) }
        guard let hash = message.attribute(.userHash) else { return nil }
        return userHashes.name(of: hash)
    }

    /// The algorithm that the request names, or MD5. nil when the list that we offered was tampered with, which
    /// prevents bidding down (RFC 8489 section 9.2.1).
    private func chosenAlgorithm(_ message: borrowing Message) -> (password: PasswordAlgorithm, wasNamed: Bool)? {
        let list = message.attribute(.passwordAlgorithms)
        let choice = message.attribute(.passwordAlgorithm)
        if list == nil, choice == nil { return (.md5, false) }
        let offered = Self.passwordAlgorithms
        guard let list, let choice, list.equalsInConstantTime(offered.span.bytes), choice.byteCount == 4,
            let number = choice.integer(at: 0, as: UInt16.self), choice.integer(at: 2, as: UInt16.self) == 0,
            let algorithm = PasswordAlgorithm(rawValue: number)
        else { return nil }
        return (algorithm, true)
    }

    /// The keys that verify the message's integrity. An allocation's own keys stay valid for it for a day, so that an
    /// expired name or a rotated secret does not end a call.
    private func keys(
        of username: String, on flow: Flow, of slot: Int?, at now: Instant, verifying message: borrowing Message,
        _ integrity: IntegrityAlgorithm, _ algorithm: PasswordAlgorithm
    ) -> CredentialKeys? {
        if let slot, allocations[slot].username == username,
            now.seconds(since: allocations[slot].createdAt) < Self.keyLifetime
        {
            let keys = allocations[slot].keys
            return hasValidIntegrity(message, integrity, keys.key(algorithm)) ? keys : nil
        }
        // Only for a retransmission of the Refresh that ended it: any other request needs credentials that are valid
        // now.
        if message.type.method == .refresh,
            let keys = endings.keys(for: message.transaction, of: username, on: flow, at: now)
        {
            return hasValidIntegrity(message, integrity, keys.key(algorithm)) ? keys : nil
        }
        for password in credentials.passwords(
            of: username, unixSeconds: unixSeconds(at: now), authentication)
        {
            if let keys = CredentialKeys(
                username: username, realm: credentials.realm, password: password, authentication),
                hasValidIntegrity(message, integrity, keys.key(algorithm))
            {
                return keys
            }
        }
        return nil
    }

    private func hasValidIntegrity(_ message: borrowing Message, _ integrity: IntegrityAlgorithm, _ key: Digest) -> Bool
    {
        let bytes = key.copyToArray()
        return message.hasIntegrity(integrity, key: bytes.span.bytes, authentication)
    }
}
