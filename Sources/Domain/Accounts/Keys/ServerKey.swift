/// A key with which an app's own back end authenticates: `sbk_<id>_<secret>_<checksum>`.
///
///     sbk_ 16 digits _ 43 digits _ 6 digits        71 bytes, digits of base 62
///          id          secret      CRC-32 of everything before the last `_`
///
/// The secret has 43 random digits, 256.03 bits, so a plain SHA-256 digest of the whole text is enough to store. The
/// prefix and the checksum let scanners of repositories find a key that was published by mistake, and let a key with a
/// typing error be distinguished from an unknown one.
package struct ServerKey: Hashable, Sendable {
    package static let prefix = "sbk_"
    package static let length = 71
    static let secretLength = 43
    static let checksumLength = 6

    package let id: ServerKeyID
    /// The whole key, which is secret.
    package let text: String

    /// What is wrong with a text that is no key.
    package enum Malformation: Error, Hashable, Sendable {
        case length, characters, checksum
    }

    /// Whether a text means to be a key, whatever follows the prefix.
    package static func hasPrefix(_ text: String) -> Bool { text.utf8.starts(with: prefix.utf8) }

    /// Reads a key. Texts of another length are rejected at once; all others take the same work.
    package init(_ text: String) throws(Malformation) {
        guard text.utf8.count == Self.length else { throw .length }
        let bytes = Array(text.utf8)
        guard bytes.count == Self.length else { throw .length }
        let prefix = Array(Self.prefix.utf8)
        let idEnd = prefix.count + ServerKeyID.length
        let secretEnd = idEnd + 1 + Self.secretLength
        var isShaped = true
        var checksum: UInt64 = 0
        for (index, byte) in bytes.enumerated() {
            let value = Base62.value(of: byte)
            switch index {
            case ..<prefix.count: isShaped = isShaped && byte == prefix[index]
            case idEnd, secretEnd: isShaped = isShaped && byte == UInt8(ascii: "_")
            default: isShaped = isShaped && value != nil
            }
            if index > secretEnd { checksum = checksum &* 62 &+ (value ?? 0) }
        }
        guard isShaped else { throw .characters }
        guard checksum == UInt64(Checksum.crc32(bytes[..<secretEnd])) else { throw .checksum }
        id = ServerKeyID(digits: bytes[prefix.count..<idEnd])
        self.text = text
    }

    /// Makes a key with a new secret: of a new id, or of one whose key is rotated.
    package static func make(id: ServerKeyID? = nil, using generator: inout some RandomNumberGenerator) -> Self {
        let id = id ?? .make(using: &generator)
        var bytes = Array(Self.prefix.utf8) + Array(id.text.utf8) + [UInt8(ascii: "_")]
        bytes += Base62.random(count: secretLength, using: &generator)
        let checksum = UInt64(Checksum.crc32(bytes))
        bytes += [UInt8(ascii: "_")] + Base62.encode(checksum, count: checksumLength)
        return Self(id: id, text: String(decoding: bytes, as: UTF8.self))
    }

    private init(id: ServerKeyID, text: String) {
        self.id = id
        self.text = text
    }
}

extension ServerKey: CustomStringConvertible {
    /// Without the secret, so that a log line cannot hold it by mistake.
    package var description: String { "\(Self.prefix)\(id.text)_…" }
}
