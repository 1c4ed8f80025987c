import DatagramIO
import Model
import OpenSSLCrypto
import Relay
import Services
import Storage
import Synchronization
import TURN
import Wire

/// The relay's current configuration, which a reload replaces.
final class CurrentRelay: Sendable {
    private let current: Mutex<RelayConfiguration>
    private let open: Mutex<Bool>

    init(_ settings: RelaySettings) {
        current = Mutex(settings.configuration)
        open = Mutex(settings.issuesOpenCredentials)
    }

    /// The secret that signs new ephemeral credentials: the first of relay.secrets.
    var newestSecret: String { current.withLock { $0.secrets.first ?? "" } }

    /// Whether the certificate is valid for this name or address.
    func isCertified(for name: String) -> Bool { current.withLock { $0.certificate }?.covers(name) ?? false }

    /// Ports of TURN over TLS that are given to clients.
    var tlsPorts: [Int] {
        current.withLock { $0.certificate == nil ? [] : $0.tlsPorts.map(Int.init) }
    }

    /// Whether every user gets credentials, without a purpose.
    var issuesOpenCredentials: Bool { open.withLock { $0 } }

    func adopt(_ settings: RelaySettings) {
        current.withLock { $0 = settings.configuration }
        open.withLock { $0 = settings.issuesOpenCredentials }
    }
}

/// The relay's part of the configuration, validated.
struct RelaySettings {
    let configuration: RelayConfiguration
    /// Whether a certificate is configured.
    let hasTLS: Bool
    /// `relay.credentials: open`.
    let issuesOpenCredentials: Bool
    /// How long a voice message needs the relay: its maximum length, plus time to begin and to be sent.
    private let gatewaySeconds: Int64
    private let address: String?

    init(_ settings: ServerConfiguration, directory: DataDirectory) throws {
        try self.init(settings) { try RelaySecretFile.load(path: directory.file("relay-secret")) }
    }

    /// - Parameters:
    ///   - hasFiles: whether the certificate is on this machine; a check from elsewhere does not need it.
    ///   - secret: returns the secret in the data directory, used if none is configured.
    init(_ settings: ServerConfiguration, hasFiles: Bool = true, secret: () throws -> String) throws {
        var configuration = RelayConfiguration()
        configuration.listen = try settings[\.relay.listen].map { text in
            guard let address = IPAddress(text) else {
                throw ConfigurationError("relay.listen: \(text) is not an IP address.")
            }
            return address
        }
        configuration.port = UInt16(clamping: settings[\.relay.port])
        configuration.tlsPorts = settings[\.relay.tlsPorts].map { UInt16(clamping: $0) }
        hasTLS = !settings[\.relay.certificate].isEmpty || !settings[\.http.certificate].isEmpty
        issuesOpenCredentials = settings[\.relay.credentials] == .open
        gatewaySeconds = Int64(settings[\.voice.maxSeconds]) + 120
        configuration.certificate = hasFiles ? try Self.certificate(settings) : nil
        configuration.balancers = try settings[\.relay.proxyProtocol].map { text in
            guard let range = AddressRange(text) else {
                throw ConfigurationError(
                    "relay.proxyProtocol: \(text) is not an address or range such as 10.0.0.0/8.")
            }
            return range
        }
        configuration.realm = settings[\.relay.realm]
        configuration.users = settings[\.relay.users]
        configuration.secrets = settings[\.relay.secrets]
        if configuration.secrets.isEmpty {
            configuration.secrets = [try secret()]
        }
        for (kid, text) in settings[\.relay.oauthKeys] {
            let encoded = Array(text.utf8)
            guard let key = Base64.decode(encoded.span.bytes) else {
                throw ConfigurationError("relay.oauthKeys: the key of '\(kid)' is not base64.")
            }
            configuration.tokenKeys[kid] = key
        }
        configuration.alternates = try settings[\.relay.alternateServer].map { text in
            guard let address = TransportAddress(text) else {
                throw ConfigurationError(
                    "relay.alternateServer: \(text) is not an address with a port, such as 203.0.113.9:3478.")
            }
            return address
        }
        configuration.isMobile = settings[\.relay.mobility]
        configuration.servesDiscovery = settings[\.relay.natDiscovery]
        let external = settings[\.relay.externalAddress]
        if !external.isEmpty {
            guard let address = ExternalAddress(external) else {
                throw ConfigurationError(
                    "relay.externalAddress must be an address, or external/local, such as 203.0.113.5/10.0.0.5.")
            }
            configuration.externalAddresses = [address]
        }
        configuration.allowedPeers = try Self.ranges(\.relay.peers.allow, settings)
        configuration.deniedPeers = try Self.ranges(\.relay.peers.deny, settings)
        configuration.minPort = UInt16(clamping: settings[\.relay.minPort])
        configuration.maxPort = UInt16(clamping: settings[\.relay.maxPort])
        let workers = settings[\.relay.workers]
        configuration.workers = workers == 0 ? nil : workers
        configuration.pinsThreads = settings[\.relay.pinThreads]
        let descriptors = DescriptorBudget(settings)
        configuration.limits.connections = descriptors.relayConnections
        configuration.limits.allocations = descriptors.allocations
        configuration.limits.allocationsPerUser = settings[\.relay.limits.allocationsPerUser]
        configuration.limits.messageSeconds = UInt32(clamping: settings[\.relay.limits.messageSeconds])
        configuration.limits.idleSeconds = UInt32(clamping: settings[\.relay.limits.idleSeconds])
        configuration.limits.datagramSessions = settings[\.relay.limits.dtlsSessions]
        configuration.limits.datagramHandshakes = settings[\.relay.limits.dtlsHandshakes]
        let handshakes = settings[\.relay.limits.dtlsHandshakesPerSecond]
        configuration.limits.handshakesPerSecond = UInt32(clamping: handshakes)
        configuration.limits.handshakeBurst = UInt32(clamping: handshakes * 5)
        configuration.limits.handshakeSeconds = UInt32(clamping: settings[\.relay.limits.dtlsHandshakeSeconds])
        configuration.limits.perAllocation = AllocationLimits(
            bytesPerSecond: UInt64(clamping: settings[\.relay.limits.bytesPerSecond]),
            packetsPerSecond: UInt64(clamping: settings[\.relay.limits.packetsPerSecond]),
            newPeersPerSecond: UInt64(clamping: settings[\.relay.limits.newPeersPerSecond]))
        configuration.limits.userBytesPerSecond = UInt64(
            clamping: settings[\.relay.limits.userBytesPerSecond])
        configuration.limits.totalBytesPerSecond = UInt64(
            clamping: settings[\.relay.limits.totalBytesPerSecond])
        configuration.deniedOwnPorts = [
            UInt16(clamping: settings[\.http.port]), UInt16(clamping: settings[\.admin.port]),
        ]
        address = configuration.externalAddresses.first.map { "\($0.external)" }
        self.configuration = configuration
    }

