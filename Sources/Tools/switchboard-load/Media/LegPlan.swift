import ICE
import OpenSSLCrypto
import RTP
import SDP
import Wire

/// What a leg needs to start: the result of its negotiation.
struct LegPlan: Sendable {
    let local: LocalCredentials
    let remote: RemoteCredentials
    /// The fingerprints of the server's certificate, one of which must match.
    let fingerprints: [CertificateFingerprint]
    /// The addresses of the server, the best first, all of one family.
    let candidates: [TransportAddress]
    let tracks: [PublishedTrack]
    let streams: [ExpectedStream]
    let extensions: HeaderExtensionIDs

    /// The result of our offer and the server's answer.
    ///
    /// - Throws: a description of what is missing in the answer.
    init(_ offer: MediaOffer, answer text: String) throws {
        try self.init(offer.credentials, offer.tracks, theirs: try SessionDescription.parse(text))
    }

    /// - Parameter theirs: the server's description: its answer, or its offer, all of which is accepted.
    init(_ credentials: LocalCredentials, _ offered: [PublishedTrack], theirs: SessionDescription) throws {
        local = credentials
        let live = theirs.sections.filter { !$0.isRejected }
        guard let first = live.first else { throw MediaFailure("the answer rejects every section") }
        let (own, session) = (first.attributes, theirs.attributes)
        guard let ufrag = own.iceUfrag ?? session.iceUfrag, let password = own.icePassword ?? session.icePassword
        else { throw MediaFailure("the answer has no ICE credentials") }
        guard (own.setup ?? session.setup) != .active else {
            throw MediaFailure("the server wants to be the DTLS client, which this program is")
        }
        remote = RemoteCredentials(ufrag: ufrag, password: password)
        fingerprints = (own.fingerprints + session.fingerprints).compactMap { fingerprint in
            FingerprintFunction.allCases.first { $0.name == fingerprint.algorithm }
                .flatMap { CertificateFingerprint($0, fingerprint.digest) }
        }
        guard !fingerprints.isEmpty else { throw MediaFailure("the answer has no fingerprint") }
        candidates = Self.reachable(live.flatMap(\.candidates))
        guard !candidates.isEmpty else { throw MediaFailure("the answer has no UDP candidate with an IP address") }
        extensions = Self.extensions(live)
        tracks = try offered.map { track in
            guard let section = live.first(where: { $0.mid == track.mid }), section.direction?.receives ?? true else {
                throw MediaFailure("the answer does not accept the \(track.kind.rawValue) of mid \(track.mid)")
            }
            return try section.accepting(track)
        }
        streams = live.filter { $0.direction?.sends ?? false }.compactMap(\.expectedStream)
    }

    private static func reachable(_ candidates: [Candidate]) -> [TransportAddress] {
        let all = candidates.filter { $0.transport == "udp" && $0.component == 1 }
            .sorted { $0.priority > $1.priority }
            .compactMap { candidate in
                IPAddress(candidate.address).map { TransportAddress($0, port: candidate.port) }
            }
        // A socket has one family, and each section of a bundle may list the same candidates.
        var seen: Set<TransportAddress> = []
        return all.filter { $0.address.family == all.first?.address.family && seen.insert($0).inserted }
    }

    private static func extensions(_ sections: [MediaSection]) -> HeaderExtensionIDs {
        var ids = HeaderExtensionIDs()
        for map in sections.flatMap(\.attributes.extensions) {
            guard let kind = HeaderExtension(uri: map.uri), let id = UInt8(exactly: map.id), id < 15 else { continue }
            ids[kind] = id
        }
        return ids
    }
}

extension SessionDescription {
    static func parse(_ text: String) throws -> SessionDescription {
        do {
            return try SessionDescription(parsing: text)
        } catch {
            throw MediaFailure("the server's description cannot be read: \(error)")
        }
    }
}

extension MediaSection {
    /// The payload types of media and of its retransmissions.
    private var codec: (payloadType: UInt8, retransmission: UInt8?, canRepair: Bool)? {
        let encoding = kind == "audio" ? "opus" : "vp8"
        guard let format = payloads.first(where: { $0.encoding?.name.lowercased() == encoding }) else { return nil }
        let repair = payloads.first {
            $0.encoding?.name.lowercased() == "rtx" && $0.parameter("apt").flatMap { UInt8($0) } == format.payloadType
        }
        return (format.payloadType, repair?.payloadType, format.feedback.contains("nack"))
    }

    fileprivate func accepting(_ track: PublishedTrack) throws -> PublishedTrack {
        guard let codec else {
            throw MediaFailure("the answer accepts no \(track.kind == .audio ? "Opus" : "VP8") in mid \(track.mid)")
        }
        var track = track
        track.payloadType = codec.payloadType
        track.retransmission = codec.retransmission
        return track
    }

    fileprivate var expectedStream: ExpectedStream? {
        guard let kind = MediaKind(rawValue: kind), let codec else { return nil }
        let pair = sourceGroups.first { $0.semantics == "FID" && $0.ssrcs.count == 2 }?.ssrcs
        guard let ssrc = pair?.first ?? sources.first?.ssrc else { return nil }
        return ExpectedStream(
            kind: kind, ssrc: ssrc, retransmissionSSRC: pair?.last, payloadType: codec.payloadType,
            canRepair: codec.canRepair)
    }
}

struct MediaFailure: Error, CustomStringConvertible {
    let description: String
    /// Whether the server rejected the request, which need not be an error.
    let isRejection: Bool

    init(_ description: String, isRejection: Bool = false) {
        self.description = description
        self.isRejection = isRejection
    }
}
