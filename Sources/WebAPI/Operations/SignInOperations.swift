package import Accounts
import HTTPTypes
import Model

/// Operations to sign up, in and out, and the user's sessions and devices.
package enum SignInOperations {
    package static func all(_ accounts: AccountCommands) -> [Operation] {
        [signUp(accounts), signIn(accounts), refresh(accounts), password(accounts)]
            + sessions(accounts) + devices(accounts)
    }

    private static let device = Schema.named("NewDevice")

    private static func signUp(_ accounts: AccountCommands) -> Operation {
        Operation(
            name: "accounts.create", method: .post, path: "/v1/accounts", summary: "Sign up, and sign in.",
            access: .anyone, isRealtime: false,
            body: .object([
                .required("email", Schemas.email), .required("password", Schemas.password),
                .required("displayName", Schemas.displayName), .optional("languages", Schemas.languages),
                .optional("invite", .text(maximum: 128), "Required if accounts.signUp is `invite`."),
                .optional("device", device),
            ]),
            responses: [.created(.named("SignIn"))], problems: [.conflict, .forbidden], limit: .signUps
        ) { request in
            try .json(try await accounts.signUp(request.decode(SignUpRequest.self)), status: 201)
        }
    }

    private static func signIn(_ accounts: AccountCommands) -> Operation {
        Operation(
            name: "sessions.create", method: .post, path: "/v1/sessions", summary: "Sign in.", access: .anyone,
            isRealtime: false,
            body: .object([
                .required("email", .text()), .required("password", .text()), .optional("device", device),
            ]),
            responses: [.created(.named("SignIn"))], problems: [.unauthenticated, .forbidden]
        ) { request in
            let body = try request.decode(SignInRequest.self)
            return try .json(try await accounts.signIn(body, from: request.clientAddress), status: 201)
        }
    }

    private struct Refresh: Decodable { var refreshToken: String }

    private static func refresh(_ accounts: AccountCommands) -> Operation {
        Operation(
            name: "sessions.refresh", method: .post, path: "/v1/sessions/refresh",
            summary: "Exchange a refresh token for the next pair of tokens.", access: .anyone, isRealtime: false,
            body: .object([.required("refreshToken", .text())]),
            responses: [
                .ok(
                    .object([
                        .required("accessToken", .text()), .required("refreshToken", .text()),
                        .required("expiresIn", .integer(), "Seconds."),
                    ]))
            ], problems: [.unauthenticated, .forbidden]
        ) { request in
            try .json(try await accounts.refresh(request.decode(Refresh.self).refreshToken))
        }
    }

    private struct Password: Decodable {
        var currentPassword: String
        var newPassword: String
    }

    private static func password(_ accounts: AccountCommands) -> Operation {
        Operation(
            name: "me.password", method: .post, path: "/v1/me/password",
            summary: "Change the password, and end all other sessions.",
            body: .object([.required("currentPassword", .text()), .required("newPassword", Schemas.password)]),
            problems: [.conflict]
        ) { request in
            let body = try request.decode(Password.self)
            let outcome = try await accounts.changePassword(
                of: request.requirePrincipal(), from: body.currentPassword, to: body.newPassword)
            return OperationResponse(status: 204, body: [], positions: outcome.positions)
        }
    }

    private static let page = [
        Operation.Parameter.query("limit", .integer(1...100), "How many at most; the default is 100."),
        .query("cursor", .text(), "The `nextCursor` of the previous page."),
    ]

    private struct SessionList: Encodable {
        var sessions: [SignInDocument]
        var nextCursor: String?
    }

    private static func sessions(_ accounts: AccountCommands) -> [Operation] {
        [
            Operation(
                name: "sessions.list", method: .get, path: "/v1/sessions",
                summary: "The user's sessions, most recently used first; at most 64.", parameters: page,
                responses: [
                    .ok(
                        .object([.required("sessions", .list(.named("Session"))), .optional("nextCursor", .text())]))
                ]
            ) { request in
                let page = try await accounts.sessions(
                    of: request.requirePrincipal(), limit: request.integer("limit", in: 1...100, default: 100),
                    cursor: request.parameters["cursor"])
                return try .json(SessionList(sessions: page.items, nextCursor: page.nextCursor))
            },
            Operation(
                name: "sessions.revoke", method: .delete, path: "/v1/sessions/{session}",
                summary: "End a session: its sockets are closed and its tokens are revoked.",
                parameters: [
                    .path(
                        "session", .either([.identifier, .choice(["current"])]), "The session's id, or `current`.")
                ], problems: [.notFound, .conflict]
            ) { request in
                let id: SignInID? =
                    request.parameters["session"] == "current" ? nil : try request.identifier("session")
                let outcome = try await accounts.endSession(id, of: request.requirePrincipal())
                return OperationResponse(status: 204, body: [], positions: outcome.positions)
            },
        ]
    }

    private struct DeviceList: Encodable {
        var devices: [DeviceDocument]
        var nextCursor: String?
    }

    private static func devices(_ accounts: AccountCommands) -> [Operation] {
        [
            Operation(
                name: "devices.list", method: .get, path: "/v1/devices",
                summary: "Installations that the user signed in on, most recently used first; at most 64.",
                parameters: page,
                responses: [
                    .ok(.object([.required("devices", .list(.named("Device"))), .optional("nextCursor", .text())]))
                ]
            ) { request in
                let page = try await accounts.devices(
                    of: request.requirePrincipal(), limit: request.integer("limit", in: 1...100, default: 100),
                    cursor: request.parameters["cursor"])
                return try .json(DeviceList(devices: page.items, nextCursor: page.nextCursor))
            },
            Operation(
                name: "devices.revoke", method: .delete, path: "/v1/devices/{device}",
                summary: "Remove an installation and end its sessions.",
                parameters: [.path("device", .identifier, "The device's id.")], problems: [.notFound]
            ) { request in
                let outcome = try await accounts.removeDevice(
                    request.identifier("device"), of: request.requirePrincipal())
                return OperationResponse(status: 204, body: [], positions: outcome.positions)
            },
        ]
    }
}
