import Accounts
import Hummingbird
import HummingbirdCore
import Logging
import Model
import Realtime
import ServiceLifecycle
import Services
import Storage
import Tokens
import WebAPI

/// The operator's port: the page and its API, metrics and health checks.
struct OperatorParts {
    /// So many people and Prometheus servers are more than one server has.
    private static let connections = (total: 256, perAddress: 64)

    let service: any Service

    /// - Parameters:
    ///   - calls: nil without the api.
    ///   - pushes: nil without the api.
    init(
        _ settings: AdminSettings, _ server: OperatedServer, accounts: AccountParts, calls: CallService?,
        pushes: OperatedPushes?,
        authenticator: RequestAuthenticator, addresses: ClientAddresses, certificate: LiveCertificate?,
        isStorageFull: @escaping @Sendable () -> Bool, collect: @escaping @Sendable () async -> Void,
        registry: PrometheusRegistry, readiness: Readiness
    ) {
        let sessions = OperatorSessions(
            keys: accounts.keys, secrets: SystemSecrets(), clock: Timestamp.systemClock)
        let table = RouteTable(
            operations: OperatorOperations.all(
                server, accounts.accounts, calls, pushes, accounts.keys, accounts.webhooks.commands, accounts.friends,
                sessions),
            schemas: OperatorOperations.schemas, about: .operators, version: ServerVersion.text,
            authenticator: authenticator,
            operators: OperatorAuthenticator(
                keys: accounts.keys, sessions: sessions, requests: authenticator, uptime: AccountParts.uptime),
            isStorageFull: isStorageFull, logger: Logger(label: "admin"))
        let pages = AdminPages(
            registry: registry, collect: collect, table: table, hosts: settings.knownHosts, addresses: addresses,
            readiness: readiness)
        let (host, port) = (settings.host, settings.port)
        let builder = HTTPServerBuilder { responder in
            let plain = PlainChannel(
                HTTP1Channel(responder: responder, configuration: .init(idleTimeout: .seconds(75))))
            let limits = ConnectionLimits(
                total: Self.connections.total, perAddress: Self.connections.perAddress)
            guard let tls = certificate?.tls else {
                return LimitedChannel(plain, addresses: addresses, limits: limits)
            }
            return LimitedChannel(
                try SecureChannel(plain, tls: tls), addresses: addresses, limits: limits)
        }
        let application = Application(
            router: pages.router(), server: builder,
            configuration: .init(address: .hostname(host, port: port), serverName: nil),
            onServerRunning: { _ in readiness.bound(.admin) }, logger: Logger(label: "admin"))
        service = ListeningService(
            service: application, setting: SettingsTable.key(of: \.admin.port), host: host, port: port)
    }
}
