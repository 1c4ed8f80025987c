package import Accounts
import HTTPTypes
import Model
package import Services

/// The deletion of the user's own account.
package enum DeletionOperations {
    private struct Deletion: Decodable { var password: String? }

    /// Not over realtime: the deletion closes the socket that would carry its result.
    package static func me(_ accounts: AccountCommands, _ audit: AuditLog) -> Operation {
        Operation(
            name: "me.delete", method: .post, path: "/v1/me/delete",
            summary:
                "Delete the user's account for ever: ends all sessions and calls at once, and erases what is stored of "
                + "the user within a minute. Without a password, the access token must be at most five minutes old.",
            isRealtime: false,
            body: .object([.optional("password", .text(maximum: 512), "Required if the account has one.")]),
            problems: [.conflict]
        ) { request in
            let body = try request.decode(Deletion.self)
            audit.log(try await accounts.deleteAccount(of: request.requirePrincipal(), password: body.password))
            return OperationResponse(status: 204, body: [])
        }
    }
}
