package import Accounts
package import Model
package import Webhooks

/// Who manages webhooks.
package enum WebhookAdministrator: Sendable {
    case commandLine
    /// An operator, with the client id of a request that makes a secret: repeated with it, the request has the same result
    /// and is executed once.
    case `operator`(KeyPrincipal, request: ClientID? = nil)

    func entry(_ action: String, _ subject: WebhookID) -> AuditEntry {
        switch self {
        case .commandLine: AuditEntry(actor: .commandLine, action: "webhook.\(action)", subject: subject.text)
        case .operator(let key, _): key.audit("admin.webhooks.\(action)", subject.text)
        }
    }
}

/// A delivery with its event, unless that is kept no longer.
package struct DeliveryOfEvent: Sendable {
    package var record: DeliveryRecord
    package var event: EventRecord?
}

/// A webhook that was added, or got a new secret.
package struct MadeWebhook: Sendable {
    package var webhook: WebhookRecord
    /// Not stored in the clear. A puller has one too, which nobody uses.
    package var secret: WebhookSecret
    /// Whether the request was executed before.
    package var isDuplicate: Bool
}
