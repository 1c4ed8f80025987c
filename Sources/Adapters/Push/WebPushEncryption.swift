internal import Crypto

/// Why a push cannot be encrypted.
package enum WebPushError: Error, Hashable, Sendable {
    /// It is no uncompressed point of P-256.
    case invalidPublicKey
    /// It has not 16 bytes.
    case invalidAuthSecret
    /// In bytes.
    case payloadTooLarge(limit: Int)
}

/// Encrypts pushes for one subscription of a browser (RFC 8291), so that its push service reads nothing.
///
/// A push is one record of the content encoding `aes128gcm` (RFC 8188 section 2.1):
///
/// ```
/// salt (16) | record size (4) | 65 (1) | sender's public key (65) | ciphertext and tag
/// ```
/// The plaintext is padded to one of a few sizes, so that its length says little of a message:
///
/// ```
/// payload | 2 (1) | zeros
/// ```
package struct WebPushEncryption: Sendable {
    /// Push services accept bodies of 4,096 bytes (RFC 8030 section 7.2), of which 86 are the header, 16 the tag and 1
    /// the delimiter.
    package static let maxPayloadSize = 3_993
    /// Of payload and zeros.
    static let sizes = [512, 1_024, 2_048, maxPayloadSize]
    private static let recordSize: UInt32 = 4_096
    private static let saltSize = 16

    private let publicKey: P256.KeyAgreement.PublicKey
    private let authSecret: [UInt8]

    /// - Parameters:
    ///   - publicKey: the subscription's `p256dh`, 65 bytes.
    ///   - authSecret: the subscription's `auth`, 16 bytes.
    package init(publicKey: [UInt8], authSecret: [UInt8]) throws(WebPushError) {
        guard publicKey.count == 65, let key = try? P256.KeyAgreement.PublicKey(x963Representation: publicKey) else {
            throw .invalidPublicKey
        }
        guard authSecret.count == 16 else { throw .invalidAuthSecret }
        self.publicKey = key
        self.authSecret = authSecret
    }

    package func encrypt(_ payload: [UInt8]) throws(WebPushError) -> [UInt8] {
        guard let size = Self.sizes.first(where: { $0 >= payload.count }) else {
            throw .payloadTooLarge(limit: Self.maxPayloadSize)
        }
        var generator = SystemRandomNumberGenerator()
        let salt = (0..<Self.saltSize).map { _ in UInt8.random(in: .min ... .max, using: &generator) }
        return try encrypt(payload, paddedTo: size, salt: salt, senderKey: P256.KeyAgreement.PrivateKey())
    }

    func encrypt(
        _ payload: [UInt8], paddedTo size: Int, salt: [UInt8], senderKey: P256.KeyAgreement.PrivateKey
    ) throws(WebPushError) -> [UInt8] {
        let sender = Array(senderKey.publicKey.x963Representation)
        let plaintext = payload + [2] + [UInt8](repeating: 0, count: max(0, size - payload.count))
        let header =
            salt + (0..<4).map { UInt8(truncatingIfNeeded: Self.recordSize >> (24 - 8 * $0)) }
            + [UInt8(truncatingIfNeeded: sender.count)] + sender
        do {
            let secret = try senderKey.sharedSecretFromKeyAgreement(with: publicKey)
            let (key, nonce) = try WebPushKeys.content(
                secret, authSecret: authSecret, receiver: Array(publicKey.x963Representation), sender: sender,
                salt: salt)
            let box = try AES.GCM.seal(plaintext, using: key, nonce: nonce)
            return header + box.ciphertext + box.tag
        } catch {
            // A point of the curve has a shared secret, and the sizes of key and nonce are right.
            throw .invalidPublicKey
        }
    }
}
