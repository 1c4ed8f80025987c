package import Accounts
import HTTPTypes
import Model
package import Services

/// What an app's own back end does with its users: creates them, signs them in and out, and disables them.
package enum ServerUserOperations {
    package static func all(_ accounts: AccountCommands, _ audit: AuditLog) -> [Operation] {
        [
            put(accounts, audit), list(accounts), get(accounts), disable(accounts, audit), enable(accounts, audit),
            delete(accounts, audit), signOut(accounts, audit), token(accounts, audit),
        ]
    }

    package static let schemas: [(String, Schema)] = [
        (
            "UserReference",
            .either([.identifier, .text(minimum: 5, maximum: 132, pattern: "^ext:[!-~]{1,128}$")])
        ),
        (
            "ServerUser",
            .object([
                .required("id", .identifier), .optional("ext", .text(), "The app's own id, without `ext:`."),
                .optional("email", .text()), .required("displayName", .text()), .optional("photoURL", .text()),
                .required("languages", .list(.text())), .required("callWaiting", .boolean),
                .required("disabled", .boolean),
                .optional("deleted", .boolean, "True if the account was deleted. Only the id is left of the user."),
                .required("createdAt", .time),
            ])
        ),
        ("ServerUserResult", .object([.required("user", .named("ServerUser"))])),
        (
            "ServerCallResult",
            .object([
                .required("call", .named("Call")),
                .optional("duplicate", .boolean, "The request was already executed."),
            ])
        ),
    ]

    static let reference = Schema.named("UserReference")
    private static let user = Operation.Parameter.path(
        "user", reference, "The user's id, or `ext:` and the app's own id, percent-encoded where needed.")
    private static let userResponse = Schema.named("ServerUserResult")

    private struct UserResponse: Encodable { var user: ServerUserDocument }

    private static func put(_ accounts: AccountCommands, _ audit: AuditLog) -> Operation {
        Operation(
            name: "server.users.put", method: .put, path: "/v1/server/users/{user}",
            summary: "Create the user with the app's own id, or replace the profile.", access: .serverKey(.users),
            isRealtime: false, parameters: [user],
            body: .object([
                .required("displayName", Schemas.displayName), .optional("languages", Schemas.languages),
                .optional("callWaiting", .boolean),
                .optional(
                    "identities",
                    .list(
                        .object([
                            .required("issuer", .text(minimum: 1, maximum: 255)),
                            .required("subject", .text(minimum: 1, maximum: 255)),
                        ]), maximum: AccountCommands.maxIdentities),
                    "Issuers' identities with whose tokens the user signs in. Those added earlier stay. To give one to a user who is "
                        + "there already, the key needs the scope `tokens` too."),
            ]),
            responses: [.created(userResponse, "The user is new."), .ok(userResponse, "The profile was replaced.")],
            problems: [.conflict], limit: .serverKeys
        ) { request in
            let body = try request.decode(PutUser.self)
            let (user, isNew, entry) = try await accounts.putUser(request.user(), body, by: request.requireKey())
            audit.log(entry)
            return try .json(UserResponse(user: user), status: isNew ? 201 : 200)
        }
    }

    private struct UserList: Encodable {
        var users: [ServerUserDocument]
        var nextCursor: String?
    }

    private static func list(_ accounts: AccountCommands) -> Operation {
        Operation(
            name: "server.users.list", method: .get, path: "/v1/server/users",
            summary: "All users, in the order of their ids.", access: .serverKey(.users), isRealtime: false,
            parameters: [
                .query("limit", .integer(1...100), "How many at most; the default is 100."),
                .query("cursor", .text(), "The `nextCursor` of the previous page."),
            ],
            responses: [
                .ok(.object([.required("users", .list(.named("ServerUser"))), .optional("nextCursor", .text())]))
            ], limit: .serverKeys
        ) { request in
            _ = try request.requireKey()
            let page = try await accounts.serverUsers(
                limit: request.integer("limit", in: 1...100, default: 100), cursor: request.parameters["cursor"])
            return try .json(UserList(users: page.items, nextCursor: page.nextCursor))
        }
    }

    private static func get(_ accounts: AccountCommands) -> Operation {
        Operation(
            name: "server.users.get", method: .get, path: "/v1/server/users/{user}", summary: "One user.",
            access: .serverKey(.users), isRealtime: false, parameters: [user], responses: [.ok(userResponse)],
            problems: [.notFound], limit: .serverKeys
        ) { request in
            _ = try request.requireKey()
            return try .json(UserResponse(user: try await accounts.serverUser(request.user())))
        }
    }

    private static func disable(_ accounts: AccountCommands, _ audit: AuditLog) -> Operation {
        Operation(
            name: "server.users.disable", method: .post, path: "/v1/server/users/{user}/disable",
            summary: "Disable a user: ends all sessions and calls of the user, until enabled again.",
            access: .serverKey(.users), isRealtime: false, parameters: [user], responses: [.ok(userResponse)],
            problems: [.notFound], limit: .serverKeys
        ) { request in
            let (user, entry) = try await accounts.setDisabled(true, request.user(), by: request.requireKey())
            audit.log(entry)
            return try .json(UserResponse(user: user))
        }
    }

    private static func enable(_ accounts: AccountCommands, _ audit: AuditLog) -> Operation {
        Operation(
            name: "server.users.enable", method: .post, path: "/v1/server/users/{user}/enable",
            summary: "Enable a disabled user.", access: .serverKey(.users), isRealtime: false, parameters: [user],
            responses: [.ok(userResponse)], problems: [.notFound, .conflict], limit: .serverKeys
        ) { request in
            let (user, entry) = try await accounts.setDisabled(false, request.user(), by: request.requireKey())
            audit.log(entry)
            return try .json(UserResponse(user: user))
        }
    }

    private static func delete(_ accounts: AccountCommands, _ audit: AuditLog) -> Operation {
        Operation(
            name: "server.users.delete", method: .delete, path: "/v1/server/users/{user}",
            summary:
                "Delete a user for ever: ends all sessions and calls at once, and erases what is stored of the user "
                + "within a minute. The app's own id may be given to somebody else.",
            access: .serverKey(.users), isRealtime: false, parameters: [user], problems: [.notFound],
            limit: .serverKeys
        ) { request in
            if let entry = try await accounts.deleteUser(request.user(), by: request.requireKey()) { audit.log(entry) }
            return OperationResponse(status: 204, body: [])
        }
    }

    private struct SignedOut: Encodable { var ended: Int }

    private static func signOut(_ accounts: AccountCommands, _ audit: AuditLog) -> Operation {
        Operation(
            name: "server.users.signOut", method: .post, path: "/v1/server/users/{user}/sign-out",
            summary: "End all sessions of a user, whose sockets are closed.", access: .serverKey(.users),
            isRealtime: false, parameters: [user],
            responses: [.ok(.object([.required("ended", .integer(), "How many sessions were ended.")]))],
            problems: [.notFound], limit: .serverKeys
        ) { request in
            let (ended, entry) = try await accounts.signOutEverywhere(request.user(), by: request.requireKey())
            audit.log(entry)
            return try .json(SignedOut(ended: ended))
        }
    }

    private static func token(_ accounts: AccountCommands, _ audit: AuditLog) -> Operation {
        Operation(
            name: "server.tokens.create", method: .post, path: "/v1/server/users/{user}/tokens",
            summary:
                "Issue an access token of a user, for a client of the app. It opens a session on the device, or uses the "
                + "one that this key opened there before.",
            access: .serverKey(.tokens), isRealtime: false, parameters: [user],
            body: .object([
                .required(
                    "device",
                    .object([
                        .required("id", .identifier, "Made by the client once, and kept."),
                        .required("name", .text(minimum: 1, maximum: 80)),
                        .required("platform", .text(minimum: 1, maximum: 80)),
                    ])),
                .optional("refresh", .boolean, "Whether a refresh token is wanted too."),
            ]),
            responses: [
                .created(
                    .object([
                        .required("user", .identifier), .required("session", .identifier),
                        .required("accessToken", .text()),
                        .required("expiresIn", .integer(), "Seconds."), .optional("refreshToken", .text()),
                    ]))
            ], problems: [.notFound], limit: .serverKeys
        ) { request in
            let body = try request.decode(IssueToken.self)
            let (token, entry) = try await accounts.issueToken(of: request.user(), body, by: request.requireKey())
            audit.log(entry)
            return try .json(token, status: 201)
        }
    }
}

extension OperationRequest {
    /// The user that the path names.
    func user() throws -> UserReference {
        try UserReference(parameters["user"] ?? "", field: "user")
    }
}
