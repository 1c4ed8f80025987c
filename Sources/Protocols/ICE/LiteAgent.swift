package import STUN
package import Wire

/// The gateway's ICE agent of one leg (RFC 8445, lite as in section 2.5): it responds to connectivity checks and sends
/// none.
///
/// Media is sent to the source of the latest valid check that nominates, by USE-CANDIDATE or by libwebrtc's nomination
/// number. So media continues without a gap when a client changes its address or nominates many pairs. The checks are
/// also the client's consent (RFC 7675): a flow without one for 30 s is removed, and a leg without flows is lost.
///
/// A restart begins a new generation of credentials. Checks of the old one still get a response, and it keeps the
/// media, until the new one is nominated.
///
///     check ── no fingerprint, wrong username, wrong MAC ──> dropped, no response, no state
///       └── authentic ── no PRIORITY, unknown attribute, ICE-CONTROLLED ──> 400, 420, 487
///             └── seen before: on another flow dropped, on this one a response
///                   └── new ──> flow added or refreshed, consent renewed, maybe nominated
///
/// A check with a wrong password gets no response, where RFC 8489 section 9.1.3 has a 401: that would make the gateway
/// send to spoofed addresses, and a client whose restart is not known here yet retransmits by itself.
package struct LiteAgent: Sendable {
    /// Flows that one leg may have at a time; the stalest is evicted.
    package static let maximumFlows = 16
    package static let consentSeconds: UInt32 = 30

    private struct Generation: Sendable {
        var credentials: LocalCredentials
        var remoteUfrag: [UInt8]
        var nominated: Flow?
        var highestNomination: UInt32 = 0
    }

    private struct KnownFlow: Sendable {
        var flow: Flow
        var lastCheck: Instant
    }

    /// The newest is the last; at most two.
    private var generations: [Generation]
    private var flows: [KnownFlow] = []
    private var history = CheckHistory()
    /// When the last new check was received; initially, when the agent was created.
    private var lastCheckReceived: Instant
    private var hasBeenChecked = false
    private var isLost = false
    /// The flow for media; nil before the first nomination and after its consent expired.
    package private(set) var selected: Flow?
    package private(set) var counters = CheckCounters()

    /// `remoteUfrag` is the client's, from its offer.
    package init(_ credentials: LocalCredentials, remoteUfrag: String, at now: Instant) {
        generations = [Generation(credentials: credentials, remoteUfrag: Array(remoteUfrag.utf8))]
        lastCheckReceived = now
    }

    /// The credentials of the newest generation.
    package var credentials: LocalCredentials? {
        generations.last?.credentials
    }

    /// The ufrags of every active generation.
    package var ufrags: [LocalUfrag] {
        generations.map(\.credentials.ufrag)
    }

    /// The flows whose DTLS and SRTP belong to the leg.
    package var validFlows: [Flow] {
        flows.map(\.flow)
    }

    package func isValid(_ flow: Flow) -> Bool {
        flows.contains { $0.flow == flow }
    }

    /// Begins a new generation, for an offer with new credentials (RFC 8445 section 9). Returns the ufrag of a
    /// generation that this ends: of two without media only the newer one is kept.
    package mutating func restart(_ credentials: LocalCredentials, remoteUfrag: String) -> LocalUfrag? {
        generations.append(Generation(credentials: credentials, remoteUfrag: Array(remoteUfrag.utf8)))
        guard generations.count > 2 else { return nil }
        let superfluous = generations[1].nominated == nil ? 1 : 0
        return generations.remove(at: superfluous).credentials.ufrag
    }

    /// Handles a STUN message of this leg. The response is written with `writer` and sent to `outbox`; on a stream the
    /// host frames it (`PacketFraming`).
    package mutating func receive(
        _ message: borrowing Message, on flow: Flow, at now: Instant, _ authentication: some MessageAuthentication,
        _ writer: inout MessageWriter, into outbox: inout some Outbox & ~Copyable
    ) -> CheckOutcome {
        let outcome = check(message, on: flow, at: now, authentication, &writer, into: &outbox)
        counters.add(outcome)
        return outcome
    }

    private mutating func check(
        _ message: borrowing Message, on flow: Flow, at now: Instant, _ authentication: some MessageAuthentication,
        _ writer: inout MessageWriter, into outbox: inout some Outbox & ~Copyable
    ) -> CheckOutcome {
        guard !isLost else { return .dropped(.ended) }
        guard message.type == MessageType(.request, .binding) else { return .dropped(.notACheck) }
        // RFC 8445 section 7.1.1: every check has one.
        guard message.hasFingerprint else { return .dropped(.noFingerprint) }
        guard let index = generation(of: message) else { return .dropped(.wrongUsername) }
        let password = generations[index].credentials.password
        guard let algorithm = message.integrityToCheck,
            message.hasIntegrity(algorithm, key: password.span.bytes, authentication)
        else { return .dropped(.wrongIntegrity) }

        let seen = history.seen(message.transaction, on: flow)
        guard seen != .elsewhere else { return .dropped(.replayed) }
        var response = CheckResponse(message, flow: flow, algorithm: algorithm, password: password)
        if let rejection = response.rejection(of: message) {
            return response.reject(rejection, authentication, &writer, into: &outbox)
                ? .refused(rejection) : .dropped(.notSigned)
        }
        guard response.succeed(authentication, &writer, into: &outbox) else { return .dropped(.notSigned) }
        // A repeated check renews nothing: it may be a replay with the client's spoofed address.
        guard seen == .never else { return .repeated }
        history.add(message.transaction, on: flow)
        var changes = CheckOutcome.Changes()
        keep(flow, at: now, &changes)
        nominate(message, on: flow, generation: index, &changes)
        return .answered(changes)
    }

    /// USERNAME must be the gateway's ufrag, a colon, and the client's.
    private func generation(of message: borrowing Message) -> Int? {
        guard let ufrag = LocalUfrag(of: message), let name = message.attribute(.username),
            let remote = name.part(9..<name.byteCount)
        else { return nil }
        // A loop, since a closure cannot capture the span.
        for index in generations.indices.reversed() where generations[index].credentials.ufrag == ufrag {
            let expected = generations[index].remoteUfrag
            return expected.span.bytes.equalsInConstantTime(remote) ? index : nil
        }
        return nil
    }

    private mutating func keep(_ flow: Flow, at now: Instant, _ changes: inout CheckOutcome.Changes) {
        hasBeenChecked = true
        lastCheckReceived = max(lastCheckReceived, now)
        if let index = flows.firstIndex(where: { $0.flow == flow }) {
            flows[index].lastCheck = max(flows[index].lastCheck, now)
            return
        }
        if flows.count >= Self.maximumFlows,
            let stalest = flows.indices.filter({ flows[$0].flow != selected })
                .min(by: { flows[$0].lastCheck < flows[$1].lastCheck })
        {
            changes.removed = flows.remove(at: stalest).flow
        }
        flows.append(KnownFlow(flow: flow, lastCheck: now))
        changes.added = flow
    }

    private mutating func nominate(
        _ message: borrowing Message, on flow: Flow, generation index: Int, _ changes: inout CheckOutcome.Changes
    ) {
        if let number = message.integer32(.nomination) {
            // A lower number is an older nomination that arrived late.
            guard number >= generations[index].highestNomination else { return }
            generations[index].highestNomination = number
        } else if !message.has(.useCandidate) {
            return
        }
        generations[index].nominated = flow
        // Nominations of an old generation do not count once the new one has nominated.
        if index == generations.count - 1, generations.count > 1 {
            changes.ended = generations.removeFirst().credentials.ufrag
        }
        guard selected != flow else { return }
        selected = flow
        changes.selected = flow
    }

    /// Authenticated media of a client that only sends was received: on the selected flow it counts as a check.
    package mutating func renew(_ flow: Flow, at now: Instant) {
        guard flow == selected, let index = flows.firstIndex(where: { $0.flow == flow }) else { return }
        flows[index].lastCheck = max(flows[index].lastCheck, now)
    }

    /// When `advance` is due.
    package var deadline: Instant? {
        guard !isLost else { return nil }
        let oldest = flows.map(\.lastCheck).min() ?? lastCheckReceived
        return oldest.adding(seconds: Self.consentSeconds)
    }

    /// Removes the flows whose consent has expired and adds them to `removed`; the leg is lost with the last.
    package mutating func advance(to now: Instant, removed: inout [Flow]) -> LegLoss? {
        guard !isLost, let deadline, deadline <= now else { return nil }
        flows.removeAll { known in
            let isExpired = known.lastCheck.adding(seconds: Self.consentSeconds) <= now
            if isExpired { removed.append(known.flow) }
            return isExpired
        }
        if let flow = selected, removed.contains(flow) { selected = nil }
        guard flows.isEmpty else { return nil }
        isLost = true
        return hasBeenChecked ? .consentExpired : .neverChecked
    }

    /// Nothing was read for so many nanoseconds until now: this time does not count for consent.
    package mutating func extend(by stall: UInt64, at now: Instant) {
        lastCheckReceived = min(lastCheckReceived.adding(nanoseconds: stall), max(lastCheckReceived, now))
        for index in flows.indices {
            let lastCheck = flows[index].lastCheck
            flows[index].lastCheck = min(lastCheck.adding(nanoseconds: stall), max(lastCheck, now))
        }
    }

    /// A connection was closed: its flow is removed. A leg without flows may continue on another until its consent
    /// would have expired.
    package mutating func forget(_ flow: Flow) {
        flows.removeAll { $0.flow == flow }
        if selected == flow { selected = nil }
        for index in generations.indices where generations[index].nominated == flow {
            generations[index].nominated = nil
        }
    }
}
