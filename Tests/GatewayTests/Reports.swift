import RTP
import Wire

// Datagrams of RTCP, as a test makes and reads them.

extension [UInt8] {
    static func nack(_ sequence: UInt16, of source: UInt32, mask: UInt16 = 0) -> [UInt8] {
        [0x81, 205, 0, 3] + UInt32(1).bigEndianBytes + source.bigEndianBytes + sequence.bigEndianBytes
            + mask.bigEndianBytes
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

    func asksForKeyFrame(of source: UInt32) -> Bool {
        var asks = false
        visit { if $0.kind == .pictureLoss, $0.mediaSource == source { asks = true } }
        return asks
    }

    func asks(for sequence: UInt16, of source: UInt32) -> Bool {
        var asks = false
        visit { packet in
            guard packet.kind == .nack, packet.mediaSource == source else { return }
            packet.visitLost { if $0 == sequence { asks = true } }
        }
        return asks
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
    /// VP8's picture id of 15 bits.
    var picture: UInt16 { UInt16(payload[2] & 0x7F) << 8 | UInt16(payload[3]) }
}
