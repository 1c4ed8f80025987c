package import Wire

/// The two message authentication codes of STUN (RFC 8489 sections 14.5 and 14.6).
package enum IntegrityAlgorithm: Hashable, Sendable {
    /// MESSAGE-INTEGRITY, an HMAC-SHA1.
    case sha1
    /// MESSAGE-INTEGRITY-SHA256.
    case sha256

    package var attribute: AttributeType {
        switch self {
        case .sha1: .messageIntegrity
        case .sha256: .messageIntegritySHA256
        }
    }

    package var function: HashFunction {
        switch self {
        case .sha1: .sha1
        case .sha256: .sha256
        }
    }
}

extension Message {
    /// The code that a receiver checks: the stronger one, when both are present (RFC 8489 section 9.2.4).
    package var integrityToCheck: IntegrityAlgorithm? {
        if integritySHA256Offset != nil { return .sha256 }
        return integrityOffset != nil ? .sha1 : nil
    }

    /// Whether the message's code is valid under `key`.
    package func hasIntegrity(
        _ algorithm: IntegrityAlgorithm, key: RawSpan, _ authentication: some MessageAuthentication
    ) -> Bool {
        let offset = algorithm == .sha1 ? integrityOffset : integritySHA256Offset
        let size = algorithm.function.byteCount
        guard let offset, let code = bytes.part(offset &+ 4..<offset &+ 4 &+ size),
            let body = bytes.part(Self.headerByteCount..<offset), let start = bytes.part(0..<2),
            let end = bytes.part(4..<Self.headerByteCount)
        else { return false }
        // The code covers a header whose length ends with the attribute itself, whatever follows.
        var header = start.copyToArray()
        header.append(bigEndian: UInt16(truncatingIfNeeded: offset &+ 4 &+ size &- Self.headerByteCount))
        header.append(end)
        return authentication.code(algorithm.function, key: key, header.span.bytes, body)?
            .equalsInConstantTime(code) ?? false
    }
}

/// How a long-term password becomes a key (RFC 8489 section 18.5.1).
package enum PasswordAlgorithm: UInt16, Hashable, Sendable, CaseIterable {
    case md5 = 0x0001
    case sha256 = 0x0002

    /// The key of RFC 8489 sections 9.2.2 and 18.5.1: a hash over `username:realm:password`. Names and passwords are
    /// taken as they are: OpaqueString (RFC 8265) leaves what people configure here unchanged.
    package func key(
        username: RawSpan, realm: String, password: [UInt8], _ authentication: some MessageAuthentication
    ) -> Digest? {
        var text = username.copyToArray()
        text.append(UInt8(ascii: ":"))
        text += realm.utf8
        text.append(UInt8(ascii: ":"))
        text += password
        return authentication.hash(self == .md5 ? .md5 : .sha256, text.span.bytes)
    }
}
