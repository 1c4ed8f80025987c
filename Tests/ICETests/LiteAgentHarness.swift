import ICE
import OpenSSLCrypto
import STUN
import Testing
import Wire

/// An agent, the clock, and what it sent.
struct LiteAgentHarness {
    struct Sent: Outbox, Sendable {
        var messages: [(bytes: [UInt8], flow: Flow)] = []

        mutating func send(_ message: RawSpan, on flow: Flow) {
            messages.append((message.copyToArray(), flow))
        }
    }

    let authentication: OpenSSLAuthentication
    var agent: LiteAgent
    let credentials: LocalCredentials
    var now = Instant(nanoseconds: 1_000_000_000_000)
    var sent = Sent()
    private var transactions: UInt64 = 0

    init() throws {
        authentication = try #require(OpenSSLAuthentication())
        credentials = try Self.credentials(1)
        agent = LiteAgent(credentials, remoteUfrag: "peer", at: now)
    }

    static func credentials(_ seed: UInt8) throws -> LocalCredentials {
        let bytes = [UInt8](repeating: seed, count: LocalCredentials.randomByteCount)
        let made = LocalCredentials(random: bytes.span.bytes)
        return try #require(made)
    }

    static func flow(_ port: UInt16, _ transport: Flow.Transport = .udp) -> Flow {
        Flow(
            transport, local: TransportAddress(IPAddress(ipv4: 0x7F00_0001), port: 3480),
            remote: TransportAddress(IPAddress(ipv4: 0xC000_0201), port: port))
    }

    /// What a client sends; each part can be made wrong.
    struct Check {
        var type = MessageType(.request, .binding)
        var username: String?
        var password: [UInt8]?
        var priority: UInt32? = 1
        var nominates = false
        var nomination: UInt32?
        var isControlled = false
        var algorithm = IntegrityAlgorithm.sha1
        var hasFingerprint = true
        var transaction: UInt64?
        /// Stands before the integrity.
        var extra: AttributeType?
        /// Stands behind it.
        var appended: AttributeType?
    }

    mutating func bytes(of check: Check, for credentials: LocalCredentials? = nil) -> [UInt8] {
        let credentials = credentials ?? self.credentials
        transactions += 1
        var writer = MessageWriter()
        writer.begin(check.type, TransactionID(7, check.transaction ?? transactions))
        writer.append(.username, text: check.username ?? "\(credentials.ufrag.text):peer")
        writer.append(check.isControlled ? .iceControlled : .iceControlling, integer: UInt64.max)
        if let priority = check.priority { writer.append(.priority, integer: priority) }
        if check.nominates { writer.append(.useCandidate, bytes: []) }
        if let nomination = check.nomination { writer.append(.nomination, integer: nomination) }
        if let extra = check.extra { writer.append(extra, bytes: [1, 2, 3, 4]) }
        let key = check.password ?? credentials.password
        _ = writer.appendIntegrity(check.algorithm, key: key.span.bytes, authentication)
        if let appended = check.appended { writer.append(appended, bytes: []) }
        if check.hasFingerprint { writer.appendFingerprint() }
        return writer.bytes
    }

    mutating func receive(_ bytes: [UInt8], on flow: Flow) throws -> CheckOutcome {
        var writer = MessageWriter()
        let message = try Message(bytes.span.bytes)
        return agent.receive(message, on: flow, at: now, authentication, &writer, into: &sent)
    }

    mutating func check(
        _ check: Check = Check(), on flow: Flow, for credentials: LocalCredentials? = nil
    ) throws -> CheckOutcome {
        try receive(bytes(of: check, for: credentials), on: flow)
    }

    mutating func pass(seconds: UInt32) -> (loss: LegLoss?, removed: [Flow]) {
        now = now.adding(seconds: seconds)
        var removed: [Flow] = []
        let loss = agent.advance(to: now, removed: &removed)
        return (loss, removed)
    }
}

extension CheckOutcome {
    var changes: Changes? {
        if case .answered(let changes) = self { changes } else { nil }
    }
}
