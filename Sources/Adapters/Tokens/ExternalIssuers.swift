internal import Accounts
package import AsyncHTTPClient
internal import Foundation
internal import Model

/// An OpenID Connect issuer whose tokens this server accepts.
package struct OutsideIssuer: Hashable, Sendable {
    /// What its tokens carry as `iss`.
    package var issuer: String
    /// What they must carry as `aud`: the app's id there.
    package var audience: String
    /// Where its keys are published.
    package var jwksURL: String

    package init(issuer: String, audience: String, jwksURL: String) {
        self.issuer = issuer
        self.audience = audience
        self.jwksURL = jwksURL
    }
}

/// Verifies tokens of outside issuers (OpenID Connect Core section 3.1.3.7, RFC 7519) by the keys they publish.
package struct OutsideIssuers: Sendable {
    /// Seconds by which an issuer's clock may differ from this server's.
    static let skew = 60.0

    private struct Claims: Decodable {
        let sub: String
        let aud: Audience
        let exp: Double
        let nbf: Double?
        let name: String?
        let email: String?
        let emailVerified: Flag?

        enum CodingKeys: String, CodingKey {
            case sub, aud, exp, nbf, name, email
            case emailVerified = "email_verified"
        }
    }

    private let issuers: [String: (issuer: OutsideIssuer, keys: IssuerKeys)]

    /// - Parameter uptime: milliseconds of a monotonic clock, by which fetching keys is limited.
    package init(_ issuers: [OutsideIssuer], client: HTTPClient, uptime: @escaping @Sendable () -> Int64) {
        self.issuers = Dictionary(
            issuers.map { ($0.issuer, ($0, IssuerKeys(url: $0.jwksURL, client: client, uptime: uptime))) },
            uniquingKeysWith: { first, _ in first })
    }

    func verify(_ token: SignedToken, at now: Timestamp) async throws -> (OutsideIdentity, expiresAt: Timestamp) {
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
        let identity = OutsideIdentity(
            issuer: name, subject: claims.sub, name: claims.name, email: isVerified ? claims.email : nil)
        // Some issuers make tokens without an end; a day is as long as one is believed here.
        let end = min(claims.exp + Self.skew, seconds + 86_400)
        return (identity, Timestamp(milliseconds: Int64(end * 1000)))
    }

    /// `aud` is one text or several (RFC 7519 section 4.1.3).
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

    /// Some issuers write truth as text.
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
