import Foundation
import Logging
import Messaging
import Model
import Notifications
import Providers
import Push
import Realtime
import Services
import Storage
import Tokens
import Webhooks

/// What sleeping devices are told by: the registrations of users, and what sends pushes.
struct PushParts: Sendable {
    let commands: PushCommands
    /// By what devices are told.
    var kinds: Set<PushKind> { commands.kinds }
    /// With which browsers subscribe, 65 bytes in base64url; nil if they are not pushed to.
    let webKey: String?
    private let hasContact: Bool
    /// That are resolved at a time.
    private static let names = 16
    private let store: Store
    private let key: PushKey
    private let sender: PushSenders

    init(_ configuration: ServerConfiguration, store: Store, directory: DataDirectory) throws {
        let logger = Logger(label: "push")
        let (key, warning) = try PushKey.load(from: directory.file("push-key"))
        let contact = configuration[\.push.web.contact]
        guard contact.isEmpty || contact.hasPrefix("mailto:") || contact.hasPrefix("https://") else {
            throw ConfigurationError("push.web.contact must begin with mailto: or https://.")
        }
        let (vapid, vapidWarning) = try VAPIDKey.load(
            from: directory.file("vapid-key.pem"), subject: contact.isEmpty ? nil : contact)
        for warning in [warning, vapidWarning].compactMap(\.self) { logger.warning("\(warning)") }
        let rules = try WebhookAddressRules(configuration, \.push.allow)
        let isEnabled = configuration[\.push.web.enabled]
        self.store = store
        hasContact = !contact.isEmpty
        self.key = key
        webKey = isEnabled ? vapid.publicKeyText : nil
        // Names come from clients: those whose servers hang leave the threads of the resolver to others.
        let names = ConcurrencyLimiter(maxConcurrent: Self.names, maxWaiting: .max)
        let clients = WebhookClients(rules) { host async throws(ProviderFailure) in
            do {
                return try await names.withSlot { try await SystemResolver.addresses(of: host) }
            } catch {
                throw error as? ProviderFailure ?? .unreachable("its name could not be resolved")
            }
        }
        let fcm = try Self.fcm(configuration)
        sender = PushSenders(
            web: WebPushSender(vapid, rules: rules, clients: clients, now: Timestamp.systemClock), fcm: fcm)
        var kinds: Set<PushKind> = []
        if isEnabled { kinds.insert(.web) }
        if fcm != nil { kinds.insert(.fcm) }
        commands = PushCommands(store: store, sealer: key, rules: rules, kinds: kinds) {
            (try? WebPushEncryption(publicKey: $0.publicKey, authSecret: $0.authSecret)) != nil
        }
    }

    /// Nil if it is not configured.
    private static func fcm(_ configuration: ServerConfiguration) throws -> FCMSender? {
        let file = configuration[\.push.fcm.credentials]
        guard !file.isEmpty else { return nil }
        let account: GoogleServiceAccount
        do {
            account = try GoogleServiceAccount(file: file)
        } catch {
            throw ConfigurationError("push.fcm.credentials: \(error).")
        }
        let url = configuration[\.push.fcm.url]
        guard let address = WebAddress(url), address.isSecure else {
            throw ConfigurationError("push.fcm.url must be an https:// URL, such as \(FCMSender.defaultURL).")
        }
        let authorities = configuration[\.push.authorities]
        guard authorities.isEmpty || FileManager.default.isReadableFile(atPath: authorities) else {
            throw ConfigurationError("push.authorities: \(authorities) cannot be read.")
        }
        return FCMSender(
            account, url: "\(address)", authorities: authorities.isEmpty ? nil : authorities,
            now: Timestamp.systemClock)
    }

    func dispatcher(_ conversations: ConversationCommands, _ hub: RealtimeHub) -> PushDispatcher {
        PushDispatcher(
            store: store, composer: NotificationComposer(commands: conversations), sender: sender, sealer: key,
            presence: PushDispatcher.Presence(
                isConnected: { [weak hub] in hub?.isConnected($0) ?? false },
                silence: { [weak hub] in hub?.silence(of: $0) }), kinds: commands.kinds,
            clock: Timestamp.systemClock, logger: Logger(label: "push"))
    }

    /// For metrics.
    func health(_ dispatcher: PushDispatcher) -> @Sendable () async throws -> PushHealth {
        { [webKey, hasContact] in
            var health = PushHealth(isEnabled: webKey != nil, hasContact: hasContact)
            try await dispatcher.describe(&health)
            return health
        }
    }

    /// For `switchboard check`: it also tries the services that can be tried.
    func check(_ dispatcher: PushDispatcher) -> @Sendable () async throws -> PushHealth {
        { [health = health(dispatcher), sender] in
            var health = try await health()
            health.trials = await sender.tryOut()
            return health
        }
    }
}
