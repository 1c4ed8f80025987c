import RTP
import SDP
import Wire

/// A stream that a virtual participant receives: its statistics for reports, its retransmission requests, and its
/// counts for the run.
struct ReceivedStream {
    let plan: ExpectedStream
    var statistics: ReceiveStatistics
    var gaps = NACKGenerator()
    var account = StreamAccount()
    /// Whether a key frame was received; before that a decoder shows nothing.
    private(set) var isDecodable = false
    private(set) var needsKeyFrame = false
    private var requestedAt: Instant?

    private static let keyFrameRequestInterval: UInt64 = 1_000_000_000

    init(_ plan: ExpectedStream) {
        self.plan = plan
        statistics = ReceiveStatistics(clockRate: plan.kind == .audio ? 48000 : 90000)
    }

    /// Receives a packet, original or retransmitted. Returns when it was sent; nil for a duplicate, or a packet that is
    /// not from this program.
    mutating func receive(_ packet: borrowing RTPPacket, isRepair: Bool, at now: Instant) -> Instant? {
        if !isRepair { _ = statistics.receive(packet.header, byteCount: packet.payloadRange.count, at: now) }
        if plan.kind == .video {
            if plan.canRepair, gaps.receive(packet.sequence, at: now) == .overwhelmed { needsKeyFrame = true }
            if let descriptor = VP8Descriptor(packet.payload), descriptor.isKeyFrame {
                isDecodable = true
                needsKeyFrame = false
            }
        }
        guard let mark = MediaMark(packet.payload), account.record(mark, isRepair: isRepair) else { return nil }
        return Instant(nanoseconds: mark.sentAt)
    }

    /// Whether to request a key frame now, at most once a second.
    mutating func shouldRequestKeyFrame(at now: Instant) -> Bool {
        guard plan.kind == .video, needsKeyFrame || !isDecodable && statistics.packetCount > 0,
            requestedAt.map({ now.nanoseconds(since: $0) >= Self.keyFrameRequestInterval }) ?? true
        else { return false }
        requestedAt = now
        return true
    }
}

/// Counts the packets of a stream by their senders' marks. A stream may carry one source after the other; of each
/// source, all packets between the first and the last received are expected.
struct StreamAccount: Hashable {
    private(set) var packets: UInt64 = 0
    private(set) var repaired: UInt64 = 0
    private(set) var reordered: UInt64 = 0
    private(set) var duplicates: UInt64 = 0
    /// Missing packets of the previous sources.
    private var missing: UInt64 = 0
    private var current: Segment?

    fileprivate struct Segment: Hashable {
        let source: UInt32
        let first: UInt64
        var highest: UInt64
        var received: UInt64 = 0
        /// A bit for each of the latest packets, the highest at bit 0.
        var latest: [UInt64] = [0]

        var missing: UInt64 { highest - first + 1 - min(received, highest - first + 1) }
    }

    /// The size of the duplicate window: older packets are treated as duplicates.
    private static let window: UInt64 = 4096

    /// Packets that were lost between received ones.
    var lost: UInt64 { missing + (current?.missing ?? 0) }

    /// Records a packet. Returns false for a duplicate, and for a retransmission from before the first packet: probes
    /// of the path may repeat packets that are older than all that are counted.
    mutating func record(_ mark: MediaMark, isRepair: Bool) -> Bool {
        let number = UInt64(mark.number)
        if current?.source != mark.source {
            guard !isRepair else { return false }
            missing += current?.missing ?? 0
            current = Segment(source: mark.source, first: number, highest: number)
        }
        guard var segment = current, number >= segment.first else { return false }
        current = nil
        defer { current = segment }
        let isLate = number < segment.highest
        guard segment.mark(number, within: Self.window) else {
            if !isRepair { duplicates += 1 }
            return false
        }
        segment.received += 1
        packets += 1
        if isRepair { repaired += 1 } else if isLate { reordered += 1 }
        return true
    }

    /// Restarts the count.
    mutating func reset() { self = StreamAccount() }

    mutating func add(_ other: StreamAccount) {
        packets += other.packets
        repaired += other.repaired
        reordered += other.reordered
        duplicates += other.duplicates
        missing += other.lost
    }
}

extension StreamAccount.Segment {
    /// Marks a packet as received; false if it is a duplicate, or too old to tell.
    fileprivate mutating func mark(_ number: UInt64, within window: UInt64) -> Bool {
        let words = Int(window / 64)
        if latest.count < words { latest += [UInt64](repeating: 0, count: words - latest.count) }
        if number > highest {
            for skipped in max(highest + 1, number - min(number, window - 1))...number {
                latest[Int(skipped % window) / 64] &= ~(1 << (skipped % 64))
            }
            highest = number
        } else if highest - number >= window {
            return false
        }
        let (word, bit) = (Int(number % window) / 64, UInt64(1) << (number % 64))
        guard latest[word] & bit == 0 else { return false }
        latest[word] |= bit
        return true
    }
}
