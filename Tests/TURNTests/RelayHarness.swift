import OpenSSLCrypto
import STUN
import Synchronization
import TURN
import Testing
import Wire

/// The relays of a harness, live while their port is open.
final class TestRelays: LiveRelays {
    private let open = Mutex<Set<TransportAddress>>([])

    func insert(_ address: TransportAddress) { open.withLock { _ = $0.insert(address) } }
    func remove(_ address: TransportAddress) { open.withLock { _ = $0.remove(address) } }
    var count: Int { open.withLock { $0.count } }

    func local(of address: TransportAddress) -> TransportAddress? {
        // The server's external address 198.18.0.1 leads to 10.0.0.1.
        var local = address
        if address.address == RelayHarness.external {
            local = TransportAddress(RelayHarness.serverIPv4, port: address.port)
        }
        return open.withLock { $0.contains(local) } ? local : nil
    }
}

/// An engine with a host made of arrays: ports are numbers, time is what the test says, quotas are counted.
final class RelayHarness {
    static let serverIPv4 = IPAddress(ipv4: 0x0A00_0001)
    static let serverIPv6 = IPAddress(ipv6High: 0x2600_0000_0000_0000, low: 1)
    static let external = IPAddress(ipv4: 0x2D00_0001)
    static let listening = TransportAddress(serverIPv4, port: 3478)
    static let peer = TransportAddress(IPAddress(ipv4: 0x0808_0808), port: 9999)
    static let start = Instant(nanoseconds: 1_000_000_000_000)
    static let unixSeconds: Int64 = 1_800_000_000

    var engine: TURNEngine
    var now = RelayHarness.start
    let relays = TestRelays()
    let authentication: OpenSSLAuthentication
    var charged: [String: Int] = [:]
    var quota = 100
    /// What the allocations of a user may relay together.
    var supplies: [String: any ByteSupply] = [:]
    /// What the engine asked for last.
    var requested: RelayRequest?
    /// No port is free.
    var isFull = false
    var bound: [RelayID: TransportAddress] = [:]
    var reserved: [UInt64: UInt16] = [:]
    private var nextPort: UInt16 = 50_000
    private var openings = 0

