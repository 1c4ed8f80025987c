import Accounts
import HTTPTypes
import Model
import Notifications
import Services

/// What operators do with users: find them, look at them, disable, enable, sign them out and delete them.
enum OperatorUserOperations {
    static func all(_ accounts: AccountCommands, _ audit: AuditLog) -> [Operation] {
        [
            list(accounts), get(accounts), setDisabled(true, accounts, audit), setDisabled(false, accounts, audit),
            signOut(accounts, audit), removePush(accounts, audit), delete(accounts, audit),
        ]
    }

    static let schemas: [(String, Schema)] = [
        (
            "OperatorUser",
            .object([
                .required("user", .named("ServerUser")),
                .required(
                    "devices",
                    .list(
                        .object([
                            .required("id", .identifier), .required("name", .text()), .required("platform", .text()),
                            .required("createdAt", .time), .required("lastSeenAt", .time),
                        ]))),
                .required(
                    "sessions",
                    .list(
                        .object([
                            .required("id", .identifier), .required("device", .identifier),
                            .required("createdAt", .time), .required("lastUsedAt", .time),
                            .optional(
                                "client", .object([.required("name", .text()), .required("version", .text())]),
                                "The client that last connected with it."),
                            .optional("openedBy", .text(), "The server key that opened it."),
                        ])), "Open sessions, the latest use first."),
                .required(
                    "pushes", .list(.named("PushRegistration")),
                    "The devices that are told of messages and calls when they sleep, the last renewed first. Devices of users "
                        + "without a session are not among `devices`."),
            ])
        )
    ]

    private static let user = Operation.Parameter.path(
        "user", ServerUserOperations.reference, "The user's id, or `ext:` and the app's own id.")
    private static let userResponse = Schema.named("ServerUserResult")

    private struct UserResponse: Encodable { var user: ServerUserDocument }
    private struct UserList: Encodable {
        var users: [ServerUserDocument]
        var nextCursor: String?
    }

    private static func list(_ accounts: AccountCommands) -> Operation {
        Operation(
            name: "admin.users.list", method: .get, path: "/admin/v1/users",
            summary: "Find users, disabled ones too; all of them without a query.", access: .operator,
            isRealtime: false,
            parameters: [
                .query(
                    "query", .text(maximum: 600),
                    "A name or the beginnings of its words, a whole e-mail address, an id, or `ext:` and the app's own id."
                ),
                .query("limit", .integer(1...100), "How many at most; the default is 50."),
                .query("cursor", .text(), "The `nextCursor` of the previous page."),
            ],
            responses: [
                .ok(.object([.required("users", .list(.named("ServerUser"))), .optional("nextCursor", .text())]))
            ], limit: .serverKeys
        ) { request in
            _ = try request.requireKey()
            let page = try await accounts.findUsers(
                request.parameters["query"] ?? "", limit: request.integer("limit", in: 1...100, default: 50),
                cursor: request.parameters["cursor"])
            return try .json(UserList(users: page.items, nextCursor: page.nextCursor))
        }
    }

    private static func get(_ accounts: AccountCommands) -> Operation {
        Operation(
            name: "admin.users.get", method: .get, path: "/admin/v1/users/{user}",
            summary: "A user with the devices, the open sessions, and the registrations for pushes.", access: .operator,
            isRealtime: false, parameters: [user], responses: [.ok(.named("OperatorUser"))], problems: [.notFound],
            limit: .serverKeys
        ) { request in
            _ = try request.requireKey()
            return try .json(try await accounts.userInDetail(request.user()))
        }
    }

    private static func setDisabled(_ isDisabled: Bool, _ accounts: AccountCommands, _ audit: AuditLog) -> Operation {
        let verb = isDisabled ? "disable" : "enable"
        return Operation(
            name: "admin.users.\(verb)", method: .post, path: "/admin/v1/users/{user}/\(verb)",
            summary: isDisabled
                ? "Disable a user: ends all sessions and calls of the user, until enabled again."
                : "Enable a disabled user.",
            access: .operator, isRealtime: false, parameters: [user], responses: [.ok(userResponse)],
            problems: [.notFound], limit: .serverKeys
        ) { request in
            let (user, entry) = try await accounts.setDisabled(
                isDisabled, request.user(), by: request.requireKey(), area: "admin")
            audit.log(entry)
            return try .json(UserResponse(user: user))
        }
    }

    private struct SignedOut: Encodable { var ended: Int }

    private static func signOut(_ accounts: AccountCommands, _ audit: AuditLog) -> Operation {
        Operation(
            name: "admin.users.signOut", method: .post, path: "/admin/v1/users/{user}/sign-out",
            summary: "End all sessions of a user, whose sockets are closed.", access: .operator, isRealtime: false,
            parameters: [user],
            responses: [.ok(.object([.required("ended", .integer(), "How many sessions were ended.")]))],
            problems: [.notFound], limit: .serverKeys
        ) { request in
            let (ended, entry) = try await accounts.signOutEverywhere(
                request.user(), by: request.requireKey(), area: "admin")
            audit.log(entry)
            return try .json(SignedOut(ended: ended))
        }
    }

    private static func removePush(_ accounts: AccountCommands, _ audit: AuditLog) -> Operation {
        let kinds = PushKind.allCases.map(\.rawValue)
        return Operation(
            name: "admin.users.push.remove", method: .delete,
            path: "/admin/v1/users/{user}/devices/{device}/push/{kind}",
            summary:
                "Have a device told nothing more when it sleeps, until its app registers it again: when it is next opened. "
                + "Removing what is not there changes nothing.",
            access: .operator, isRealtime: false,
            parameters: [
                user, .path("device", .identifier, "The device's id."),
                .path("kind", .choice(kinds), "Of the registration."),
            ], problems: [.notFound], limit: .serverKeys
        ) { request in
            let key = try request.requireKey()
            let device: DeviceID = try request.identifier("device")
            guard let kind = PushKind(rawValue: request.parameters["kind"] ?? "") else {
                throw Problem.invalid("kind", "Expected one of \(kinds.joined(separator: ", ")).")
            }
            let entry = try await accounts.removePushRegistration(kind, on: device, of: request.user(), by: key)
            if let entry { audit.log(entry) }
            return OperationResponse(status: 204, body: [])
        }
    }

    private static func delete(_ accounts: AccountCommands, _ audit: AuditLog) -> Operation {
        Operation(
            name: "admin.users.delete", method: .delete, path: "/admin/v1/users/{user}",
            summary: "Delete a user for ever, as `server.users.delete`. Deleting a deleted user changes nothing.",
            access: .operator, isRealtime: false, parameters: [user], problems: [.notFound], limit: .serverKeys
        ) { request in
            let entry = try await accounts.deleteUser(request.user(), by: request.requireKey(), area: "admin")
            if let entry { audit.log(entry) }
            return OperationResponse(status: 204, body: [])
        }
    }
}
