import RTP
import Wire

/// The bandwidth of a leg with video, and the packets that wait until they may be sent.
///
/// A class, because it is accessed for every packet and must never be copied. Audio-only legs have none: audio is sent
/// whatever the state of the link.
final class LegBandwidth {
    /// How often the layers are selected. Changes in a call have them selected at once.
    static let selectionNanoseconds: UInt64 = 100_000_000
    private static let smoothingNanoseconds: UInt64 = 300_000_000
    /// The least pacing rate of video in bits per second, if the link carries it, however little was requested.
    static let minPacingRate: UInt64 = 600_000

    var estimate = BandwidthEstimate()
    var pacer: Pacer
    var waiting = WaitingPackets()
    var selection = LayerSelection()
    var paused = PausedVideo()
    var repairBudget = RepairBudget()
    /// For the packet statuses in feedback, and for the packets requested by NACKs.
    var feedbackCredit = FeedbackCredit()
    var nackCredit = FeedbackCredit()
    /// The bitrate of the audio, which is independent of the layers.
    var audioRate = BitrateMeter()
    var nextSelection = Instant(nanoseconds: 0)
    /// It is in the engine's list of legs with waiting packets.
    var isPaced = false
    /// How many packets back the next retransmission for a probe is.
    var repeated: UInt16 = 0

    init() {
        pacer = Pacer(bitrate: estimate.bitrate)
    }

    /// A congested link gets no bursts, unless the waiting packets would then be dropped.
    func limitsBursts(at now: Instant) -> Bool {
        estimate.isCongested(at: now)
            && waiting.oldest.map { now.nanoseconds(since: $0) < Self.smoothingNanoseconds } ?? true
    }

    /// Loss or delay shows that less arrives than `needed`, in bits per second.
    func isStrained(needing needed: UInt64) -> Bool {
        guard estimate.bitrate < needed else { return false }
        return estimate.lossRatio > 0.1 || (estimate.receivedBitrate ?? needed) < needed / 5 &* 4
    }
}

/// A video packet to be sent as soon as the pacer allows it; its bytes are in the publisher's history.
struct WaitingPacket {
    let slot: Int
    /// The number of the encoding.
    let encoding: UInt32
    /// The publisher's sequence number.
    let sequence: UInt16
    let since: Instant
}

/// A FIFO queue that rarely moves its elements.
struct WaitingPackets {
    private var packets: [WaitingPacket] = []
    private var begin = 0

    var count: Int { packets.count &- begin }
    var isEmpty: Bool { begin == packets.count }
    var oldest: Instant? { isEmpty ? nil : packets[begin].since }

    /// Whether a packet of the slot waits, optionally of one encoding.
    func contains(slot: Int, encoding: UInt32? = nil) -> Bool {
        packets[begin...].contains { $0.slot == slot && (encoding == nil || $0.encoding == encoding) }
    }

    mutating func append(_ packet: WaitingPacket) {
        packets.append(packet)
    }

    mutating func removeFirst() -> WaitingPacket? {
        guard begin < packets.count else { return nil }
        let packet = packets[begin]
        begin &+= 1
        if begin == packets.count {
            packets.removeAll(keepingCapacity: true)
            begin = 0
        } else if begin >= 256 {
            packets.removeFirst(begin)
            begin = 0
        }
        return packet
    }

    /// Removes the packets of a slot, except those of one encoding, and returns how many.
    mutating func removeAll(of slot: Int, but encoding: UInt32?) -> Int {
        let before = count
        packets.removeFirst(begin)
        begin = 0
        packets.removeAll { $0.slot == slot && $0.encoding != encoding }
        return before &- count
    }

    mutating func removeAll() {
        self = WaitingPackets()
    }
}
