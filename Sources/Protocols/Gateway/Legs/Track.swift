import BasicContainers
import RTP
import SDP
import Wire

/// The media that a participant sends in one section, in one encoding or, with simulcast, in several.
struct Track: ~Copyable {
    /// The index of its leg.
    let leg: Int
    let name: TrackName
    let kind: MediaKind
    /// The codecs negotiated for its section, and the current one.
    var codecs: [MediaCodec]
    var codec: MediaCodec?
    var payloadType: UInt8?
    /// Opus with two channels was negotiated.
    var isStereo = false
    var encodings = UniqueArray<Encoding>()
    var rate = TrackRate()
    /// Layer indices refer to it.
    var order = LayerOrder(count: 0)
    /// The order is to be updated as soon as nothing is shown.
    var isMisordered = false
    /// The slots that show it, in the order of their subscription.
    var subscribers: [SlotIndex] = []

    init(leg: Int, name: TrackName, kind: MediaKind, codecs: [MediaCodec]) {
        self.leg = leg
        self.name = name
        self.kind = kind
        self.codecs = codecs
    }

    /// Releases its memory. Its index will be reused.
    mutating func close() {
        encodings = UniqueArray()
        subscribers = []
    }

    /// The encoding of a new source. A known source is not replaced by one without a rid.
    func encoding(named rid: String?, isRepair: Bool) -> Int? {
        for index in 0..<encodings.count where encodings[index].rid.isEmpty || encodings[index].rid == rid {
            let isKnown = isRepair ? encodings[index].repairSSRC != nil : encodings[index].ssrc != nil
            if !isKnown || rid != nil { return index }
        }
        return nil
    }

    /// Whether packets of it arrived recently. A still screen sends few.
    func isSent(at now: Instant) -> Bool {
        for index in 0..<encodings.count where encodings[index].isActive(at: now, within: 5_000_000_000) { return true }
        return false
    }

    /// The encoding for a slot that may show this layer: the best active one up to there, else the next one above. Nil
    /// while none of several is active.
    func encoding(upTo layer: Int, at now: Instant) -> Int? {
        var best: Int?
        for (layerIndex, index) in order.encodings.enumerated()
        where encodings[index].isActive(at: now) && (layerIndex <= layer || best == nil) {
            best = index
        }
        return best ?? (encodings.count == 1 ? 0 : nil)
    }
}

/// One stream of packets of a track, and its state.
struct Encoding: ~Copyable {
    /// An encoding that sent nothing for this long is inactive: nanoseconds.
    static let silence: UInt64 = 2_000_000_000

    /// Unique within this engine for ever.
    let number: UInt32
    /// Empty without simulcast.
    let rid: String
    /// The size of its frames, if known, and its maximum bitrate, if its publisher declared one.
    var pixelCount: UInt64?
    let bitrateLimit: UInt64?
    var ssrc: UInt32?
    var repairSSRC: UInt32?
    var statistics: ReceiveStatistics
    var losses = NACKGenerator()
    /// For retransmissions; audio is not retransmitted.
    var history: PacketHistory?
    var keyFrames = KeyFrameRequests()
    var clock: TrackClock
    var bitrate = BitrateMeter()
    /// The newest packet that was passed to the tap; nil while it is not tapped.
    var tapped: UInt16?
    private var lastActivity: Instant?

    init(
        number: UInt32, rid: String, limits: EncodingLimits, source: AnnouncedSource?, kind: MediaKind,
        clockRate: UInt32
    ) {
        self.number = number
        self.rid = rid
        pixelCount = limits.pixelCount
        bitrateLimit = limits.bitrate
        ssrc = source?.ssrc
        repairSSRC = source?.retransmission
        statistics = ReceiveStatistics(clockRate: clockRate)
        clock = TrackClock(rate: clockRate)
        history = kind == .video ? PacketHistory() : nil
    }

    mutating func recordActivity(at now: Instant) {
        lastActivity = now
    }

    func isActive(at now: Instant, within nanoseconds: UInt64 = Self.silence) -> Bool {
        lastActivity.map { now.nanoseconds(since: $0) < nanoseconds } ?? false
    }
}

/// The index of a slot and of its leg.
struct SlotIndex: Hashable {
    let leg: Int
    let slot: Int
}

/// The track and encoding of an SSRC.
struct StreamIndex {
    let track: Int
    let encoding: Int
    let isRepair: Bool
}