    private static func ranges(
        _ setting: KeyPath<SettingsTable, Setting<[String]>>, _ settings: ServerConfiguration
    ) throws -> [AddressRange] {
        try settings[setting].map { text in
            guard let range = AddressRange(text) else {
                let key = SettingsTable.key(of: setting)
                throw ConfigurationError("\(key): \(text) is not a range such as 192.168.0.0/16.")
            }
            return range
        }
    }

    /// The relay's own certificate, else the one of the HTTPS port.
    private static func certificate(_ settings: ServerConfiguration) throws -> ServerCertificate? {
        var (chain, key, prefix) = (settings[\.relay.certificate], settings[\.relay.privateKey], "relay")
        if chain.isEmpty, key.isEmpty {
            (chain, key, prefix) = (settings[\.http.certificate], settings[\.http.privateKey], "http")
        }
        if chain.isEmpty, key.isEmpty { return nil }
        guard !chain.isEmpty, !key.isEmpty else {
            throw ConfigurationError(
                "\(prefix).certificate and \(prefix).privateKey go together: set both, or neither.")
        }
        do {
            return try ServerCertificate(chainFile: chain, keyFile: key)
        } catch {
            throw ConfigurationError("\(prefix).certificate: \(error.description).")
        }
    }

    /// A warning about the certificate for the operator.
    var warning: String? {
        configuration.certificate?.warning(at: SystemClock.unixSeconds())
    }

    func start() throws -> RelayServer {
        let server = try RelayServer(configuration: configuration)
        try server.start()
        return server
    }

    /// Issues this relay's addresses, and credentials signed with the current newest secret.
    func issuer(_ current: CurrentRelay) -> ICEServerIssuer {
        ICEServerIssuer(
            address: address, port: Int(configuration.port), gatewaySeconds: gatewaySeconds,
            isOpen: { current.issuesOpenCredentials },
            tlsPorts: { current.tlsPorts },
            isCertified: { current.isCertified(for: $0) }
        ) { user, scope, expiresAt in
            EphemeralCredential.make(
                secret: current.newestSecret, user: user, scope: CredentialScope(scope), expiresAt: expiresAt)
        }
    }
}

extension CredentialScope {
    fileprivate init(_ scope: RelayScope) {
        switch scope {
        case .call(let id): self = .call(id.text)
        case .gateway: self = .gateway
        case .test: self = .test
        case .open: self = .open
        }
    }
}
