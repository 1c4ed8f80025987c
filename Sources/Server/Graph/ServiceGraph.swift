import Accounts
import Bus
import Calls
import DatagramIO
import Hummingbird
import HummingbirdCore
import Languages
import Logging
import MediaFiles
import Model
import NIOCore
import NIOPosix
import NIOSSL
import Realtime
import Relay
import ServiceLifecycle
import Services
import Storage
import Tokens
import Transcription
import Voice
import WebAPI
import Wire

/// The composition root: makes every service from the configuration, and connects them.
struct ServiceGraph: Sendable {
    /// In the order in which they start; they stop in reverse order.
    let services: [any Service]
    let reloader: Reloader
    let draining: Draining
    private let storage: StorageParts
    private let relay: RelayServer?
    private let gateway: GatewayLegs?
    private let transcription: TranscriptionParts?
    private let conversations: ConversationService?
    /// Locked until the process ends.
    private let directory: DataDirectory

    init(
        _ configuration: ServerConfiguration, from source: ConfigurationSource, _ roles: Set<ServerRole>,
        directory: DataDirectory, registry: PrometheusRegistry, level: SharedLogLevel, log: LineWriter,
        logger: Logger
    ) async throws {
        self.directory = directory
        let gatewaySettings = try GatewaySettings(configuration)
        let connections = try ConnectionSettings(configuration)
        let admin = try AdminSettings(configuration)
        let client = try WebClientSettings(configuration)
        if let warning = DescriptorBudget(configuration).warning { logger.warning("\(warning)") }
        let addresses = LocalAddresses.current()
        let relay = try RelayParts(configuration, roles, directory: directory, logger: logger)
        let server = relay.server
        self.relay = server

        let bus = InProcessBus()
        let lastSeen = LastSeenRecorder(clock: Timestamp.systemClock)
        let hub = RealtimeHub(
            eventLoopGroup: MultiThreadedEventLoopGroup.singleton, bus: bus, limits: RealtimeLimits(configuration),
            serverVersion: ServerVersion.text, clientBuild: client.directory == nil ? WebFiles.build : nil,
            recorder: lastSeen,
            logger: Logger(label: "realtime"), clock: Timestamp.systemClock)
        storage = try await StorageParts(
            directory: directory, isConnected: { hub.isConnected($0) }, isListened: { hub.isListened($0) },
            publish: { bus.publish($0) }, publishUpdates: { bus.publish($0) })
        if try await storage.database.needsCompaction() {
            logger.warning(
                """
                the database file is of an earlier version and may have remains of what was deleted: stop the server and \
                run `switchboard migrate` once
                """)
        }

        var product: ProductParts?
        if roles.contains(.api) {
            product = try await ProductParts(
                configuration, store: storage.store, directory: directory, hub: hub, bus: bus, relay: server,
                gateway: roles.contains(.gateway)
                    ? gatewaySettings.gateway(beside: relay.settings.configuration) : nil,
                languages: try LanguageParts(configuration, logger: Logger(label: "languages")))
        }
        gateway = product?.calls.gateway
        transcription = product?.transcription
        let (calls, assistant) = (product?.calls, product?.assistant)
        let accounts = try await AccountParts(configuration, storage, directory: directory) { user, signIns in
            for signIn in signIns {
                hub.revoke(signIn: signIn)
                assistant?.revoke(signIn: signIn)
            }
            calls?.coordinator.signInsEnded(signIns)
            calls?.clock.signedOut(signIns, of: user)
        } userDisabled: { user in
            hub.revoke(user: user)
            assistant?.revoke(user: user)
            calls?.coordinator.userDisabled(user)
            server?.revoke(user: user.text, credentialSeconds: ICEServerIssuer.maximumLifetimeSeconds)
            calls?.clock.withdraw(user)
        } userDeleted: { [eraser = product?.eraser] _ in
            eraser?.wake()
        }

        let checks = CheckResponder(
            roles: roles, gateway: gateway, keys: { [keys = accounts.keys] in keys.records },
            webhooks: { [storage] in try await storage.store.read { try WebhookHealth.all(in: $0) } },
            push: { [check = product.map { $0.push.check($0.pusher) }] in try await check?() },
            pusher: product?.push.pusher,
            translation: { [translation = product?.translation] in await translation?.reports() ?? [] },
            embedding: { [embedding = product?.embedding] in await embedding?.reports() ?? [] },
            explanation: { [explanation = product?.explanation] in await explanation?.reports() ?? [] },
            transcription: { [transcription = product?.transcription] in await transcription?.reports() ?? [] },
            clock: Timestamp.systemClock)
        let authenticator = RequestAuthenticator(
            accounts: accounts.accounts, tokens: accounts.verifier, keys: accounts.keys,
            limits: configuration.requestLimits, uptime: AccountParts.uptime)
        let features = FeatureFlags(disabled: configuration.disabledFeatures)
        let certificate = try CertificateFiles(configuration, of: .api).map { LiveCertificate($0) }
        let adminCertificate = admin.certificate.map { LiveCertificate($0) }
        reloader = try Reloader(
            source, running: configuration,
            LiveParts(
                directory: directory, logLevel: level, relay: server, currentRelay: relay.current,
                authenticator: authenticator, features: features, certificate: certificate,
                adminCertificate: adminCertificate, translation: product?.translation),
            logger: Logger(label: "reload"))
        let draining = Draining(relay: server, logger: Logger(label: "drain"))
        self.draining = draining
        let dispatcher = accounts.webhooks.dispatcher()
        let stats = ServerMetrics(
            hub: hub, connections: connections.limits, relay: server, calls: product?.calls, voice: product?.voice,
            transcription: transcription?.queue, translation: product?.translationStats(storage.store),
            webhooks: dispatcher, push: product.map { $0.push.health($0.pusher) },
            search: product?.indexer, written: { authenticator.writtenBytes },
            lostLines: { log.lostCount }, registry: registry)
        let readiness = Readiness(
            listeners: product == nil ? [.control, .admin] : [.control, .admin, .api], isDraining: { draining.isOn },
            isStorageFull: { [storage] in storage.database.isDiskFull },
            announce: { Readiness.announce(at: $0, logger: logger) })
        var services: [any Service] = [
            Self.control(
                directory, accounts, product, storage.store, hub, reloader, draining, checks, warnings: relay.warnings,
                readiness),
            OperatorParts(
                admin, Self.operated(stats, reloader, draining, readiness, roles), accounts: accounts,
                calls: product?.calls.service, pushes: product.map { $0.push.operated($0.pusher) },
                authenticator: authenticator, addresses: connections.addresses,
                certificate: adminCertificate, isStorageFull: { [storage] in storage.database.isDiskFull },
                collect: { await stats.collect() }, registry: registry, readiness: readiness
            ).service,
            AddressFollower(relay: server, gateway: gateway, after: addresses, logger: Logger(label: "addresses")),
            FreeSpaceWatch(database: storage.database, logger: Logger(label: "storage")),
            Housekeeping(
                store: storage.store, accounts: accounts.accounts, audit: accounts.keys.audit,
                tokens: accounts.verifier, retention: product?.retention,
                reportDays: configuration[\.reports.keepDays], logger: Logger(label: "housekeeping")),
            FriendClock(friends: accounts.friends, logger: Logger(label: "friends")), accounts.keys.audit, dispatcher,
        ]
        conversations = product?.conversations
        if let product {
            services +=
                product.calls.services + [product.voice.transcripts, product.eraser, product.inboxes, product.indexer]
                + [
                    product.translations, product.hints, product.translator, product.captionTranslator,
                    product.assistant,
                ]
                + (product.embedder.map { [$0] } ?? [])
                + [product.messageClock, product.pusher]
                + [LastSeenWriter(recorder: lastSeen, store: storage.store, logger: Logger(label: "presence"))]
            let table = Self.routes(
                configuration, accounts, product, storage, relay.issuer, hub, authenticator, features)
            let realtime = RealtimeServices(
                authenticator: CheckAuthenticator(authenticator: authenticator, checks: checks),
                source: StoreStreams(
                    store: storage.store, commands: product.calls.service.commands,
                    conversations: product.conversations.commands, translations: product.translations,
                    hints: product.hints, captionReaders: product.calls.captionReaders, hub: hub, lastSeen: lastSeen,
                    assistant: product.assistant),
                handler: RouteTableRequests(table: table), observer: product.calls.clock)
            services.append(
                Self.api(
                    configuration, client, table, hub, realtime, authenticator, connections, certificate, readiness))
            services.append(
                MessageEraser(
                    store: storage.store, commands: product.conversations.commands,
                    keepDays: configuration[\.messages.keepDays], logger: Logger(label: "retention")))
            services.append(HubShutdown(hub: hub))
        } else {
            logger.notice("the relay runs without the api")
        }
        self.services = services
    }

