import BasicContainers
import RTP
import SDP
import Wire

/// What a participant sends in one section, in one encoding or, with simulcast, in several.
struct Track: ~Copyable {
    /// The place of its leg in the engine's table.
    let leg: Int
    let name: TrackName
    let kind: MediaKind
    /// What may be sent in its section, and what is.
    var codecs: [MediaCodec]
    var codec: MediaCodec?
    var payloadType: UInt8?
    var encodings = UniqueArray<Encoding>()
    var rate = TrackRate()
    /// Layers are counted in it.
    var order = LayerOrder(count: 0)
    /// The order is another one as soon as nothing is shown.
    var isMisordered = false
    /// The slots that show it, in the order in which they came.
    var subscribers: [SlotPlace] = []

    init(leg: Int, name: TrackName, kind: MediaKind, codecs: [MediaCodec]) {
        self.leg = leg
        self.name = name
        self.kind = kind
        self.codecs = codecs
    }

    /// Gives back what it holds. Its place waits for another one.
    mutating func close() {
        encodings = UniqueArray()
        subscribers = []
    }

    /// The encoding that a source which is heard for the first time belongs to. One that announced itself, or was heard
    /// before, is not replaced by who comes without a name.
    func encoding(named rid: String?, isRepair: Bool) -> Int? {
        for index in 0..<encodings.count where encodings[index].rid.isEmpty || encodings[index].rid == rid {
            let isKnown = isRepair ? encodings[index].repairSSRC != nil : encodings[index].ssrc != nil
            if !isKnown || rid != nil { return index }
        }
        return nil
    }

    /// Whether packets of it came lately. Of a screen that stands still there are few.
    func isSent(at now: Instant) -> Bool {
        for index in 0..<encodings.count where encodings[index].isHeard(at: now, within: 5_000_000_000) { return true }
        return false
    }

    /// The encoding for a slot that may show this layer: the best of those that are being sent up to there, else the next
    /// one above. Nil while none is sent of several.
    func encoding(upTo layer: Int, at now: Instant) -> Int? {
        var best: Int?
        for (place, index) in order.encodings.enumerated()
        where encodings[index].isHeard(at: now) && (place <= layer || best == nil) {
            best = index
        }
        return best ?? (encodings.count == 1 ? 0 : nil)
    }
}

/// One stream of packets of a track, and all that is kept about it.
struct Encoding: ~Copyable {
    /// An encoding that sent nothing for so long is not there: nanoseconds.
    static let silence: UInt64 = 2_000_000_000

    /// Tells it apart from every other one that this engine ever had.
    let number: UInt32
    /// Empty without simulcast.
    let rid: String
    /// Of its pictures, as far as it is known; and bits per second that it has at most, as its publisher said.
    var pixelCount: UInt64?
    let bitrateLimit: UInt64?
    var ssrc: UInt32?
    var repairSSRC: UInt32?
    var statistics: ReceiveStatistics
    var losses = NACKGenerator()
    /// What slots may ask for again; audio is not repaired.
    var history: PacketHistory?
    var keyFrames = KeyFrameRequests()
    var clock: TrackClock
    var bitrate = BitrateMeter()
    /// The newest packet that who listens on the server has got; nil while nobody does.
    var tapped: UInt16?
    private var heardAt: Instant?

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

    mutating func hear(at now: Instant) {
        heardAt = now
    }

    func isHeard(at now: Instant, within nanoseconds: UInt64 = Self.silence) -> Bool {
        heardAt.map { now.nanoseconds(since: $0) < nanoseconds } ?? false
    }
}

/// A slot of a leg, by their places.
struct SlotPlace: Hashable {
    let leg: Int
    let slot: Int
}

/// Where the packets of an SSRC belong.
struct StreamPlace {
    let track: Int
    let encoding: Int
    let isRepair: Bool
}
