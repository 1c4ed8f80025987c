package import Wire

/// The stateless cookie exchange of a DTLS server (RFC 6347 section 4.2.1).
///
/// It receives every datagram of a source that has no session. The response to a hello without a valid cookie is a
/// HelloVerifyRequest, and no state is kept; it needs only the hello's first fragment, so a hello may be as large as
/// post-quantum key shares make it. A hello with a valid cookie, whose source address is therefore not spoofed, is
/// passed on complete: at once or, when it was fragmented, after reassembly, which is bounded in number, size and time.
///
/// A fragment that arrives before the first one is lost: it carries no cookie, so no state may be kept for it. The
/// client retransmits it.
package struct HelloVerifier: ~Copyable {
    /// Hellos above this size are rejected; those with post-quantum key shares have some 1,500 bytes.
    package static let maximumHelloByteCount = 8192
    package static let maximumAssemblies = 64
    static let maximumAssembliesPerPrefix = 8
    /// Seconds in which a hello must become complete.
    static let assemblySeconds: UInt32 = 10
    /// The message sequence of a hello with a cookie: the first without one was 0 (RFC 6347 section 4.2.2).
    private static let sequenceWithCookie: UInt16 = 1

    package var cookies: CookieGenerator
    package private(set) var counters = HelloCounters()
    private var assemblies: [Flow: HelloAssembly] = [:]
    private var response: [UInt8] = []
    private let authentication: any MessageAuthentication

    package init(cookies: CookieGenerator, authentication: any MessageAuthentication) {
        self.cookies = cookies
        self.authentication = authentication
    }

    /// What the host must do for a datagram. Its first hello that is challenged, verified or rejected decides: there is
    /// at most one response, and it costs one or two MACs at most.
    package enum Outcome {
        case nothing
        /// No response, and the rest of the datagram is ignored.
        case refused
        /// Respond with `challenge`, if the limit for unauthenticated responses allows it.
        case unverified(UnverifiedHello)
        /// Begin a session with it.
        case verified(VerifiedHello)
    }

    /// Reads the hellos of a datagram and ignores everything else.
    package mutating func receive(_ datagram: RawSpan, on flow: Flow, at now: Instant) -> Outcome {
        var offset = 0
        for _ in 0..<RecordHeader.maximumPerDatagram {
            guard let record = RecordHeader(datagram, at: offset) else { break }
            offset = record.body.upperBound
            guard record.contentType == .handshake, record.epoch == 0 else { continue }
            // Clients do not put two fragments of a hello, or a fragment and something else, into one record.
            guard let fragment = HandshakeFragment(datagram, in: record.body), fragment.isOf(.clientHello) else {
                continue
            }
            switch receive(fragment, in: record, of: datagram, on: flow, at: now) {
            case .nothing: continue
            case let outcome: return outcome
            }
        }
        return .nothing
    }

    private mutating func receive(
        _ fragment: HandshakeFragment, in record: RecordHeader, of datagram: RawSpan, on flow: Flow, at now: Instant
    ) -> Outcome {
        guard fragment.offset == 0 else { return complete(fragment, record, of: datagram, on: flow) }
        guard let start = HelloStart(datagram, fragment), fragment.messageByteCount <= Self.maximumHelloByteCount,
            let covered = datagram.part(start.covered), let cookie = datagram.part(start.cookie)
        else {
            counters.malformed &+= 1
            return .refused
        }
        if fragment.messageSequence == Self.sequenceWithCookie {
            guard cookies.isValid(cookie, for: flow.remote, covered, at: now, authentication) else {
                // A new cookie would not help: the client expects the server's next message.
                counters.cookiesRejected &+= 1
                return .refused
            }
            return begin(fragment, start, record, of: datagram, on: flow, at: now)
        }
        guard fragment.messageSequence == 0 else {
            counters.malformed &+= 1
            return .refused
        }
        // A cookie in a first hello is from an earlier handshake.
        if cookie.byteCount > 0 { counters.cookiesRejected &+= 1 }
        return .unverified(
            UnverifiedHello(
                random: start.random, client: flow.remote, sequence: record.sequence, covered: start.covered))
    }

    /// The first fragment of a hello with a valid cookie.
    private mutating func begin(
        _ fragment: HandshakeFragment, _ start: HelloStart, _ record: RecordHeader, of datagram: RawSpan, on flow: Flow,
        at now: Instant
    ) -> Outcome {
        if fragment.isWhole {
            assemblies[flow] = nil
            guard let message = datagram.part(fragment.body) else { return .nothing }
            counters.verified &+= 1
            return .verified(VerifiedHello(message, sequence: record.sequence, random: start.random))
        }
        if let known = assemblies[flow], known.random == start.random, known.isOfSameMessage(fragment) {
            return complete(fragment, record, of: datagram, on: flow)
        }
        assemblies[flow] = nil
        evictOldest(for: flow)
        assemblies[flow] = HelloAssembly(fragment, random: start.random, sequence: record.sequence, at: now)
        return complete(fragment, record, of: datagram, on: flow)
    }

    /// Adds a fragment to its assembly, if there is one.
    private mutating func complete(
        _ fragment: HandshakeFragment, _ record: RecordHeader, of datagram: RawSpan, on flow: Flow
    ) -> Outcome {
        guard assemblies[flow]?.isOfSameMessage(fragment) == true else {
            counters.strayFragments &+= 1
            return .nothing
        }
        guard assemblies[flow]?.add(fragment, of: datagram, sequence: record.sequence) == true else {
            counters.malformed &+= 1
            assemblies[flow] = nil
            return .nothing
        }
        guard let assembly = assemblies[flow], assembly.isComplete else { return .nothing }
        assemblies[flow] = nil
        counters.verified &+= 1
        return .verified(
            VerifiedHello(assembly.bytes.span.bytes, sequence: assembly.sequence, random: assembly.random))
    }

    /// Removes the oldest assembly: of the source's own prefix when it has its share, of all when the table is full. An
    /// honest hello is complete within milliseconds.
    private mutating func evictOldest(for flow: Flow) {
        let prefix = flow.remote.address.sourcePrefix
        let own = assemblies.filter { $0.key.remote.address.sourcePrefix == prefix }
        if own.count >= Self.maximumAssembliesPerPrefix {
            removeOldest(of: own)
        } else if assemblies.count >= Self.maximumAssemblies {
            removeOldest(of: assemblies)
        }
    }

    private mutating func removeOldest(of some: [Flow: HelloAssembly]) {
        guard let oldest = some.min(by: { $0.value.startedAt < $1.value.startedAt }) else { return }
        counters.abandoned &+= 1
        assemblies[oldest.key] = nil
    }

    /// The HelloVerifyRequest for a hello of this datagram, nil when the cryptography failed.
    package mutating func challenge(
        _ hello: UnverifiedHello, of datagram: RawSpan, at now: Instant
    ) -> [UInt8]? {
        guard let covered = datagram.part(hello.covered),
            HelloVerifyRequest.write(
                into: &response, sequence: hello.sequence, client: hello.client, covered: covered, cookies, at: now,
                authentication)
        else { return nil }
        counters.challenges &+= 1
        return response
    }

    /// Hellos that are being reassembled: the only state here.
    package var assemblyCount: Int {
        assemblies.count
    }

    /// Removes hellos that did not become complete in time. Call it about once a second.
    package mutating func advance(to now: Instant) {
        guard !assemblies.isEmpty else { return }
        let late = assemblies.filter { now.seconds(since: $0.value.startedAt) >= Self.assemblySeconds }
        for flow in late.keys {
            counters.abandoned &+= 1
            assemblies[flow] = nil
        }
    }
}

