internal import Crypto
internal import Model

/// The ES256 key that signs access tokens: a P-256 key in a PEM file that only the server's user may read.
package struct SigningKey: Sendable {
    let key: P256.Signing.PrivateKey
    /// The key id in tokens: the JWK thumbprint (RFC 7638).
    package let identifier: String

    init(_ key: P256.Signing.PrivateKey) {
        self.key = key
        let (x, y) = Self.coordinates(of: key.publicKey)
        // The members that RFC 7638 section 3.2 names, in its order and without white space.
        var members = JSONWriter(capacity: 160)
        members.object { members in
            members.member("crv", "P-256")
            members.member("kty", "EC")
            members.member("x", x)
            members.member("y", y)
        }
        identifier = Base64URL.encode(SHA256.hash(data: members.bytes))
    }

    /// A key that lives only as long as the process.
    package static func ephemeral() -> Self { Self(P256.Signing.PrivateKey()) }

    /// Reads the key at `path`, or creates one there with mode 0600. The warning, if any, is for the operator.
    package static func load(from path: String) throws(KeyFileError) -> (key: Self, warning: String?) {
        let (key, warning) = try KeyFile.signingKey(
            at: path,
            KeyFile.Description(
                name: "signing key", exposure: "sign access tokens",
                loss: "all clients must refresh their access tokens"))
        return (Self(key), warning)
    }

    /// The public key as a JSON Web Key Set (RFC 7517).
    package var keySet: String {
        let (x, y) = Self.coordinates(of: key.publicKey)
        var writer = JSONWriter()
        writer.object { writer in
            writer.name("keys")
            writer.array(CollectionOfOne(identifier)) { writer, identifier in
                writer.object { writer in
                    writer.member("kty", "EC")
                    writer.member("crv", "P-256")
                    writer.member("x", x)
                    writer.member("y", y)
                    writer.member("use", "sig")
                    writer.member("alg", "ES256")
                    writer.member("kid", identifier)
                }
            }
        }
        return writer.text
    }

    private static func coordinates(of key: P256.Signing.PublicKey) -> (x: String, y: String) {
        let raw = Array(key.rawRepresentation)
        return (Base64URL.encode(raw.prefix(32)), Base64URL.encode(raw.dropFirst(32)))
    }
}
