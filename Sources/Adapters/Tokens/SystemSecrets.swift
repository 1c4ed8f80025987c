internal import Accounts
internal import Crypto

/// Secrets from the system's random number generator, hashed with SHA-256. They have 256 bits, so a plain digest is
/// enough.
package struct SystemSecrets: SecretSource {
    package init() {}

    package func makeSecret() -> String {
        var generator = SystemRandomNumberGenerator()
        return Base64URL.encode((0..<32).map { _ in UInt8.random(in: .min ... .max, using: &generator) })
    }

    package func digest(_ secret: String) -> [UInt8] { Array(SHA256.hash(data: Array(secret.utf8))) }
}
