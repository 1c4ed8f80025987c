import Calls
import HTTPTypes
import Model
package import Services
import Storage

package enum RelayOperations {
    /// `GET /v1/ice-servers`, which fails without a relay in this process.
    package static func all(issuer: ICEServerIssuer?, calls: CallService) -> [Operation] {
        [
            Operation(
                name: "iceServers.get", method: .get, path: "/v1/ice-servers",
                summary: "STUN and TURN servers for an RTCPeerConnection, with credentials for one purpose.",
                parameters: [
                    .query(
                        "call", .identifier,
                        "A live call in which the user is ringing or joined; its allocations end when the user has "
                            + "left it."
                    ),
                    .query(
                        "scope", .choice(["gateway", "test"]),
                        "Instead of a call: gateway, to record a voice message (only the media gateway can be "
                            + "reached), or test, to test the relay (eight allocations for a minute, at 64 kB/s). The "
                            + "default is test, or open if relay.credentials is open."),
                ],
                responses: [
                    .ok(
                        .object([
                            .required("iceServers", .list(.named("ICEServer"))),
                            .required("scope", .choice(RelayScope.names), "The purpose of the credentials."),
                            .required("lifetime", .integer(), "Seconds."), .required("expiresAt", .time),
                        ]))
                ],
                problems: [.providerNotConfigured, .notFound, .conflict, .callEnded], limit: .credentials
            ) { request in
                guard let issuer else {
                    throw Problem(.providerNotConfigured, "This server runs without a relay.")
                }
                let principal = try request.requirePrincipal()
                let now = Timestamp.systemClock()
                let scope = try await scope(of: request, issuer, calls, principal, at: now)
                return try .json(issuer.issue(for: principal.user, scope, host: request.host, at: now))
            }
        ]
    }

    private static func scope(
        of request: OperationRequest, _ issuer: ICEServerIssuer, _ calls: CallService, _ principal: Principal,
        at now: Timestamp
    ) async throws -> RelayScope {
        let named = request.parameters["scope"]
        guard request.parameters["call"] == nil else {
            guard named == nil else { throw Problem.invalid("scope", "Name a call or a scope, not both.") }
            let id = try request.identifier("call", of: CallID.self)
            let commands = calls.commands
            try await calls.store.read { try commands.checkRelayed(id, by: principal, at: now, in: $0) }
            return .call(id)
        }
        switch named {
        case nil: return issuer.defaultScope
        case "gateway": return .gateway
        case "test": return .test
        default: throw Problem.invalid("scope", "Allowed: gateway, test.")
        }
    }
}
