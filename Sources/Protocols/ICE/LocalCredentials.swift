package import STUN
import Wire

/// The ufrag of one generation of a leg's agent: eight characters, so that it is one integer and a datagram's leg is
/// found without a string.
package struct LocalUfrag: Hashable, Sendable {
    package let bits: UInt64

    package init(bits: UInt64) {
        self.bits = bits
    }

    /// The ufrag before the colon in USERNAME (RFC 8445 section 7.2.2); nil when it cannot be one that was made here.
    package init?(of message: borrowing Message) {
        guard let value = message.attribute(.username), value.byteCount > 9,
            let bits = value.integer(at: 0, as: UInt64.self), value.byte(at: 8) == UInt8(ascii: ":")
        else { return nil }
        self.bits = bits
    }

    package var text: String {
        String(decoding: (0..<8).map { UInt8(truncatingIfNeeded: bits >> (56 - 8 * $0)) }, as: UTF8.self)
    }
}

/// A user fragment and a password of the gateway. RFC 8839 section 5.4 requires 24 and 128 bits of randomness; these
/// have 48 and 192.
package struct LocalCredentials: Hashable, Sendable {
    package static let randomByteCount = 30

    package let ufrag: LocalUfrag
    package let password: [UInt8]

    /// From bytes of a cryptographic generator; nil unless there are 30. Base64 has exactly the characters that ICE
    /// allows, and needs no padding here.
    package init?(random bytes: RawSpan) {
        guard bytes.byteCount == Self.randomByteCount, let name = bytes.part(0..<6), let secret = bytes.part(6..<30)
        else { return nil }
        let text = Base64.encode(name)
        guard let bits = text.span.bytes.integer(at: 0, as: UInt64.self) else { return nil }
        ufrag = LocalUfrag(bits: bits)
        password = Base64.encode(secret)
    }

    package var passwordText: String {
        String(decoding: password, as: UTF8.self)
    }
}
