package import Wire

/// Generates stateless nonces: a nonce is the time and a MAC over the time and the client's address and port.
///
/// A valid nonce proves that its sender received it at that address within the last hour. `rotate` is called once per
/// lifetime, so a nonce outlives exactly one rotation. (RFC 8489 section 9.2.4: no nonce is valid for two addresses.)
package struct NonceGenerator: Sendable {
    /// Seconds that a nonce is valid, and between two rotations.
    package static let lifetime: UInt32 = 3600

    /// The security features that a nonce announces (RFC 8489 section 9.2).
    package enum Features: Sendable {
        case passwordAlgorithms
        /// And USERHASH is accepted.
        case usernameAnonymity

        /// "obMatJos2" means that the server supports RFC 8489; 24 feature bits follow, bit 0 for password algorithms
        /// and bit 1 for username anonymity. Section 9.2 calls bit 0 the most significant, section 18.1 and the vector
        /// of appendix B the least: this follows the vector, as other implementations do.
        var cookie: [UInt8] {
            switch self {
            case .passwordAlgorithms: Array("obMatJos2AAAB".utf8)
            case .usernameAnonymity: Array("obMatJos2AAAD".utf8)
            }
        }
    }

    private static let cookieByteCount = 13
    private static let codeByteCount = 11

    private var mac: RotatingKeyMAC

    package init(key: Digest) {
        mac = RotatingKeyMAC(key: key, byteCount: Self.codeByteCount, lifetime: Self.lifetime)
    }

    package mutating func rotate(to key: Digest) { mac.rotate(to: key) }

    package func nonce(
        for client: TransportAddress, at now: Instant, features: Features = .passwordAlgorithms,
        _ authentication: some MessageAuthentication
    ) -> [UInt8]? {
        let seconds = RotatingKeyMAC.seconds(at: now)
        let cookie = features.cookie
        let covered = Self.covered(seconds, client)
        guard let code = mac.code(of: cookie.span.bytes, covered.span.bytes, authentication) else { return nil }
        var content: [UInt8] = []
        content.append(bigEndian: seconds)
        code.withBytes { content.append($0) }
        return cookie + Base64.encode(content.span.bytes)
    }

    package func isValid(
        _ nonce: RawSpan, for client: TransportAddress, at now: Instant, _ authentication: some MessageAuthentication
    ) -> Bool {
        guard nonce.byteCount == Self.cookieByteCount + 20, let cookie = nonce.part(0..<Self.cookieByteCount),
            let text = nonce.part(Self.cookieByteCount..<nonce.byteCount), let content = Base64.decode(text)
        else { return false }
        let bytes = content.span.bytes
        guard let seconds = bytes.integer(at: 0, as: UInt32.self), let given = bytes.part(4..<4 + Self.codeByteCount)
        else { return false }
        let covered = Self.covered(seconds, client)
        // The MAC covers the cookie: no feature bit can be cleared in transit (RFC 8489 section 9.2.1).
        return mac.isValid(given, from: seconds, at: now, of: cookie, covered.span.bytes, authentication)
    }

    /// What the MAC covers after the cookie.
    private static func covered(_ seconds: UInt32, _ client: TransportAddress) -> [UInt8] {
        var covered: [UInt8] = []
        covered.reserveCapacity(24)
        covered.append(bigEndian: seconds)
        covered.append(client.address)
        covered.append(bigEndian: client.port)
        return covered
    }
}
