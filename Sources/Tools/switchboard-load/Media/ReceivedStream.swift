import RTP
import SDP
import Wire

/// One stream that a virtual participant receives: what its reports say of it, what it asks for again, and what the run
/// wants to know.
struct ReceivedStream {
    let plan: ExpectedStream
    var statistics: ReceiveStatistics
    var gaps = NACKGenerator()
    var account = StreamAccount()
    /// A key frame has come: before that a decoder shows nothing.
    private(set) var isDecodable = false
    private(set) var wantsKeyFrame = false
    private var asked: Instant?

    private static let patience: UInt64 = 1_000_000_000

    init(_ plan: ExpectedStream) {
        self.plan = plan
        statistics = ReceiveStatistics(clockRate: plan.kind == .audio ? 48000 : 90000)
    }

    /// Takes in a packet, first-hand or repaired. Returns when it was sent, nil for what was known already or is none of this
    /// program's.
    mutating func take(_ packet: borrowing RTPPacket, isRepair: Bool, at now: Instant) -> Instant? {
        if !isRepair { _ = statistics.receive(packet.header, byteCount: packet.payloadRange.count, at: now) }
        if plan.kind == .video {
            if plan.canRepair, gaps.receive(packet.sequence, at: now) == .overwhelmed { wantsKeyFrame = true }
            if let descriptor = VP8Descriptor(packet.payload), descriptor.isKeyFrame {
                isDecodable = true
                wantsKeyFrame = false
            }
        }
        guard let mark = MediaMark(packet.payload), account.take(mark, isRepair: isRepair) else { return nil }
        return Instant(nanoseconds: mark.sentAt)
    }

    /// Whether a key frame is to be asked for now: not again before a second is over.
    mutating func asksForKeyFrame(at now: Instant) -> Bool {
        guard plan.kind == .video, wantsKeyFrame || !isDecodable && statistics.packetCount > 0,
            asked.map({ now.nanoseconds(since: $0) >= Self.patience }) ?? true
        else { return false }
        asked = now
        return true
    }
}

/// Which packets of a stream came, by the marks that their senders put in: a stream may show one source after the other,
/// and of each those between the first and the last that came are expected.
struct StreamAccount: Hashable {
    private(set) var packets: UInt64 = 0
    private(set) var repaired: UInt64 = 0
    private(set) var reordered: UInt64 = 0
    private(set) var duplicates: UInt64 = 0
    /// Of the sources before.
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

    /// So far behind the highest it cannot be told whether a packet was there before.
    private static let window: UInt64 = 4096

    /// Packets that were sent between others and did not come.
    var lost: UInt64 { missing + (current?.missing ?? 0) }

    /// False for a packet that was there before, and for a repair of one from before the first: what is repeated to try
    /// the way may be older than all that is counted.
    mutating func take(_ mark: MediaMark, isRepair: Bool) -> Bool {
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
        guard segment.note(number, within: Self.window) else {
            if !isRepair { duplicates += 1 }
            return false
        }
        segment.received += 1
        packets += 1
        if isRepair { repaired += 1 } else if isLate { reordered += 1 }
        return true
    }

    /// What comes from now on counts.
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
    /// Remembers a packet; false when it was there, or is too old to tell.
    fileprivate mutating func note(_ number: UInt64, within window: UInt64) -> Bool {
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
