import DTLS
import DatagramIO
import OpenSSLCrypto
import STUN
import Synchronization
package import TURN
import Wire

/// State that the workers of one relay share.
final class SharedRelay: Sendable {
    private struct State {
        /// All addresses of this machine, and those that it had a moment ago.
        var own: [IPAddress]
        /// Addresses of this server's own services that peers may have.
        var openOwn: Set<TransportAddress> = []
        var ports: RelayPorts
        var rules: RelayRules
    }

    let ledger: RelayLedger
    private let workerCount: Int
    private let balancers: [AddressRange]
    let joinsDatagrams: Bool
    let discoveries: [NATDiscovery]
    let rejections = AllocationRejections()
    /// nil where mobility is off.
    let ticketKey: Digest?
    private let state: Mutex<State>
    private let currentGenerators: Mutex<(nonces: NonceGenerator, cookies: CookieGenerator, rotatedAt: Instant)>

    init(
        _ configuration: RelayConfiguration, _ addresses: RelayAddresses, listeningPorts: Set<UInt16>,
        discoveries: [NATDiscovery], own: [IPAddress], nonceKey: Digest, cookieKey: Digest,
        ticketKey: Digest?
    ) {
        self.ticketKey = ticketKey
        self.discoveries = discoveries
        workerCount = configuration.workerCount
        balancers = configuration.balancers
        joinsDatagrams = configuration.joinsDatagrams
        ledger = RelayLedger(configuration.limits, at: SystemClock.now())
        let ports = RelayPorts(table: PortTable(addresses), range: configuration.minPort...configuration.maxPort)
        let rules = Self.rules(configuration, listeningPorts, own: own, openOwn: [], ports.table, nil)
        state = Mutex(State(own: own, ports: ports, rules: rules))
        currentGenerators = Mutex(
            (NonceGenerator(key: nonceKey), CookieGenerator(key: cookieKey), SystemClock.now()))
    }

    private static func rules(
        _ configuration: RelayConfiguration, _ listeningPorts: Set<UInt16>, own: [IPAddress],
        openOwn: Set<TransportAddress>, _ table: PortTable, _ ports: PortChange?
    ) -> RelayRules {
        RelayRules(
            configuration: configuration, listeningPorts: listeningPorts,
            credentials: Credentials(
                realm: configuration.realm, users: configuration.users, secrets: configuration.secrets,
                tokenKeys: configuration.tokenKeys),
            policy: policy(configuration, listeningPorts, own: own, openOwn: openOwn, table),
            limits: configuration.limits,
            alternates: configuration.alternates,
            datagramContext: configuration.certificate.flatMap { DTLSContext.server($0) },
            streamContext: configuration.certificate.flatMap { TLSServerContext($0) }, ports: ports,
            listeners: ports?.listeners)
    }

    private static func policy(
        _ configuration: RelayConfiguration, _ listeningPorts: Set<UInt16>, own: [IPAddress],
        openOwn: Set<TransportAddress>, _ table: PortTable
    ) -> PeerPolicy {
        PeerPolicy(
            allowed: configuration.allowedPeers, denied: configuration.deniedPeers, own: own,
            externals: table.externals,
            deniedOwnPorts: configuration.deniedOwnPorts.union(listeningPorts), openOwn: openOwn, live: table)
    }

    /// The rules of another configuration.
    func rules(
        for configuration: RelayConfiguration, listeningOn listeningPorts: Set<UInt16>, _ ports: PortChange?
    ) -> RelayRules {
        let (own, openOwn, table) = state.withLock { ($0.own, $0.openOwn, $0.ports.table) }
        return Self.rules(configuration, listeningPorts, own: own, openOwn: openOwn, table, ports)
    }

    /// The rules that new workers start with.
    var rules: RelayRules { state.withLock { $0.rules } }

