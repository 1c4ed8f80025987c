import Crypto

/// Numbers derived from a secret and a label (HMAC-SHA256 in counter mode, NIST SP 800-108): the same label gives the
/// same numbers, and without the secret they cannot be told from random ones.
struct DerivedNumbers: RandomNumberGenerator {
    private let secret: SymmetricKey
    private let label: [UInt8]
    private var counter: UInt64 = 0
    private var rest: [UInt8] = []

    init(secret: SymmetricKey, label: String) {
        self.secret = secret
        self.label = Array(label.utf8)
    }

    mutating func next() -> UInt64 {
        if rest.count < 8 {
            let block = (0..<8).map { UInt8(truncatingIfNeeded: counter >> (8 * $0)) } + label
            rest = Array(HMAC<SHA256>.authenticationCode(for: block, using: secret))
            counter &+= 1
        }
        let number = rest.suffix(8).reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        rest.removeLast(8)
        return number
    }
}
