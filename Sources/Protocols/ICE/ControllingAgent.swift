package import STUN
package import Wire

/// The controlling end of ICE, as a client has it towards a server whose candidates it knows (RFC 8445 sections 7.2 and 8).
///
/// It checks each flow that leads to one of the peer's candidates, in their order, one begun every 50 ms, and repeats what
/// gets no answer. The first flow that answers is nominated; where there is only one, its first check nominates already,
/// as browsers do, since a second round trip would tell nothing new. On the nominated flow it goes on asking every few
/// seconds whether the peer still wants to receive (RFC 7675). Checks of the peer, which a lite one sends none of, are
/// answered.
///
///     waiting ── 50 ms each ──> checking ── answered ──> nominating ── answered ──> selected ── consent … 30 s ──> lost
///                                 └── seven times nothing, or refused ──> failed
package struct CheckingAgent: Sendable {
    package enum Event: Hashable, Sendable {
        case nothing
        /// Once: DTLS and SRTP go this way from now on.
        case selected(Flow)
        /// Once: it is the end.
        case failed(Failure)
    }

    package enum Failure: Hashable, Sendable {
        /// No candidate has ever answered.
        case unanswered
        /// A check was answered with this error.
        case refused(UInt16)
        /// RFC 7675 section 5.1: no answer for 30 s.
        case consentExpired
    }

    /// RFC 8445 section 14.2: between the first checks of two flows.
    static let pacing: UInt64 = 50_000_000
    /// RFC 8445 section 14.3 and RFC 8489 section 6.2.1: doubled after each try.
    static let firstPatience: UInt64 = 500_000_000
    static let tries = 7
    static let lastPatience: UInt64 = 8_000_000_000
    /// RFC 7675 section 5.1: 5 s, of which 0.8 to 1.2 parts are taken by chance.
    static let consentInterval: UInt64 = 5_000_000_000
    static let consentExpiry: UInt64 = 30_000_000_000
    /// RFC 8445 section 5.1.2.1: what a peer-reflexive candidate of one component would have.
    static let priority: UInt32 = 110 << 24 | 65535 << 8 | 255
    private static let consentLimit = 8

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
    private var chance: SeededRandom
    private var checks: [Check] = []
    /// The latest questions for consent.
    private var questions: [TransactionID] = []
    private var nextQuestion = Instant.distantFuture
    private var lastAnswer: Instant
    private var refusal: UInt16?
    private var isOver = false
    package private(set) var selected: Flow?

    /// `flows` are the ways to the peer's candidates, the best first. `seed` has to be of a generator that is fit for
    /// secrets, since transactions are not to be guessed.
    package init(_ local: LocalCredentials, _ remote: RemoteCredentials, flows: [Flow], seed: UInt64, at now: Instant) {
        self.local = local
        self.remote = remote
        chance = SeededRandom(seed: seed)
        tieBreaker = chance.next()
        lastAnswer = now
        for (index, flow) in flows.enumerated() {
            checks.append(
                Check(
                    flow: flow, nominates: flows.count == 1, transaction: Self.transaction(&chance),
                    next: now.adding(nanoseconds: UInt64(index) &* Self.pacing)))
        }
    }

    /// When `advance` has something to do; nil when it is the end.
    package var deadline: Instant? {
        guard !isOver else { return nil }
        guard selected == nil else { return min(nextQuestion, expiry) }
        return checks.lazy.filter { $0.stage == .checking }.map(\.next).min() ?? lastAnswer
    }

    private var expiry: Instant { lastAnswer.adding(nanoseconds: Self.consentExpiry) }

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
            return checks.contains { $0.stage != .failed } ? .nothing : end(refusal.map { .refused($0) } ?? .unanswered)
        }
        guard now < expiry else { return end(.consentExpired) }
        if now >= nextQuestion {
            let transaction = Self.transaction(&chance)
            if questions.count == Self.consentLimit { questions.removeFirst() }
            questions.append(transaction)
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
        let patience = Self.firstPatience << UInt64(checks[index].tries)
        checks[index].tries += 1
        checks[index].next = now.adding(
            nanoseconds: checks[index].tries == Self.tries ? Self.lastPatience : patience)
        let check = checks[index]
        send(
            check.transaction, nominates: check.nominates, on: check.flow, authentication, &writer, into: &outbox)
    }

    private mutating func schedule(after now: Instant) {
        let part = Self.consentInterval / 10
        nextQuestion = now.adding(nanoseconds: UInt64.random(in: 8 &* part...12 &* part, using: &chance))
    }

    private mutating func end(_ failure: Failure) -> Event {
        isOver = true
        return .failed(failure)
    }

    /// Takes a datagram that is STUN. What is not authentic changes nothing.
    package mutating func receive(
        _ message: borrowing Message, on flow: Flow, at now: Instant, _ authentication: some MessageAuthentication,
        _ writer: inout MessageWriter, into outbox: inout some Outbox & ~Copyable
    ) -> Event {
        guard !isOver, message.type.method == .binding else { return .nothing }
        switch message.type.messageClass {
        case .indication: return .nothing
        case .request:
            answer(message, on: flow, authentication, &writer, into: &outbox)
            return .nothing
        case .success, .failure:
            guard let algorithm = message.integrityToCheck,
                message.hasIntegrity(algorithm, key: remote.password.span.bytes, authentication)
            else { return .nothing }
            return take(message, on: flow, at: now, authentication, &writer, into: &outbox)
        }
    }

    private mutating func take(
        _ message: borrowing Message, on flow: Flow, at now: Instant, _ authentication: some MessageAuthentication,
        _ writer: inout MessageWriter, into outbox: inout some Outbox & ~Copyable
    ) -> Event {
        let transaction = message.transaction
        let isSuccess = message.type.messageClass == .success
        if questions.contains(transaction) {
            guard isSuccess, flow == selected else { return .nothing }
            lastAnswer = max(lastAnswer, now)
            return .nothing
        }
        // RFC 8445 section 7.2.5.2.1: the answer has to come from where the check went.
        guard
            let index = checks.firstIndex(where: {
                $0.transaction == transaction && $0.flow == flow && $0.stage == .checking
            })
        else { return .nothing }
        guard isSuccess else {
            refusal = message.errorNumber
            checks[index].stage = .failed
            return checks.contains { $0.stage != .failed } ? .nothing : end(.refused(refusal ?? 0))
        }
        if checks[index].nominates {
            guard selected == nil else { return .nothing }
            checks[index].stage = .valid
            selected = flow
            lastAnswer = now
            schedule(after: now)
            return .selected(flow)
        }
        guard !checks.contains(where: \.nominates) else {
            checks[index].stage = .valid
            return .nothing
        }
        checks[index].nominates = true
        checks[index].transaction = Self.transaction(&chance)
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

    /// A full peer checks its way to us too (RFC 8445 section 7.3).
    private func answer(
        _ message: borrowing Message, on flow: Flow, _ authentication: some MessageAuthentication,
        _ writer: inout MessageWriter, into outbox: inout some Outbox & ~Copyable
    ) {
        guard message.hasFingerprint, LocalUfrag(of: message) == local.ufrag, let algorithm = message.integrityToCheck,
            message.hasIntegrity(algorithm, key: local.password.span.bytes, authentication)
        else { return }
        let answer = CheckAnswer(message, flow: flow, algorithm: algorithm, password: local.password)
        _ = answer.succeed(authentication, &writer, into: &outbox)
    }

    private static func transaction(_ chance: inout SeededRandom) -> TransactionID {
        TransactionID(UInt32(truncatingIfNeeded: chance.next()), chance.next())
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
