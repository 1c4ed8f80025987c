internal import COpenSSL

/// The hash functions of fingerprints (RFC 8122 section 5), ordered by strength. SHA-1, MD5 and MD2 are not supported,
/// since collisions can be made.
package enum FingerprintFunction: Int, CaseIterable, Comparable, Hashable, Sendable {
    case sha224 = 224
    case sha256 = 256
    case sha384 = 384
    case sha512 = 512

    package static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }

    /// The name in SDP.
    package var name: String { "sha-\(rawValue)" }
    package var byteCount: Int { rawValue / 8 }
}

/// The hash of a certificate, by which SDP identifies a peer: `sha-256 12:AB:…`.
package struct CertificateFingerprint: Hashable, Sendable, LosslessStringConvertible {
    package let function: FingerprintFunction
    package let bytes: [UInt8]

    /// nil when the number of bytes does not match the function.
    package init?(_ function: FingerprintFunction, _ bytes: [UInt8]) {
        guard bytes.count == function.byteCount else { return nil }
        self.function = function
        self.bytes = bytes
    }

    /// The value of an `a=fingerprint` line (RFC 8122 section 5). nil when it is malformed or its function is not
    /// supported. Names and digits may be in upper or lower case.
    package init?(_ text: String) {
        let parts = text.split(separator: " ", omittingEmptySubsequences: false)
        guard parts.count == 2,
            let function = FingerprintFunction.allCases.first(where: { $0.name == parts[0].lowercased() }),
            parts[1].utf8.count == 3 * function.byteCount - 1
        else { return nil }
        let octets = parts[1].split(separator: ":", omittingEmptySubsequences: false)
        let bytes = octets.compactMap { octet -> UInt8? in
            guard octet.utf8.count == 2, octet.utf8.allSatisfy({ $0 != UInt8(ascii: "+") }) else { return nil }
            return UInt8(octet, radix: 16)
        }
        guard bytes.count == octets.count else { return nil }
        self.init(function, bytes)
    }

    package var description: String {
        let digits = bytes.map { byte in
            let digits = String(byte, radix: 16, uppercase: true)
            return digits.count == 2 ? digits : "0" + digits
        }
        return function.name + " " + digits.joined(separator: ":")
    }

    init?(_ function: FingerprintFunction, of certificate: OpaquePointer) {
        let kind =
            switch function {
            case .sha224: EVP_sha224()
            case .sha256: EVP_sha256()
            case .sha384: EVP_sha384()
            case .sha512: EVP_sha512()
            }
        var bytes = [UInt8](repeating: 0, count: Int(EVP_MAX_MD_SIZE))
        var count: UInt32 = 0
        guard X509_digest(certificate, kind, &bytes, &count) == 1 else { return nil }
        self.init(function, Array(bytes.prefix(Int(count))))
    }
}
