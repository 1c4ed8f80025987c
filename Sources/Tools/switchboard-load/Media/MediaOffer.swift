import ICE
import OpenSSLCrypto
import RTP
import SDP
import Wire

/// What a participant sends, and how many tracks it can receive.
struct MediaParameters: Hashable, Sendable {
    var audio = true
    var video = false
    var audioSlots = 1
    var videoSlots = 0
}

/// A track that a participant publishes, as in its description.
struct PublishedTrack: Hashable, Sendable {
    let kind: MediaKind
    let mid: String
    let ssrc: UInt32
    let retransmissionSSRC: UInt32
    /// The payload type that the server accepts, from its description.
    var payloadType: UInt8
    var retransmission: UInt8?
}

/// A stream that a participant receives.
struct ExpectedStream: Hashable, Sendable {
    let kind: MediaKind
    let ssrc: UInt32
    let retransmissionSSRC: UInt32?
    let payloadType: UInt8
    let canRepair: Bool
}

/// The offer of a participant, as a browser writes it: the tracks that it sends, then a receive-only section for each
/// slot, all in one bundle.
struct MediaOffer: Sendable {
    static let opus: UInt8 = 111
    static let vp8: UInt8 = 96
    static let vp8Retransmission: UInt8 = 97
    private static let extensionURIs = [
        (1, ExtensionURI.audioLevel), (2, ExtensionURI.absoluteSendTime), (3, ExtensionURI.transportWide),
        (4, ExtensionURI.mid),
    ]

    let credentials: LocalCredentials
    let tracks: [PublishedTrack]
    let text: String

    /// - Parameter setup: `actpass`, as RFC 8842 requires, or `active` for a server that would otherwise be the DTLS
    ///   client, which is this program's role.
    init(
        _ parameters: MediaParameters, _ credentials: LocalCredentials,
        fingerprint: CertificateFingerprint, setup: SetupRole = .actpass
    ) {
        self.credentials = credentials
        var description = SessionDescription()
        description.origin.session = "\(UInt64.random(in: 1...UInt64(Int64.max)))"
        description.origin.version = "1"
        description.attributes.allowsMixedExtensions = true
        var tracks: [PublishedTrack] = []
        func add(_ kind: MediaKind, _ direction: SDP.Direction) {
            var section = Self.section(kind, mid: "\(description.sections.count)", direction)
            section.attributes.describe(credentials, fingerprint, setup)
            if direction.sends { tracks.append(section.publish(kind)) }
            description.sections.append(section)
        }
        if parameters.audio { add(.audio, .sendOnly) }
        if parameters.video { add(.video, .sendOnly) }
        for _ in 0..<parameters.audioSlots { add(.audio, .receiveOnly) }
        for _ in 0..<parameters.videoSlots { add(.video, .receiveOnly) }
        description.groups = [SectionGroup("BUNDLE", description.sections.compactMap(\.mid))]
        self.tracks = tracks
        text = description.text
    }

    private static func section(_ kind: MediaKind, mid: String, _ direction: SDP.Direction) -> MediaSection {
        var section = MediaSection(kind: kind.rawValue, port: 9, transport: "UDP/TLS/RTP/SAVPF")
        section.mid = mid
        section.attributes.direction = direction
        section.attributes.extensions = extensionURIs.compactMap { id, uri in
            kind == .video && uri == ExtensionURI.audioLevel ? nil : ExtensionMap(UInt16(id), uri)
        }
        section.hasRTCPMultiplexing = true
        section.hasReducedSizeRTCP = true
        switch kind {
        case .audio:
            var format = PayloadFormat(opus, .init("opus", clockRate: 48000, channels: 2))
            format.parameters = "minptime=10;useinbandfec=1"
            format.feedback = ["transport-cc"]
            section.payloads = [format]
        case .video:
            var format = PayloadFormat(vp8, .init("VP8", clockRate: 90000))
            format.feedback = ["goog-remb", "transport-cc", "ccm fir", "nack", "nack pli"]
            var repair = PayloadFormat(vp8Retransmission, .init("rtx", clockRate: 90000))
            repair.parameters = "apt=\(vp8)"
            section.payloads = [format, repair]
        }
        return section
    }
}

/// The answer to a server's offer, which receives everything that it offers to send.
struct MediaAnswer: Sendable {
    let text: String

    init(
        to offer: SessionDescription, _ credentials: LocalCredentials, fingerprint: CertificateFingerprint
    ) {
        var answer = SessionDescription()
        answer.origin.session = "\(UInt64.random(in: 1...UInt64(Int64.max)))"
        answer.origin.version = "1"
        answer.groups = offer.groups
        answer.sections = offer.sections.map { offered in
            var section = MediaSection(kind: offered.kind, port: offered.port, transport: offered.transport)
            section.mid = offered.mid
            section.payloads = offered.payloads
            section.formats = offered.formats
            section.hasRTCPMultiplexing = offered.hasRTCPMultiplexing
            section.hasReducedSizeRTCP = offered.hasReducedSizeRTCP
            section.attributes.extensions = offered.attributes.extensions
            section.attributes.direction = offered.direction?.sends ?? true ? .receiveOnly : .inactive
            section.attributes.describe(credentials, fingerprint, .active)
            return section
        }
        text = answer.text
    }
}

extension LevelAttributes {
    /// This side's end of the transport.
    fileprivate mutating func describe(
        _ credentials: LocalCredentials, _ fingerprint: CertificateFingerprint, _ setup: SetupRole
    ) {
        iceUfrag = credentials.ufrag.text
        icePassword = credentials.passwordText
        iceOptions = ["ice2"]
        fingerprints = [
            FingerprintAttribute(algorithm: fingerprint.function.name, digest: fingerprint.bytes)
        ]
        self.setup = setup
    }
}

extension MediaSection {
    /// Adds a track with its own SSRCs to the section.
    fileprivate mutating func publish(_ kind: MediaKind) -> PublishedTrack {
        let ssrc = UInt32.random(in: 1..<UInt32.max)
        let repair = ssrc ^ 0x8000_0000
        streams = [MSID(stream: "load", track: "load-\(mid ?? "")")]
        sources = [SourceAttribute(ssrc, "cname", "load")]
        if kind == .video {
            sourceGroups = [SourceGroup("FID", [ssrc, repair])]
            sources.append(SourceAttribute(repair, "cname", "load"))
        }
        return PublishedTrack(
            kind: kind, mid: mid ?? "", ssrc: ssrc, retransmissionSSRC: repair,
            payloadType: kind == .audio ? MediaOffer.opus : MediaOffer.vp8, retransmission: nil)
    }
}
