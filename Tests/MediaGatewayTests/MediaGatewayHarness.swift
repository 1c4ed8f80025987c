import DatagramIO
import Gateway
import ICE
import OpenSSLCrypto
import SDP
import SecureMedia
import TestSupport
import Testing
import Wire

@testable import MediaGateway

/// One worker of the gateway on this thread, with real sockets of the loopback device and a clock that the test moves.
final class MediaGatewayHarness {
    let address: TransportAddress
    let streamAddress: TransportAddress
    private(set) var now = Instant(nanoseconds: 1_000_000_000_000)
    private var worker: GatewayWorker
    private let mailbox: GatewayMailbox
    private let eventLog = Shared<[GatewayEvent]>([])
    private let fingerprint: CertificateFingerprint
    private var lastNumber: UInt64 = 0
    private var generator = SeededRandom(seed: 1)

    /// - Parameter limits: none, since the clock stands still while a client sends.
    init(
        profiles: [SRTPProfile] = SRTPProfile.preferred, connections: Int? = nil, handshakes: WorkBudget = .unlimited,
        limits: TrackLimits = TrackLimits(bitsPerSecond: 0, packetsPerSecond: 0)
    ) throws {
        let identity = try #require(MediaIdentity.make())
        fingerprint = try #require(identity.fingerprint())
        let loopback = TransportAddress(IPAddress(ipv4: 0x7F00_0001), port: 0)
        let (socket, listener) = try (DatagramSocketOwner(loopback), StreamListenerOwner(loopback))
        (address, streamAddress) = (socket.address, listener.address)
        let context = try #require(MediaContexts.make(identity, profiles: profiles))
        mailbox = try #require(GatewayMailbox())
        let eventLog = eventLog
        let shared = GatewayShared(context, limits: limits) { event in eventLog.update { $0.append(event) } }
        let made = GatewayWorker.make(
            [socket], [listener], shared, mailbox, at: now, seed: 1, connections: connections, handshakes: handshakes)
        guard let made else { throw HarnessError.noWorker }
        worker = made
    }

    var stats: GatewayStats { mailbox.stats }
    /// Until the engine's timers run.
    var nanosecondsUntilTick: UInt64 { worker.nextTick.nanoseconds(since: now) }
    var events: [GatewayEvent] { eventLog.value }

    func ends(of participant: String) -> [LegEnd] {
        events.compactMap {
            if case .ended(let key, let reason) = $0, key.participant == participant { reason } else { nil }
        }
    }

    /// Why handshakes failed, after the participant's name.
    var handshakeFailures: [String] {
        events.compactMap {
            if case .handshakeFailed(let key, let reason) = $0 { "\(key.participant): \(reason)" } else { nil }
        }
    }

    func aliveCount(of participant: String) -> Int {
        events.count { if case .alive(let key) = $0 { key.participant == participant } else { false } }
    }

    /// Nothing is left of any leg.
    var isEmpty: Bool {
        pass(milliseconds: 1000)
        let held = stats
        return held.legs == 0 && held.connectedLegs == 0 && held.flows == 0 && held.connections == 0
            && held.ufrags == 0 && held.calls == 0 && held.tracks == 0
    }

    // MARK: Time

    /// One turn of the worker: it takes what has come, and does what is due.
    func turn() {
        let now = now
        worker.turn(waiting: 0) { now }
    }

    func stop() {
        worker.stop()
    }

    func pass(milliseconds: UInt64) {
        now = now.adding(nanoseconds: milliseconds * 1_000_000)
        turn()
    }

    /// Time goes by in steps of half a second, as the worker's sweep goes, and the clients check each five seconds.
    func pass(seconds: Int, checking clients: [LegClient] = []) {
        for step in 0..<seconds * 2 {
            if step % 10 == 0 { for client in clients { client.check() } }
            pass(milliseconds: 500)
            settle(clients)
        }
    }

    /// Lets datagrams go to and fro until there are no more.
    func settle(_ clients: [LegClient]) {
        // A connection is accepted in one turn and read in the next.
        var quiet = 0
        for _ in 0..<64 {
            turn()
            var count = 0
            for client in clients { count += client.takeAll() }
            quiet = count == 0 ? quiet + 1 : 0
            if quiet == 3 { return }
        }
        Issue.record("they never stop talking")
    }

    // MARK: Legs

