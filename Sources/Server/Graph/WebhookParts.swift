import Logging
import Model
import Providers
import Services
import Storage
import Tokens
import Webhooks

/// Webhooks: the operator's commands, which the server and the command line both need, and what delivers events.
struct WebhookParts: Sendable {
    let commands: WebhookCommands
    let key: WebhookKey
    let rules: WebhookAddressRules
    private let store: Store

    init(_ configuration: ServerConfiguration, store: Store, directory: DataDirectory, audit: AuditLog) throws {
        let (key, warning) = try WebhookKey.load(from: directory.file("webhooks-key"))
        if let warning { Logger(label: "webhooks").warning("\(warning)") }
        self.key = key
        rules = try WebhookAddressRules(configuration)
        self.store = store
        commands = WebhookCommands(store: store, sealer: key, rules: rules, audit: audit)
    }

    /// Delivers events, in a server.
    func dispatcher() -> WebhookDispatcher {
        let clock = Timestamp.systemClock
        return WebhookDispatcher(
            store: store, transport: WebhookSender(rules) { clock().milliseconds / 1_000 }, sealer: key, clock: clock,
            logger: Logger(label: "webhooks"))
    }
}
