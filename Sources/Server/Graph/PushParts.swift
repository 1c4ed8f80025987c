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
import WebAPI
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
        let checked = configuration[\.push.web.checkURL]
        guard checked.isEmpty || WebPushProbe.address(checked) != nil else {
            throw ConfigurationError(
                "push.web.checkURL must be a wss:// URL, such as wss://push.services.mozilla.com/.")
        }
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
        let fcm = try Self.fcm(configuration, logger)
        let apns = try Self.apns(configuration, logger)
        sender = PushSenders(
            web: WebPushSender(vapid, rules: rules, clients: clients, now: Timestamp.systemClock), fcm: fcm,
            apns: apns)
        var kinds: Set<PushKind> = []
        if isEnabled { kinds.insert(.web) }
        if fcm != nil { kinds.insert(.fcm) }
        if apns != nil { kinds.formUnion([.apns, .apnsVoIP]) }
        commands = PushCommands(store: store, sealer: key, rules: rules, kinds: kinds) {
            (try? WebPushEncryption(publicKey: $0.publicKey, authSecret: $0.authSecret)) != nil
        }
    }

    /// Nil if it is not configured.
    private static func fcm(_ configuration: ServerConfiguration, _ logger: Logger) throws -> FCMSender? {
        let file = configuration[\.push.fcm.credentials]
        guard !file.isEmpty else { return nil }
        let account: GoogleServiceAccount
        do {
            account = try GoogleServiceAccount(file: file)
        } catch {
            throw ConfigurationError("push.fcm.credentials: \(error).")
        }
        if let warning = account.warning { logger.warning("\(warning)") }
        return FCMSender(
            account, url: try url(configuration, \.push.fcm.url), authorities: try authorities(configuration),
            now: Timestamp.systemClock)
    }

    /// Nil if it is not configured.
    private static func apns(_ configuration: ServerConfiguration, _ logger: Logger) throws -> APNsSender? {
        let file = configuration[\.push.apns.key]
        guard !file.isEmpty else {
            let others = [\SettingsTable.push.apns.keyID, \.push.apns.team, \.push.apns.topic]
            guard let other = others.first(where: { !configuration[$0].isEmpty }) else { return nil }
            throw ConfigurationError("\(SettingsTable.settings[keyPath: other].key) is set, but push.apns.key is not.")
        }
        for setting in [\SettingsTable.push.apns.keyID, \.push.apns.team] {
            guard configuration[setting].wholeMatch(of: /[A-Z0-9]{10}/) != nil else {
                throw ConfigurationError(
                    "\(SettingsTable.settings[keyPath: setting].key) must be the ID, ten capital letters and digits.")
            }
        }
        let topic = configuration[\.push.apns.topic]
        guard topic.wholeMatch(of: /[A-Za-z0-9.\-]{1,200}/) != nil, !topic.hasSuffix(".voip") else {
            throw ConfigurationError("push.apns.topic must be the bundle ID of the app, without .voip.")
        }
        let key: APNsKey
        do {
            key = try APNsKey(file: file, id: configuration[\.push.apns.keyID], team: configuration[\.push.apns.team])
        } catch {
            throw ConfigurationError("push.apns.key: \(error).")
        }
        if let warning = key.warning { logger.warning("\(warning)") }
        var addresses = APNsSender.Addresses()
        addresses.production = try url(configuration, \.push.apns.url)
        addresses.sandbox = try url(configuration, \.push.apns.sandboxURL)
        let defaults = APNsSender.Addresses()
        guard addresses.production != defaults.sandbox, addresses.sandbox != defaults.production else {
            throw ConfigurationError("push.apns.url and push.apns.sandboxURL are Apple's of each other.")
        }
        return APNsSender(
            key, topic: topic, addresses: addresses, authorities: try authorities(configuration),
            now: Timestamp.systemClock)
    }

    private static func url(
        _ configuration: ServerConfiguration, _ setting: KeyPath<SettingsTable, Setting<String>>
    ) throws -> String {
        guard let address = WebAddress(configuration[setting]), address.isSecure else {
            let setting = SettingsTable.settings[keyPath: setting]
            throw ConfigurationError("\(setting.key) must be an https:// URL, such as \(setting.defaultValue).")
        }
        return "\(address)"
    }

    private static func authorities(_ configuration: ServerConfiguration) throws -> String? {
        let file = configuration[\.push.authorities]
        guard file.isEmpty || ProviderClient.hasAuthorities(file) else {
            throw ConfigurationError("push.authorities: \(file) cannot be read, or has no certificates in PEM.")
        }
        return file.isEmpty ? nil : file
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
            var health = PushHealth(webKey: webKey, hasContact: hasContact)
            try await dispatcher.describe(&health)
            return health
        }
    }

    /// For `switchboard check`: it also tries the services that can be tried.
    func check(_ dispatcher: PushDispatcher) -> @Sendable () async throws -> PushHealth {
        { [health = health(dispatcher), sender] in
            var health = try await health()
            health.checks = await sender.check()
            return health
        }
    }

    /// Pushes a text to the subscription of a check.
    var pusher: @Sendable (WebPushAddress, String) async -> PushOutcome {
        { [sender] address, text in
            await sender.send(
                PushMessage(
                    address: .web(address), payload: Array(text.utf8), secondsToLive: 60, isUrgent: true, topic: "check"
                ))
        }
    }

    /// For the operator's page.
    func operated(_ dispatcher: PushDispatcher) -> OperatedPushes {
        OperatedPushes(
            kinds: kinds, health: health(dispatcher),
            checker: PushServiceChecker(uptime: AccountParts.uptime) { [sender] in await sender.check($0) })
    }
}
