import HTTPTypes
import Model
import SDP
import Storage

/// WHIP (RFC 9725) and WHEP (draft-ietf-wish-whep-02) over the legs of the media gateway.
///
/// A POST with an offer makes a session, whose address is in `Location` and whose ICE session is named by `ETag`. The
/// gateway is ICE-lite and names all its candidates in the answer, so trickled ones are of no use to it and are only
/// acknowledged. The token that made a session is the one that changes and ends it, or another one of its user.
package struct DoorOperations: Sendable {
    static let sdp = "application/sdp"

    let service: any DoorService
    let issuer: ICEServerIssuer?

    /// - Parameter issuer: of the ICE servers that answers name; nil where there is no relay.
    package init(service: any DoorService, issuer: ICEServerIssuer?) {
        self.service = service
        self.issuer = issuer
    }

    package var all: [DocumentOperation] {
        MediaDoor.allCases.flatMap { [open($0), patch($0), close($0)] }
    }

    private static let callParameter = Operation.Parameter.path(
        "call", .identifier, "The call's id, of one whose mode is gateway and to which the token's user was invited.")
    private static let legParameter = Operation.Parameter.path("leg", .identifier, "The session, as Location has it.")

    private func open(_ door: MediaDoor) -> DocumentOperation {
        DocumentOperation(
            name: "\(door.rawValue).open", method: .post, path: "/v1/calls/{call}/\(door.rawValue)",
            summary: door == .whip
                ? "Publish into the call with an offer (WHIP, RFC 9725): the user joins it."
                : "Play the call with an offer that receives (WHEP): the user joins it.",
            parameters: [Self.callParameter], bodyTypes: [Self.sdp],
            outcomes: [
                .init(
                    status: 201, meaning: "The session.", contentType: Self.sdp,
                    headers: [
                        ("Location", "The session's address."), ("ETag", "Names its ICE session."),
                        ("Accept-Patch", "What the session's address takes by PATCH."),
                    ])
            ],
            problems: [.notFound, .conflict, .callEnded, .answeredElsewhere], limit: .signals
        ) { [service, issuer] request in
            let call = try request.identifier("call", of: CallID.self)
            let principal = try request.requirePrincipal()
            let answer = try await service.open(door, in: call, sdp: request.text(), by: principal)
            var headers: HTTPFields = [
                .location: "/v1/calls/\(call)/\(door.rawValue)/\(answer.place.leg)", .eTag: "\"\(answer.tag)\"",
                .name("Accept-Patch"): TricklePatch.contentType,
            ]
            for link in Self.links(issuer, principal, .call(call), host: request.host) {
                headers.append(HTTPField(name: .name("Link"), value: link))
            }
            return .init(status: 201, body: .bytes(Array(answer.sdp.utf8)), contentType: Self.sdp, headers: headers)
        }
    }

    private func patch(_ door: MediaDoor) -> DocumentOperation {
        DocumentOperation(
            name: "\(door.rawValue).patch", method: .patch, path: "/v1/calls/{call}/\(door.rawValue)/{leg}",
            summary: "Trickle candidates, or restart ICE.", parameters: [Self.callParameter, Self.legParameter],
            headers: [TricklePatch.header], bodyTypes: [TricklePatch.contentType], outcomes: TricklePatch.outcomes,
            problems: [.notFound, .conflict, .preconditionFailed, .preconditionRequired], limit: .signals
        ) { [service] request in
            let body = try await request.text()
            let place = try Self.place(door, request)
            let principal = try request.requirePrincipal()
            let current = try service.tag(of: place, by: principal)
            guard let credentials = try TricklePatch.restart(body, request.headers[.ifMatch], current: current) else {
                return .init(status: 204)
            }
            let answer = try await service.restart(
                place, ufrag: credentials.ufrag, password: credentials.password, by: principal)
            return try TricklePatch.answer(sdp: answer.sdp, tag: answer.tag)
        }
    }

    private func close(_ door: MediaDoor) -> DocumentOperation {
        DocumentOperation(
            name: "\(door.rawValue).close", method: .delete, path: "/v1/calls/{call}/\(door.rawValue)/{leg}",
            summary: "End the session. The user leaves the call with it, unless in it in another way.",
            parameters: [Self.callParameter, Self.legParameter],
            outcomes: [.init(status: 200, meaning: "It has ended.")], problems: [.notFound]
        ) { [service] request in
            try await service.close(try Self.place(door, request), by: request.requirePrincipal())
            return .init(status: 200)
        }
    }

    private static func place(_ door: MediaDoor, _ request: DocumentOperation.Request) throws -> DoorPlace {
        DoorPlace(
            door: door, call: try request.identifier("call", of: CallID.self),
            leg: try request.identifier("leg", of: EndpointID.self))
    }

    /// The ICE servers as RFC 9725 section 4.6 has them, one URL each. They are a help, no part of the promise: where
    /// none can be named there are none.
    static func links(
        _ issuer: ICEServerIssuer?, _ principal: Principal, _ scope: RelayScope, host: String?
    ) -> [String] {
        let now = Timestamp.systemClock()
        guard let answer = try? issuer?.answer(for: principal.user, scope, host: host, at: now) else {
            return []
        }
        return answer.iceServers.flatMap { server in
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
