internal import Crypto

enum WebPushKeys {
    /// The key and the nonce of a push (RFC 8291 section 3.4). Its only record has the sequence number 0, so the nonce is as it
    /// was derived.
    ///
    /// - Parameters:
    ///   - receiver: the public key of the subscription.
    ///   - sender: the public key that the push carries.
    static func content(
        _ secret: SharedSecret, authSecret: [UInt8], receiver: [UInt8], sender: [UInt8], salt: [UInt8]
    ) throws -> (key: SymmetricKey, nonce: AES.GCM.Nonce) {
        let input = secret.hkdfDerivedSymmetricKey(
            using: SHA256.self, salt: authSecret, sharedInfo: Array("WebPush: info\0".utf8) + receiver + sender,
            outputByteCount: 32)
        func derive(_ info: String, _ count: Int) -> SymmetricKey {
            HKDF<SHA256>.deriveKey(
                inputKeyMaterial: input, salt: salt, info: Array(info.utf8), outputByteCount: count)
        }
        let nonce = derive("Content-Encoding: nonce\0", 12)
        return (derive("Content-Encoding: aes128gcm\0", 16), try nonce.withUnsafeBytes { try AES.GCM.Nonce(data: $0) })
    }
}
