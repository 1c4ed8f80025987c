package import Accounts
package import Friends
import HTTPTypes
import Languages
package import Model
package import Services

/// Operations of the user's own profile, of other users' profiles, and of blocks.
package enum ProfileOperations {
    /// - Parameters:
    ///   - presenceChanged: called when a user has changed who sees their presence, with whether it is shown if that was set.
    ///   - receiptsChanged: called when a user changes whether others see what they have read.
    ///   - translationChanged: called when a user changes how they read other languages.
    package static func all(
        _ accounts: AccountCommands, _ friends: FriendCommands, _ photos: PhotoService,
        presenceChanged: @escaping @Sendable (UserID, Bool?) -> Void,
        receiptsChanged: @escaping @Sendable (UserID) -> Void,
        translationChanged: @escaping @Sendable (UserID) -> Void
    ) -> [Operation] {
        me(accounts, photos, presenceChanged, receiptsChanged, translationChanged) + users(accounts)
            + blocks(accounts, friends)
    }

    private static let limit = Operation.Parameter.query("limit", .integer(1...100), "How many at most.")
    private static let cursor = Operation.Parameter.query("cursor", .text(), "The `nextCursor` of the previous page.")
    private static let userList = Schema.named("UserPage")

    private struct UserList: Encodable {
        var users: [UserProfile]
        var nextCursor: String?

        init(_ page: AccountPage<UserProfile>) { (users, nextCursor) = (page.items, page.nextCursor) }
    }

    private static func me(
        _ accounts: AccountCommands, _ photos: PhotoService,
        _ presenceChanged: @escaping @Sendable (UserID, Bool?) -> Void,
        _ receiptsChanged: @escaping @Sendable (UserID) -> Void,
        _ translationChanged: @escaping @Sendable (UserID) -> Void
    ) -> [Operation] {
        [
            Operation(
                name: "me.get", method: .get, path: "/v1/me", summary: "The user's own profile and settings.",
                responses: [.ok(.named("Me"))]
            ) { request in
                try .json(try await accounts.me(request.requirePrincipal()))
            },
            Operation(
                name: "me.update", method: .patch, path: "/v1/me",
                summary: "Change the user's profile and settings. Members that are absent stay unchanged.",
                body: .object([
                    .optional("displayName", Schemas.displayName),
                    .optional("photoURL", .choice([""]), "Removes the photo; `PUT /v1/me/photo` sets one."),
                    .optional("languages", Schemas.languages), .optional("callWaiting", .boolean),
                    .optional("presence", .choice(["everybody", "nobody"])),
                    .optional("reach", .choice(Reach.allCases.map(\.rawValue))), .optional("receipts", .boolean),
                    .optional("lastSeen", .choice(LastSeenVisibility.allCases.map(\.rawValue))),
                    .optional("messageRequests", .choice(MessageRequestPolicy.allCases.map(\.rawValue))),
                    .optional("translation", .named("TranslationSettings")), .optional("hints", Schemas.hintMode),
                    .optional("intelligence", Schemas.intelligence, Schemas.intelligenceOfUser),
                    .optional(
                        "notifications", .either([Schemas.notifications, .null]),
                        Schemas.notificationsOfUser + " Null removes it."),
                    .optional(
                        "quietHours", .either([.named("QuietHours"), .null]),
                        Schemas.quietHoursOfUser + " Null removes them."),
                ]),
                responses: [.ok(.named("Me"))]
            ) { request in
                let principal = try request.requirePrincipal()
                let change = try request.decode(ProfileUpdate.self)
                let outcome = try await accounts.updateProfile(of: principal, change)
                await photos.discard(outcome.removedFile)
                if change.presence != nil || change.lastSeen != nil {
                    presenceChanged(principal.user, change.presence.map { $0 == .everybody })
                }
                if change.receipts != nil { receiptsChanged(principal.user) }
                if change.translation != nil || change.hints != nil || change.languages != nil {
                    translationChanged(principal.user)
                }
                return try .json(outcome.value, positions: outcome.positions)
            },
        ]
    }

    private static func users(_ accounts: AccountCommands) -> [Operation] {
        [
            Operation(
                name: "users.search", method: .get, path: "/v1/users",
                summary:
                    "Find users by their complete e-mail address or id, or by the beginning of a word of their name.",
                parameters: [
                    .query("query", .text(minimum: 2, maximum: 254), isRequired: true, "The search text."), limit,
                    cursor,
                ],
                responses: [.ok(userList)], limit: .searches, feature: .always(.userSearch)
            ) { request in
                guard let query = request.parameters["query"] else {
                    throw Problem.invalid("query", "The query is missing: add `?query=`.")
                }
                let page = try await accounts.search(
                    query, by: request.requirePrincipal(), limit: request.integer("limit", in: 1...100, default: 20),
                    cursor: request.parameters["cursor"])
                return try .json(UserList(page))
            },
            Operation(
                name: "users.get", method: .get, path: "/v1/users/{user}", summary: "One user's profile.",
                parameters: [.path("user", .identifier, "The user's id.")], responses: [.ok(.named("User"))],
                problems: [.notFound]
            ) { request in
                _ = try request.requirePrincipal()
                return try .json(try await accounts.profile(of: request.identifier("user")))
            },
        ]
    }

    private static func blocks(
        _ accounts: AccountCommands, _ friends: FriendCommands
    ) -> [Operation] {
        let user = Operation.Parameter.path("user", .identifier, "The user's id.")
        return [
            Operation(
                name: "blocks.list", method: .get, path: "/v1/blocks", summary: "The users that the user has blocked.",
                parameters: [limit, cursor], responses: [.ok(userList)]
            ) { request in
                let page = try await accounts.blocks(
                    of: request.requirePrincipal(), limit: request.integer("limit", in: 1...100, default: 100),
                    cursor: request.parameters["cursor"])
                return try .json(UserList(page))
            },
            Operation(
                name: "blocks.add", method: .put, path: "/v1/blocks/{user}",
                summary:
                    "Block a user: their calls, voice messages and requests do not arrive, and they are not "
                    + "notified. A friendship ends.",
                parameters: [user],
                problems: [.notFound]
            ) { request in
                let (user, principal) = (try request.identifier("user") as UserID, try request.requirePrincipal())
                let outcome = try await friends.block(user, by: principal)
                return OperationResponse(status: 204, body: [], positions: outcome.positions)
            },
            Operation(
                name: "blocks.remove", method: .delete, path: "/v1/blocks/{user}", summary: "Unblock a user.",
                parameters: [user]
            ) { request in
                let outcome = try await accounts.unblock(request.identifier("user"), by: request.requirePrincipal())
                return OperationResponse(status: 204, body: [], positions: outcome.positions)
            },
        ]
    }
}
