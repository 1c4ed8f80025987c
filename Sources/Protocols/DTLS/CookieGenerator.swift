package import Wire

/// Generates stateless cookies (RFC 6347 section 4.2.1): a cookie is the time and a MAC over the time, the client's
/// address and port, and the fields of its hello before the cookie.
///
/// A valid cookie proves that its sender received it at that address within the last minute, for the same hello. Two
/// keys are valid at a time, so that a rotation rejects no client; `rotate` may be called at most once per lifetime.
package struct CookieGenerator: Sendable {
    /// Seconds that a cookie is valid: a client that retransmits its hello doubles its timeout, up to some 30 seconds.
    package static let lifetime: UInt32 = 60
    package static let byteCount = 20
    private static let codeByteCount = 16

    private var current: Digest
    private var previous: Digest

    package init(key: Digest) {
        current = key
        previous = key
    }

    package mutating func rotate(to key: Digest) {
        previous = current
        current = key
    }

    /// Appends the cookie for a hello, of which `covered` is the part before the cookie. False when the cryptography
    /// failed; nothing was appended then.
    package func append(
        for client: TransportAddress, _ covered: RawSpan, at now: Instant, to target: inout [UInt8],
        _ authentication: some MessageAuthentication
    ) -> Bool {
        let seconds = Self.seconds(now)
        guard let code = code(of: seconds, client, covered, key: current, authentication) else { return false }
        target.append(bigEndian: seconds)
        code.withBytes { target.append($0.extracting(0..<min(Self.codeByteCount, $0.byteCount))) }
        return true
    }

    package func isValid(
        _ cookie: RawSpan, for client: TransportAddress, _ covered: RawSpan, at now: Instant,
        _ authentication: some MessageAuthentication
    ) -> Bool {
        guard cookie.byteCount == Self.byteCount, let seconds = cookie.integer(at: 0, as: UInt32.self),
            Self.seconds(now) &- seconds < Self.lifetime, let given = cookie.part(4..<Self.byteCount)
        else { return false }
        for key in [current, previous] {
            guard let code = code(of: seconds, client, covered, key: key, authentication) else { return false }
            let matches = code.withBytes { $0.part(0..<Self.codeByteCount)?.equalsInConstantTime(given) ?? false }
            if matches { return true }
        }
        return false
    }

    private static func seconds(_ now: Instant) -> UInt32 {
        UInt32(truncatingIfNeeded: now.nanoseconds / 1_000_000_000)
    }

    private func code(
        of seconds: UInt32, _ client: TransportAddress, _ covered: RawSpan, key: Digest,
        _ authentication: some MessageAuthentication
    ) -> Digest? {
        var source: [UInt8] = []
        source.reserveCapacity(24)
        source.append(bigEndian: seconds)
        source.append(bigEndian: client.port)
        source.append(client.address.family.rawValue)
        source.append(client.address)
        return key.withBytes { authentication.code(.sha256, key: $0, source.span.bytes, covered) }
    }
}
