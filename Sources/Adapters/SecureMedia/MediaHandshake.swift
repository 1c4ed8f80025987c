import DTLS
package import OpenSSLCrypto

/// The DTLS of one session of media (RFC 5764): datagrams go in, and when the handshake is complete the keys for SRTP come
/// out, from a peer whose certificate is the one that was signalled.
///
/// It has no socket and belongs to one thread. After each call what is to be sent waits in the exchange, one datagram for
/// each of its parts. While `retransmission` is not nil, `retransmit` has to be called when its time has come. Datagrams may
/// come twice, in any order, and from anyone who can forge an address: records that an honest peer would not send now never
/// reach OpenSSL and are counted.
package struct MediaHandshake: ~Copyable {
    package enum Outcome: Hashable, Sendable {
        case nothing
        /// Once: the keys of both directions.
        case established(SRTPKeyingMaterial)
        /// The peer said that it is the end.
        case closed
        case failed(Failure)
    }

    package enum Failure: Hashable, Sendable {
        /// No agreement, or a peer that broke the protocol.
        case handshake
        /// The certificate is not the one that was signalled.
        case wrongCertificate
        /// Both sides speak SRTP, but no profile in common.
        case noProfile
        case cryptography
    }

    private enum State: Hashable {
        case shaking
        case established
        case ended
    }

    private var session: DTLSSession
    private let isServer: Bool
    private let fingerprints: [CertificateFingerprint]
    private let gate = RecordGate(asksForCertificate: true, hasCookies: false)
    private var state = State.shaking
    /// Records that did not reach OpenSSL.
    package private(set) var refusedRecords: UInt64 = 0
    /// Records of an established session that brought nothing: forged, replayed, or data that nobody here reads.
    package private(set) var idleRecords: UInt64 = 0

    private init(_ session: consuming DTLSSession, isServer: Bool, _ fingerprints: [CertificateFingerprint]) {
        self.session = session
        self.isServer = isServer
        self.fingerprints = fingerprints
    }

    /// Begins. A client's hello is in the exchange then. nil when OpenSSL has no memory.
    ///
    /// - Parameter fingerprints: those of the peer's session description; without any, no peer is the right one.
    package static func begin(
        _ context: MediaContext, _ exchange: DTLSExchange, peer fingerprints: [CertificateFingerprint]
    ) -> MediaHandshake? {
        guard let session = DTLSSession.exchangingMediaKeys(context.context, exchange) else { return nil }
        return MediaHandshake(session, isServer: context.isServer, fingerprints)
    }

    package var isEstablished: Bool { state == .established }

    /// Takes in a datagram. Its bytes may be of no use any more then: plaintext is written over them.
    package mutating func receive(_ datagram: UnsafeMutableRawBufferPointer) -> Outcome {
        var offset = 0
        for _ in 0..<RecordHeader.maximumPerDatagram {
            guard state != .ended, let record = RecordHeader(UnsafeRawBufferPointer(datagram).bytes, at: offset) else {
                break
            }
            offset = record.body.upperBound
            guard admits(record, of: UnsafeRawBufferPointer(datagram)) else {
                refusedRecords &+= 1
                continue
            }
            let outcome = take(datagram.part(record.whole))
            if outcome != .nothing { return outcome }
        }
        if offset < datagram.count { refusedRecords &+= 1 }
        return .nothing
    }

    private func admits(_ record: RecordHeader, of datagram: UnsafeRawBufferPointer) -> Bool {
        // What a server sends the gate does not know; a client here talks to a server of its own choice.
        isServer ? gate.admits(record, of: datagram.bytes, in: session.phase) : true
    }

    private mutating func take(_ record: UnsafeMutableRawBufferPointer) -> Outcome {
        let wasEstablished = state == .established
        var reading = session.take(UnsafeRawBufferPointer(record), into: record)
        // Nobody here has anything to say over DTLS but the handshake.
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
        guard session.peerShows(oneOf: fingerprints) else { return refuse(.wrongCertificate) }
        guard let profile = session.mediaProfile.flatMap(SRTPProfile.init(rawValue:)) else { return refuse(.noProfile) }
        let count = SRTPKeyingMaterial.byteCount(for: profile)
        guard let bytes = session.exportKeyingMaterial(label: SRTPKeyingMaterial.exporterLabel, count: count),
            let material = SRTPKeyingMaterial(profile, exported: bytes)
        else { return refuse(.cryptography) }
        state = .established
        return .established(material)
    }

    /// The peer learns that it is the end.
    private mutating func refuse(_ failure: Failure) -> Outcome {
        session.close()
        return end(.failed(failure))
    }

    private mutating func end(_ outcome: Outcome) -> Outcome {
        state = .ended
        return outcome
    }

    /// Nanoseconds until the last flight has to be said again, nil when nothing waits for an answer.
    package var retransmission: UInt64? {
        state == .shaking ? session.retransmission : nil
    }

    /// Says the last flight again if its time has come. False when that was tried too often: then it is the end.
    package mutating func retransmit() -> Bool {
        guard state == .shaking else { return false }
        if session.retransmit() { return true }
        state = .ended
        return false
    }

    /// Gives back OpenSSL's buffers of 32 KB: an established session of media has nothing more to say but goodbye.
    package mutating func releaseBuffers() {
        session.releaseBuffers()
    }

    /// Says that it is the end.
    package mutating func close() {
        guard state != .ended else { return }
        session.close()
        state = .ended
    }
}

/// What all sessions of media have in common: who we are, and which profiles we know.
package final class MediaContext: Sendable {
    let context: DTLSContext
    package let isServer: Bool

    private init(_ context: DTLSContext, isServer: Bool) {
        self.context = context
        self.isServer = isServer
    }

    /// The passive end, that chooses of the client's profiles the one that comes first in its own list.
    package static func server(_ identity: MediaIdentity, profiles: [SRTPProfile]) -> MediaContext? {
        make(identity, profiles, isServer: true)
    }

    /// The active end, that offers these profiles.
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
    /// What OpenSSL calls it.
    fileprivate var libraryName: String {
        self == .aes128CounterSHA1 ? "SRTP_AES128_CM_SHA1_80" : registeredName
    }
}