    init(
        allowed: [String] = [], denied: [String] = [], responsesPerSecond: UInt32 = 0,
        deniedOwnPorts: Set<UInt16> = [8080, 3478], openOwn: Set<TransportAddress> = []
    ) throws {
        authentication = try #require(OpenSSLAuthentication())
        let key = Array("nonce key".utf8)
        let ranges = allowed.compactMap { AddressRange($0) }
        engine = TURNEngine(
            credentials: Credentials(
                realm: "test", users: ["alice": "wonderland", "bob": "builder"],
                secrets: ["first secret", "second secret"]),
            policy: PeerPolicy(
                allowed: ranges, denied: denied.compactMap { AddressRange($0) },
                own: [RelayHarness.serverIPv4, RelayHarness.serverIPv6],
                externals: [(RelayHarness.external, RelayHarness.serverIPv4)],
                deniedOwnPorts: deniedOwnPorts, openOwn: openOwn, live: relays),
            nonces: NonceGenerator(key: Digest(key.span.bytes)),
            limiter: ResponseLimiter(perSecond: responsesPerSecond, burst: responsesPerSecond, seed: 1),
            authentication: try #require(OpenSSLAuthentication()))
        engine.setWallClock(unixMilliseconds: RelayHarness.unixSeconds * 1000, at: now)
    }

    struct Outcome {
        var messages: [(bytes: [UInt8], flow: Flow)] = []
        var toPeer: ToPeer?
        var posts: [(worker: UInt8, post: Post)] = []
    }

    /// Gives the engine a client's datagram and does what it asks for, as a host would.
    func receive(_ bytes: [UInt8], on flow: Flow) -> Outcome {
        var recorder = Recorder()
        let forward = engine.receive(bytes.span.bytes, on: flow, at: now, into: &recorder)
        settle(&recorder)
        return Outcome(messages: recorder.messages, toPeer: forward, posts: recorder.posts)
    }

    /// The same for what another worker posted.
    func receive(_ post: Post, from worker: UInt8) -> Outcome {
        var recorder = Recorder()
        var forward: ToPeer?
        switch post {
        case .datagram(let bytes, let flow, let isOccupied):
            forward = engine.receiveForwarded(
                bytes.span.bytes, on: flow, from: worker, isOccupied: isOccupied, at: now, into: &recorder)
        case .outgoing(let bytes, let flow):
            if engine.mayPass(bytes.span.bytes, on: flow, of: worker) { recorder.messages.append((bytes, flow)) }
        case .keep(let flow, let claim, let response):
            if engine.keepForwardedFlow(flow, of: worker, claim, into: &recorder) {
                recorder.messages.append((response, flow))
            }
        case .forget(let flow, let claim):
            engine.forgetForwardedFlow(flow, of: worker, claim)
        case .evict(let flow, let claim):
            engine.removeIngress(flow, claim, into: &recorder)
        }
        settle(&recorder)
        return Outcome(messages: recorder.messages, toPeer: forward, posts: recorder.posts)
    }

    @discardableResult
    func advance(seconds: UInt32) -> Outcome {
        now = now.adding(seconds: seconds)
        var recorder = Recorder()
        engine.advance(to: now, into: &recorder)
        settle(&recorder)
        return Outcome(messages: recorder.messages, posts: recorder.posts)
    }

    /// Gives the engine an ICMP error and returns what it sent to the client.
    func fail(_ error: PeerError, on relay: RelayID, from peer: TransportAddress) -> Outcome {
        var recorder = Recorder()
        engine.receiveError(error, on: relay, from: peer, at: now, into: &recorder)
        return Outcome(messages: recorder.messages)
    }

    func revoke(_ name: RevokedName) {
        var recorder = Recorder()
        engine.revoke(name, into: &recorder)
        settle(&recorder)
    }

    @discardableResult
    func close(_ flow: Flow) -> Outcome {
        var recorder = Recorder()
        engine.flowClosed(flow, into: &recorder)
        settle(&recorder)
        return Outcome(messages: recorder.messages, posts: recorder.posts)
    }

    private func settle(_ recorder: inout Recorder) {
        for id in recorder.closed {
            if let address = bound.removeValue(forKey: id) { relays.remove(address) }
        }
        for (_, user) in recorder.ended { charged[user, default: 0] -= 1 }
        recorder.closed = []
        recorder.ended = []
        for request in recorder.requests { open(request, &recorder) }
    }

    private func open(_ request: RelayRequest, _ recorder: inout Recorder) {
        requested = request
        guard charged[request.user, default: 0] < quota else {
            engine.relayFailed(request.allocation, .allocationQuotaReached, into: &recorder)
            return
        }
        guard !isFull else {
            engine.relayFailed(request.allocation, .insufficientCapacity, into: &recorder)
            return
        }
        var port = takePort()
        var token: UInt64?
        switch request.port {
        case .any: break
        case .even(let reserveNext):
            if port & 1 == 1 { port = takePort() }
            if reserveNext {
                token = UInt64(port) << 8
                reserved[UInt64(port) << 8] = takePort()
            }
        case .reserved(let claimed):
            guard let held = reserved.removeValue(forKey: claimed) else {
                engine.relayFailed(request.allocation, .insufficientCapacity, into: &recorder)
                return
            }
            port = held
        }
        charged[request.user, default: 0] += 1
        let first = bind(request, request.family, port)
        let second = request.additional.map { bind(request, $0, takePort()) }
        engine.relayOpened(
            request.allocation, RelayOpening(relay: first, additional: second, reservationToken: token),
            supply: supplies[request.user], at: now, into: &recorder)
    }

    private func bind(
        _ request: RelayRequest, _ family: IPAddress.Family, _ port: UInt16
    ) -> RelayOpening.Relay {
        let local = TransportAddress(family == .ipv4 ? RelayHarness.serverIPv4 : RelayHarness.serverIPv6, port: port)
        let advertised = TransportAddress(family == .ipv4 ? RelayHarness.external : RelayHarness.serverIPv6, port: port)
        bound[RelayID(request.allocation, family)] = local
        relays.insert(local)
        return RelayOpening.Relay(local: local, advertised: advertised)
    }

    private func takePort() -> UInt16 {
        nextPort = nextPort == .max ? 50_000 : nextPort + 1
        return nextPort
    }

    var liveAllocations: Int { charged.values.reduce(0, +) }
}

/// A client as RFC 8656 describes one: it gets realm and nonce from a 401, and signs from then on.
struct TestClient {
    let flow: Flow
    var username: String
    var password: String
    var realm = "test"
    var nonce: [UInt8] = []
    /// nil signs as RFC 5389 does, without naming an algorithm.
    var algorithm: PasswordAlgorithm?
    var integrity: IntegrityAlgorithm = .sha1
    /// Names itself by USERHASH.
    var isAnonymous = false
    /// ACCESS-TOKEN, and the key in it, which signs.
    var token: [UInt8]?
    var macKey: [UInt8]?
    private static let transactions = Mutex<UInt64>(0)