    /// Releases what the services used, after the last of them has stopped.
    func close() async {
        await conversations?.marks.flush()
        await transcription?.queue?.close()
        gateway?.stop()
        relay?.stop()
        await storage.database.close()
    }

    private static func control(
        _ directory: DataDirectory, _ accounts: AccountParts, _ product: ProductParts?, _ store: Store,
        _ hub: RealtimeHub, _ reloader: Reloader, _ draining: Draining, _ checks: CheckResponder, warnings: [String],
        _ readiness: Readiness
    ) -> ControlSocket {
        ControlSocket(
            path: directory.file("control.sock"),
            handle: { request in
                switch request {
                case .reload: return reloader.reload()
                case .drain(let isOn): return draining.handleDrain(isOn: isOn)
                case .systemWarnings: return ControlResponse(lines: warnings)
                case .check(let request): return await checks.handle(request)
                case .languageStatistics: return await statistics(store, product)
                case .translationErase:
                    let response = await accounts.handle(request, media: nil)
                    hub.rereadAll(.translations)
                    return response
                case .vectorRepair, .vectorReindex:
                    guard let embedder = product?.embedder else { return .withoutEmbedder }
                    let response = await accounts.handle(request, media: nil)
                    embedder.restart()
                    return response
                default: return await accounts.handle(request, media: product?.media.files)
                }
            }, bound: { readiness.bound(.control) }, logger: Logger(label: "control"))
    }

