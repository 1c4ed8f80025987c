/// Opens what was sealed with AES in Galois/Counter Mode (NIST SP 800-38D), for engines that must not know which library
/// does it. `OpenSSLCrypto` implements it and the hosts hand it in.
package protocol AuthenticatedDecryption {
    /// The plain bytes of `sealed`, a ciphertext followed by its tag of 16 bytes; nil when key, nonce, `associated` or a
    /// single bit of it is wrong. A key of 16 bytes is for AES-128, one of 32 for AES-256.
    func open(_ sealed: RawSpan, key: RawSpan, nonce: RawSpan, associated: RawSpan) -> [UInt8]?
}
