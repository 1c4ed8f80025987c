package import Accounts
package import Friends
import Model
package import Services

/// Every operation of the operator's port: the rows of its route table.
package enum OperatorOperations {
    /// - Parameters:
    ///   - calls: nil without the api.
    ///   - pushes: nil without the api.
    package static func all(
        _ server: OperatedServer, _ accounts: AccountCommands, _ calls: CallService?, _ pushes: OperatedPushes?,
        _ keys: ServerKeyService,
        _ webhooks: WebhookCommands, _ friends: FriendCommands, _ sessions: OperatorSessions
    ) -> [Operation] {
        OperatorSessionOperations.all(sessions, keys) + OperatorServerOperations.all(server, keys.audit)
            + OperatorUserOperations.all(accounts, keys.audit)
            + (calls.map { OperatorCallOperations.all($0, keys.audit) } ?? [])
            + (pushes.map { OperatorPushOperations.all($0) } ?? []) + OperatorKeyOperations.all(keys)
            + OperatorWebhookOperations.all(webhooks)
            + OperatorReportOperations.all(friends, keys.audit)
    }

    package static let schemas: [(String, Schema)] =
        Schemas.all + ServerUserOperations.schemas + OperatorUserOperations.schemas + OperatorKeyOperations.schemas
        + OperatorWebhookOperations.schemas + OperatorServerOperations.schemas + OperatorReportOperations.schemas
        + OperatorPushOperations.schemas
}

extension OpenAPIDocument.About {
    /// The operator's API.
    package static let operators = Self(
        title: "Switchboard: the operator's API",
        description: """
            What the operator's page does, on the operator's port. Sign in with a server key of the scope operator, and \
            send the token with every other request. `Host` must be a name that the server knows.
            """)
}

extension OpenAPIDocument {
    static let operatorTokenScheme = JSON.object([
        ("type", "http"), ("scheme", "bearer"), ("bearerFormat", "sbo_…"),
        ("description", "The token of an operator's session, for 12 hours."),
    ])
}
