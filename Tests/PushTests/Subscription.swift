import Crypto
import Notifications
import Push
import Tokens
import Webhooks

/// A browser's subscription: it holds the private key, and decrypts as RFC 8291 section 3.1 says.
struct Subscription {
    private let key = P256.KeyAgreement.PrivateKey()
    let authSecret = (0..<16).map { _ in UInt8.random(in: 0...255) }

    var publicKey: [UInt8] { Array(key.publicKey.x963Representation) }

    struct Malformed: Error {}

    /// Returns what was padded, still with its delimiter and zeros.
    func open(_ body: [UInt8]) throws -> [UInt8] {
        guard body.count > 86, body[16..<21] == [0, 0, 0x10, 0, 65] else { throw Malformed() }
        let (salt, sender) = (Array(body[..<16]), Array(body[21..<86]))
        let info = Array("WebPush: info\0".utf8) + publicKey + sender
        let input = try key.sharedSecretFromKeyAgreement(with: .init(x963Representation: sender))
            .hkdfDerivedSymmetricKey(using: SHA256.self, salt: authSecret, sharedInfo: info, outputByteCount: 32)
        func derive(_ info: String, _ count: Int) -> SymmetricKey {
            HKDF<SHA256>.deriveKey(inputKeyMaterial: input, salt: salt, info: Array(info.utf8), outputByteCount: count)
        }
        let nonce = derive("Content-Encoding: nonce\0", 12).withUnsafeBytes { Array($0) }
        let box = try AES.GCM.SealedBox(combined: nonce + body[86...])
        return Array(try AES.GCM.open(box, using: derive("Content-Encoding: aes128gcm\0", 16)))
    }

    func message(
        to endpoint: WebhookURL, payload: [UInt8] = Array(#"{"kind":"test"}"#.utf8), topic: String = "a topic"
    ) -> PushMessage {
        let address = WebPushAddress(endpoint: endpoint, publicKey: publicKey, authSecret: authSecret)
        return PushMessage(
            address: .web(address), payload: payload, secondsToLive: 60, isUrgent: true, topic: topic)
    }
}
