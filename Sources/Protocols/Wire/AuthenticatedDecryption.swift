/// Decryption with AES in Galois/Counter Mode (NIST SP 800-38D), for engines that do not depend on a cryptographic
/// library. `OpenSSLCrypto` implements it and the hosts inject it.
package protocol AuthenticatedDecryption {
    /// The plaintext of `sealed`, a ciphertext followed by its 16-byte tag; nil when key, nonce, `associated` or a
    /// single bit of it is wrong. A key of 16 bytes is for AES-128, one of 32 for AES-256.
    func open(_ sealed: RawSpan, key: RawSpan, nonce: RawSpan, associated: RawSpan) -> [UInt8]?
}