    /// Returns the rules for the workers: their policy is that for the addresses of now, which may have changed since the
    /// rules were made.
    func adopt(_ rules: RelayRules) -> RelayRules {
        ledger.adopt(rules.limits)
        return state.withLock { state in
            state.rules = rules
            // The workers get them once.
            state.rules.listeners = nil
            return Self.refreshed(&state, rules.listeners)
        }
    }

    /// Keeps peers from these addresses, but for relays. Returns the rules for the workers.
    func adopt(own: [IPAddress]) -> RelayRules {
        state.withLock { state in
            state.own = own
            return Self.refreshed(&state, nil)
        }
    }

    /// Relays from these addresses from now on. Returns the rules for the workers.
    ///
    /// - Parameter used: those on which relays may be.
    func adopt(_ addresses: RelayAddresses, used: RelayAddresses, _ listeners: ListenerChange?) -> RelayRules {
        state.withLock { state in
            let table = PortTable(addresses, used: used, after: state.ports.table)
            state.ports = RelayPorts(table: table, range: state.ports.range)
            return Self.refreshed(&state, listeners)
        }
    }

    /// Allows these local addresses as peers. Returns the rules for the workers.
    func openToPeers(_ addresses: Set<TransportAddress>) -> RelayRules {
        state.withLock { state in
            state.openOwn = addresses
            return Self.refreshed(&state, nil)
        }
    }

    private static func refreshed(_ state: inout State, _ listeners: ListenerChange?) -> RelayRules {
        state.rules.policy = policy(
            state.rules.configuration, state.rules.listeningPorts, own: state.own, openOwn: state.openOwn,
            state.ports.table)
        var rules = state.rules
        rules.listeners = listeners
        return rules
    }

    /// One worker's share of a limit.
    func share(of limit: Int) -> Int { max(1, limit / workerCount) }

    /// The generators of nonces and of DTLS cookies. The first worker that asks after an hour rotates their keys for
    /// all.
    func generators(at now: Instant) -> (nonces: NonceGenerator, cookies: CookieGenerator) {
        currentGenerators.withLock { generators in
            if now.seconds(since: generators.rotatedAt) >= NonceGenerator.lifetime,
                let nonceKey = OpenSSLSource.key(), let cookieKey = OpenSSLSource.key()
            {
                generators.nonces.rotate(to: nonceKey)
                generators.cookies.rotate(to: cookieKey)
                generators.rotatedAt = now
            }
            return (generators.nonces, generators.cookies)
        }
    }

    /// Whether the address is a load balancer's.
    func isBalancer(_ address: IPAddress) -> Bool {
        balancers.contains { $0.contains(address) }
    }

    enum Opened {
        case opened(RelayOpening, [OpenedSocket])
        case rejected(ErrorCode)
    }

    /// Charges the user and opens the requested ports: all or none, except for the additional family.
    func open(_ request: RelayRequest, at now: Instant) -> Opened {
        if let error = ledger.charge(request.user, request.scope) {
            rejections.count(charging: error, isDraining: ledger.isDraining)
            return .rejected(error)
        }
        switch openPorts(request, at: now) {
        case .rejected(let error):
            ledger.release(request.user)
            rejections.count(opening: error)
            return .rejected(error)
        case let opened:
            return opened
        }
    }

    private func openPorts(_ request: RelayRequest, at now: Instant) -> Opened {
        let ports = state.withLock { $0.ports }
        if case .reserved(let token) = request.port {
            guard let held = ledger.claim(token, for: request.claimant, at: now) else {
                return .rejected(.insufficientCapacity)
            }
            return .opened(RelayOpening(relay: relay(held)), [OpenedSocket(held, held.entry.local.family)])
        }
        guard let index = ports.table.addresses.index(for: request.local.address, request.family) else {
            return .rejected(.addressFamilyNotSupported)
        }
        do {
            var token: UInt64?
            let first: HeldSocket
            switch request.port {
            case .even(reserveNext: true):
                let (even, odd) = try ports.openPair(at: index)
                first = even
                token = ledger.hold(odd, for: request, at: now)
                guard token != nil else { return .rejected(.insufficientCapacity) }
            case .even(reserveNext: false):
                first = try ports.openEven(at: index)
            case .any, .reserved:
                first = try ports.open(at: index)
            }
            let (additional, failure) = openAdditional(request, ports)
            return .opened(
                RelayOpening(
                    relay: relay(first), additional: additional.map { relay($0) }, additionalFailure: failure,
                    reservationToken: token),
                [OpenedSocket(first, request.family)]
                    + (additional.map { [OpenedSocket($0, $0.entry.local.family)] } ?? []))
        } catch {
            return .rejected(.insufficientCapacity)
        }
    }

