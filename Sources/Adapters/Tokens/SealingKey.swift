internal import Crypto

/// A key that seals secrets for the database: AES-256-GCM. What is sealed opens only with its purpose, which is the
/// additional data, so that no row's secret can stand in another row.
struct SealingKey: Sendable {
    private let key: SymmetricKey

    /// A key that lives only as long as the process.
    static func ephemeral() -> Self { Self(key: SymmetricKey(size: .bits256)) }

    static func load(
        from path: String, _ description: KeyFile.Description
    ) throws(KeyFileError) -> (key: Self, warning: String?) {
        let (key, warning) = try KeyFile.symmetricKey(at: path, description)
        return (Self(key: key), warning)
    }

    /// Nonce, ciphertext and tag.
    func seal(_ secret: [UInt8], for purpose: String) throws -> [UInt8] {
        let box = try AES.GCM.seal(secret, using: key, authenticating: Array(purpose.utf8))
        return Array(box.nonce) + Array(box.ciphertext) + Array(box.tag)
    }

    /// The same for the same bytes; without the key nothing can be learned from it.
    func digest(_ bytes: [UInt8], for purpose: String) -> [UInt8] {
        Array(HMAC<SHA256>.authenticationCode(for: Array("\(purpose)\n".utf8) + bytes, using: key))
    }

    /// Throws if it was sealed with another key, for another purpose, or is damaged.
    func open(_ sealed: [UInt8], for purpose: String) throws -> [UInt8] {
        let box = try AES.GCM.SealedBox(combined: sealed)
        return Array(try AES.GCM.open(box, using: key, authenticating: Array(purpose.utf8)))
    }
}
