package import Wire

/// Generates stateless cookies (RFC 6347 section 4.2.1): a cookie is the time and a MAC over the time, the client's
/// address and port, and the fields of its hello before the cookie.
///
/// A valid cookie proves that its sender received it at that address within the last minute, for the same hello. A
/// rotation of the key rejects no client, as long as there is at most one per lifetime.
package struct CookieGenerator: Sendable {
    /// Seconds that a cookie is valid: a client that retransmits its hello doubles its timeout, up to some 30 seconds.
    package static let lifetime: UInt32 = 60
    package static let byteCount = 20
    private static let codeByteCount = 16

    private var mac: RotatingKeyMAC

    package init(key: Digest) {
        mac = RotatingKeyMAC(key: key, byteCount: Self.codeByteCount, lifetime: Self.lifetime)
    }

    package mutating func rotate(to key: Digest) { mac.rotate(to: key) }

    /// Appends the cookie for a hello, of which `covered` is the part before the cookie. False when the cryptography
    /// failed; nothing was appended then.
    package func append(
        for client: TransportAddress, _ covered: RawSpan, at now: Instant, to target: inout [UInt8],
        _ authentication: some MessageAuthentication
    ) -> Bool {
        let seconds = RotatingKeyMAC.seconds(at: now)
        let source = Self.source(seconds, client)
        guard let code = mac.code(of: source.span.bytes, covered, authentication) else { return false }
        target.append(bigEndian: seconds)
        code.withBytes { target.append($0) }
        return true
    }

    package func isValid(
        _ cookie: RawSpan, for client: TransportAddress, _ covered: RawSpan, at now: Instant,
        _ authentication: some MessageAuthentication
    ) -> Bool {
        guard cookie.byteCount == Self.byteCount, let seconds = cookie.integer(at: 0, as: UInt32.self),
            let given = cookie.part(4..<Self.byteCount)
        else { return false }
        let source = Self.source(seconds, client)
        return mac.isValid(given, from: seconds, at: now, of: source.span.bytes, covered, authentication)
    }

    /// What the MAC covers before the fields of the hello.
    private static func source(_ seconds: UInt32, _ client: TransportAddress) -> [UInt8] {
        var source: [UInt8] = []
        source.reserveCapacity(24)
        source.append(bigEndian: seconds)
        source.append(bigEndian: client.port)
        source.append(client.address.family.rawValue)
        source.append(client.address)
        return source
    }
}
