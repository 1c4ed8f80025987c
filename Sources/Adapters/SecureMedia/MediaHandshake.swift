import DTLS
package import OpenSSLCrypto

/// DTLS-SRTP of one media session (RFC 5764): datagrams go in, and when the handshake is complete the SRTP keys come
/// out, if the peer's certificate matches the signalled fingerprint.
///
/// It has no socket and belongs to one thread. After each call, the exchange holds the datagrams to send. While
/// `retransmission` is not nil, `retransmit` has to be called when it is due. Datagrams may be duplicated, reordered
/// and forged: records that are invalid in the current state never reach OpenSSL and are counted.
package struct MediaHandshake: ~Copyable {
    package enum Outcome: Hashable, Sendable {
        case nothing
        /// Once: the keys of both directions.
        case established(SRTPKeyingMaterial)
        /// The peer closed the session.
        case closed
        case failed(Failure)
    }

    package enum Failure: Hashable, Sendable {
        /// The negotiation failed, or the peer violated the protocol.
        case handshake
        /// The certificate does not match the signalled fingerprint.
        case wrongCertificate
        /// The two sides have no SRTP profile in common.
        case noProfile
        case cryptography
    }

    private enum State: Hashable {
        /// A client's, until `connect`.
        case waiting
        case handshaking
        case established
        case ended
    }

    private var session: DTLSSession
    /// Whether the peer connects; it is then the client's key with which the peer protects.
    package let isServer: Bool
    private let fingerprints: [CertificateFingerprint]
    private let filter: RecordFilter
    private var state: State
    /// Records that did not reach OpenSSL.
    package private(set) var rejectedRecords: UInt64 = 0
    /// Records of an established session without effect: forged, replayed, or application data, which is ignored.
    package private(set) var idleRecords: UInt64 = 0

    private init(_ session: consuming DTLSSession, isServer: Bool, _ fingerprints: [CertificateFingerprint]) {
        self.session = session
        self.isServer = isServer
        self.fingerprints = fingerprints
        filter = isServer ? RecordFilter(asksForCertificate: true, hasCookies: false) : .ofServer
        state = isServer ? .handshaking : .waiting
    }

    /// Begins a handshake; a client's ClientHello is then in the exchange. nil when OpenSSL has no memory.
    ///
    /// - Parameter fingerprints: those of the peer's session description; if empty, every peer is rejected.
    package static func begin(
        _ context: MediaContext, _ exchange: DTLSExchange, peer fingerprints: [CertificateFingerprint]
    ) -> MediaHandshake? {
        guard var handshake = make(context, exchange, peer: fingerprints), handshake.connect() else { return nil }
        return handshake
    }

    /// The same, but a client waits for `connect`.
    package static func make(
        _ context: MediaContext, _ exchange: DTLSExchange, peer fingerprints: [CertificateFingerprint]
    ) -> MediaHandshake? {
        guard let session = DTLSSession.exchangingMediaKeys(context.context, exchange) else { return nil }
        return MediaHandshake(session, isServer: context.isServer, fingerprints)
    }

    /// Has a client that waits send its ClientHello: it is then in the exchange. False when OpenSSL has no memory.
    package mutating func connect() -> Bool {
        guard state == .waiting else { return true }
        state = .handshaking
        return session.connect()
    }

    /// Whether it waits for `connect`.
    package var isWaiting: Bool { state == .waiting }

    /// What OpenSSL said of the error that ended it, such as `wrong curve`.
    package var failureReason: String? { session.failureReason }

    package var isEstablished: Bool { state == .established }

    /// Handles a datagram, whose bytes may be overwritten by plaintext.
    package mutating func receive(_ datagram: UnsafeMutableRawBufferPointer) -> Outcome {
        var offset = 0
        for _ in 0..<RecordHeader.maximumPerDatagram {
            guard state != .ended, let record = RecordHeader(UnsafeRawBufferPointer(datagram).bytes, at: offset) else {
                break
            }
            offset = record.body.upperBound
            guard state != .waiting,
                filter.admits(record, of: UnsafeRawBufferPointer(datagram).bytes, in: session.phase)
            else {
                rejectedRecords &+= 1
                continue
            }
            let outcome = receive(record: datagram.part(record.whole))
            if outcome != .nothing { return outcome }
        }
        if offset < datagram.count { rejectedRecords &+= 1 }
        return .nothing
    }

    private mutating func receive(record: UnsafeMutableRawBufferPointer) -> Outcome {
        let wasEstablished = state == .established
        var reading = session.take(UnsafeRawBufferPointer(record), into: record)
        // Application data is ignored.
        while case .data = reading { reading = session.read(into: record) }
        if wasEstablished, reading == .nothing { idleRecords &+= 1 }
        switch reading {
        case .closed: return end(.closed)
        case .failed: return end(.failed(.handshake))
        case .nothing, .data: break
        }
        guard !wasEstablished, session.phase == .established else { return .nothing }
        return establish()
    }

    private mutating func establish() -> Outcome {
        guard session.peerMatches(oneOf: fingerprints) else { return fail(.wrongCertificate) }
        guard let profile = session.mediaProfile.flatMap(SRTPProfile.init(rawValue:)) else { return fail(.noProfile) }
        let count = SRTPKeyingMaterial.byteCount(for: profile)
        guard let bytes = session.exportKeyingMaterial(label: SRTPKeyingMaterial.exporterLabel, count: count),
            let material = SRTPKeyingMaterial(profile, exported: bytes)
        else { return fail(.cryptography) }
        state = .established
        return .established(material)
    }

    /// Closes the session after a failure, and notifies the peer.
    private mutating func fail(_ failure: Failure) -> Outcome {
        session.close()
        return end(.failed(failure))
    }

    private mutating func end(_ outcome: Outcome) -> Outcome {
        state = .ended
        return outcome
    }

    /// Nanoseconds until the last flight has to be retransmitted; nil when no timer runs.
    package var retransmission: UInt64? {
        state == .handshaking ? session.retransmission : nil
    }

    /// Retransmits the last flight if it is due. False after too many attempts: the session has failed.
    package mutating func retransmit() -> Bool {
        guard state == .handshaking else { return false }
        if session.retransmit() { return true }
        state = .ended
        return false
    }

    /// Releases OpenSSL's buffers of 32 KB: an established media session only needs them to close.
    package mutating func releaseBuffers() {
        session.releaseBuffers()
    }

    /// Closes the session and notifies the peer.
    package mutating func close() {
        guard state != .ended else { return }
        session.close()
        state = .ended
    }
}

