import ICE
import OpenSSLCrypto
import SDP
import SecureMedia
import Wire

/// The offer of a check's leg: a microphone, and a section in which it receives another.
struct GatewayLegOffer {
    static let opus: UInt8 = 111

    let credentials: LocalCredentials
    let context: MediaContext
    let ssrc = UInt32.random(in: 1..<UInt32.max)
    let text: String

    init() throws(CheckProblem) {
        guard let identity = MediaIdentity.make(), let fingerprint = identity.fingerprint(),
            let context = MediaContext.client(identity, profiles: SRTPProfile.preferred),
            let random = OpenSSLRandom.bytes(LocalCredentials.randomByteCount),
            let credentials = LocalCredentials(random: random.span.bytes)
        else { throw CheckProblem("OpenSSL has no memory or no random numbers") }
        self.context = context
        self.credentials = credentials
        var description = SessionDescription()
        description.origin.session = "\(ssrc)"
        description.origin.version = "1"
        description.sections = [Direction.sendOnly, .receiveOnly].enumerated().map { index, direction in
            var section = MediaSection(kind: "audio", port: 9, transport: "UDP/TLS/RTP/SAVPF")
            section.mid = "\(index)"
            section.hasRTCPMultiplexing = true
            section.payloads = [PayloadFormat(Self.opus, .init("opus", clockRate: 48_000, channels: 2))]
            section.attributes.direction = direction
            section.attributes.setup = .actpass
            section.attributes.iceUfrag = credentials.ufrag.text
            section.attributes.icePassword = credentials.passwordText
            section.attributes.fingerprints = [
                FingerprintAttribute(algorithm: fingerprint.function.name, digest: fingerprint.bytes)
            ]
            return section
        }
        description.sections[0].sources = [SourceAttribute(ssrc, "cname", "switchboard-check")]
        description.groups = [SectionGroup("BUNDLE", description.sections.compactMap(\.mid))]
        text = description.text
    }
}

/// What a check's leg needs of the gateway's answer.
struct GatewayLegAnswer {
    let credentials: RemoteCredentials
    /// Of the gateway's certificate.
    let fingerprints: [CertificateFingerprint]
    /// The UDP candidates, the best first.
    let addresses: [TransportAddress]

    init(_ text: String) throws(CheckProblem) {
        guard let description = try? SessionDescription(parsing: text), let section = description.sections.first,
            !section.isRejected, let ufrag = section.attributes.iceUfrag,
            let password = section.attributes.icePassword
        else {
            throw CheckProblem(
                "the gateway's answer cannot be used", remedy: "Restart the server: it is of another version.")
        }
        credentials = RemoteCredentials(ufrag: ufrag, password: password)
        fingerprints = (section.attributes.fingerprints + description.attributes.fingerprints).compactMap { offered in
            FingerprintFunction.allCases.first { $0.name == offered.algorithm }
                .flatMap { CertificateFingerprint($0, offered.digest) }
        }
        var addresses: [TransportAddress] = []
        let candidates = section.candidates.filter { $0.transport == "udp" && $0.component == 1 }
        for candidate in candidates.sorted(by: { $0.priority > $1.priority }) {
            guard let address = IPAddress(candidate.address) else { continue }
            let found = TransportAddress(address, port: candidate.port)
            if !addresses.contains(found) { addresses.append(found) }
        }
        self.addresses = addresses
    }
}