    init(
        port: UInt16 = 1000, username: String = "alice", password: String = "wonderland", remote: UInt32 = 0xC0A8_0001,
        transport: Flow.Transport = .udp
    ) {
        flow = Flow(
            transport, local: RelayHarness.listening, remote: TransportAddress(IPAddress(ipv4: remote), port: port))
        self.username = username
        self.password = password
    }

    static func nextTransaction() -> TransactionID {
        TransactionID(
            7,
            transactions.withLock {
                $0 += 1; return $0
            })
    }

    /// A request as it would be sent; `extra` comes before the signature, `behind` after it.
    func request(
        _ method: Method, _ harness: RelayHarness, transaction: TransactionID = TestClient.nextTransaction(),
        signed: Bool = true,
        extra: (inout MessageWriter) -> Void = { _ in }, behind: (inout MessageWriter) -> Void = { _ in }
    ) -> [UInt8] {
        var writer = MessageWriter()
        writer.begin(MessageType(.request, method), transaction)
        extra(&writer)
        if signed {
            if isAnonymous {
                let name = Array("\(username):\(realm)".utf8)
                writer.append(
                    .userHash, bytes: harness.authentication.hash(.sha256, name.span.bytes)?.copyToArray() ?? [])
            } else {
                writer.append(.username, text: username)
            }
            if let token { writer.append(.accessToken, bytes: token) }
            writer.append(.realm, text: realm)
            writer.append(.nonce, bytes: nonce)
            if let algorithm {
                writer.append(.passwordAlgorithms, bytes: [0, 2, 0, 0, 0, 1, 0, 0])
                writer.append(.passwordAlgorithm, integer: UInt32(algorithm.rawValue) << 16)
            }
            let key = key(harness)
            let isSigned = writer.appendIntegrity(integrity, key: key.span.bytes, harness.authentication)
            #expect(isSigned)
        }
        behind(&writer)
        return writer.bytes
    }

    func key(_ harness: RelayHarness) -> [UInt8] {
        if let macKey { return macKey }
        let name = Array(username.utf8)
        return (algorithm ?? .md5).key(
            username: name.span.bytes, realm: realm, password: Array(password.utf8), harness.authentication)?
            .copyToArray() ?? []
    }

    /// Asks without credentials and keeps the nonce.
    mutating func fetchNonce(_ harness: RelayHarness) throws {
        let outcome = harness.receive(request(.allocate, harness, signed: false), on: flow)
        let response = try Response(outcome)
        #expect(response.error == 401)
        #expect(response.realm == "test")
        nonce = try #require(response.nonce)
    }

