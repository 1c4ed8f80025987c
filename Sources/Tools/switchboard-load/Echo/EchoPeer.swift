import DatagramIO
import ICE
import OpenSSLCrypto
import SDP
import SecureMedia
import Wire

/// The addresses of this machine at which the other side of a call of two may reach it, the preferred first.
struct EchoAddresses: Sendable {
    /// A machine has more only with many virtual networks.
    private static let limit = 16

    let all: [IPAddress]

    /// - Parameter named: empty for every address of this machine, that of the loopback last.
    init(_ named: [IPAddress] = []) {
        let own = LocalAddresses.current().preferred
        let sorted = own.filter { !$0.isLoopback } + own.filter(\.isLoopback)
        all = Array((named.isEmpty ? sorted : named).prefix(Self.limit))
    }

    /// A socket for each address; those that cannot be opened are left out.
    fileprivate func sockets() throws -> [EchoSocket] {
        let sockets = all.compactMap { try? EchoSocket($0) }
        guard !sockets.isEmpty else { throw MediaFailure("no address to listen on; name one with --address") }
        return sockets
    }
}

/// The certificate of one PeerConnection. Each has its own: the gateway, like a browser, takes an offer or answer with
/// the same certificate for one of the same connection.
struct EchoIdentity: Sendable {
    let context: MediaContext
    let fingerprint: CertificateFingerprint

    /// - Parameter isServer: the DTLS role.
    init(isServer: Bool) throws {
        guard let identity = MediaIdentity.make(), let fingerprint = identity.fingerprint(),
            let context = isServer
                ? MediaContext.server(identity, profiles: SRTPProfile.preferred)
                : MediaContext.client(identity, profiles: SRTPProfile.preferred)
        else { throw MediaFailure("OpenSSL has no memory") }
        self.fingerprint = fingerprint
        self.context = context
    }
}

/// The own side of a PeerConnection with the other side of a call of two, who offers. It answers as the media gateway
/// does: ICE-lite with the addresses of this machine, passive in DTLS, every section in one bundle.
///
/// The other side must be able to reach one of the addresses: this is for callers on the same machine or network, not
/// behind a relay.
struct EchoPeer {
    /// The result of an offer.
    enum Outcome {
        /// The first offer: begin a leg.
        case begin(EchoLegPlan, answer: String)
        /// A later offer.
        case change(EchoChange, answer: String)
    }

    private let identity: EchoIdentity
    private let sockets: [EchoSocket]
    private let candidates: [Candidate]
    private let name: String
    private var negotiation: LegNegotiation
    private var hasBegun = false

    init(_ addresses: EchoAddresses) throws {
        identity = try EchoIdentity(isServer: true)
        sockets = try addresses.sockets()
        candidates = HostCandidate.all(udp: sockets.map(\.address), tcp: []).map { host in
            Candidate(
                foundation: host.foundation, transport: "udp", priority: host.priority,
                address: "\(host.address.address)", port: host.address.port, type: "host")
        }
        name = UUIDText.make()
        negotiation = LegNegotiation(session: UInt64.random(in: 1...UInt64(Int64.max)))
    }

    private static var capabilities: GatewayCapabilities {
        var capabilities = GatewayCapabilities()
        capabilities.videoCodecs = MediaCodec.forwardedVideo
        // Of simulcast layers one can be sent back in one stream.
        capabilities.maximumEncodings = 1
        capabilities.requestsDTX = false
        return capabilities
    }

    /// Answers an offer.
    mutating func answer(_ offer: SessionDescription) throws -> Outcome {
        let credentials = try LocalCredentials.random()
        let own = GatewayTransport(
            fingerprints: [
                FingerprintAttribute(
                    algorithm: identity.fingerprint.function.name, digest: identity.fingerprint.bytes)
            ],
            candidates: candidates,
            freshCredentials: ICECredentials(ufrag: credentials.ufrag.text, password: credentials.passwordText))
        let name = name
        let leg = try negotiation.answer(offer, Self.capabilities, own) { kind in
            // One stream, so that audio and video are played in sync.
            SlotIdentity(
                ssrc: UInt32.random(in: 1..<UInt32.max), retransmissionSSRC: UInt32.random(in: 1..<UInt32.max),
                cname: name, stream: "echo", track: "echo-\(kind.rawValue)-\(UUIDText.make())")
        }
        let media = EchoMedia(routes: EchoRoute.all(leg), extensions: leg.extensionIDs)
        let ufrag = leg.remote.credentials.ufrag
        guard hasBegun else {
            hasBegun = true
            let plan = EchoLegPlan(
                role: .lite(credentials, remoteUfrag: ufrag), context: identity.context,
                fingerprints: leg.remote.certificates, media: media, sockets: sockets)
            return .begin(plan, answer: leg.answer.text)
        }
        return .change(
            EchoChange(media: media, restart: leg.isICERestart ? (credentials, ufrag) : nil), answer: leg.answer.text)
    }

    /// Whether an offer that was rejected belongs to another PeerConnection than before, as after a reload of a page.
    static func isOfAnotherConnection(_ error: any Error) -> Bool {
        switch (error as? OfferError)?.reason {
        case .fingerprintChanged, .sectionsMissing, .sectionChanged: true
        default: false
        }
    }
}