    private static func statistics(_ store: Store, _ product: ProductParts?) async -> ControlResponse {
        do {
            return try await ControlResponse(
                languagesOf: store, hitRate: product?.translations.counters.values.hitRate,
                engines: product?.engines ?? [])
        } catch {
            return ControlResponse(error: "\(error)")
        }
    }

    /// Every operation of the server, over HTTP and over realtime.
    private static func routes(
        _ configuration: ServerConfiguration, _ accounts: AccountParts, _ product: ProductParts,
        _ storage: StorageParts, _ issuer: ICEServerIssuer?, _ hub: RealtimeHub, _ authenticator: RequestAuthenticator,
        _ features: FeatureFlags
    ) -> RouteTable {
        let (people, calls, media, voice) = (accounts.accounts, product.calls, product.media, product.voice.service)
        let photos = PhotoService(store: storage.store, accounts: people, files: media.files)
        let profiles = ProfileOperations.all(people, accounts.friends, photos) { user, isShown in
            if let isShown { hub.setPresenceShown(isShown, of: user) }
            hub.rereadPresence(of: user)
        } receiptsChanged: { user in
            hub.rereadAll(.marks, of: user)
        } translationChanged: { user in
            hub.rereadAll(.translations, of: user)
        }
        let recordings = RecordingService(
            calls: calls.service, files: media.files, links: media.links, mixes: calls.mixes)
        let transcribed = RecordingTranscriptService(
            store: storage.store, commands: calls.service.commands, transcripts: calls.transcripts)
        let voiceRecordings = VoiceRecordingOperations(calls.voiceRecorder, voice)
        return RouteTable(
            operations: ServerOperations.all(
                version: ServerVersion.text, signUp: configuration[\.accounts.signUp].rawValue,
                voice: voice.commands.rules, records: calls.voiceRecorder.isPossible,
                engines: ServerEngines(
                    translators: product.translation.all.map { ($0.name, $0.isHosted) },
                    transcriber: product.transcription.engine,
                    embedder: product.embedding.engine.map { ($0.model, $0.isHosted) },
                    languageModel: product.writing.model),
                suggestsReplies: product.writing.suggestsReplies, keepDays: configuration[\.messages.keepDays],
                pushKey: product.push.webKey, pushKinds: product.push.kinds, features: features,
                keys: { accounts.tokens.keySet })
                + SignInOperations.all(people) + [DeletionOperations.me(people, accounts.keys.audit)] + profiles
                + PhotoOperations.all(photos) + PushOperations.all(product.push.commands)
                + FriendOperations.all(accounts.friends)
                + ContactOperations.all(accounts.friends, product.conversations)
                + ConversationOperations.all(product.conversations) + SearchOperations.all(product.search)
                + TranslationOperations.all(product.translations) + SummaryOperations.all(product.summaries)
                + HintOperations.all(product.hints) + WritingOperations.all(product.writing)
                + AssistantOperations.all(product.assistant) { product.conversations.digest(of: $0) }
                + TypingOperations.all(product.typing) { hub.setActive($0, of: $1) }
                + CallOperations.all(calls.service) + LegOperations.all(calls.coordinator)
                + RecordingOperations.all(recordings) + CaptionOperations.all(calls.service, calls.consent)
                + VoiceOperations.all(voice) + voiceRecordings.all + DictationOperations.all(product.voice.dictation)
                + VoiceMessageOperations.all(product.conversations, media.links)
                + TranscriptOperations.all(product.conversations, voice, transcribed)
                + [TranscriptOperations.translate(product.transcriptTranslator)]
                + RelayOperations.all(issuer: issuer, calls: calls.service)
                + ServerUserOperations.all(people, accounts.keys.audit)
                + ServerCallOperations.all(calls.service, recordings, accounts.keys.audit)
                + ServerConversationOperations.all(product.conversations, accounts.keys.audit)
                + ServerMessageOperations.all(product.conversations, accounts.keys.audit)
                + ServerEventOperations.all(EventFeed(store: storage.store)),
            documents: ExportOperations.documents(
                ConversationExports(
                    exporter: Exporter(store: storage.store, commands: product.conversations.commands)))
                + WHIPOperations(service: calls.whip, issuer: issuer).all
                + VoiceOperations.documents(voice, calls.voiceRecorder, issuer) + voiceRecordings.documents
                + DictationOperations.documents(product.voice.dictation)
                + TranscriptOperations.documents(product.conversations, voice, transcribed)
                + PhotoOperations.documents(photos)
                + media.operations([.voice: voice.checker, .recording: recordings.checker]).all,
            schemas: Schemas.all + ServerUserOperations.schemas + ServerConversationOperations.schemas
                + EventSchemas.all,
            version: ServerVersion.text, authenticator: authenticator, features: features,
            isStorageFull: { [database = storage.database] in database.isDiskFull }, logger: Logger(label: "api"))
    }

