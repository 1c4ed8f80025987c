import RTP
import Wire

/// How much a leg with pictures can receive, and what waits until it may be sent.
///
/// An object, because most of it is looked at with every packet and none of it is ever copied. Legs that only hear have
/// none: their sound is sent whatever the way is like.
final class LegBandwidth {
    /// How often the layers are chosen. What changes in a call lets them be chosen at once.
    static let selectionNanoseconds: UInt64 = 100_000_000
    private static let gentleNanoseconds: UInt64 = 300_000_000
    /// Bits per second at which video may leave where the link carries them, however little is known to be wanted.
    static let leastPace: UInt64 = 600_000

    var estimate = BandwidthEstimate()
    var pacer: Pacer
    var waiting = WaitingPackets()
    var selection = LayerSelection()
    var paused = PausedPictures()
    var repairs = RepairBudget()
    /// Statuses of packets, and packets that are asked for again.
    var reports = FeedbackCredit()
    var questions = FeedbackCredit()
    /// What does not follow from the choice of layers: sound.
    var sound = BitrateMeter()
    var nextSelection = Instant(nanoseconds: 0)
    /// It is in the engine's list of those whose packets wait.
    var isPaced = false
    /// How many packets back the next one lies that is repeated for a probe.
    var repeated: UInt16 = 0

    init() {
        pacer = Pacer(bitrate: estimate.bitrate)
    }

    /// A link that is full is not sent bursts, unless what waits would be given up before it has its turn.
    func isGentle(at now: Instant) -> Bool {
        estimate.isCongested(at: now)
            && waiting.oldest.map { now.nanoseconds(since: $0) < Self.gentleNanoseconds } ?? true
    }

    /// Loss or delay says that less arrives than `needed`, in bits per second.
    func isStrained(needing needed: UInt64) -> Bool {
        guard estimate.bitrate < needed else { return false }
        return estimate.lossRatio > 0.1 || (estimate.receivedBitrate ?? needed) < needed / 5 &* 4
    }
}

/// A packet of video that is to be sent as soon as the pacer lets it: the publisher's history has it.
struct WaitingPacket {
    let slot: Int
    /// The encoding, by its number.
    let encoding: UInt32
    /// The publisher's.
    let sequence: UInt16
    let since: Instant
}

/// First in, first out, without moving what waits.
struct WaitingPackets {
    private var packets: [WaitingPacket] = []
    private var begin = 0

    var count: Int { packets.count &- begin }
    var isEmpty: Bool { begin == packets.count }
    var oldest: Instant? { isEmpty ? nil : packets[begin].since }

    /// Whether any of the slot waits; of one encoding, when it is given.
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

    /// Gives up those of a slot, but for those of one encoding, and says how many they were.
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