    /// A leg for the client's offer, which the client then knows how to reach.
    @discardableResult
    func open(_ client: LegClient, call: String = "call") throws -> UInt64 {
        lastNumber += 1
        let credentials = try credentials()
        let negotiated = try negotiate(client, credentials)
        client.remote = credentials
        client.expected = [fingerprint]
        client.number = lastNumber
        let opening = LegOpening(
            number: lastNumber, key: LegKey(call: call, participant: client.name), credentials: credentials,
            negotiated: negotiated)
        try #require(mailbox.post(.open(opening) { _ in }))
        turn()
        return lastNumber
    }

    /// The client's next offer, with other credentials of its own: ICE begins again.
    func restart(_ client: LegClient) throws {
        client.ufrag += "x"
        let credentials = try credentials()
        let negotiated = try negotiate(client, credentials)
        let command = GatewayCommand.renegotiate(number: client.number, negotiated, [:], credentials) { _ in }
        try #require(mailbox.post(command))
        turn()
        client.remote = credentials
    }

    /// The client's next offer over the same transport.
    func renegotiate(_ client: LegClient) throws {
        let negotiated = try negotiate(client, try #require(client.remote))
        try #require(mailbox.post(.renegotiate(number: client.number, negotiated, [:], nil) { _ in }))
        turn()
    }

    /// Sets the client's preferences and returns all of them, as `2: low, 3: high`; nil without a leg.
    func setPreferences(_ preferences: [String: PreferredQuality], on client: LegClient) throws -> String? {
        let replies = Shared<[String?]>([])
        let reply: @Sendable ([LegSlotPreference]?) -> Void = { preferences in
            replies.update { $0.append(preferences?.text) }
        }
        try #require(mailbox.post(.setPreferences(number: client.number, preferences, reply)))
        turn()
        try #require(replies.value.count == 1)
        return replies.value[0]
    }

    func close(_ client: LegClient, _ reason: LegEnd = .left) throws {
        try #require(mailbox.post(.close(number: client.number, reason)))
        turn()
    }

    /// A client in the call, over UDP or TCP.
    func connected(_ name: String, byStream: Bool = false) throws -> LegClient {
        let client = try LegClient(
            name, ssrc: name == "ben" ? 22 : 11, to: byStream ? streamAddress : address, isStream: byStream)
        try connect(client)
        return client
    }

    /// Two who are in the call together.
    func pair(annByStream: Bool = false, benByStream: Bool = false) throws -> (ann: LegClient, ben: LegClient) {
        (try connected("ann", byStream: annByStream), try connected("ben", byStream: benByStream))
    }

    /// A leg that is checked, shaken hands with and connected.
    func connect(_ client: LegClient, call: String = "call") throws {
        try open(client, call: call)
        if client.isPassive { client.startHandshake() }
        client.check(nominates: true)
        settle([client])
        if !client.isPassive { client.startHandshake() }
        settle([client])
        try #require(client.isConnected)
    }

    private func credentials() throws -> LocalCredentials {
        let bytes = generator.bytes(LocalCredentials.randomByteCount)
        let made = LocalCredentials(random: bytes.span.bytes)
        return try #require(made)
    }

    private func negotiate(_ client: LegClient, _ credentials: LocalCredentials) throws -> NegotiatedLeg {
        let transport = GatewayTransport(
            fingerprints: [
                FingerprintAttribute(algorithm: fingerprint.function.name, digest: fingerprint.bytes)
            ], candidates: [],
            freshCredentials: ICECredentials(ufrag: credentials.ufrag.text, password: credentials.passwordText))
        var generator = generator
        defer { self.generator = generator }
        return try client.negotiation.answer(
            SessionDescription(parsing: client.offer), GatewayCapabilities(), transport
        ) { kind in
            SlotIdentity(
                ssrc: UInt32(truncatingIfNeeded: generator.next()),
                retransmissionSSRC: UInt32(truncatingIfNeeded: generator.next()), cname: "gateway", stream: "slot",
                track: "\(kind)")
        }
    }
}

enum HarnessError: Error {
    case noWorker
}

extension LocalCredentials {
    /// Of a leg that is not there.
    static func random(_ client: LegClient) -> LocalCredentials? {
        let bytes = [UInt8](repeating: UInt8(truncatingIfNeeded: client.ssrc), count: randomByteCount)
        return LocalCredentials(random: bytes.span.bytes)
    }
}

extension [LegSlotPreference] {
    var text: String { map { "\($0.mid): \($0.quality)" }.joined(separator: ", ") }
}
