internal import Crypto
internal import Foundation
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

    /// Why the key's file cannot be used, and what to do.
    package struct FileError: Error, CustomStringConvertible {
        package let description: String
    }

    /// Reads the key at `path`, or creates one there with mode 0600. The warning, if any, is for the operator.
    package static func load(from path: String) throws -> (key: Self, warning: String?) {
        guard FileManager.default.fileExists(atPath: path) else {
            let key = P256.Signing.PrivateKey()
            try write(key.pemRepresentation + "\n", to: path)
            return (Self(key), nil)
        }
        guard let pem = try? String(contentsOfFile: path, encoding: .utf8) else {
            throw FileError(
                description: "The signing key \(path) cannot be read. Allow this process's user to read it.")
        }
        guard let key = try? P256.Signing.PrivateKey(pemRepresentation: pem) else {
            throw FileError(
                description:
                    "\(path) contains no P-256 private key in PEM. Restore it, or move it away: a new key is then "
                    + "generated, and all clients must refresh their access tokens.")
        }
        guard KeyFile.isOpen(path) else { return (Self(key), nil) }
        return (
            Self(key),
            "Other users can read the signing key \(path) and could sign access tokens: chmod 600 \(path)"
        )
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

    private static func write(_ text: String, to path: String) throws {
        do {
            try KeyFile.write(text, to: path)
        } catch {
            throw FileError(
                description: "The signing key \(path) cannot be written (\(error.reason)). "
                    + "Give this process's user the right to write its directory.")
        }
    }
}
