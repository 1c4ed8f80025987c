import Gateway
import ICE
import OpenSSLCrypto
import SDP
import SecureMedia
import Wire

/// The SRTP state of a leg, made once DTLS is done.
final class SecureSession {
    var sender: SRTPSender
    var receiver: SRTPReceiver

    /// nil when OpenSSL has no memory.
    init?(_ material: SRTPKeyingMaterial) {
        guard let sender = SRTPSender.make(material.server), let receiver = SRTPReceiver.make(material.client) else {
            return nil
        }
        self.sender = sender
        self.receiver = receiver
    }
}

/// The transport of one leg: ICE, DTLS and SRTP.
///
///     opened ── first valid check ──> checked ── DTLS done ──> connected (and in the engine)
///        └───────── 30 s without ──────────┴───────── 30 s without check, goodbye, end ──> gone
package final class LegTransport {
    static let handshakeSeconds: UInt32 = 30
    static let aliveNanoseconds: UInt64 = 5_000_000_000

    let number: UInt64
    let key: LegKey
    var agent: LiteAgent
    var handshake: MediaHandshake
    /// When DTLS retransmits its last flight.
    var retransmission = Instant.distantFuture
    private(set) var handshakeDeadline: Instant
    /// What was negotiated; the leg joins the call with it once it is connected.
    var negotiated: NegotiatedLeg
    var sources: [String: TrackSource]
    /// The preferences for its video slots, by mid, until it joins; afterwards the engine has them.
    var preferences: [String: PreferredQuality] = [:]
    /// Its id in the engine; nil before it is connected.
    var id: LegID?
    var session: SecureSession?
    /// Its DTLS datagrams that wait for their turn: see `receiveRecords`.
    var waiting: [WaitingDatagram] = []
    var lastActivity: Instant?
    var reportedAliveAt: Instant?

    init(
        _ opening: LegOpening, _ agent: LiteAgent, _ handshake: consuming MediaHandshake, at now: Instant
    ) {
        number = opening.number
        key = opening.key
        negotiated = opening.negotiated
        sources = opening.sources
        self.agent = agent
        self.handshake = handshake
        handshakeDeadline = now.adding(seconds: Self.handshakeSeconds)
    }

    /// Extends the client's deadlines after a stall of the thread, in nanoseconds.
    func extend(by stall: UInt64, at now: Instant) {
        agent.extend(by: stall, at: now)
        handshakeDeadline = min(
            handshakeDeadline.adding(nanoseconds: stall), now.adding(seconds: Self.handshakeSeconds))
    }
}

extension RemoteTransport {
    /// In the form that DTLS compares.
    var certificates: [CertificateFingerprint] {
        fingerprints.compactMap { offered in
            FingerprintFunction.allCases.first { $0.name == offered.algorithm }
                .flatMap { CertificateFingerprint($0, offered.digest) }
        }
    }
}