    /// The server as the operator's page sees it.
    private static func operated(
        _ stats: ServerMetrics, _ reloader: Reloader, _ draining: Draining, _ readiness: Readiness,
        _ roles: Set<ServerRole>
    ) -> OperatedServer {
        let names = ServerRole.allCases.filter(roles.contains).map(\.rawValue)
        return OperatedServer(
            state: {
                let obstacle = readiness.obstacle
                return OperatedServer.State(
                    version: ServerVersion.text, startedAt: stats.startedAt, uptime: stats.uptime,
                    ready: obstacle == nil, obstacle: obstacle?.rawValue, draining: draining.isOn,
                    allocations: draining.allocationsLeft, roles: names)
            }, setDraining: { draining.set($0) }, settings: { reloader.configuration.report },
            stats: { stats.json })
    }

    /// The two documents for programs, and `/docs`, which is made from them: when somebody first asks for them.
    private static func addDocuments(_ table: RouteTable, _ limits: RealtimeLimits, to router: Router<WebContext>) {
        let realtime = AsyncAPIDocument(
            operations: table.operations, schemas: Schemas.all, limits: limits, version: ServerVersion.text)
        let documents = [
            ("/openapi.json", OnDemand { ByteBuffer(string: table.openAPI.text) }),
            ("/asyncapi.json", OnDemand { ByteBuffer(string: realtime.text) }),
        ]
        for (path, document) in documents {
            router.get(RouterPath(path)) { _, _ in Response(json: await document.value, status: 200) }
        }
        DocsSite(
            openAPI: table.openAPI, asyncAPI: realtime, settings: ReferenceFile.documentation,
            version: ServerVersion.text
        ).register(on: router)
    }