/// A hello whose source address may be spoofed.
package struct UnverifiedHello: Hashable, Sendable {
    /// The client's random number, which is the same in a retransmission or duplicate.
    package let random: Digest
    let client: TransportAddress
    /// The sequence number of its record.
    let sequence: UInt64
    let covered: Range<Int>
}

/// A hello with a valid cookie: its source address is not spoofed.
package struct VerifiedHello: Hashable, Sendable {
    /// The hello as one record, not fragmented, however it was received: the handshake's hash is over messages as if
    /// they were not fragmented (RFC 6347 section 4.2.6), so this makes no difference.
    package let record: [UInt8]
    /// The client's random number, which identifies a repeated hello.
    package let random: Digest

    init(_ message: RawSpan, sequence: UInt64, random: Digest) {
        self.random = random
        var record: [UInt8] = []
        record.reserveCapacity(
            RecordHeader.byteCount + HandshakeFragment.headerByteCount + message.byteCount)
        appendHeaders(to: &record, .clientHello, messageSequence: 1, byteCount: message.byteCount, sequence: sequence)
        record.append(message)
        self.record = record
    }
}

/// Running totals of a hello verifier.
package struct HelloCounters: Hashable, Sendable {
    /// HelloVerifyRequests.
    package var challenges: UInt64 = 0
    package var cookiesRejected: UInt64 = 0
    /// Complete hellos with a valid cookie.
    package var verified: UInt64 = 0
    /// Hellos that end too early, are too large, or in too many parts.
    package var malformed: UInt64 = 0
    /// Fragments without an assembly.
    package var strayFragments: UInt64 = 0
    /// Hellos with a valid cookie that never became complete.
    package var abandoned: UInt64 = 0

    package init() {}
}
