package import Wire

/// Makes nonces that need no memory: a nonce is the time and a code over the time and the client's address and port.
///
/// Whoever brings one back from that address within the hour was given it there. Two keys live at a time: `rotate` is
/// called once per lifetime, so a nonce outlives exactly the key change after it. (RFC 8489 section 9.2.4: no nonce
/// serves two addresses.)
package struct NonceMint: Sendable {
    /// Seconds that a nonce is good for, and between two rotations.
    package static let lifetime: UInt32 = 3600

    /// "obMatJos2" says that the server knows RFC 8489; "AAAB" are its 24 feature bits with bit 0, password algorithms,
    /// set. Section 9.2 calls bit 0 the most significant, section 18.1 and the vector of appendix B the least: this
    /// follows the vector, as other implementations do.
    private static let cookie = Array("obMatJos2AAAB".utf8)
    private static let codeByteCount = 11

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

    package func nonce(
        for client: TransportAddress, at now: Instant, _ authentication: some MessageAuthentication
    ) -> [UInt8]? {
        let seconds = Self.seconds(now)
        guard let code = code(of: seconds, client, key: current, authentication) else { return nil }
        var content: [UInt8] = []
        content.append(bigEndian: seconds)
        content += code
        return Self.cookie + Base64.encode(content.span.bytes)
    }

    package func isValid(
        _ nonce: RawSpan, for client: TransportAddress, at now: Instant, _ authentication: some MessageAuthentication
    ) -> Bool {
        guard let cookie = nonce.part(0..<Self.cookie.count), cookie.equalsInConstantTime(Self.cookie.span.bytes),
            nonce.byteCount == Self.cookie.count + 20,
            let text = nonce.part(Self.cookie.count..<nonce.byteCount), let content = Base64.decode(text)
        else { return false }
        let bytes = content.span.bytes
        guard let seconds = bytes.integer(at: 0, as: UInt32.self), let given = bytes.part(4..<4 + Self.codeByteCount),
            Self.seconds(now) &- seconds < Self.lifetime
        else { return false }
        for key in [current, previous] {
            guard let code = code(of: seconds, client, key: key, authentication) else { return false }
            if code.span.bytes.equalsInConstantTime(given) { return true }
        }
        return false
    }

    private static func seconds(_ now: Instant) -> UInt32 {
        UInt32(truncatingIfNeeded: now.nanoseconds / 1_000_000_000)
    }

    private func code(
        of seconds: UInt32, _ client: TransportAddress, key: Digest, _ authentication: some MessageAuthentication
    ) -> [UInt8]? {
        var message: [UInt8] = []
        message.append(bigEndian: seconds)
        message.append(client.address)
        message.append(bigEndian: client.port)
        guard let code = key.withBytes({ authentication.code(.sha256, key: $0, message.span.bytes) }) else {
            return nil
        }
        return code.withBytes { Array($0.copyToArray().prefix(Self.codeByteCount)) }
    }
}
