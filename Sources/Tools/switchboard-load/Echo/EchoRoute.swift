import OpenSSLCrypto
import RTP
import SDP

/// A stream that is received, and the one in which it is sent back.
///
/// Both have the same payload types, since an answer repeats those of its offer, so that a packet is sent back with
/// another source and other numbers, and with the same payload.
struct EchoRoute: Hashable, Sendable {
    /// An SSRC that the other side announced, and that of its retransmissions.
    struct Source: Hashable, Sendable {
        let ssrc: UInt32
        let retransmission: UInt32?
    }

    struct Codec: Hashable, Sendable {
        let payloadType: UInt8
        /// The payload type of its retransmissions (RFC 4588).
        let retransmission: UInt8?
        /// Lost packets may be requested again.
        let hasNACK: Bool
    }

    let kind: MediaKind
    /// The mid of the section in which it is received, if packets may have to be recognized by it.
    let receivedMID: String?
    let sources: [Source]
    let codecs: [Codec]
    /// The mid of the section in which it is sent back.
    let sentMID: String
    let ssrc: UInt32
    let retransmissionSSRC: UInt32
    let name: String

    var clockRate: UInt32 { kind == .audio ? 48000 : 90000 }

    func codec(_ payloadType: UInt8) -> Codec? { codecs.first { $0.payloadType == payloadType } }
    func codec(retransmittedAs payloadType: UInt8) -> Codec? { codecs.first { $0.retransmission == payloadType } }
}

extension EchoRoute {
    /// The routes of a leg whose offer was answered here: a section that is received goes back in the same section, or
    /// in another of its kind if the other side only sends in it.
    static func all(_ leg: NegotiatedLeg) -> [EchoRoute] {
        let live = leg.sections.filter { $0.rejection == nil }
        var free = live.filter { $0.slot != nil && !$0.direction.receives }
        return live.filter(\.direction.receives).compactMap { section in
            var target = section
            if section.slot == nil {
                guard let index = free.firstIndex(where: { $0.kind == section.kind }) else { return nil }
                target = free.remove(at: index)
            }
            return route(section, target)
        }
    }

    private static func route(_ section: NegotiatedSection, _ target: NegotiatedSection) -> EchoRoute? {
        guard let kind = section.kind, let slot = target.slot else { return nil }
        let codecs = section.codecs.compactMap { codec -> Codec? in
            guard let sent = target.codec(codec.payloadType), sent.codec == codec.codec else { return nil }
            return Codec(
                payloadType: codec.payloadType, retransmission: codec.retransmission,
                hasNACK: codec.feedback.contains(.nack))
        }
        return EchoRoute(
            kind: kind, receivedMID: section.mid,
            sources: section.sources.map { Source(ssrc: $0.ssrc, retransmission: $0.retransmission) }, codecs: codecs,
            sentMID: target.mid, ssrc: slot.ssrc, retransmissionSSRC: slot.retransmissionSSRC, name: slot.cname)
    }

    /// The routes of a leg with the media gateway: its first slot of each kind goes back in the track of that kind.
    static func all(_ plan: LegPlan) -> [EchoRoute] {
        plan.tracks.compactMap { track in
            guard let stream = plan.streams.first(where: { $0.kind == track.kind }),
                stream.payloadType == track.payloadType
            else { return nil }
            return EchoRoute(
                kind: track.kind, receivedMID: nil,
                sources: [Source(ssrc: stream.ssrc, retransmission: stream.retransmissionSSRC)],
                codecs: [
                    Codec(
                        payloadType: track.payloadType, retransmission: track.retransmission, hasNACK: stream.canRepair)
                ],
                sentMID: track.mid, ssrc: track.ssrc, retransmissionSSRC: track.retransmissionSSRC, name: "load")
        }
    }
}

extension NegotiatedLeg {
    /// The ids of the header extensions, which are the same in every section of a bundle and in both directions.
    var extensionIDs: HeaderExtensionIDs {
        var ids = HeaderExtensionIDs(allowsTwoByte: allowsMixedExtensions)
        for used in sections.flatMap(\.extensions) {
            if let kind = HeaderExtension(uri: used.uri) { ids[kind] = used.id }
        }
        return ids
    }
}

extension RemoteTransport {
    /// The fingerprints in the form that DTLS compares.
    var certificates: [CertificateFingerprint] {
        fingerprints.compactMap { offered in
            FingerprintFunction.allCases.first { $0.name == offered.algorithm }
                .flatMap { CertificateFingerprint($0, offered.digest) }
        }
    }
}
