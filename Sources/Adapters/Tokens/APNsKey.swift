internal import Crypto
internal import Foundation
package import Model
internal import Synchronization

/// The ES256 key of a team with which Apple's push service knows this server: the `.p8` file of Apple's developer site.
///
/// Apple refuses tokens that are older than an hour, and servers that make new ones more often than every 20 minutes.
package final class APNsKey: Sendable {
    /// In seconds: when a token is replaced, and when the earliest, if it is refused.
    static let lifetime: Int64 = 40 * 60
    static let minLifetime: Int64 = 20 * 60
    private static let tolerance: Int64 = 60
    private static let maxFileSize = 16 << 10

    private struct Token {
        var text: String
        var issued: Int64
    }

    private let key: P256.Signing.PrivateKey
    /// For the operator, of how the file is kept.
    package let warning: String?
    private let header: String
    private let team: String
    private let token = Mutex<Token?>(nil)

    private static let keyFile = KeyFile.Description(
        name: ".p8 key", exposure: "push to every device of the team's apps", loss: "")

    /// - Throws: what is wrong with the file, as a clause.
    package convenience init(file path: String, id: String, team: String) throws(KeyFileError) {
        let (bytes, warning) = try KeyFile.contents(of: path, limit: Self.maxFileSize, Self.keyFile)
        guard let key = try? P256.Signing.PrivateKey(pemRepresentation: String(decoding: bytes, as: UTF8.self)) else {
            throw KeyFileError(
                description: "\(path) is no .p8 key: take the file that Apple's developer site makes under Keys")
        }
        self.init(key, id: id, team: team, warning: warning)
    }

    init(_ key: P256.Signing.PrivateKey, id: String, team: String, warning: String? = nil) {
        self.key = key
        self.warning = warning
        self.team = team
        var writer = JSONWriter(capacity: 64)
        writer.object { writer in
            writer.member("alg", "ES256")
            writer.member("kid", id)
        }
        header = Base64URL.encode(writer.bytes)
    }

    /// The value of the header `authorization`.
    package func authorization(at now: Timestamp) throws -> String {
        let seconds = now.milliseconds / 1_000
        return try token.withLock { token in
            // Issued long after now: the clock was set back. Who asked a moment ago takes the newer one.
            if let token, (-Self.tolerance..<Self.lifetime).contains(seconds - token.issued) {
                return "bearer \(token.text)"
            }
            let made = Token(text: try sign(at: seconds), issued: seconds)
            token = made
            return "bearer \(made.text)"
        }
    }

    /// Apple has refused it. Returns whether another one may be made already.
    package func reject(_ authorization: String, at now: Timestamp) -> Bool {
        let seconds = now.milliseconds / 1_000
        return token.withLock { token in
            guard let current = token, "bearer \(current.text)" == authorization else { return true }
            guard !(-Self.tolerance..<Self.minLifetime).contains(seconds - current.issued) else { return false }
            token = nil
            return true
        }
    }

    private func sign(at seconds: Int64) throws -> String {
        var claims = JSONWriter(capacity: 64)
        claims.object { claims in
            claims.member("iss", team)
            claims.member("iat", seconds)
        }
        let signed = header + "." + Base64URL.encode(claims.bytes)
        return signed + "." + Base64URL.encode(try key.signature(for: Array(signed.utf8)).rawRepresentation)
    }
}
