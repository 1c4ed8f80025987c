internal import Accounts
internal import Crypto
package import Model
internal import Synchronization

/// The ES256 key by which push services know this server (VAPID, RFC 8292): a P-256 key in a PEM file that only the
/// server's user may read.
///
/// Browsers bind their subscriptions to its public key, so a new key ends all of them.
package final class VAPIDKey: Sendable {
    /// Push services accept at most a day (RFC 8292 section 2).
    static let lifetime: Int64 = 12 * 60 * 60
    /// So long before its expiry a token is replaced, in seconds.
    static let renewal: Int64 = 60 * 60
    static let maxAudiences = 256

    private struct Token {
        var authorization: String
        /// Seconds since 1970.
        var expires: Int64
    }

    /// Uncompressed, 65 bytes: what a browser subscribes with, as `applicationServerKey`.
    package let publicKey: [UInt8]
    /// The same in base64url.
    package let publicKeyText: String
    private let key: P256.Signing.PrivateKey
    private let subject: String?
    private let header: String
    private let tokens = Mutex(RecentMap<String, Token>(capacity: maxAudiences))

    private init(_ key: P256.Signing.PrivateKey, subject: String?) {
        self.key = key
        self.subject = subject
        publicKey = Array(key.publicKey.x963Representation)
        publicKeyText = Base64URL.encode(publicKey)
        var writer = JSONWriter(capacity: 32)
        writer.object { writer in
            writer.member("typ", "JWT")
            writer.member("alg", "ES256")
        }
        header = Base64URL.encode(writer.bytes)
    }

    /// A key that lives only as long as the process.
    package static func ephemeral(subject: String? = nil) -> VAPIDKey {
        VAPIDKey(P256.Signing.PrivateKey(), subject: subject)
    }

    /// Reads the key at `path`, or creates one there with mode 0600. The warning, if any, is for the operator.
    ///
    /// - Parameter subject: where a push service reaches the operator: a `mailto:` or `https:` URI
    ///   (RFC 8292 section 2.1).
    package static func load(
        from path: String, subject: String?
    ) throws(KeyFileError) -> (key: VAPIDKey, warning: String?) {
        let (key, warning) = try KeyFile.signingKey(
            at: path,
            KeyFile.Description(
                name: "VAPID key", exposure: "push as this server",
                loss: "browsers are notified again once they have subscribed anew"))
        return (VAPIDKey(key, subject: subject), warning)
    }

    /// The value of the header `Authorization` (RFC 8292 section 3). It is the same for every request to an audience
    /// until it is replaced, as section 2 suggests: a push service verifies it once.
    ///
    /// - Parameter audience: the origin of the push service, such as `https://push.example.net`.
    package func authorization(for audience: String, at now: Timestamp) throws -> String {
        let seconds = now.milliseconds / 1000
        // More time left than a new one has: the clock was set back.
        let current = Self.renewal + 1...Self.lifetime
        if let token = tokens.withLock({ $0[audience] }), current.contains(token.expires - seconds) {
            return token.authorization
        }
        let token = try makeToken(for: audience, expires: seconds + Self.lifetime)
        tokens.withLock { $0[audience] = token }
        return token.authorization
    }

    private func makeToken(for audience: String, expires: Int64) throws -> Token {
        var claims = JSONWriter(capacity: 256)
        claims.object { claims in
            claims.member("aud", audience)
            claims.member("exp", expires)
            if let subject { claims.member("sub", subject) }
        }
        let signed = header + "." + Base64URL.encode(claims.bytes)
        let signature = Base64URL.encode(try key.signature(for: Array(signed.utf8)).rawRepresentation)
        return Token(
            authorization: "vapid t=\(signed).\(signature), k=\(publicKeyText)", expires: expires)
    }
}