/// What both sides of media sessions share: a session is of either.
package struct MediaContexts: Sendable {
    package let server: MediaContext
    package let client: MediaContext

    /// nil when OpenSSL has no memory, or knows none of the profiles.
    package static func make(_ identity: MediaIdentity, profiles: [SRTPProfile]) -> MediaContexts? {
        guard let server = MediaContext.server(identity, profiles: profiles),
            let client = MediaContext.client(identity, profiles: profiles)
        else { return nil }
        return MediaContexts(server: server, client: client)
    }
}

/// The shared configuration of media sessions: our certificate and the SRTP profiles.
package final class MediaContext: Sendable {
    let context: DTLSContext
    package let isServer: Bool

    private init(_ context: DTLSContext, isServer: Bool) {
        self.context = context
        self.isServer = isServer
    }

    /// The passive side; it chooses the first of its own profiles that the client offers.
    package static func server(_ identity: MediaIdentity, profiles: [SRTPProfile]) -> MediaContext? {
        make(identity, profiles, isServer: true)
    }

    /// The active side, which offers these profiles.
    package static func client(_ identity: MediaIdentity, profiles: [SRTPProfile]) -> MediaContext? {
        make(identity, profiles, isServer: false)
    }

    private static func make(_ identity: MediaIdentity, _ profiles: [SRTPProfile], isServer: Bool) -> MediaContext? {
        guard !profiles.isEmpty,
            let context = DTLSContext.media(isServer: isServer, identity, profiles: profiles.map(\.libraryName))
        else { return nil }
        return MediaContext(context, isServer: isServer)
    }
}

extension SRTPProfile {
    /// OpenSSL's name of the profile.
    fileprivate var libraryName: String {
        self == .aes128CounterSHA1 ? "SRTP_AES128_CM_SHA1_80" : registeredName
    }
}
