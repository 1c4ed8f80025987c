import BasicContainers
import STUN
import Wire

/// Who an authenticated request is from, and how its answer is signed.
struct Credential {
    let username: String
    /// Who is charged: the static user, or the user part of an ephemeral name.
    let user: String
    /// The parts of an ephemeral name.
    var name: EphemeralName?
    let keys: CredentialKeys
    let answer: (algorithm: IntegrityAlgorithm, key: Digest)
    /// When the access token ends that came with the request, in Unix seconds.
    var tokenExpiry: Int64?

    /// Whose reserved port may be claimed: tokens name no user, so any that is good does.
    var claimant: String {
        tokenExpiry == nil ? user : ":token"
    }

    /// When allocations end that it makes, whatever their clients ask for: with the access token, or the scope. In Unix
    /// seconds.
    var end: Int64? {
        tokenExpiry ?? (name?.scope?.endsWithCredential == true ? name?.expiresAt : nil)
    }
}

/// An authenticated request's surroundings.
struct Request {
    let flow: Flow
    let now: Instant
    let credential: Credential
    let hasFingerprint: Bool

    var shape: AnswerShape {
        AnswerShape(integrity: credential.answer, hasFingerprint: hasFingerprint)
    }
}

/// Why a request did not authenticate.
struct Refusal: Error {
    let error: ErrorCode
    /// With REALM, NONCE and PASSWORD-ALGORITHMS, so that the client can try again.
    let isChallenge: Bool

    static let unauthenticated = Refusal(error: .unauthenticated, isChallenge: true)
    static let staleNonce = Refusal(error: .staleNonce, isChallenge: true)
    static let badRequest = Refusal(error: .badRequest, isChallenge: false)
}

extension TURNEngine {
    /// SHA-256 before MD5, in order of preference: type, length of parameters (RFC 8489 section 14.11).
    static var passwordAlgorithms: [UInt8] { [0, 2, 0, 0, 0, 1, 0, 0] }

    /// The long-term credential mechanism, RFC 8489 section 9.2.4, in its order but for one check: the nonce comes first,
    /// as in RFC 5389 section 10.2.2, so that nothing is looked up or computed for a nonce that was never given out.
    mutating func authenticate(
        _ message: borrowing Message, on flow: Flow, of slot: Int?, at now: Instant
    ) -> Result<Credential, Refusal> {
        guard let integrity = message.integrityToCheck else { return .failure(.unauthenticated) }
        guard message.has(.username) || message.has(.userHash), let realm = message.text(.realm),
            let nonce = message.attribute(.nonce)
        else { return .failure(.badRequest) }
        guard nonces.isValid(nonce, for: flow.noncedSource, at: now, authentication) else {
            return .failure(.staleNonce)
        }
        guard !message.has(.accessToken) || !credentials.takesTokens else {
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
        // RFC 8489 section 9.2.4: SHA-256 signs the answer unless the request named no algorithm.
        let answer: IntegrityAlgorithm = algorithm.wasNamed ? .sha256 : .sha1
        let name = credentials.users[username] == nil ? EphemeralName(username) : nil
        let user = name.map { $0.scope?.account(of: $0.user) ?? $0.user } ?? username
        return .success(
            Credential(
                username: username, user: user, name: name, keys: keys,
                answer: (answer, keys.key(algorithm.password))))
    }

    /// ACCESS-TOKEN: the key that USERNAME names opens it, and the key in it signs (RFC 7635 sections 4.1 and 7).
    private func authenticateToken(
        _ message: borrowing Message, realm: String, at now: Instant, _ integrity: IntegrityAlgorithm
    ) -> Result<Credential, Refusal> {
        let unixSeconds = unixSeconds(at: now)
        guard realm == credentials.realm, let kid = message.text(.username), let key = credentials.tokenKeys[kid],
            let decryption, let value = message.attribute(.accessToken),
            let token = AccessToken(value, key: key, serverName: credentials.realm, decryption),
            token.isValid(at: unixSeconds)
        else { return .failure(.unauthenticated) }
        guard let keys = token.keys.first(where: { isRight(message, integrity, $0.md5) }),
            let name = authentication.hash(.sha256, token.macKey.span.bytes)
        else { return .failure(.unauthenticated) }
        // A token is charged for itself. The colon keeps it apart from every user.
        let user = ":" + String(decoding: name.withBytes { Base64.encode($0) }, as: UTF8.self)
        return .success(
            Credential(
                username: kid, user: user, keys: keys, answer: (integrity, keys.md5), tokenExpiry: token.expiresAt))
    }

    /// USERNAME, or the static user whose USERHASH it is.
    private func username(_ message: borrowing Message) -> String? {
        if message.has(.username) { return message.text(.username) }
        guard let hash = message.attribute(.userHash) else { return nil }
        return userHashes.name(of: hash)
    }

    /// The algorithm that the request names, or MD5. nil when someone tampered with the list that we offered: that is the
    /// defence against bidding down (RFC 8489 section 9.2.1).
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

    /// The keys under which the message's code is right. An allocation's own keys serve for it, so that an expired name or
    /// a replaced secret does not end a call, for a day.
    private func keys(
        of username: String, on flow: Flow, of slot: Int?, at now: Instant, verifying message: borrowing Message,
        _ integrity: IntegrityAlgorithm, _ algorithm: PasswordAlgorithm
    ) -> CredentialKeys? {
        if let slot, allocations[slot].username == username,
            now.seconds(since: allocations[slot].createdAt) < Self.keyLifetime
        {
            let keys = allocations[slot].keys
            return isRight(message, integrity, keys.key(algorithm)) ? keys : nil
        }
        // Only for what ended it: any other request, an Allocate above all, needs credentials that are good now.
        if message.type.method == .refresh,
            let keys = endings.keys(for: message.transaction, of: username, on: flow, at: now)
        {
            return isRight(message, integrity, keys.key(algorithm)) ? keys : nil
        }
        for password in credentials.passwords(
            of: username, unixSeconds: unixSeconds(at: now), authentication)
        {
            if let keys = CredentialKeys(
                username: username, realm: credentials.realm, password: password, authentication),
                isRight(message, integrity, keys.key(algorithm))
            {
                return keys
            }
        }
        return nil
    }

    private func isRight(_ message: borrowing Message, _ integrity: IntegrityAlgorithm, _ key: Digest) -> Bool {
        let bytes = key.copyToArray()
        return message.hasIntegrity(integrity, key: bytes.span.bytes, authentication)
    }
}
