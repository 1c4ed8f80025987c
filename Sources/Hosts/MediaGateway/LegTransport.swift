import Gateway
import ICE
import OpenSSLCrypto
import SDP
import SecureMedia
import Wire

/// The keys of a leg's media, made once DTLS is done.
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

/// One leg below its media: how it is reached and who it is.
///
///     opened ── first valid check ──> checked ── DTLS done ──> connected (the engine knows it now)
///        └───────── 30 s without ──────────┴───────── 30 s without check, goodbye, end ──> gone
package final class LegTransport {
    static let handshakeSeconds: UInt32 = 30
    static let aliveNanoseconds: UInt64 = 5_000_000_000

    let number: UInt64
    let key: LegKey
    var agent: LiteAgent
    var handshake: MediaHandshake
    /// When DTLS says its last flight again.
    var retransmission = Instant.distantFuture
    private(set) var handshakeDeadline: Instant
    /// What the leg joins the call with once it is connected.
    var negotiated: NegotiatedLeg
    var sources: [String: TrackSource]
    /// What it wants in its video slots, by mid, from the moment it joins; afterwards the engine knows.
    var wishes: [String: WantedQuality] = [:]
    /// Its name in the engine; nil before it is connected.
    var id: LegID?
    var session: SecureSession?
    /// Its DTLS that waits for its turn: see `receiveRecords`.
    var waiting: [WaitingDatagram] = []
    var heardAt: Instant?
    var toldAliveAt: Instant?

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

    /// Nobody read what came for so many nanoseconds until now: the client's time goes on from where it was.
    func extend(by stall: UInt64, at now: Instant) {
        agent.extend(by: stall, at: now)
        handshakeDeadline = min(
            handshakeDeadline.adding(nanoseconds: stall), now.adding(seconds: Self.handshakeSeconds))
    }
}

extension RemoteTransport {
    /// As DTLS compares them.
    var certificates: [OpenSSLCrypto.CertificateFingerprint] {
        fingerprints.compactMap { offered in
            FingerprintFunction.allCases.first { $0.name == offered.algorithm }
                .flatMap { OpenSSLCrypto.CertificateFingerprint($0, offered.digest) }
        }
    }
}
