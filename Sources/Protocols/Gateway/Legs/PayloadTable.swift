import SDP

/// Maps the payload types of a leg to codecs. The mapping is the same in all of its sections.
///
/// A class, because it is used for every packet, and a quarter of a kilobyte must not be copied.
final class PayloadTable {
    struct PayloadMapping {
        let codec: NegotiatedCodec
        /// The payload type is that of retransmissions (RFC 4588).
        let isRepair: Bool
    }

    private let codecs: [NegotiatedCodec]
    /// The codecs of sections in which the gateway sends.
    private let playable: [NegotiatedCodec]
    /// By payload type: 0 for none, else twice the index in `codecs` plus 1, or plus 2 for retransmissions.
    private let mappings: InlineArray<128, UInt16>

    init(_ sections: [NegotiatedSection]) {
        var codecs: [NegotiatedCodec] = []
        var playable: [NegotiatedCodec] = []
        var mappings = InlineArray<128, UInt16>(repeating: 0)
        for section in sections {
            if section.direction.sends {
                for codec in section.codecs where !playable.contains(where: { $0.codec == codec.codec }) {
                    playable.append(codec)
                }
            }
            for codec in section.codecs where mappings[Int(codec.payloadType & 127)] == 0 {
                let position = UInt16(truncatingIfNeeded: codecs.count &* 2)
                codecs.append(codec)
                mappings[Int(codec.payloadType & 127)] = position &+ 1
                if let repair = codec.retransmission { mappings[Int(repair & 127)] = position &+ 2 }
            }
        }
        self.codecs = codecs
        self.playable = playable
        self.mappings = mappings
    }

    func mapping(of payloadType: UInt8) -> PayloadMapping? {
        let number = Int(mappings[Int(payloadType & 127)])
        guard number > 0, (number &- 1) / 2 < codecs.count else { return nil }
        return PayloadMapping(codec: codecs[(number &- 1) / 2], isRepair: number & 1 == 0)
    }

    /// This leg's mapping of a codec of another leg; nil when it cannot play it.
    func own(_ codec: MediaCodec) -> NegotiatedCodec? {
        playable.first { $0.codec == codec }
    }

    /// The payload type with which the leg itself sends a codec.
    func published(_ codec: MediaCodec) -> UInt8? {
        codecs.first { $0.codec == codec }?.payloadType
    }

    /// Whether the leg can play a codec. Redundant audio is unwrapped for legs that support only Opus.
    func canDecode(_ codec: MediaCodec) -> Bool {
        own(codec) != nil || codec == .redundantAudio && own(.opus) != nil
    }
}
