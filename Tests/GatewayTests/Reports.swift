import RTP
import Wire

// Datagrams of RTCP, as a test makes and reads them.

extension [UInt8] {
    static func nack(_ sequence: UInt16, of source: UInt32, mask: UInt16 = 0) -> [UInt8] {
        [0x81, 205, 0, 3] + UInt32(1).bigEndianBytes + source.bigEndianBytes + sequence.bigEndianBytes
            + mask.bigEndianBytes
    }

    static func pictureLoss(of source: UInt32) -> [UInt8] {
        [0x81, 206, 0, 2] + UInt32(1).bigEndianBytes + source.bigEndianBytes
    }

    /// REMB (draft-alvestrand-rmcat-remb-03 section 2.2), in whole kilobits.
    static func receiverLimit(_ bitrate: UInt64) -> [UInt8] {
        [0x8F, 206, 0, 5] + UInt32(1).bigEndianBytes + UInt32(0).bigEndianBytes + Array("REMB".utf8)
            + (UInt32(1) << 24 | 10 << 18 | UInt32(bitrate / 1_024)).bigEndianBytes + UInt32(2).bigEndianBytes
    }

    private func visit(_ body: (borrowing RTCPPacket) -> Void) {
        guard var compound = try? RTCPCompound(span.bytes) else { return }
        while let packet = compound.next() { body(packet) }
    }

    var kinds: [RTCPPacket.Kind] {
        var kinds: [RTCPPacket.Kind] = []
        visit { kinds.append($0.kind) }
        return kinds
    }

    func requestsKeyFrame(of source: UInt32) -> Bool {
        var requests = false
        visit { if $0.kind == .pictureLoss, $0.mediaSource == source { requests = true } }
        return requests
    }

    func requests(for sequence: UInt16, of source: UInt32) -> Bool {
        var requests = false
        visit { packet in
            guard packet.kind == .nack, packet.mediaSource == source else { return }
            packet.visitLost { if $0 == sequence { requests = true } }
        }
        return requests
    }

    var estimatedMaximumBitrate: UInt64? {
        var bitrate: UInt64?
        visit { bitrate = bitrate ?? $0.estimatedMaximumBitrate }
        return bitrate
    }

    var blocks: [ReportBlock] {
        var blocks: [ReportBlock] = []
        visit { $0.visitReportBlocks { blocks.append($0) } }
        return blocks
    }

    var senderReport: SenderReport? {
        var report: SenderReport?
        visit { if let found = $0.senderReport { report = found } }
        return report
    }
}

extension Packet {
    func transportSequence(_ client: Client) -> UInt16? {
        guard let packet = try? RTPPacket(bytes.span.bytes) else { return nil }
        var ids = HeaderExtensionIDs()
        ids[.transportSequence] = client.transportID
        return packet.transportSequence(ids)
    }

    /// VP8's picture id of 15 bits.
    var picture: UInt16 { UInt16(payload[2] & 0x7F) << 8 | UInt16(payload[3]) }
}
