/// The hash of a side's certificate, which binds DTLS to the description (RFC 8122 section 5).
package struct FingerprintAttribute: Hashable, Sendable {
    /// The hash function's name in lower case, such as `sha-256`.
    package let algorithm: String
    package let digest: [UInt8]

    package init(algorithm: String, digest: [UInt8]) {
        self.algorithm = algorithm.lowercased()
        self.digest = digest
    }

    static let grammar = "fingerprint:, a hash function and its digest in hexadecimal, as sha-256 AB:CD:…"

    private static let sizes = [
        "md5": 16, "sha-1": 20, "sha-224": 28, "sha-256": 32, "sha-384": 48, "sha-512": 64,
    ]

    init?(_ value: Substring) {
        var rest = value
        guard let algorithm = rest.takeWord(), algorithm.isToken, let text = rest.takeWord(), rest.takeWord() == nil,
            text.utf8.count % 3 == 2, text.utf8.count <= 64 * 3
        else { return nil }
        var digest: [UInt8] = []
        for (offset, byte) in text.utf8.enumerated() {
            if offset % 3 == 2 {
                guard byte == UInt8(ascii: ":") else { return nil }
                continue
            }
            guard let half = Self.hexadecimal(byte) else { return nil }
            if offset % 3 == 0 {
                digest.append(half << 4)
            } else {
                digest[digest.count - 1] |= half
            }
        }
        self.init(algorithm: String(algorithm), digest: digest)
        guard Self.sizes[self.algorithm].map({ $0 == digest.count }) ?? true else { return nil }
    }

    private static func hexadecimal(_ byte: UInt8) -> UInt8? {
        switch byte {
        case 0x30...0x39: byte &- 0x30
        case 0x41...0x46: byte &- 0x37
        case 0x61...0x66: byte &- 0x57
        default: nil
        }
    }

    var text: String {
        let pairs = digest.map { byte in
            (byte < 16 ? "0" : "") + String(byte, radix: 16, uppercase: true)
        }
        return "\(algorithm) \(pairs.joined(separator: ":"))"
    }
}
