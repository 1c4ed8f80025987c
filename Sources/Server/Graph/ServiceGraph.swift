import Accounts
import Bus
import Calls
import Foundation
import Hummingbird
import HummingbirdCore
import HummingbirdTLS
import Logging
import MediaFiles
import Model
import NIOCore
import NIOPosix
import NIOSSL
import Realtime
import Relay
import ServiceLifecycle
import Storage
import Synchronization
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
    private let database: SQLiteDatabase
    private let relay: RelayServer?
    private let gateway: GatewayLegs?
    private let transcription: TranscriptionParts
    /// Locked until the process ends.
    private let directory: DataDirectory

    init(
        _ configuration: ServerConfiguration, from source: ConfigurationSource, _ roles: Set<ServerRole>,
        directory: DataDirectory, registry: PrometheusRegistry, level: SharedLogLevel, logger: Logger
    ) async throws {
        self.directory = directory
        let gatewaySettings = try GatewaySettings(configuration)
        if let warning = DescriptorBudget(configuration).warning { logger.warning("\(warning)") }
        transcription = try TranscriptionParts(configuration, logger: Logger(label: "transcription"))
        let relay = try RelayParts(configuration, roles, directory: directory, logger: logger)
        let server = relay.server
        self.relay = server

        let bus = InProcessBus()
        let hub = RealtimeHub(
            eventLoopGroup: MultiThreadedEventLoopGroup.singleton, bus: bus, limits: RealtimeLimits(configuration),
            logger: Logger(label: "realtime"), clock: Timestamp.systemClock)
        let clock = Mutex<CallClock?>(nil)
        let coordinator = Mutex<LegCoordinator?>(nil)
        let accounts = try await AccountParts(configuration, directory: directory) { user, signIns in
            for signIn in signIns { hub.revoke(signIn: signIn) }
            coordinator.withLock { $0 }?.signInsEnded(signIns)
            clock.withLock { $0 }?.signedOut(signIns, of: user)
        } userDisabled: { user in
            hub.revoke(user: user)
            coordinator.withLock { $0 }?.userDisabled(user)
            server?.revoke(user: user.text, credentialSeconds: ICEServerIssuer.maximumLifetimeSeconds)
            clock.withLock { $0 }?.withdraw(user)
        } publish: { changes in
            bus.publish(changes)
        }
        database = accounts.database

        // The gateway's legs belong to calls, so it needs the api.
        let hasGateway = roles.isSuperset(of: [.api, .gateway])
        let calls = try await CallParts(
            configuration, store: accounts.store, hub: hub, bus: bus, relay: server,
            gateway: hasGateway ? gatewaySettings.gateway(beside: relay.settings.configuration) : nil,
            transcription: transcription.queue)
        gateway = calls.gateway
        clock.withLock { $0 = calls.clock }
        coordinator.withLock { $0 = calls.coordinator }

        let media =
            roles.contains(.api)
            ? try await MediaParts(configuration, store: accounts.store, directory: directory) : nil
        let voice = media.map {
            [transcription] in
            VoiceParts(configuration, store: accounts.store, media: $0, transcription: transcription)
        }

        let mixes = media.map {
            RecordingMixes(
                store: accounts.store, commands: calls.commands, files: $0.files, logger: Logger(label: "mixes"))
        }

        let authenticator = RequestAuthenticator(
            accounts: accounts.accounts, tokens: accounts.verifier, limits: configuration.requestLimits,
            uptime: AccountParts.uptime)
        let certificate = try CertificateFiles(configuration).map { LiveCertificate($0) }
        reloader = try Reloader(
            source, running: configuration,
            LiveParts(
                directory: directory, logLevel: level, relay: server, currentRelay: relay.current,
                authenticator: authenticator, certificate: certificate), logger: Logger(label: "reload"))
        let draining = Draining(relay: server, logger: Logger(label: "drain"))
        self.draining = draining
        let connections = try ConnectionSettings(configuration)
        let stats = ServerMetrics(
            hub: hub, connections: connections.limits, calls: calls.clock, relay: server, gateway: gateway,
            voiceRecorder: calls.coordinator.voiceRecorder, voice: voice, mixes: mixes,
            transcription: transcription, registry: registry)
        var services: [any Service] = [
            Self.control(directory, accounts, media?.files, reloader, draining, warnings: relay.warnings),
            Self.admin(configuration, stats, registry, isReady: { !draining.isOn }),
            Housekeeping(
                store: accounts.store, accounts: accounts.accounts, tokens: accounts.verifier,
                retention: Self.retention(configuration, accounts.store, calls, media, voice, mixes),
                logger: Logger(label: "housekeeping")),
        ]
        if let media, let voice, let mixes {
            let transcripts = RecordingTranscripts(
                store: accounts.store, commands: calls.commands, files: media.files, queue: transcription.queue,
                isAutomatic: configuration.boolean("transcription.recordings"), logger: Logger(label: "transcripts"))
            try await calls.keepRecordings(in: media.files, logger: Logger(label: "recorder")) {
                transcripts.ended($0)
            }
            if let gateway { calls.coordinator.voiceRecorder.open(gateway, voice.service, media.files) }
            try await calls.clock.restore()
            services += [calls.clock, calls.coordinator.recorder, voice.transcripts, transcripts, mixes]
            let table = Self.routes(
                configuration, accounts, calls, media, voice, transcripts, mixes, relay.issuer, hub, authenticator)
            let realtime = RealtimeServices(
                authenticator: authenticator,
                source: StoreStreams(
                    store: accounts.store, commands: calls.commands, presence: { hub.presence(of: $0) }),
                handler: RouteTableRequests(table: table), observer: calls.clock)
            services.append(
                Self.api(
                    configuration, table, hub, realtime, authenticator, connections, certificate,
                    isReady: { !draining.isOn }, logger: logger))
            services.append(HubShutdown(hub: hub))
        } else {
            logger.notice("the relay runs without the api")
        }
        self.services = services
    }

    /// Releases what the services used, after the last of them has stopped.
    func close() async {
        await transcription.queue?.close()
        gateway?.stop()
        relay?.stop()
        await database.close()
    }

    private static func control(
        _ directory: DataDirectory, _ accounts: AccountParts, _ files: MediaFiles?, _ reloader: Reloader,
        _ draining: Draining, warnings: [String]
    ) -> ControlSocket {
        ControlSocket(
            path: directory.file("control.sock"),
            handle: { request in
                switch request {
                case .reload: reloader.reload()
                case .drain(let isOn): draining.handleDrain(isOn: isOn)
                case .systemWarnings: ControlResponse(lines: warnings)
                default: await accounts.handle(request, media: files)
                }
            }, logger: Logger(label: "control"))
    }

    /// Every operation of the server, over HTTP and over realtime.
    private static func routes(
        _ configuration: ServerConfiguration, _ accounts: AccountParts, _ calls: CallParts, _ media: MediaParts,
        _ voice: VoiceParts, _ transcripts: RecordingTranscripts, _ mixes: RecordingMixes,
        _ issuer: ICEServerIssuer?, _ hub: RealtimeHub, _ authenticator: RequestAuthenticator
    ) -> RouteTable {
        let people = accounts.accounts
        let photos = PhotoService(store: accounts.store, accounts: people, files: media.files)
        let profiles = ProfileOperations.all(people, photos) { user, isShown in
            hub.setPresenceShown(isShown, of: user)
        } blocked: { user, other in
            hub.hidePresence(of: user, from: other)
        }
        let recordings = RecordingService(
            calls: calls.service, files: media.files, links: media.links, mixing: mixes)
        let transcribed = RecordingTranscriptService(
            store: accounts.store, commands: calls.commands, transcribing: transcripts)
        let voiceRecordings = VoiceRecordingOperations(calls.coordinator.voiceRecorder, voice.service)
        let checkers = [
            MediaFile.Kind.voice: VoiceOperations.checker(voice.service.commands), .recording: recordings.checker,
        ]
        return RouteTable(
            operations: ServerOperations.all(
                version: ServerVersion.text, signUp: configuration.text("accounts.signUp"),
                voice: voice.service.commands.rules, records: calls.coordinator.voiceRecorder.isPossible,
                transcribes: transcripts.isConfigured, keys: { accounts.tokens.keySet })
                + SignInOperations.all(people) + profiles + PhotoOperations.all(photos)
                + CallOperations.all(calls.service) + LegOperations.all(calls.coordinator)
                + RecordingOperations.all(recordings) + CaptionOperations.all(calls.service)
                + VoiceOperations.all(voice.service) + voiceRecordings.all
                + TranscriptOperations.all(voice.service, transcribed)
                + RelayOperations.all(issuer: issuer, calls: calls.service),
            documents: WHIPOperations(service: calls.coordinator.whipSessions, issuer: issuer).all
                + VoiceOperations.documents(voice.service, calls.coordinator.voiceRecorder, issuer)
                + voiceRecordings.documents
                + TranscriptOperations.documents(voice.service, transcribed) + PhotoOperations.documents(photos)
                + media.operations(checkers).all,
            schemas: Schemas.all,
            version: ServerVersion.text, authenticator: authenticator, logger: Logger(label: "api"))
    }

    private static func retention(
        _ configuration: ServerConfiguration, _ store: Store, _ calls: CallParts, _ media: MediaParts?,
        _ voice: VoiceParts?, _ mixes: RecordingMixes?
    ) -> Retention? {
        guard let media, let voice, let mixes else { return nil }
        return Retention(
            store: store, calls: calls.commands, voice: voice.service.commands, files: media.files,
            days: Retention.Days(configuration), forget: { mixes.forget($0) }, logger: Logger(label: "retention"))
    }

    private static func admin(
        _ configuration: ServerConfiguration, _ stats: ServerMetrics, _ registry: PrometheusRegistry,
        isReady: @escaping @Sendable () -> Bool
    ) -> any Service {
        let pages = AdminPages(
            registry: registry, collect: { await stats.collect() }, stats: { stats.json }, isReady: isReady)
        let host = configuration.text("admin.host")
        let port = configuration.integer("admin.port")
        let application = Application(
            router: pages.router(), configuration: .init(address: .hostname(host, port: port), serverName: nil),
            logger: Logger(label: "admin"))
        return ListeningService(service: application, setting: "admin.port", host: host, port: port)
    }

    private static func api(
        _ configuration: ServerConfiguration, _ table: RouteTable, _ hub: RealtimeHub, _ realtime: RealtimeServices,
        _ authenticator: RequestAuthenticator, _ connections: ConnectionSettings, _ certificate: LiveCertificate?,
        isReady: @escaping @Sendable () -> Bool, logger: Logger
    ) -> any Service {
        let origins = configuration.texts("http.allowedOrigins")
        let router = Router(context: WebContext.self)
        let addresses = connections.addresses
        router.add(middleware: ClientAddressMiddleware { addresses.client(of: $0, header: $1) })
        router.add(middleware: BrowserMiddleware(allowedOrigins: origins))
        table.register(on: router)
        let document = ByteBuffer(string: table.openAPI)
        router.get("/openapi.json") { _, _ in Response(json: document, status: 200) }
        HealthRoutes(isReady: isReady).register(on: router)
        WebFiles.client.register(on: router)
        EventStreamRoutes(handler: EventStreamHandler(hub: hub, services: realtime), authenticator: authenticator)
            .register(on: router)

        let host = configuration.text("http.host")
        let port = configuration.integer("http.port")
        let tls = certificate?.tls
        let server = HTTPServerBuilder { responder in
            let plain = UpgradeChannel(
                responder: responder, configuration: .init(idleTimeout: .seconds(75)), hub: hub, services: realtime,
                origins: AllowedOrigins(origins), addresses: addresses)
            guard let tls else { return LimitedChannel(plain, addresses: addresses, limits: connections.limits) }
            return LimitedChannel(
                try TLSChannel(plain, tlsConfiguration: tls), addresses: addresses, limits: connections.limits)
        }
        let application = Application(
            router: router, server: server,
            configuration: .init(address: .hostname(host, port: port), serverName: nil),
            onServerRunning: { channel in
                let shown = host == "0.0.0.0" || host == "::" ? "127.0.0.1" : host
                let actual = channel.localAddress?.port ?? port
                let address =
                    "\(tls == nil ? "http" : "https")://\(shown.contains(":") ? "[\(shown)]" : shown):\(actual)/"
                print("Switchboard \(ServerVersion.text) is ready: open \(address)")
                fflush(nil)
                logger.notice("ready", metadata: ["address": "\(address)"])
            }, logger: Logger(label: "http"))
        return ListeningService(service: application, setting: "http.port", host: host, port: port)
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
