internal import Crypto

/// A subscription of this program's own, as a browser has them, which decrypts what is pushed to it (RFC 8291).
package struct WebPushSubscription: Sendable {
    /// Salt, record size, length of the sender's key, and that key (RFC 8188 section 2.1).
    private static let headerSize = 16 + 4 + 1 + 65
    private static let tagSize = 16

    private let key: P256.KeyAgreement.PrivateKey
    package let authSecret: [UInt8]
    package var publicKey: [UInt8] { Array(key.publicKey.x963Representation) }

    package init() {
        var generator = SystemRandomNumberGenerator()
        self.init(
            P256.KeyAgreement.PrivateKey(),
            authSecret: (0..<16).map { _ in .random(in: .min ... .max, using: &generator) })
    }

    init(_ key: P256.KeyAgreement.PrivateKey, authSecret: [UInt8]) {
        self.key = key
        self.authSecret = authSecret
    }

    /// Without the padding; nil for what is no push to it of one record.
    package func decrypt(_ body: [UInt8]) -> [UInt8]? {
        guard body.count > Self.headerSize + Self.tagSize, body[20] == 65 else { return nil }
        let (salt, sender) = (Array(body[..<16]), Array(body[21..<Self.headerSize]))
        let (ciphertext, tag) = (body[Self.headerSize..<(body.count - Self.tagSize)], body.suffix(Self.tagSize))
        guard let senderKey = try? P256.KeyAgreement.PublicKey(x963Representation: sender),
            let secret = try? key.sharedSecretFromKeyAgreement(with: senderKey),
            let (key, nonce) = try? WebPushKeys.content(
                secret, authSecret: authSecret, receiver: publicKey, sender: sender, salt: salt),
            let box = try? AES.GCM.SealedBox(nonce: nonce, ciphertext: ciphertext, tag: tag),
            let plaintext = try? AES.GCM.open(box, using: key)
        else { return nil }
        let padded = Array(plaintext)
        // The last record ends with 2, and zeros.
        guard let end = padded.lastIndex(where: { $0 != 0 }), padded[end] == 2 else { return nil }
        return Array(padded[..<end])
    }
}
