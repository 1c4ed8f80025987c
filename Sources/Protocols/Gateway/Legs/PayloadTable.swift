import SDP

/// What the payload types of a leg mean. They mean the same in all of its sections.
///
/// Each packet asks, and the table is a quarter of a kilobyte: an object, so that nobody copies it.
final class PayloadTable {
    struct Meaning {
        let codec: NegotiatedCodec
        /// The packet repairs another one (RFC 4588).
        let isRepair: Bool
    }

    private let codecs: [NegotiatedCodec]
    /// Those of sections in which the gateway sends.
    private let playable: [NegotiatedCodec]
    /// By payload type: 0 for none, else twice the place in `codecs` plus 1, or plus 2 for repairs.
    private let meanings: InlineArray<128, UInt16>

    init(_ sections: [NegotiatedSection]) {
        var codecs: [NegotiatedCodec] = []
        var playable: [NegotiatedCodec] = []
        var meanings = InlineArray<128, UInt16>(repeating: 0)
        for section in sections {
            if section.direction.sends {
                for codec in section.codecs where !playable.contains(where: { $0.codec == codec.codec }) {
                    playable.append(codec)
                }
            }
            for codec in section.codecs where meanings[Int(codec.payloadType & 127)] == 0 {
                let place = UInt16(truncatingIfNeeded: codecs.count &* 2)
                codecs.append(codec)
                meanings[Int(codec.payloadType & 127)] = place &+ 1
                if let repair = codec.retransmission { meanings[Int(repair & 127)] = place &+ 2 }
            }
        }
        self.codecs = codecs
        self.playable = playable
        self.meanings = meanings
    }

    func meaning(of payloadType: UInt8) -> Meaning? {
        let number = Int(meanings[Int(payloadType & 127)])
        guard number > 0, (number &- 1) / 2 < codecs.count else { return nil }
        return Meaning(codec: codecs[(number &- 1) / 2], isRepair: number & 1 == 0)
    }

    /// How this leg numbers a codec of another one; nil when it cannot play it.
    func own(_ codec: MediaCodec) -> NegotiatedCodec? {
        playable.first { $0.codec == codec }
    }

    /// The number that the leg itself sends a codec under.
    func published(_ codec: MediaCodec) -> UInt8? {
        codecs.first { $0.codec == codec }?.payloadType
    }

    /// Whether the leg can play what comes in a codec. Redundant audio is unwrapped for those who have only what is in it.
    func canDecode(_ codec: MediaCodec) -> Bool {
        own(codec) != nil || codec == .redundantAudio && own(.opus) != nil
    }
}
