import RTP
import SDP
import Wire

/// Writes the packets that are sent back for those of one route.
///
/// The stream that is sent is continuous, whichever source the other side sends; a packet that was lost on the way here
/// leaves its gap, and its retransmission fills it. So the other side's decoder gets what its encoder made, and a key
/// frame that the decoder requests is requested from the encoder.
final class EchoStream {
    private static let historyByteCount = 512 * 1024

    var route: EchoRoute
    /// The SSRC that is received; nil before the first packet.
    private(set) var source: UInt32?
    private(set) var statistics: ReceiveStatistics
    /// The lost packets of a video.
    private(set) var gaps = NACKGenerator()
    private(set) var packetCount: UInt32 = 0
    private var byteCount: UInt32 = 0
    private let composer: PacketComposer
    private var rewriter: SlotRewriter
    private var history = PacketHistory(byteLimit: EchoStream.historyByteCount)
    private var repairSequence: UInt16
    private var keyFrames = KeyFrameRequests()
    private var needsKeyFrame = false

    init(_ route: EchoRoute, _ extensions: HeaderExtensionIDs, _ random: inout SeededRandom) {
        self.route = route
        composer = PacketComposer(from: extensions, to: extensions)
        statistics = ReceiveStatistics(clockRate: route.clockRate)
        // A sequence that begins in the lower half does not wrap before the receiver knows the rollover counter
        // (RFC 3711 section 3.3.1).
        rewriter = SlotRewriter(
            clockRate: route.clockRate, sequence: UInt16.random(in: 0...0x7FFF, using: &random),
            timestamp: UInt32.random(in: 0...UInt32.max, using: &random))
        repairSequence = UInt16.random(in: 0...0x7FFF, using: &random)
    }

    /// Writes what is sent back for a packet.
    ///
    /// - Parameters:
    ///   - isRepair: the packet was unwrapped from a retransmission.
    ///   - values: the header extensions of this hop; the mid is added.
    /// - Returns: the size in `target`; nil if nothing is sent back.
    func receive(
        _ packet: borrowing RTPPacket, isRepair: Bool, _ values: ExtensionValues, at now: Instant,
        into target: inout MutableRawSpan
    ) -> Int? {
        guard let codec = route.codec(packet.payloadType) else { return nil }
        if source != packet.ssrc { begin(packet.ssrc) }
        if !isRepair { _ = statistics.receive(packet.header, byteCount: packet.payloadRange.count, at: now) }
        if route.kind == .video, codec.hasNACK {
            switch gaps.receive(packet.sequence, isRepair: isRepair, at: now) {
            case .overwhelmed: needsKeyFrame = true
            case .old where isRepair: return nil
            case .inOrder, .recovered, .old: break
            }
        }
        let traits = PacketTraits(isEntry: true, isEmpty: packet.payloadRange.isEmpty)
        switch rewriter.receive(packet.header, from: packet.ssrc, traits, at: now) {
        case .drop: return nil
        case .forward(let numbers): return write(packet, codec, numbers, values, into: &target)
        case .fill(let numbers):
            return composer.writePadding(
                1, header: header(packet, numbers), values: identified(values), into: &target)?.byteCount
        }
    }

    /// Another source is received from here on.
    private func begin(_ ssrc: UInt32) {
        source = ssrc
        statistics = ReceiveStatistics(clockRate: route.clockRate)
        gaps.reset()
        rewriter.show(ssrc)
    }

    private func write(
        _ packet: borrowing RTPPacket, _ codec: EchoRoute.Codec, _ numbers: SlotPacket, _ values: ExtensionValues,
        into target: inout MutableRawSpan
    ) -> Int? {
        let written = composer.write(
            packet, header: header(packet, numbers), values: identified(values), into: &target)
        guard let written else { return nil }
        if codec.retransmission != nil, let copy = try? RTPPacket(target.bytes.extracting(0..<written.byteCount)) {
            history.store(copy)
        }
        packetCount &+= 1
        byteCount &+= UInt32(truncatingIfNeeded: packet.payloadRange.count)
        return written.byteCount
    }

    private func header(_ packet: borrowing RTPPacket, _ numbers: SlotPacket) -> RTPHeader {
        RTPHeader(
            payloadType: packet.payloadType, marker: packet.marker || numbers.isSwitch && route.kind == .audio,
            sequence: numbers.sequence, timestamp: numbers.timestamp, ssrc: route.ssrc)
    }

    private func identified(_ values: ExtensionValues) -> ExtensionValues {
        var values = values
        values.mediaIdentification = Array(route.sentMID.utf8)
        return values
    }

    /// Writes a packet that was sent back and lost, as a retransmission. nil if it is no longer, or not yet, here: one
    /// that was lost on the way here is requested by `gaps`.
    func resend(_ lost: UInt16, _ values: ExtensionValues, into target: inout MutableRawSpan) -> Int? {
        guard let bytes = history.packet(lost)?.copyToArray(), let packet = try? RTPPacket(bytes.span.bytes),
            let type = route.codec(packet.payloadType)?.retransmission
        else { return nil }
        var header = packet.header
        header.payloadType = type
        header.ssrc = route.retransmissionSSRC
        header.sequence = repairSequence
        let written = composer.write(
            packet, header: header, values: identified(values), originalSequence: lost, into: &target)
        if written != nil { repairSequence &+= 1 }
        return written?.byteCount
    }

    // MARK: Reports

    /// The lost packets to request now.
    func collectLost(at now: Instant, into lost: inout [UInt16]) {
        guard gaps.missingCount > 0 else { return lost.removeAll(keepingCapacity: true) }
        gaps.collect(at: now, into: &lost)
    }

    /// The other side's decoder needs a key frame.
    func requestKeyFrame() { needsKeyFrame = true }

    /// Whether to request a key frame from the other side's encoder now. A request is sent once: a decoder that still
    /// waits repeats its own. One that comes too early after another is sent later.
    func takeKeyFrameRequest(at now: Instant) -> Bool {
        guard needsKeyFrame, keyFrames.request(at: now) else { return false }
        keyFrames.keyFrameArrived()
        needsKeyFrame = false
        return true
    }

    func reportBlock(at now: Instant) -> ReportBlock? {
        guard let source, statistics.packetCount > 0 else { return nil }
        return statistics.report(of: source, at: now)
    }

    /// The report to send for one about the received stream: it maps the timestamps that are sent to the same wall
    /// clock, so that audio and video stay in sync. nil before the first packet.
    func report(for received: SenderReport, at now: Instant) -> SenderReport? {
        statistics.receive(received, at: now)
        guard let offset = rewriter.timestampOffset, packetCount > 0 else { return nil }
        return SenderReport(
            ssrc: route.ssrc, ntpTime: received.ntpTime, rtpTimestamp: received.rtpTimestamp &+ offset,
            packetCount: packetCount, byteCount: byteCount)
    }
}
