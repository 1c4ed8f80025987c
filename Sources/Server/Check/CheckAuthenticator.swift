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

    func admitListen(_ principal: Principal) throws(Problem) { try authenticator.admitListen(principal) }

    func admit(_ hello: Hello) async throws -> (principal: Principal, expiresAt: Timestamp, grant: EndpointGrant) {
        guard hello.endpoint == nil, let admitted = checks.admit(hello.token) else {
            return try await authenticator.admit(hello)
        }
        let grant = EndpointGrant(endpoint: admitted.endpoint, showsPresence: false)
        return (admitted.principal, admitted.expiresAt, grant)
    }
}
