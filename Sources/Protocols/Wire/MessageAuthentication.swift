/// Keyed and plain hashes, for engines that do not depend on a cryptographic library.
///
/// `OpenSSLCrypto` implements it and the hosts inject it. One value belongs to one thread. `nil` means that the library
/// failed, which engines treat as a code that does not match.
package protocol MessageAuthentication {
    func hash(_ function: HashFunction, _ message: RawSpan) -> Digest?

    /// The HMAC (RFC 2104) of `first` followed by `second`. Two parts, since STUN authenticates a header that differs
    /// in its length field from the one on the wire.
    func code(_ function: HashFunction, key: RawSpan, _ first: RawSpan, _ second: RawSpan) -> Digest?
}

package enum HashFunction: Sendable {
    case md5
    case sha1
    case sha256

    package var byteCount: Int {
        switch self {
        case .md5: 16
        case .sha1: 20
        case .sha256: 32
        }
    }
}

/// Up to 32 bytes, stored inline: a digest, a MAC or a key.
package struct Digest: Hashable, Sendable {
    private var words: (UInt64, UInt64, UInt64, UInt64) = (0, 0, 0, 0)
    package private(set) var byteCount: Int = 0

    /// Copies at most the first 32 bytes.
    package init(_ bytes: RawSpan) {
        byteCount = min(bytes.byteCount, 32)
        withUnsafeMutableBytes(of: &words) { target in
            bytes.withUnsafeBytes { target.copyMemory(from: UnsafeRawBufferPointer(rebasing: $0.prefix(32))) }
        }
    }

    package func withBytes<Result>(_ body: (RawSpan) -> Result) -> Result {
        withUnsafeBytes(of: words) { body(UnsafeRawBufferPointer(rebasing: $0.prefix(byteCount)).bytes) }
    }

    package func copyToArray() -> [UInt8] {
        withBytes { $0.copyToArray() }
    }

    package func equalsInConstantTime(_ other: RawSpan) -> Bool {
        withBytes { $0.equalsInConstantTime(other) }
    }

    package static func == (left: Digest, right: Digest) -> Bool {
        left.byteCount == right.byteCount && left.words == right.words
    }

    package func hash(into hasher: inout Hasher) {
        withUnsafeBytes(of: words) { hasher.combine(bytes: $0) }
    }
}

extension MessageAuthentication {
    package func code(_ function: HashFunction, key: RawSpan, _ message: RawSpan) -> Digest? {
        code(function, key: key, message, message.extracting(0..<0))
    }
}
