package import STUN
package import Wire

/// A controlling ICE agent, for a client of a server whose candidates it knows (RFC 8445 sections 7.2 and 8).
///
/// It checks each flow to one of the peer's candidates, in their order, starting one every 50 ms, and retransmits
/// checks without a response. The first flow with a response is nominated; where there is only one, its first check
/// nominates already, as in browsers, since a second round trip would not help. On the nominated flow it checks the
/// peer's consent every few seconds (RFC 7675). It responds to checks of the peer, which a lite agent does not send.
///
///     waiting ── 50 ms each ──> checking ── response ──> nominating ── response ──> selected ── no consent, 30 s ──> lost
///                                 └── seven timeouts, or an error ──> failed
package struct ControllingAgent: Sendable {
    package enum Event: Hashable, Sendable {
        case nothing
        /// Once: DTLS and SRTP use this flow from now on.
        case selected(Flow)
        /// Once: the agent has ended.
        case failed(Failure)
    }

    package enum Failure: Hashable, Sendable {
        /// No candidate ever responded.
        case noResponse
        /// A check got this error response.
        case refused(UInt16)
        /// RFC 7675 section 5.1: no response for 30 s.
        case consentExpired
    }

    /// RFC 8445 section 14.2: between the first checks of two flows.
    static let pacing: UInt64 = 50_000_000
    /// RFC 8445 section 14.3 and RFC 8489 section 6.2.1: doubled after each attempt.
    static let initialRTO: UInt64 = 500_000_000
    static let tries = 7
    static let finalTimeout: UInt64 = 8_000_000_000
    /// RFC 7675 section 5.1: 5 s, randomized by a factor from 0.8 to 1.2.
    static let consentInterval: UInt64 = 5_000_000_000
    static let consentExpiry: UInt64 = 30_000_000_000
    /// RFC 8445 section 5.1.2.1: the priority of a peer-reflexive candidate of one component.
    static let priority: UInt32 = 110 << 24 | 65535 << 8 | 255
    private static let maximumConsentChecks = 8

    private enum Stage: Hashable, Sendable {
        case checking
        case valid
        case failed
    }

    private struct Check: Sendable {
        let flow: Flow
        var stage = Stage.checking
        var nominates: Bool
        var transaction: TransactionID
        var tries = 0
        var next: Instant
    }

    private let local: LocalCredentials
    private let remote: RemoteCredentials
    private let tieBreaker: UInt64
    private var random: SeededRandom
    private var checks: [Check] = []
    /// The latest consent checks.
    private var consentChecks: [TransactionID] = []
    private var nextConsentCheck = Instant.distantFuture
    private var lastResponse: Instant
    private var lastError: UInt16?
    private var isOver = false
    package private(set) var selected: Flow?

    /// `flows` lead to the peer's candidates, the best first. `seed` must come from a cryptographic generator, since
    /// transaction ids must not be predictable.
    package init(_ local: LocalCredentials, _ remote: RemoteCredentials, flows: [Flow], seed: UInt64, at now: Instant) {
        self.local = local
        self.remote = remote
        random = SeededRandom(seed: seed)
        tieBreaker = random.next()
        lastResponse = now
        for (index, flow) in flows.enumerated() {
            checks.append(
                Check(
                    flow: flow, nominates: flows.count == 1, transaction: Self.transaction(&random),
                    next: now.adding(nanoseconds: UInt64(index) &* Self.pacing)))
        }
    }

    /// When `advance` is due; nil when the agent has ended.
    package var deadline: Instant? {
        guard !isOver else { return nil }
        guard selected == nil else { return min(nextConsentCheck, expiry) }
        return checks.lazy.filter { $0.stage == .checking }.map(\.next).min() ?? lastResponse
    }

    private var expiry: Instant { lastResponse.adding(nanoseconds: Self.consentExpiry) }

    /// Sends what is due.
    package mutating func advance(
        to now: Instant, _ authentication: some MessageAuthentication, _ writer: inout MessageWriter,
        into outbox: inout some Outbox & ~Copyable
    ) -> Event {
        guard !isOver else { return .nothing }
        guard let selected else {
            for index in checks.indices where checks[index].stage == .checking && checks[index].next <= now {
                repeatCheck(index, at: now, authentication, &writer, into: &outbox)
            }
            return checks.contains { $0.stage != .failed }
                ? .nothing : end(lastError.map { .refused($0) } ?? .noResponse)
        }
        guard now < expiry else { return end(.consentExpired) }
        if now >= nextConsentCheck {
            let transaction = Self.transaction(&random)
            if consentChecks.count == Self.maximumConsentChecks { consentChecks.removeFirst() }
            consentChecks.append(transaction)
            schedule(after: now)
            send(transaction, nominates: true, on: selected, authentication, &writer, into: &outbox)
        }
        return .nothing
    }

    private mutating func repeatCheck(
        _ index: Int, at now: Instant, _ authentication: some MessageAuthentication, _ writer: inout MessageWriter,
        into outbox: inout some Outbox & ~Copyable
    ) {
        guard checks[index].tries < Self.tries else {
            checks[index].stage = .failed
            return
        }
        let rto = Self.initialRTO << UInt64(checks[index].tries)
        checks[index].tries += 1
        checks[index].next = now.adding(
            nanoseconds: checks[index].tries == Self.tries ? Self.finalTimeout : rto)
        let check = checks[index]
        send(
            check.transaction, nominates: check.nominates, on: check.flow, authentication, &writer, into: &outbox)
    }

    private mutating func schedule(after now: Instant) {
        let part = Self.consentInterval / 10
        nextConsentCheck = now.adding(nanoseconds: UInt64.random(in: 8 &* part...12 &* part, using: &random))
    }

    private mutating func end(_ failure: Failure) -> Event {
        isOver = true
        return .failed(failure)
    }

    /// Handles a STUN message. One that is not authentic changes nothing.
    package mutating func receive(
        _ message: borrowing Message, on flow: Flow, at now: Instant, _ authentication: some MessageAuthentication,
        _ writer: inout MessageWriter, into outbox: inout some Outbox & ~Copyable
    ) -> Event {
        guard !isOver, message.type.method == .binding else { return .nothing }
        switch message.type.messageClass {
        case .indication: return .nothing
        case .request:
            respond(to: message, on: flow, authentication, &writer, into: &outbox)
            return .nothing
        case .success, .failure:
            guard let algorithm = message.integrityToCheck,
                message.hasIntegrity(algorithm, key: remote.password.span.bytes, authentication)
            else { return .nothing }
            return handleResponse(message, on: flow, at: now, authentication, &writer, into: &outbox)
        }
    }

    private mutating func handleResponse(
        _ message: borrowing Message, on flow: Flow, at now: Instant, _ authentication: some MessageAuthentication,
        _ writer: inout MessageWriter, into outbox: inout some Outbox & ~Copyable
    ) -> Event {
        let transaction = message.transaction
        let isSuccess = message.type.messageClass == .success
        if consentChecks.contains(transaction) {
            guard isSuccess, flow == selected else { return .nothing }
            lastResponse = max(lastResponse, now)
            return .nothing
        }
        // RFC 8445 section 7.2.5.2.1: the response must come from the flow that was checked.
        guard
            let index = checks.firstIndex(where: {
                $0.transaction == transaction && $0.flow == flow && $0.stage == .checking
            })
        else { return .nothing }
        guard isSuccess else {
            lastError = message.errorNumber
            checks[index].stage = .failed
            return checks.contains { $0.stage != .failed } ? .nothing : end(.refused(lastError ?? 0))
        }
        if checks[index].nominates {
            guard selected == nil else { return .nothing }
            checks[index].stage = .valid
            selected = flow
            lastResponse = now
            schedule(after: now)
            return .selected(flow)
        }
        guard !checks.contains(where: \.nominates) else {
            checks[index].stage = .valid
            return .nothing
        }
        checks[index].nominates = true
        checks[index].transaction = Self.transaction(&random)
        checks[index].tries = 0
        repeatCheck(index, at: now, authentication, &writer, into: &outbox)
        return .nothing
    }

    private func send(
        _ transaction: TransactionID, nominates: Bool, on flow: Flow, _ authentication: some MessageAuthentication,
        _ writer: inout MessageWriter, into outbox: inout some Outbox & ~Copyable
    ) {
        writer.begin(MessageType(.request, .binding), transaction)
        writer.append(.username, bytes: remote.ufrag + [UInt8(ascii: ":")] + Array(local.ufrag.text.utf8))
        writer.append(.iceControlling, integer: tieBreaker)
        writer.append(.priority, integer: Self.priority)
        if nominates { writer.append(.useCandidate, bytes: []) }
        guard writer.appendIntegrity(.sha1, key: remote.password.span.bytes, authentication) else { return }
        writer.appendFingerprint()
        outbox.send(writer.bytes.span.bytes, on: flow)
    }

    /// Responds to a check of the peer, which a full agent sends (RFC 8445 section 7.3).
    private func respond(
        to message: borrowing Message, on flow: Flow, _ authentication: some MessageAuthentication,
        _ writer: inout MessageWriter, into outbox: inout some Outbox & ~Copyable
    ) {
        guard message.hasFingerprint, LocalUfrag(of: message) == local.ufrag, let algorithm = message.integrityToCheck,
            message.hasIntegrity(algorithm, key: local.password.span.bytes, authentication)
        else { return }
        let response = CheckResponse(message, flow: flow, algorithm: algorithm, password: local.password)
        _ = response.succeed(authentication, &writer, into: &outbox)
    }

    private static func transaction(_ random: inout SeededRandom) -> TransactionID {
        TransactionID(UInt32(truncatingIfNeeded: random.next()), random.next())
    }
}

/// The peer's user fragment and password, from its session description.
package struct RemoteCredentials: Hashable, Sendable {
    package let ufrag: [UInt8]
    package let password: [UInt8]

    package init(ufrag: String, password: String) {
        self.ufrag = Array(ufrag.utf8)
        self.password = Array(password.utf8)
    }
}