    /// Allocates with UDP and whatever `extra` adds.
    mutating func allocate(
        _ harness: RelayHarness, transaction: TransactionID = TestClient.nextTransaction(),
        extra: (inout MessageWriter) -> Void = { _ in }
    ) throws -> Response {
        if nonce.isEmpty { try fetchNonce(harness) }
        let bytes = request(.allocate, harness, transaction: transaction) { writer in
            writer.append(.requestedTransport, integer: UInt32(17) << 24)
            extra(&writer)
        }
        return try Response(harness.receive(bytes, on: flow))
    }

    func permit(_ harness: RelayHarness, _ peers: TransportAddress...) throws -> Response {
        let bytes = request(.createPermission, harness) { writer in
            for peer in peers { writer.append(.xorPeerAddress, xor: peer) }
        }
        return try Response(harness.receive(bytes, on: flow))
    }

    func bind(_ harness: RelayHarness, _ number: UInt16, _ peer: TransportAddress) throws -> Response {
        let bytes = request(.channelBind, harness) { writer in
            writer.append(.channelNumber, integer: UInt32(number) << 16)
            writer.append(.xorPeerAddress, xor: peer)
        }
        return try Response(harness.receive(bytes, on: flow))
    }

    func refresh(_ harness: RelayHarness, lifetime: UInt32?, family: UInt8? = nil) throws -> Response {
        let bytes = request(.refresh, harness) { writer in
            if let lifetime { writer.append(.lifetime, integer: lifetime) }
            if let family { writer.append(.requestedAddressFamily, integer: UInt32(family) << 24) }
        }
        return try Response(harness.receive(bytes, on: flow))
    }

    func send(
        _ harness: RelayHarness, _ payload: [UInt8], to peer: TransportAddress, dontFragment: Bool = false
    ) -> ToPeer? {
        var writer = MessageWriter()
        writer.begin(MessageType(.indication, .send), TestClient.nextTransaction())
        if dontFragment { writer.append(.dontFragment, bytes: []) }
        writer.append(.xorPeerAddress, xor: peer)
        writer.append(.data, bytes: payload)
        return harness.receive(writer.bytes, on: flow).toPeer
    }

    func sendChannel(_ harness: RelayHarness, _ number: UInt16, _ payload: [UInt8]) -> ToPeer? {
        var bytes: [UInt8] = []
        bytes.append(bigEndian: number)
        bytes.append(bigEndian: UInt16(payload.count))
        return harness.receive(bytes + payload, on: flow).toPeer
    }
}

/// The one message that came back, taken apart.
struct Response {
    let bytes: [UInt8]
    let type: MessageType
    let transaction: TransactionID
    let error: UInt16?
    let relayed: TransportAddress?
    let mapped: TransportAddress?
    let lifetime: UInt32?
    let token: UInt64?
    let realm: String?
    let nonce: [UInt8]?
    let passwordAlgorithms: [UInt8]?
    let integrity: IntegrityAlgorithm?

    init(_ outcome: RelayHarness.Outcome) throws {
        #expect(outcome.messages.count == 1)
        let received = try #require(outcome.messages.first).bytes
        bytes = received
        let message = try Message(received.span.bytes)
        type = message.type
        transaction = message.transaction
        error = message.errorNumber
        relayed = message.xorAddress(.xorRelayedAddress)
        mapped = message.xorAddress(.xorMappedAddress)
        lifetime = message.integer32(.lifetime)
        token = message.attribute(.reservationToken)?.integer(at: 0, as: UInt64.self)
        realm = message.text(.realm)
        nonce = message.attribute(.nonce)?.copyToArray()
        passwordAlgorithms = message.attribute(.passwordAlgorithms)?.copyToArray()
        integrity = message.integrityToCheck
    }

    var isSuccess: Bool { type.messageClass == .success }

    func isSigned(by client: TestClient, _ algorithm: IntegrityAlgorithm, _ harness: RelayHarness) -> Bool {
        let key = client.key(harness)
        guard let message = try? Message(bytes.span.bytes) else { return false }
        return message.hasIntegrity(algorithm, key: key.span.bytes, harness.authentication)
    }
}
