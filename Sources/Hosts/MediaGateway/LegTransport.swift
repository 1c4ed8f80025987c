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
    ///
    /// - Parameter isServer: whether the client began the handshake.
    init?(_ material: SRTPKeyingMaterial, isServer: Bool) {
        let keys = material.keys(isServer: isServer)
        guard let sender = SRTPSender.make(keys.own), let receiver = SRTPReceiver.make(keys.peer) else { return nil }
        self.sender = sender
        self.receiver = receiver
    }
}

/// What a leg needs only until it is connected.
///
/// A class, because the payload of an enum cannot be changed in place.
final class ConnectingLeg {
    static let handshakeSeconds: UInt32 = 30

    /// When DTLS has to be done.
    private(set) var deadline: Instant
    /// The sources of its tracks, by mid, with which it joins the call.
    private(set) var sources: [String: TrackSource]
    /// The preferences for its video slots, by mid, with which it joins; afterwards the engine has them.
    private(set) var preferences: [String: PreferredQuality] = [:]
    /// Its DTLS datagrams that wait for their turn: see `receiveRecords`.
    var waiting: [WaitingDatagram] = []
    /// Whether the handshake is to be begun in that turn, where the client waits for it.
    var mustConnect = false

    init(_ sources: [String: TrackSource], at now: Instant) {
        self.sources = sources
        deadline = now.adding(seconds: Self.handshakeSeconds)
    }

    func extend(by stall: UInt64, at now: Instant) {
        deadline = min(deadline.adding(nanoseconds: stall), now.adding(seconds: Self.handshakeSeconds))
    }

    /// Applies a later offer: preferences for slots that are gone are removed.
    func renegotiate(_ sources: [String: TrackSource], videoSlots: [String]) {
        self.sources = sources
        preferences = preferences.filter { videoSlots.contains($0.key) }
    }

    func setPreferences(_ changed: [String: PreferredQuality]) {
        preferences.merge(changed) { $1 }
    }
}

/// The transport of one leg: ICE, DTLS and SRTP.
///
///     connecting ── DTLS done ──> connected (and in the engine)
///        └── 30 s without ──────────┴── 30 s without check, goodbye, end ──> gone
package final class LegTransport {
    enum Stage {
        /// DTLS is not done. The client begins it after its first valid check, which is the agent's to know, or the
        /// gateway when the client has nominated a pair.
        case connecting(ConnectingLeg)
        /// Media can flow: the leg has its id in the engine, and its SRTP keys.
        case connected(LegID, SecureSession)
    }

    static let aliveNanoseconds: UInt64 = 5_000_000_000

    let number: UInt64
    let key: LegKey
    var agent: LiteAgent
    /// A connected leg still needs it: DTLS is how either side closes.
    var handshake: MediaHandshake
    /// What was negotiated last.
    var negotiated: NegotiatedLeg {
        didSet { onlySends = negotiated.hasNoSlots }
    }
    /// Whether nothing but reports is sent to the client.
    private(set) var onlySends: Bool
    private(set) var stage: Stage
    var lastActivity: Instant?
    var reportedAliveAt: Instant?

    init(
        _ opening: LegOpening, _ agent: LiteAgent, _ handshake: consuming MediaHandshake, at now: Instant
    ) {
        number = opening.number
        key = opening.key
        negotiated = opening.negotiated
        onlySends = opening.negotiated.hasNoSlots
        stage = .connecting(ConnectingLeg(opening.sources, at: now))
        self.agent = agent
        self.handshake = handshake
    }

    /// The leg joined its call as `id`.
    func connect(_ id: LegID, _ session: SecureSession) {
        stage = .connected(id, session)
    }

    /// Extends the client's deadlines after a stall of the thread, in nanoseconds.
    func extend(by stall: UInt64, at now: Instant) {
        agent.extend(by: stall, at: now)
        if case .connecting(let connecting) = stage { connecting.extend(by: stall, at: now) }
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
