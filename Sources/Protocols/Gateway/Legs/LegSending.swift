import RTP
import SDP
import Wire

/// What a leg can take, and what waits until it can: the estimate of its bandwidth, the pacer and its queue, and which
/// layer of each track fits.
struct LegSending {
    static let estimateNanoseconds: UInt64 = 25_000_000
    static let layerNanoseconds: UInt64 = 100_000_000
    /// A picture whose layer fits no more is not taken away before the shortage has lasted so long: a first guess, or one
    /// bad moment, is no reason.
    static let shortageNanoseconds: UInt64 = 1_000_000_000

    var estimate: BandwidthEstimate
    var pacer: Pacer
    var queue = PacketQueue()
    var layers = LayerSelection()
    /// All that was sent.
    var sent = RateMeter()
    /// The next transport-wide number.
    var transportSequence: UInt16 = 0
    var nextEstimate: Instant
    var nextLayers: Instant
    var shortSince: Instant?
    /// Where the next packet to fill a burst with is looked for, counted back from the newest.
    var fillDistance: UInt16 = 0

    init(_ negotiated: NegotiatedLeg, at now: Instant) {
        let hasFeedback = negotiated.sections.contains { $0.hasTransportFeedback }
        estimate = BandwidthEstimate(expectsTransportFeedback: hasFeedback)
        pacer = Pacer(bitrate: estimate.bitrate)
        nextEstimate = now
        nextLayers = now
    }

    /// More than this many bytes are not to wait: 0.4 s at the speed at which the pacer lets them go, or a key frame.
    var backlogLimit: Int { max(30_000, Int(clamping: estimate.bitrate / 8)) }

    mutating func note(_ byteCount: Int, sequence: UInt16?, probe: UInt8, at now: Instant) {
        pacer.sent(byteCount: byteCount, probe: probe, at: now)
        sent.add(byteCount, at: now)
        if let sequence { estimate.sent(sequence, byteCount: byteCount, probe: probe, at: now) }
    }
}

extension NegotiatedSection {
    /// The client says of each packet in it whether it arrived, and when.
    var hasTransportFeedback: Bool {
        codecs.contains { $0.feedback.contains(.transportWide) }
            && extensions.contains { $0.uri == ExtensionURI.transportWide }
    }
}

/// What a receiver would like to see in a slot.
package struct SlotWish: Hashable, Sendable {
    /// No picture with more lines than this, if there is one with fewer.
    package var maximumHeight: Int?
    /// No encoding better than this one.
    package var rid: String?
    package var isPaused: Bool

    package init(maximumHeight: Int? = nil, rid: String? = nil, isPaused: Bool = false) {
        self.maximumHeight = maximumHeight
        self.rid = rid
        self.isPaused = isPaused
    }
}

/// Packets of video that wait for their turn. Only their numbers are here: what is in them lies in the history of their
/// track.
struct PacketQueue {
    struct Waiting {
        var slot: Int32 = 0
        var encoding: UInt32 = 0
        /// The publisher's.
        var sequence: UInt16 = 0
        var byteCount: UInt16 = 0
        var numbers = SlotPacket(sequence: 0, timestamp: 0)
    }

    /// As many as a track's history remembers would be of no use; a power of two.
    private static let capacity = 512
    private var ring: [Waiting] = []
    private var head = 0
    private(set) var count = 0
    private(set) var byteCount = 0

    var isEmpty: Bool { count == 0 }

    /// False when there is no more room.
    mutating func append(_ packet: Waiting) -> Bool {
        guard count < Self.capacity else { return false }
        if ring.isEmpty { ring = [Waiting](repeating: Waiting(), count: Self.capacity) }
        ring[(head &+ count) & (Self.capacity &- 1)] = packet
        count &+= 1
        byteCount &+= Int(packet.byteCount)
        return true
    }

    mutating func popFirst() -> Waiting? {
        guard count > 0 else { return nil }
        let packet = ring[head]
        head = (head &+ 1) & (Self.capacity &- 1)
        count &-= 1
        byteCount &-= Int(packet.byteCount)
        return packet
    }

    mutating func removeAll() {
        head = 0
        count = 0
        byteCount = 0
    }
}
