import Accounts
import HTTPTypes
import HummingbirdCore
import Model
import Realtime
import Services

// Requests with a server key.
extension RequestAuthenticator {
    /// Admits a request with a server key before its body is read.
    ///
    /// The key comes before the rate limit of the address, so that wrong keys, which fill it, cannot keep the right one
    /// from the same address out. A right key has a rate limit of its own.
    ///
    /// - Parameter counted: is told what the limit has left.
    func admit(_ request: ServerKeyService.Request, counted: CountedLimit) throws -> KeyPrincipal {
        let key: KeyPrincipal
        do {
            key = try keys.authenticate(request)
        } catch {
            try take(.address, of: request.address, counted: counted)
            throw error.problem
        }
        do {
            try take(.serverKeys, of: key.id.text, counted: counted)
        } catch {
            keys.audit.refused(request.action, by: .key(key.id), because: "rate_limited", from: request.address)
            throw error
        }
        return key
    }
}

extension ServerKeyService.Request {
    init(_ request: HummingbirdCore.Request, to operation: String, scope: ServerKeyScope, from address: String) {
        // Every other origin is foreign, also those of http.allowedOrigins: their pages have users, not keys.
        let isOwn = AllowedOrigins([]).allows(origin: request.headers[.origin], host: request.head.authority)
        self.init(
            action: operation, authorization: request.headers[.authorization], address: address,
            hasForeignOrigin: !isOwn, scope: scope)
    }
}

extension OpenAPIDocument {
    static let serverKeyScheme = JSON.object([
        ("type", "http"), ("scheme", "bearer"), ("bearerFormat", "sbk_…"),
        (
            "description",
            """
            A key of `switchboard key create`, for an app's own back end: under `/v1/server` only, and never in a browser.
            """
        ),
    ])
}
