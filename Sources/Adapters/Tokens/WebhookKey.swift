internal import Crypto
internal import Foundation
package import Model
internal import Webhooks

/// The key that seals the secrets of webhooks for the database: AES-256-GCM with the webhook's id as additional data.
///
/// It is in a file beside the database, and no backup has it: who reads a backup, or a copy of the database, cannot sign
/// as this server.
package struct WebhookKey: SecretSealer {
    private let key: SymmetricKey

    private init(_ key: SymmetricKey) { self.key = key }

    /// A key that lives only as long as the process.
    package static func ephemeral() -> Self { Self(SymmetricKey(size: .bits256)) }

    /// Reads the key at `path`, or creates one there with mode 0600. The warning, if any, is for the operator.
    package static func load(from path: String) throws(KeyFileError) -> (key: Self, warning: String?) {
        let (key, warning) = try KeyFile.symmetricKey(
            at: path, name: "key of webhooks", exposure: "sign webhooks, with a copy of the database",
            loss: "every webhook needs `webhook rotate`, whose new secret its receiver must learn")
        return (Self(key), warning)
    }

    /// Nonce, ciphertext and tag.
    package func seal(_ secret: [UInt8], for webhook: WebhookID) throws -> [UInt8] {
        let box = try AES.GCM.seal(secret, using: key, authenticating: Self.additionalData(webhook))
        return Array(box.nonce) + Array(box.ciphertext) + Array(box.tag)
    }

    package func open(_ sealed: [UInt8], for webhook: WebhookID) throws -> [UInt8] {
        let box = try AES.GCM.SealedBox(combined: sealed)
        return Array(try AES.GCM.open(box, using: key, authenticating: Self.additionalData(webhook)))
    }

    private static func additionalData(_ webhook: WebhookID) -> [UInt8] {
        Array("switchboard webhook\n\(webhook)".utf8)
    }
}
