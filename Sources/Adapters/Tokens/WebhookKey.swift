package import Model
internal import Webhooks

/// The key that seals the secrets of webhooks for the database, with the webhook's id as additional data.
///
/// It is in a file beside the database, and no backup has it: who reads a backup, or a copy of the database, cannot sign
/// as this server.
package struct WebhookKey: SecretSealer {
    private let key: SealingKey

    private init(_ key: SealingKey) { self.key = key }

    /// A key that lives only as long as the process.
    package static func ephemeral() -> Self { Self(.ephemeral()) }

    /// Reads the key at `path`, or creates one there with mode 0600. The warning, if any, is for the operator.
    package static func load(from path: String) throws(KeyFileError) -> (key: Self, warning: String?) {
        let (key, warning) = try SealingKey.load(
            from: path,
            KeyFile.Description(
                name: "key of webhooks", exposure: "sign webhooks, with a copy of the database",
                loss: "every webhook needs `webhook rotate`, whose new secret its receiver must learn"))
        return (Self(key), warning)
    }

    /// Nonce, ciphertext and tag.
    package func seal(_ secret: [UInt8], for webhook: WebhookID) throws -> [UInt8] {
        try key.seal(secret, for: Self.purpose(webhook))
    }

    package func open(_ sealed: [UInt8], for webhook: WebhookID) throws -> [UInt8] {
        try key.open(sealed, for: Self.purpose(webhook))
    }

    private static func purpose(_ webhook: WebhookID) -> String { "switchboard webhook\n\(webhook)" }
}
