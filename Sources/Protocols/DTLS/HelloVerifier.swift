package import Wire

/// The stateless front door of a DTLS server.
///
/// It takes in whatever a source sends before it has a session. A hello without a right cookie is answered with one, and
/// nothing is kept; the answer needs only the hello's first fragment, so a hello may be as large as post-quantum key shares
/// make it. A hello that brings its cookie back, so that its source is known to be where it says, comes out whole: at once
/// or, when it was cut, from one of a few assemblies, bounded in number, size and time.
///
/// A fragment that overtakes the first one is lost: it carries no cookie, so nothing may be kept for it. The client says
/// it again.
package struct HelloDoor: ~Copyable {
    /// Hellos above this size are refused; those with post-quantum key shares have some 1,500 bytes.
    package static let maximumHelloByteCount = 8192
    package static let maximumAssemblies = 64
    static let maximumAssembliesPerPrefix = 8
    /// Seconds that a hello has to become whole.
    static let assemblySeconds: UInt32 = 10
    /// The message sequence of a hello with a cookie: the first without one was 0 (RFC 6347 section 4.2.2).
    private static let sequenceWithCookie: UInt16 = 1

    package var cookies: CookieMint
    package private(set) var tally = HelloTally()
    private var assemblies: [Flow: HelloAssembly] = [:]
    private var answer: [UInt8] = []
    private let authentication: any MessageAuthentication

    package init(cookies: CookieMint, authentication: any MessageAuthentication) {
        self.cookies = cookies
        self.authentication = authentication
    }

    /// What a datagram's hellos ask of the host. The first that asks for something, or is refused, ends the datagram: it is
    /// answered once, and costs one or two codes at most.
    package enum Outcome {
        case nothing
        /// Not to be answered, and nothing else in the datagram to be looked at.
        case refused
        /// To be answered by `challenge`, if the limit for unauthenticated answers allows it.
        case unproven(UnprovenHello)
        /// To begin a session with.
        case proven(ProvenHello)
    }

    /// Reads the hellos of a datagram and passes over everything else.
    package mutating func receive(_ datagram: RawSpan, on flow: Flow, at now: Instant) -> Outcome {
        var offset = 0
        for _ in 0..<RecordHeader.maximumPerDatagram {
            guard let record = RecordHeader(datagram, at: offset) else { break }
            offset = record.body.upperBound
            guard record.contentType == .handshake, record.epoch == 0 else { continue }
            // Nobody puts two parts of a hello into one record, and a part and something else only to try us.
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
            tally.malformed &+= 1
            return .refused
        }
        if fragment.messageSequence == Self.sequenceWithCookie {
            guard cookies.isValid(cookie, for: flow.remote, covered, at: now, authentication) else {
                // A new cookie would not help: the client has gone on to the next message.
                tally.cookiesRefused &+= 1
                return .refused
            }
            return begin(fragment, start, record, of: datagram, on: flow, at: now)
        }
        guard fragment.messageSequence == 0 else {
            tally.malformed &+= 1
            return .refused
        }
        // A cookie in a first hello is one from an earlier conversation.
        if cookie.byteCount > 0 { tally.cookiesRefused &+= 1 }
        return .unproven(
            UnprovenHello(
                random: start.random, client: flow.remote, sequence: record.sequence, covered: start.covered))
    }

    /// The first fragment of a hello whose cookie is right.
    private mutating func begin(
        _ fragment: HandshakeFragment, _ start: HelloStart, _ record: RecordHeader, of datagram: RawSpan, on flow: Flow,
        at now: Instant
    ) -> Outcome {
        if fragment.isWhole {
            assemblies[flow] = nil
            guard let message = datagram.part(fragment.body) else { return .nothing }
            tally.proven &+= 1
            return .proven(ProvenHello(message, sequence: record.sequence, random: start.random))
        }
        if let known = assemblies[flow], known.random == start.random, known.isOfSameMessage(fragment) {
            return complete(fragment, record, of: datagram, on: flow)
        }
        assemblies[flow] = nil
        makeRoom(for: flow)
        assemblies[flow] = HelloAssembly(fragment, random: start.random, sequence: record.sequence, at: now)
        return complete(fragment, record, of: datagram, on: flow)
    }

    /// A fragment for an assembly, if there is one for it.
    private mutating func complete(
        _ fragment: HandshakeFragment, _ record: RecordHeader, of datagram: RawSpan, on flow: Flow
    ) -> Outcome {
        guard assemblies[flow]?.isOfSameMessage(fragment) == true else {
            tally.strayFragments &+= 1
            return .nothing
        }
        guard assemblies[flow]?.add(fragment, of: datagram, sequence: record.sequence) == true else {
            tally.malformed &+= 1
            assemblies[flow] = nil
            return .nothing
        }
        guard let assembly = assemblies[flow], assembly.isComplete else { return .nothing }
        assemblies[flow] = nil
        tally.proven &+= 1
        return .proven(
            ProvenHello(assembly.bytes.span.bytes, sequence: assembly.sequence, random: assembly.random))
    }

    /// The oldest make way: of the source's own prefix when it has its share, of all when the table is full. An honest
    /// hello is whole within milliseconds.
    private mutating func makeRoom(for flow: Flow) {
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
        tally.abandoned &+= 1
        assemblies[oldest.key] = nil
    }

    /// The answer to a hello of this datagram, nil when the cryptography failed.
    package mutating func challenge(
        _ hello: UnprovenHello, of datagram: RawSpan, at now: Instant
    ) -> [UInt8]? {
        guard let covered = datagram.part(hello.covered),
            HelloVerifyRequest.write(
                into: &answer, sequence: hello.sequence, client: hello.client, covered: covered, cookies, at: now,
                authentication)
        else { return nil }
        tally.challenges &+= 1
        return answer
    }

    /// Hellos that are under way: the only memory there is here.
    package var assemblyCount: Int {
        assemblies.count
    }

    /// Gives up hellos that have not become whole in time. To be called about once a second.
    package mutating func advance(to now: Instant) {
        guard !assemblies.isEmpty else { return }
        let late = assemblies.filter { now.seconds(since: $0.value.startedAt) >= Self.assemblySeconds }
        for flow in late.keys {
            tally.abandoned &+= 1
            assemblies[flow] = nil
        }
    }
}

/// A hello whose source may be forged.
package struct UnprovenHello: Hashable, Sendable {
    /// The client's random number: the same again is the same hello, on its way twice.
    package let random: Digest
    let client: TransportAddress
    /// That of its record.
    let sequence: UInt64
    let covered: Range<Int>
}

/// A hello from a source that is where it says.
package struct ProvenHello: Hashable, Sendable {
    /// The hello as one record that is not cut, whatever it came in: the handshake's hash is over messages as if they were
    /// not cut (RFC 6347 section 4.2.6), so nobody notices.
    package let record: [UInt8]
    /// The client's random number, by which a hello that comes again is known.
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

/// What the front door did, as running totals.
package struct HelloTally: Hashable, Sendable {
    /// HelloVerifyRequests.
    package var challenges: UInt64 = 0
    package var cookiesRefused: UInt64 = 0
    /// Whole hellos with a right cookie.
    package var proven: UInt64 = 0
    /// Hellos that break off too early, are too large, or in too many parts.
    package var malformed: UInt64 = 0
    /// Fragments of hellos that nobody began.
    package var strayFragments: UInt64 = 0
    /// Hellos with a right cookie that never became whole.
    package var abandoned: UInt64 = 0

    package init() {}
}
