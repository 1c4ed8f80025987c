import HTTPTypes
import Model
import SDP
package import Services
import Storage

/// WHIP (RFC 9725) and WHEP (draft-ietf-wish-whep-02) over the legs of the media gateway.
///
/// A POST with an offer creates a session, whose URL is in `Location` and whose ICE session is identified by `ETag`.
/// The gateway is ICE-lite and lists all its candidates in the answer, so trickled candidates are accepted but not
/// used. A session is changed and ended with any token of its user.
package struct WHIPOperations: Sendable {
    static let sdp = "application/sdp"

    let service: WHIPSessions
    let issuer: ICEServerIssuer?

    /// - Parameter issuer: of the ICE servers that responses list; nil without a relay.
    package init(service: WHIPSessions, issuer: ICEServerIssuer?) {
        self.service = service
        self.issuer = issuer
    }

    package var all: [DocumentOperation] {
        WHIPKind.allCases.flatMap { [open($0), patch($0), close($0)] }
    }

    private static let callParameter = Operation.Parameter.path(
        "call", .identifier, "The id of a call in gateway mode, to which the token's user was invited.")
    private static let legParameter = Operation.Parameter.path("leg", .identifier, "The session's id, from Location.")

    /// An offer to publish in no supported codec is not answered (RFC 9725 section 4.4.3).
    private static func problems(_ kind: WHIPKind) -> [Problem.Kind] {
        [.notFound, .conflict, .callEnded, .answeredElsewhere] + (kind == .whip ? [.codecsNotSupported] : [])
    }

    private func open(_ kind: WHIPKind) -> DocumentOperation {
        DocumentOperation(
            name: "\(kind.rawValue).open", method: .post, path: "/v1/calls/{call}/\(kind.rawValue)",
            summary: kind == .whip
                ? "Publish into the call with an offer (WHIP, RFC 9725): the user joins it."
                : "Play the call with an offer that receives (WHEP): the user joins it.",
            parameters: [Self.callParameter], bodyTypes: [Self.sdp], bodySchema: .bytes,
            outcomes: [
                .init(
                    status: 201, description: "The session.", contentType: Self.sdp, schema: .bytes,
                    headers: [
                        ("Location", "The session's URL."), ("ETag", "Identifies its ICE session."),
                        ("Accept-Patch", "The media type that PATCH accepts."),
                    ])
            ],
            problems: Self.problems(kind), limit: .signals
        ) { [service, issuer] request in
            let call = try request.identifier("call", of: CallID.self)
            let principal = try request.requirePrincipal()
            let answer = try await service.open(kind, in: call, sdp: request.text(), by: principal)
            var headers: HTTPFields = [
                .location: "/v1/calls/\(call)/\(kind.rawValue)/\(answer.id.leg)", .eTag: "\"\(answer.tag)\"",
                .name("Accept-Patch"): TricklePatch.contentType,
            ]
            for link in Self.links(issuer, principal, .call(call), host: request.host) {
                headers.append(HTTPField(name: .name("Link"), value: link))
            }
            return .init(status: 201, body: .bytes(Array(answer.sdp.utf8)), contentType: Self.sdp, headers: headers)
        }
    }

    private func patch(_ kind: WHIPKind) -> DocumentOperation {
        DocumentOperation(
            name: "\(kind.rawValue).patch", method: .patch, path: "/v1/calls/{call}/\(kind.rawValue)/{leg}",
            summary: "Trickle candidates, or restart ICE.", parameters: [Self.callParameter, Self.legParameter],
            headers: [TricklePatch.header], bodyTypes: [TricklePatch.contentType], bodySchema: .bytes,
            outcomes: TricklePatch.outcomes,
            problems: [.notFound, .conflict, .preconditionFailed, .preconditionRequired], limit: .signals
        ) { [service] request in
            let body = try await request.text()
            let id = try Self.sessionID(kind, request)
            let principal = try request.requirePrincipal()
            let current = try service.iceSession(of: id, by: principal)
            guard let credentials = try TricklePatch.restart(body, request.headers[.ifMatch], current: current) else {
                return .init(status: 204)
            }
            let answer = try await service.restart(
                id, ufrag: credentials.ufrag, password: credentials.password, by: principal)
            return try TricklePatch.response(sdp: answer.sdp, tag: answer.tag)
        }
    }

    private func close(_ kind: WHIPKind) -> DocumentOperation {
        DocumentOperation(
            name: "\(kind.rawValue).close", method: .delete, path: "/v1/calls/{call}/\(kind.rawValue)/{leg}",
            summary: "End the session. The user leaves the call, unless they are in it otherwise.",
            parameters: [Self.callParameter, Self.legParameter],
            outcomes: [.init(status: 200, description: "It has ended.")], problems: [.notFound]
        ) { [service] request in
            try await service.close(try Self.sessionID(kind, request), by: request.requirePrincipal())
            return .init(status: 200)
        }
    }

    private static func sessionID(_ kind: WHIPKind, _ request: DocumentOperation.Request) throws -> WHIPSessionID {
        WHIPSessionID(
            kind: kind, call: try request.identifier("call", of: CallID.self),
            leg: try request.identifier("leg", of: EndpointID.self))
    }

    /// The ICE servers as Link headers of RFC 9725 section 4.6, one URL each. They are optional: empty if none can be
    /// issued.
    static func links(
        _ issuer: ICEServerIssuer?, _ principal: Principal, _ scope: RelayScope, host: String?
    ) -> [String] {
        let now = Timestamp.systemClock()
        guard let issued = try? issuer?.issue(for: principal.user, scope, host: host, at: now) else {
            return []
        }
        return issued.iceServers.flatMap { server in
            server.urls.map { url in
                guard let username = server.username, let credential = server.credential else {
                    return "<\(url)>; rel=\"ice-server\""
                }
                return "<\(url)>; rel=\"ice-server\"; username=\"\(username)\"; credential=\"\(credential)\"; "
                    + "credential-type=\"password\""
            }
        }
    }
}
