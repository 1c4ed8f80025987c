import RTP
import SDP
import Wire

/// A packet from a publisher, with the properties that are the same for all subscribers.
struct Arrival {
    let encoding: UInt32
    let codec: MediaCodec
    let traits: PacketTraits
    let extensions: HeaderExtensionIDs
    /// The publisher's payload type of Opus, which is used inside redundant audio.
    private let opusType: UInt8
    /// The range of the newest block of redundant audio in the packet, if that is Opus.
    private let newest: Range<Int>?

    init(
        _ packet: borrowing RTPPacket, _ encoding: UInt32, _ codec: NegotiatedCodec, _ payloads: PayloadTable,
        _ extensions: HeaderExtensionIDs
    ) {
        self.encoding = encoding
        self.codec = codec.codec
        self.extensions = extensions
        traits = PacketTraits(packet, codec.codec, extensions)
        guard codec.codec == .redundantAudio, let opus = payloads.published(.opus) else {
            (opusType, newest) = (0, nil)
            return
        }
        opusType = opus
        let start = packet.payloadRange.lowerBound
        newest = RedundantAudio.newest(in: packet.payload).flatMap { block in
            block.payloadType == opus
                ? start &+ block.range.lowerBound..<start &+ block.range.upperBound : nil
        }
    }

    /// The payload for a leg; nil when the leg cannot decode it.
    func form(for payloads: PayloadTable) -> PayloadForm? {
        if let own = payloads.own(codec) {
            guard codec == .redundantAudio, let opus = payloads.own(.opus), opus.payloadType != opusType else {
                return PayloadForm(type: own.payloadType)
            }
            return PayloadForm(type: own.payloadType, blocks: (opusType, opus.payloadType))
        }
        guard codec == .redundantAudio, let newest, let opus = payloads.own(.opus) else { return nil }
        return PayloadForm(type: opus.payloadType, payload: newest)
    }
}

/// The payload of a packet in the form for one leg.
struct PayloadForm {
    let type: UInt8
    /// The range in the packet's bytes, when it is not the whole payload.
    var payload: Range<Int>?
    /// Another payload type for the blocks of redundant audio.
    var blocks: (old: UInt8, new: UInt8)?
}

extension PacketTraits {
    init(_ packet: borrowing RTPPacket, _ codec: MediaCodec, _ ids: HeaderExtensionIDs) {
        let isEmpty = packet.payload.byteCount == 0
        let frame = packet.frameNumber(ids)
        switch codec {
        case .opus, .redundantAudio: self.init(isEntry: true, isEmpty: isEmpty)
        case .vp8:
            let descriptor = VP8Descriptor(packet.payload)
            self.init(
                isEntry: descriptor?.isKeyFrame ?? false, vp8: descriptor, frameNumber: frame, isEmpty: isEmpty)
        case .vp9:
            self.init(
                isEntry: VideoCodec.vp9.beginsKeyFrame(packet.payload), frameNumber: frame, isEmpty: isEmpty)
        case .h264:
            self.init(
                isEntry: VideoCodec.h264.beginsKeyFrame(packet.payload), frameNumber: frame, isEmpty: isEmpty)
        case .av1:
            let descriptor = packet.element(.dependencyDescriptor, ids)
            self.init(
                isEntry: VideoCodec.av1.beginsKeyFrame(packet.payload, dependencyDescriptor: descriptor),
                frameNumber: frame, isEmpty: isEmpty)
        }
    }
}

extension RTPPacket {
    /// The frame's number in the dependency descriptor.
    func frameNumber(_ ids: HeaderExtensionIDs) -> UInt16? {
        guard let value = element(.dependencyDescriptor, ids) else { return nil }
        return DependencyDescriptor(value)?.frameNumber
    }

    /// The text of a header extension.
    func text(_ kind: HeaderExtension, _ ids: HeaderExtensionIDs) -> String? {
        guard let value = element(kind, ids) else { return nil }
        return String(decoding: value.copyToArray(), as: UTF8.self)
    }
}
