import Model
import Realtime
import WebAPI

/// Admits the hello of a check, for which the server's own authenticator would store an endpoint; everything else is
/// that authenticator's.
///
/// A check's session has a user and an endpoint without rows, which therefore have access to nothing, and nobody else
/// can see them.
struct CheckAuthenticator: RealtimeAuthenticator {
    let authenticator: RequestAuthenticator
    let checks: CheckResponder

    func authenticate(token: String) async throws -> (principal: Principal, expiresAt: Timestamp) {
        try await authenticator.authenticate(token: token)
    }

    func checkNotRevoked(_ principal: Principal) throws { try authenticator.checkNotRevoked(principal) }

    func admit(from origin: SessionOrigin) throws { try authenticator.admit(from: origin) }

    func admit(
        token: String, endpoint: EndpointID?, secret: String?, client: ClientInfo?
    ) async throws -> (principal: Principal, expiresAt: Timestamp, grant: EndpointGrant) {
        guard endpoint == nil, let admitted = checks.admit(token) else {
            return try await authenticator.admit(token: token, endpoint: endpoint, secret: secret, client: client)
        }
        let grant = EndpointGrant(endpoint: admitted.endpoint, showsPresence: false)
        return (admitted.principal, admitted.expiresAt, grant)
    }
}
