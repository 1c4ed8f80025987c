package import Wire

/// Where the packets of a voice lie in a recording of it, so that the recording is as long as the call was.
///
/// Neither clock is enough. A source that is muted may let its timestamps go on or stand still, and one that begins again
/// takes others; arrivals come early, late and in bursts. So the timestamps say how packets follow each other, and the
/// shortest way of the last seconds says where their clock stands against ours. When they differ all at once, or by
/// far, for longer than a burst lasts, the timestamps stood still or are others. All lengths are in samples at 48 kHz.
package struct SoundTimeline: Sendable {
    package enum Piece: Hashable, Sendable {
        case packet(SoundPacket, duration: UInt32)
        /// Nothing was sent: mute, DTX, or nobody there.
        case silence(UInt64)
        /// Packets were sent and did not come: best made up from those around.
        case lost(UInt64)
    }

    /// Packets left out because the source's clock is faster than ours, the way became shorter, or timestamps went back.
    package private(set) var droppedCount = 0
    /// How long the recording is so far.
    package private(set) var end: UInt64 = 0

    /// Opus has no shorter frames, so gaps are filled in these.
    private static let grain: Int64 = 120
    /// What follows without a gap does so, until the clocks are so far apart.
    private static let tolerance: Int64 = 1_440
    private static let far: Int64 = 24_000
    /// So much more time between two arrivals than between their timestamps is no jitter.
    private static let step: Int64 = 6_000
    /// For so long a burst may last, or not come nearer by a packet: who was held up and catches up goes on longer.
    private static let doubt: Int64 = 14_400
    private static let progress: Int64 = 960
    private static let mostDoubtful = 100
    private static let memory: Int64 = 240_000
    /// When a way that was long for a while is short again, the recording is ahead of the clock. Then a packet is left out
    /// once in this time, so that no word is lost; pauses do the rest.
    private static let correction: UInt64 = 24_000
    /// It is ahead by no more.
    private static let mostAhead: Int64 = 48_000

    private let begin: Instant
    private var unwrapper = TimestampUnwrapper()
    private var offset = RecentMinimum<Int64>(period: Self.memory)
    /// The timestamp behind the last packet.
    private var follows: Int64?
    /// Those of which it is not known yet where they belong.
    private var doubtful: [Arrived] = []
    /// The last of them that was nearer by a packet than the one before; at first, the first.
    private var nearest: Arrived?
    /// Offsets above this are doubtful.
    private var limit: Int64 = .max
    private var lastOffset: Int64?
    /// How long the recording has to be for a packet to be left out again.
    private var mayDropFrom: UInt64 = 0

    private struct Arrived {
        let packet: SoundPacket
        let duration: UInt32
        let timestamp: Int64
        /// Since the recording began.
        let arrival: Int64
        let isAfterLoss: Bool

        var offset: Int64 { arrival &- timestamp }
    }

    /// - Parameter begin: of the recording.
    package init(begin: Instant) {
        self.begin = begin
    }

    /// The next packet in order, and whether others before it are lost. Returns what is next in the recording.
    package mutating func take(_ packet: SoundPacket, isAfterLoss: Bool) -> [Piece] {
        guard let opus = OpusPayload(packet.payload.span.bytes) else { return [] }
        let arrived = Arrived(
            packet: packet, duration: opus.duration, timestamp: unwrapper.unwrap(packet.timestamp),
            arrival: samples(packet.arrival), isAfterLoss: isAfterLoss)
        defer { lastOffset = arrived.offset }
        let known = offset.value ?? arrived.offset
        if doubtful.isEmpty {
            let last = lastOffset ?? arrived.offset
            let step = arrived.offset &- last
            limit = step > Self.step ? min(last &+ step / 2, known &+ Self.far) : known &+ Self.far
        }
        guard arrived.offset > limit || arrived.offset < known &- Self.far else {
            // A burst is over: what came with it belongs where its timestamps say.
            return settle() + place(arrived)
        }
        if doubtful.isEmpty { nearest = nil }
        doubtful.append(arrived)
        let since = nearest.map { arrived.offset > $0.offset &- Self.progress ? $0 : arrived } ?? arrived
        nearest = since
        guard arrived.arrival &- since.arrival >= Self.doubt || doubtful.count >= Self.mostDoubtful else { return [] }
        return beginAgain()
    }

    /// It stays so: the timestamps stood still, or are others.
    private mutating func beginAgain() -> [Piece] {
        guard !doubtful.isEmpty else { return [] }
        offset = RecentMinimum(period: Self.memory)
        for each in doubtful { offset.add(each.offset, at: each.arrival) }
        follows = nil
        return settle()
    }

    /// The recording ends now.
    package mutating func finish(at now: Instant) -> [Piece] {
        var pieces = beginAgain()
        let rest = samples(now) &- Int64(clamping: end)
        if rest >= Self.grain { pieces.append(.silence(fill(rest))) }
        return pieces
    }

    private mutating func settle() -> [Piece] {
        let packets = doubtful
        doubtful = []
        return packets.flatMap { place($0) }
    }

    private mutating func place(_ arrived: Arrived) -> [Piece] {
        let known = offset.value ?? arrived.offset
        // Nothing comes before it was said.
        guard arrived.offset >= known &- Self.far else {
            droppedCount &+= 1
            return []
        }
        // What is late by far belongs to a burst, which says nothing of the clocks.
        if arrived.offset <= known &+ Self.far { offset.add(arrived.offset, at: arrived.arrival) }
        let wanted = arrived.timestamp &+ (offset.value ?? arrived.offset)
        let gap = wanted &- Int64(clamping: end)
        let isNext = follows == arrived.timestamp
        let isNear = gap <= Self.tolerance && gap >= 0 &- Self.tolerance
        follows = arrived.timestamp &+ Int64(arrived.duration)
        var pieces: [Piece] = []
        if gap >= Self.grain, !(isNext && isNear) {
            pieces.append(arrived.isAfterLoss ? .lost(fill(gap)) : .silence(fill(gap)))
        } else if gap < 0 &- Self.tolerance, end >= mayDropFrom || gap < 0 &- Self.mostAhead {
            mayDropFrom = end &+ Self.correction
            droppedCount &+= 1
            return []
        }
        pieces.append(.packet(arrived.packet, duration: arrived.duration))
        end &+= UInt64(arrived.duration)
        return pieces
    }

    private mutating func fill(_ gap: Int64) -> UInt64 {
        let length = UInt64(gap / Self.grain &* Self.grain)
        end &+= length
        return length
    }

    private func samples(_ instant: Instant) -> Int64 {
        Int64(clamping: instant.nanoseconds(since: begin) / 1_000 &* 48 / 1_000)
    }
}
