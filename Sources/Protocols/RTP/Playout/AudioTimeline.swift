package import Wire

/// Positions the packets of an audio source in its recording, so that the recording is as long as the call was.
///
/// Neither clock is enough. The timestamps of a muted source may advance or stand still, and a restarted source begins
/// with others; arrivals are early, late and in bursts. So the timestamps give the spacing of the packets, and the
/// least transit time of the last seconds gives the offset between the source's clock and ours. If the offset jumps, or
/// is far off, for longer than a burst lasts, the timestamps stood still or were reset. All lengths are in samples at
/// 48 kHz.
package struct AudioTimeline: Sendable {
    package enum Segment: Hashable, Sendable {
        case packet(AudioPacket, duration: UInt32)
        /// Nothing was sent: mute, DTX, or no source.
        case silence(UInt64)
        /// Packets were sent but did not arrive: to be concealed.
        case lost(UInt64)
    }

    /// Packets left out because the source's clock is faster than ours, the delay fell, or timestamps went back.
    package private(set) var droppedCount = 0
    /// The length of the recording so far.
    package private(set) var end: UInt64 = 0

    /// The shortest frame of Opus: gaps are filled in multiples of it.
    private static let granularity: Int64 = 120
    /// Consecutive packets are kept adjacent until the clocks are this far apart.
    private static let tolerance: Int64 = 1_440
    private static let resyncThreshold: Int64 = 24_000
    /// If two arrivals are this much further apart than their timestamps, it is not jitter.
    private static let step: Int64 = 6_000
    /// Getting closer by less than this does not count.
    private static let progress: Int64 = 960
    private static let maxPending = 100
    private static let clockPeriod: Int64 = 240_000
    /// When the delay falls again, the recording is ahead of the clock. Then one packet is left out per such interval,
    /// so that no word is lost; pauses do the rest.
    private static let minDropInterval: UInt64 = 24_000
    /// How far ahead the recording may be at most.
    private static let maxAhead: Int64 = 48_000

    private let begin: Instant
    /// How long a burst may last without getting closer by `progress`: a delayed source that catches up may take
    /// longer.
    private let resyncDelay: Int64
    private var unwrapper = TimestampUnwrapper()
    private var offset = RecentMinimum<Int64>(period: Self.clockPeriod)
    /// The timestamp that follows the last packet.
    private var nextTimestamp: Int64?
    /// Packets whose position is not known yet.
    private var pending: [Arrived] = []
    /// The last of them whose offset was smaller by `progress` than that of the one before; at first, the first.
    private var nearest: Arrived?
    /// Packets with offsets above this are held back.
    private var limit: Int64 = .max
    private var lastOffset: Int64?
    /// The length of the recording from which a packet may be left out again.
    private var nextDrop: UInt64 = 0

    private struct Arrived {
        let packet: AudioPacket
        let duration: UInt32
        let timestamp: Int64
        /// Since the start of the recording.
        let arrival: Int64
        let isAfterLoss: Bool

        var offset: Int64 { arrival &- timestamp }
    }

    /// - Parameters:
    ///   - begin: the start of the recording.
    ///   - isLive: somebody waits for the segments, so 0.3 s after a jump of the delay they continue behind a pause.
    ///     Otherwise after a second: a source on a busy machine is late by the same for most of one.
    package init(begin: Instant, isLive: Bool = false) {
        self.begin = begin
        resyncDelay = isLive ? 14_400 : 48_000
    }

    /// Appends the next packet in order, and returns the next segments of the recording.
    ///
    /// - Parameter isAfterLoss: packets before it were lost.
    package mutating func take(_ packet: AudioPacket, isAfterLoss: Bool) -> [Segment] {
        guard let opus = OpusPayload(packet.payload.span.bytes) else { return [] }
        let arrived = Arrived(
            packet: packet, duration: opus.duration, timestamp: unwrapper.unwrap(packet.timestamp),
            arrival: samples(packet.arrival), isAfterLoss: isAfterLoss)
        defer { lastOffset = arrived.offset }
        let known = offset.value ?? arrived.offset
        if pending.isEmpty {
            let last = lastOffset ?? arrived.offset
            let step = arrived.offset &- last
            limit = known &+ Self.resyncThreshold
            if step > Self.step { limit = min(last &+ step / 2, limit) }
        }
        guard arrived.offset > limit || arrived.offset < known &- Self.resyncThreshold else {
            // The burst is over: its packets belong where their timestamps say.
            return emitPending() + emit(arrived)
        }
        if pending.isEmpty { nearest = nil }
        pending.append(arrived)
        let since = nearest.map { arrived.offset > $0.offset &- Self.progress ? $0 : arrived } ?? arrived
        nearest = since
        let isOverdue = arrived.arrival &- since.arrival >= resyncDelay
        guard isOverdue || pending.count >= Self.maxPending else { return [] }
        return resync()
    }

    /// The new offset is not a burst: the timestamps stood still or were reset.
    private mutating func resync() -> [Segment] {
        guard !pending.isEmpty else { return [] }
        offset = RecentMinimum(period: Self.clockPeriod)
        for each in pending { offset.add(each.offset, at: each.arrival) }
        nextTimestamp = nil
        return emitPending()
    }

    /// The recording ends now.
    package mutating func finish(at now: Instant) -> [Segment] {
        var segments = resync()
        let rest = samples(now) &- Int64(clamping: end)
        if rest >= Self.granularity { segments.append(.silence(fill(rest))) }
        return segments
    }

    private mutating func emitPending() -> [Segment] {
        let packets = pending
        pending = []
        return packets.flatMap { emit($0) }
    }

    private mutating func emit(_ arrived: Arrived) -> [Segment] {
        let known = offset.value ?? arrived.offset
        // A packet cannot arrive before it was sent.
        guard arrived.offset >= known &- Self.resyncThreshold else {
            droppedCount &+= 1
            return []
        }
        // A packet that is very late belongs to a burst, which says nothing about the clocks.
        if arrived.offset <= known &+ Self.resyncThreshold { offset.add(arrived.offset, at: arrived.arrival) }
        let target = arrived.timestamp &+ (offset.value ?? arrived.offset)
        let gap = target &- Int64(clamping: end)
        let isNext = nextTimestamp == arrived.timestamp
        let isNear = gap <= Self.tolerance && gap >= 0 &- Self.tolerance
        nextTimestamp = arrived.timestamp &+ Int64(arrived.duration)
        var segments: [Segment] = []
        if gap >= Self.granularity, !(isNext && isNear) {
            segments.append(arrived.isAfterLoss ? .lost(fill(gap)) : .silence(fill(gap)))
        } else if gap < 0 &- Self.tolerance, end >= nextDrop || gap < 0 &- Self.maxAhead {
            nextDrop = end &+ Self.minDropInterval
            droppedCount &+= 1
            return []
        }
        segments.append(.packet(arrived.packet, duration: arrived.duration))
        end &+= UInt64(arrived.duration)
        return segments
    }

    private mutating func fill(_ gap: Int64) -> UInt64 {
        let length = UInt64(gap / Self.granularity &* Self.granularity)
        end &+= length
        return length
    }

    private func samples(_ instant: Instant) -> Int64 {
        Int64(clamping: instant.nanoseconds(since: begin) / 1_000 &* 48 / 1_000)
    }
}
