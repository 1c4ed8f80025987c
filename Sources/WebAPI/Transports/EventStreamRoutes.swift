import HTTPTypes
package import Hummingbird
import HummingbirdCore
import Model
import NIOCore
package import Realtime

/// Realtime for clients whose network blocks WebSockets: server-sent events down, POSTs up.
package struct EventStreamRoutes: Sendable {
    static let maximumFrame = 512 * 1024

    private let handler: EventStreamHandler
    private let authenticator: RequestAuthenticator

    package init(handler: EventStreamHandler, authenticator: RequestAuthenticator) {
        self.handler = handler
        self.authenticator = authenticator
    }

    package func register(on router: Router<WebContext>) {
        router.get("/v1/realtime") { _, _ in Response(problem: UpgradeChannel.upgradeRequired) }
        router.post("/v1/realtime/sse") { request, context in
            try await respond {
                let origin = SessionOrigin(address: context.clientAddress, host: request.head.authority)
                let events = try await handler.open(from: origin) {
                    try await request.body.collect(upTo: Self.maximumFrame)
                }
                return Response(
                    status: .ok, headers: .ofEvents,
                    body: .init(asyncSequence: events))
            }
        }
        router.post("/v1/realtime/sse/{session}") { request, context in
            try await respond {
                guard let session = context.parameters.get("session").flatMap({ SessionID($0) }) else {
                    throw Problem.invalid("session", "session must be a UUID.")
                }
                let admission = AdmissionRequest(
                    limit: .requests, from: context,
                    credential: .accessToken(authorization: request.headers[.authorization]))
                guard let principal = try await authenticator.admit(admission) else { throw Problem.noAccessToken }
                let frame = try await request.body.collect(upTo: Self.maximumFrame)
                try await handler.post(frame, to: session, principal: principal)
                return Response(status: .accepted)
            }
        }
    }

    private func respond(_ body: () async throws -> Response) async throws -> Response {
        do {
            return try await body()
        } catch let problem as Problem {
            return Response(problem: problem)
        } catch is NIOTooManyBytesError {
            return Response(
                problem: Problem(
                    .payloadTooLarge, "A frame may have at most \(Self.maximumFrame) bytes.", field: "body"))
        }
    }
}
