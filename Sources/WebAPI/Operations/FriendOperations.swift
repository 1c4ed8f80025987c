import Accounts
package import Friends
import HTTPTypes
import Model

/// Operations of friends and of requests to become friends.
package enum FriendOperations {
    private static let user = Operation.Parameter.path("user", .identifier, "The other user's id.")

    package static func all(_ friends: FriendCommands) -> [Operation] {
        [request(friends), list(friends), accept(friends), decline(friends), remove(friends)]
    }

    private struct Result: Encodable {
        var friend: FriendDocument
        var duplicate: Bool?
    }

    private static func request(_ friends: FriendCommands) -> Operation {
        Operation(
            name: "friends.request", method: .post, path: "/v1/friends",
            summary:
                "Ask a user to become a friend. If they have asked too, you are friends at once. The request "
                + "waits for 30 days; the user cannot see whether it was declined, or is withheld because of a "
                + "block.",
            body: .object([
                .required("clientID", .identifier, "A UUID; a request repeated with it is executed once."),
                .required("user", .identifier),
                .optional("note", .text(maximum: FriendRules.noteCharacters), "Shown to the user with the request."),
            ]),
            responses: [
                .created(.named("FriendResult"), "The request was made, or it accepted a request of the other user."),
                .ok(.named("FriendResult"), "There was already a request, or a friendship."),
            ],
            problems: [.notFound, .conflict, .clientIDReused], limit: .friendRequests, feature: .always(.friends)
        ) { request in
            let outcome = try await friends.request(
                request.decode(FriendCommands.Request.self), by: request.requirePrincipal())
            let isDuplicate = outcome.value.isDuplicate
            return try .json(
                Result(friend: outcome.value.friend, duplicate: isDuplicate ? true : nil),
                status: isDuplicate ? 200 : 201, positions: outcome.positions)
        }
    }

    private static func list(_ friends: FriendCommands) -> Operation {
        let states = FriendRecord.State.allCases.filter { $0 != .declined }.map(\.rawValue)
        return Operation(
            name: "friends.list", method: .get, path: "/v1/friends",
            summary: "The user's friends, and the requests that were received and sent.",
            parameters: [
                .query("state", .choice(states), "Only those in this state."),
                .query("limit", .integer(1...100), "How many at most; the default is 50."),
                .query("cursor", .text(), "The `nextCursor` of the previous page."),
            ],
            responses: [.ok(.named("FriendPage"))]
        ) { request in
            let state = try request.parameters["state"].map { text in
                guard states.contains(text), let state = FriendRecord.State(rawValue: text) else {
                    throw Problem.invalid("state", "state is one of \(states.joined(separator: ", ")).")
                }
                return state
            }
            let page = try await friends.list(
                of: request.requirePrincipal(), in: state,
                limit: request.integer("limit", in: 1...100, default: 50), cursor: request.parameters["cursor"])
            return try .json(Page(friends: page.items, nextCursor: page.nextCursor))
        }
    }

    private struct Page: Encodable {
        var friends: [FriendDocument]
        var nextCursor: String?
    }

    private static func accept(_ friends: FriendCommands) -> Operation {
        Operation(
            name: "friends.accept", method: .post, path: "/v1/friends/{user}/accept",
            summary: "Accept a user's request. Accepting twice changes nothing.", parameters: [user],
            responses: [.ok(.named("FriendResult"))], problems: [.notFound, .conflict], feature: .always(.friends)
        ) { request in
            let outcome = try await friends.accept(request.identifier("user"), by: request.requirePrincipal())
            return try .json(Result(friend: outcome.value), positions: outcome.positions)
        }
    }

    private static func decline(_ friends: FriendCommands) -> Operation {
        Operation(
            name: "friends.decline", method: .post, path: "/v1/friends/{user}/decline",
            summary:
                "Decline a user's request. They are not notified, and for 30 days no other request of theirs arrives.",
            parameters: [user], problems: [.notFound]
        ) { request in
            let outcome = try await friends.decline(request.identifier("user"), by: request.requirePrincipal())
            return OperationResponse(status: 204, body: [], positions: outcome.positions)
        }
    }

    private static func remove(_ friends: FriendCommands) -> Operation {
        Operation(
            name: "friends.remove", method: .delete, path: "/v1/friends/{user}",
            summary: "End a friendship, or cancel your own request. Removing twice changes nothing.",
            parameters: [user], problems: [.conflict]
        ) { request in
            let outcome = try await friends.remove(request.identifier("user"), by: request.requirePrincipal())
            return OperationResponse(status: 204, body: [], positions: outcome.positions)
        }
    }

    package static let schemas: [(String, Schema)] = [
        (
            "Friend",
            .object([
                .required("user", .named("User"), "The profile when this was written."),
                .required(
                    "state", .choice(["requested", "received", "friend"]),
                    "Whether the user's own request waits, the other has asked, or the two are friends."),
                .optional("note", .text(), "The note of a request."),
                .optional("createdAt", .time, "When the request was made."),
                .optional("expiresAt", .time, "When the request ends by itself."),
                .optional("since", .time, "When the two became friends."),
            ])
        ),
        (
            "FriendResult",
            .object([
                .required("friend", .named("Friend")), .optional("positions", Schemas.positions),
                .optional("duplicate", .boolean, "Nothing changed, or the request was already executed."),
            ])
        ),
        (
            "FriendPage",
            .object([.required("friends", .list(.named("Friend"))), .optional("nextCursor", .text())])
        ),
    ]
}