    private static func api(
        _ configuration: ServerConfiguration, _ client: WebClientSettings, _ table: RouteTable, _ hub: RealtimeHub,
        _ realtime: RealtimeServices, _ authenticator: RequestAuthenticator, _ connections: ConnectionSettings,
        _ certificate: LiveCertificate?, _ readiness: Readiness
    ) -> any Service {
        let origins = configuration[\.http.allowedOrigins]
        let router = Router(context: WebContext.self)
        let addresses = connections.addresses
        router.add(middleware: RequestMiddleware())
        router.add(middleware: ClientAddressMiddleware { addresses.client(of: $0, header: $1) })
        router.add(middleware: BrowserMiddleware(allowedOrigins: origins))
        if let directory = client.directory {
            router.add(middleware: WebDirectory(directory))
        } else {
            router.add(middleware: MissingPage())
        }
        table.register(on: router)
        addDocuments(table, hub.limits, to: router)
        HealthRoutes(readiness: readiness).register(on: router)
        if client.directory == nil { WebFiles.client.register(on: router) }
        EventStreamRoutes(handler: EventStreamHandler(hub: hub, services: realtime), authenticator: authenticator)
            .register(on: router)

        let host = configuration[\.http.host]
        let port = configuration[\.http.port]
        let tls = certificate?.tls
        let server = HTTPServerBuilder { responder in
            let plain = UpgradeChannel(
                responder: responder, configuration: .init(idleTimeout: .seconds(75)), hub: hub, services: realtime,
                origins: AllowedOrigins(origins), addresses: addresses)
            guard let tls else { return LimitedChannel(plain, addresses: addresses, limits: connections.limits) }
            return LimitedChannel(
                try SecureChannel(plain, tls: tls), addresses: addresses, limits: connections.limits)
        }
        let application = Application(
            router: router, server: server,
            configuration: .init(address: .hostname(host, port: port), serverName: nil),
            onServerRunning: { channel in
                let shown = host == "0.0.0.0" || host == "::" ? "127.0.0.1" : host
                let actual = channel.localAddress?.port ?? port
                let address =
                    "\(tls == nil ? "http" : "https")://\(shown.contains(":") ? "[\(shown)]" : shown):\(actual)/"
                readiness.bound(.api, address: address)
            }, logger: Logger(label: "http"))
        return ListeningService(
            service: application, setting: SettingsTable.key(of: \.http.port), host: host, port: port)
    }
}

/// Sends a bye to the realtime sessions before the listeners close.
private struct HubShutdown: Service {
    let hub: RealtimeHub

    func run() async throws {
        try? await gracefulShutdown()
        await hub.shutdown()
    }
}
