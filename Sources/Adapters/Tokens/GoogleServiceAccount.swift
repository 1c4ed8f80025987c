internal import Crypto
internal import CryptoExtras
internal import Foundation
package import Model

/// A service account of Google: the JSON file that Firebase's console makes. Its RSA key signs assertions, for which the
/// token endpoint gives access tokens (RFC 7523 section 2.1).
package struct GoogleServiceAccount: Sendable {
    /// Of an assertion, in seconds: the longest that Google takes.
    static let lifetime: Int64 = 3_600
    private static let maxFileSize = 64 << 10

    package let project: String
    package let email: String
    package let tokenURL: String
    /// For the operator, of how the file is kept.
    package let warning: String?
    private let keyID: String?
    private let key: _RSA.Signing.PrivateKey

    private struct File: Decodable {
        var type: String?
        var project_id: String?
        var private_key_id: String?
        var private_key: String?
        var client_email: String?
        var token_uri: String?
    }

    private static let keyFile = KeyFile.Description(
        name: "key of a service account", exposure: "push to every device of the app", loss: "")

    /// - Throws: what is wrong with the file, as a clause.
    package init(file path: String) throws(KeyFileError) {
        let (bytes, warning) = try KeyFile.contents(of: path, limit: Self.maxFileSize, Self.keyFile)
        try self.init(bytes, named: path, warning: warning)
    }

    init(_ json: some Sequence<UInt8>, named name: String, warning: String? = nil) throws(KeyFileError) {
        func invalid(_ what: String) -> KeyFileError {
            KeyFileError(
                description: "\(name) \(what): take the file that Firebase's console makes under Project settings, "
                    + "Service accounts, Generate new private key")
        }
        guard let file = try? JSONDecoder().decode(File.self, from: Data(json)) else {
            throw invalid("is no JSON object")
        }
        guard file.type == "service_account" else { throw invalid("is not of a service account") }
        guard let project = file.project_id, project.wholeMatch(of: /[a-z0-9][a-z0-9:.\-]{1,62}/) != nil else {
            throw invalid("has no valid project_id")
        }
        guard let email = file.client_email, !email.isEmpty else { throw invalid("has no client_email") }
        guard let url = file.token_uri, url.hasPrefix("https://") else {
            throw invalid("has no token_uri with https://")
        }
        guard let pem = file.private_key, let key = try? _RSA.Signing.PrivateKey(pemRepresentation: pem) else {
            throw invalid("has no private_key of RSA with 2048 bits or more in PEM")
        }
        self.project = project
        self.email = email
        self.key = key
        tokenURL = url
        keyID = file.private_key_id
        self.warning = warning
    }

    /// A signed request for an access token of a scope.
    package func assertion(for scope: String, at now: Timestamp) throws -> String {
        var header = JSONWriter(capacity: 96)
        header.object { header in
            header.member("alg", "RS256")
            header.member("typ", "JWT")
            header.member("kid", keyID)
        }
        let seconds = now.milliseconds / 1_000
        var claims = JSONWriter(capacity: 256)
        claims.object { claims in
            claims.member("iss", email)
            claims.member("scope", scope)
            claims.member("aud", tokenURL)
            claims.member("iat", seconds)
            claims.member("exp", seconds + Self.lifetime)
        }
        let signed = Base64URL.encode(header.bytes) + "." + Base64URL.encode(claims.bytes)
        let signature = try key.signature(for: SHA256.hash(data: Array(signed.utf8)), padding: .insecurePKCS1v1_5)
        return signed + "." + Base64URL.encode(signature.rawRepresentation)
    }
}
