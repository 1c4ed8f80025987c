import HTTPTypes
import Messaging
package import Model
package import Services

/// Operations of what is shown while somebody writes.
package enum TypingOperations {
    /// - Parameter setActive: returns whether the endpoint has a session.
    package static func all(
        _ notices: TypingNotices, setActive: @escaping @Sendable (Bool, EndpointID) -> Bool
    ) -> [Operation] { [note(notices), presence(setActive)] }

    private struct Activity: Decodable { var active: Bool }

    private static func presence(_ setActive: @escaping @Sendable (Bool, EndpointID) -> Bool) -> Operation {
        Operation(
            name: "presence.set", method: .put, path: "/v1/presence",
            summary:
                "Say whether the user is active at this endpoint: while the app is in the background, or the "
                + "screen is locked, they are not. A user is online while they are active at one of their "
                + "endpoints. A new session begins as active.",
            access: .endpoint, body: .object([.required("active", .boolean)]), problems: [.conflict], isReadOnly: true
        ) { request in
            let principal = try request.requireEndpoint()
            let activity = try request.decode(Activity.self)
            guard let endpoint = principal.endpoint, setActive(activity.active, endpoint) else {
                throw Problem(.conflict, "This endpoint has no realtime session.", field: "Switchboard-Endpoint")
            }
            return .noContent
        }
    }

    private struct Body: Decodable { var state: TypingState? }

    private static func note(_ notices: TypingNotices) -> Operation {
        Operation(
            name: "typing.note", method: .post, path: "/v1/conversations/{conversation}/typing",
            summary:
                "Tell the other members that the user is typing or recording a voice message: send it at the "
                + "first key and then every two seconds, and send `stopped` if it ends without a message. "
                + "Members who listen to `typing:{conversation}` are told.",
            parameters: [ConversationOperations.conversation],
            body: .object([
                .optional(
                    "state", .choice(TypingState.allCases.map(\.rawValue)),
                    "What the user does; `typing` if it is absent.")
            ]),
            problems: [.notFound, .forbidden], isReadOnly: true
        ) { request in
            let user = try request.requirePrincipal().user
            let id = try request.identifier("conversation", of: ConversationID.self)
            try await notices.note(request.decode(Body.self).state ?? .typing, of: user, in: id)
            return .noContent
        }
    }
}