    private func openAdditional(_ request: RelayRequest, _ ports: RelayPorts) -> (HeldSocket?, ErrorCode?) {
        guard let family = request.additional else { return (nil, nil) }
        guard let index = ports.table.addresses.index(for: request.local.address, family) else {
            return (nil, .addressFamilyNotSupported)
        }
        do {
            return (try ports.open(at: index), nil)
        } catch {
            return (nil, .insufficientCapacity)
        }
    }

    private func relay(_ held: HeldSocket) -> RelayOpening.Relay {
        RelayOpening.Relay(
            local: TransportAddress(held.entry.local, port: held.port),
            advertised: TransportAddress(held.entry.advertised, port: held.port))
    }
}

/// A socket that was opened for a relay of this family.
struct OpenedSocket {
    let socket: HeldSocket
    let family: IPAddress.Family

    init(_ socket: HeldSocket, _ family: IPAddress.Family) {
        self.socket = socket
        self.family = family
    }
}

/// Keys, seeds and codes from OpenSSL.
enum OpenSSLSource {
    static func authentication() -> OpenSSLAuthentication? {
        OpenSSLAuthentication()
    }

    static func decryption() -> OpenSSLDecryption? {
        OpenSSLDecryption()
    }

    static func seed() -> UInt64? {
        OpenSSLRandom.integer()
    }

    static func key() -> Digest? {
        guard let bytes = OpenSSLRandom.bytes(32) else { return nil }
        return Digest(bytes.span.bytes)
    }
}

/// Timestamps for issuing and revoking credentials. They increase strictly, also within a millisecond: a credential
/// issued after a revocation is valid, and one issued before it is not.
enum CredentialClock {
    private static let last = Atomic<Int64>(0)

    /// Milliseconds since 1970.
    static func next() -> Int64 {
        let now = SystemClock.unixNanoseconds() / 1_000_000
        var known = last.load(ordering: .relaxed)
        while true {
            let next = max(Int64(clamping: now), known &+ 1)
            let (exchanged, original) = last.compareExchange(
                expected: known, desired: next, ordering: .acquiringAndReleasing)
            if exchanged { return next }
            known = original
        }
    }
}

extension EphemeralCredential {
    /// A name and password of a user, valid for a scope until `expiresAt` (Unix seconds). nil when OpenSSL failed.
    package static func make(
        secret: String, user: String, scope: CredentialScope, expiresAt: Int64
    ) -> (username: String, password: String)? {
        make(
            secret,
            username(user: user, scope: scope, expiresAt: expiresAt, issuedAt: CredentialClock.next()))
    }

    /// A name and password valid until `expiresAt` (Unix seconds), bound to a user and, where given, a call. nil when
    /// OpenSSL failed.
    package static func make(
        secret: String, user: String, call: String? = nil, expiresAt: Int64
    ) -> (username: String, password: String)? {
        make(secret, username(user: user, call: call, expiresAt: expiresAt))
    }

    private static func make(_ secret: String, _ username: String) -> (username: String, password: String)? {
        guard let authentication = OpenSSLAuthentication(),
            let password = password(of: username, secret: secret, authentication)
        else { return nil }
        return (username, String(decoding: password, as: UTF8.self))
    }
}
