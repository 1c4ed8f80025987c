internal import Accounts
package import AsyncHTTPClient
internal import Foundation
internal import Model

/// An OpenID Connect issuer whose tokens this server accepts.
package struct ExternalIssuer: Hashable, Sendable {
    /// The `iss` of its tokens.
    package var issuer: String
    /// The required `aud`: the app's client id there.
    package var audience: String
    /// The URL of its key set.
    package var jwksURL: String

    package init(issuer: String, audience: String, jwksURL: String) {
        self.issuer = issuer
        self.audience = audience
        self.jwksURL = jwksURL
    }
}

/// Verifies tokens of external issuers (OpenID Connect Core section 3.1.3.7, RFC 7519) with their published keys.
package struct ExternalIssuers: Sendable {
    /// The tolerated clock skew in seconds.
    static let skew = 60.0

    private struct Claims: Decodable {
        let sub: String
        let aud: Audience
        let exp: Double
        let nbf: Double?
        let iat: Double?
        let name: String?
        let email: String?
        let emailVerified: Flag?

        enum CodingKeys: String, CodingKey {
            case sub, aud, exp, nbf, iat, name, email
            case emailVerified = "email_verified"
        }
    }

    private let issuers: [String: (issuer: ExternalIssuer, keys: IssuerKeys)]

    /// - Parameter uptime: milliseconds of a monotonic clock, which limits how often keys are fetched.
    package init(_ issuers: [ExternalIssuer], client: HTTPClient, uptime: @escaping @Sendable () -> Int64) {
        self.issuers = Dictionary(
            issuers.map { ($0.issuer, ($0, IssuerKeys(url: $0.jwksURL, client: client, uptime: uptime))) },
            uniquingKeysWith: { first, _ in first })
    }

    func verify(_ token: SignedToken, at now: Timestamp) async throws -> (ExternalIdentity, expiresAt: Timestamp) {
        struct Issuer: Decodable { let iss: String }
        guard let name = token.claims(as: Issuer.self)?.iss, let (issuer, keys) = issuers[name] else {
            throw TokenVerifier.invalid
        }
        guard let key = try await keys.key(token.header.kid, algorithm: token.header.alg), key.verifies(token),
            let claims = token.claims(as: Claims.self), claims.aud.values.contains(issuer.audience),
            !claims.sub.isEmpty, claims.sub.utf8.count <= 255
        else { throw TokenVerifier.invalid }
        let seconds = Double(now.milliseconds) / 1000
        guard claims.exp.isFinite, claims.exp > 0, seconds < claims.exp + Self.skew else { throw TokenVerifier.expired }
        guard (claims.nbf ?? 0) <= seconds + Self.skew else {
            throw Problem(.unauthenticated, "The access token is not valid yet.")
        }
        let isVerified = claims.emailVerified?.value ?? true
        let identity = ExternalIdentity(
            issuer: name, subject: claims.sub, name: claims.name, email: isVerified ? claims.email : nil,
            issuedAt: claims.iat.flatMap { Int64(exactly: ($0 * 1000).rounded(.down)) }.map {
                Timestamp(milliseconds: $0)
            })
        // Some issuers issue tokens with very long lifetimes; here they are trusted for a day.
        let end = min(claims.exp + Self.skew, seconds + 86_400)
        return (identity, Timestamp(milliseconds: Int64(end * 1000)))
    }

    /// `aud` is one string or an array (RFC 7519 section 4.1.3).
    private struct Audience: Decodable {
        let values: [String]

        init(from decoder: any Decoder) throws {
            let container = try decoder.singleValueContainer()
            if let one = try? container.decode(String.self) {
                values = [one]
            } else {
                values = try container.decode([String].self)
            }
        }
    }

    /// Some issuers write booleans as strings.
    private struct Flag: Decodable {
        let value: Bool

        init(from decoder: any Decoder) throws {
            let container = try decoder.singleValueContainer()
            if let flag = try? container.decode(Bool.self) {
                value = flag
            } else {
                value = try container.decode(String.self) == "true"
            }
        }
    }
}
