package import Wire

/// Converts instants to ticks of a media clock.
package enum MediaClock {
    /// Ticks of `rate` per second since the start of the monotonic clock, modulo 2^32.
    package static func ticks(at now: Instant, rate: UInt32) -> UInt32 {
        let whole = now.nanoseconds / 1_000_000_000 &* UInt64(rate)
        let part = now.nanoseconds % 1_000_000_000 &* UInt64(rate) / 1_000_000_000
        return UInt32(truncatingIfNeeded: whole &+ part)
    }
}

/// Wall clock time in RTCP: seconds since 1900 in 32.32 fixed point (RFC 3550 section 4).
package struct NTPTime: Hashable, Comparable, Sendable {
    package let bits: UInt64

    package init(bits: UInt64) {
        self.bits = bits
    }

    /// From nanoseconds since 1970.
    package init(unixNanoseconds: UInt64) {
        let seconds = unixNanoseconds / 1_000_000_000 &+ 2_208_988_800
        bits = seconds << 32 | (unixNanoseconds % 1_000_000_000) << 32 / 1_000_000_000
    }

    package func adding(nanoseconds: UInt64) -> NTPTime {
        NTPTime(
            bits: bits &+ (nanoseconds / 1_000_000_000) << 32 &+ (nanoseconds % 1_000_000_000) << 32 / 1_000_000_000)
    }

    /// In 1/2^32 s, negative when `earlier` is later.
    package func difference(since earlier: NTPTime) -> Int64 {
        Int64(bitPattern: bits &- earlier.bits)
    }

    package var compact: UInt32 { UInt32(truncatingIfNeeded: bits >> 16) }

    package static func < (left: NTPTime, right: NTPTime) -> Bool { left.bits < right.bits }
}

/// The offset between a publisher's wall clock and ours: one for each leg, so that its audio and video stay in sync.
///
/// A sender report takes some time to arrive, so the smallest difference seen is the most accurate. It decays slowly
/// (50 ppm), because clocks drift.
package struct PublisherClock: Sendable {
    /// Ours minus theirs, in 1/2^32 s; nil before the first report.
    package private(set) var offset: Int64?
    private var lastReport = NTPTime(bits: 0)

    package init() {}

    package mutating func receive(_ report: SenderReport, at local: NTPTime) {
        // A sender without a wall clock writes 0 (RFC 3550 section 6.4.1).
        guard report.ntpTime != 0 else { return }
        let seen = local.difference(since: NTPTime(bits: report.ntpTime))
        if let offset {
            let elapsed = max(0, local.difference(since: lastReport))
            let drifted = offset &+ elapsed / 20_000
            // A difference of more than a second means that the clock was set.
            let isSet = (seen &- drifted).magnitude > 1 << 32
            self.offset = isSet ? seen : min(seen, drifted)
        } else {
            offset = seen
        }
        lastReport = local
    }
}

/// Maps the timestamps of a published track to wall clock time, using its sender reports.
package struct TrackClock: Sendable {
    package let rate: UInt32
    private var report: SenderReport?

    package init(rate: UInt32) {
        self.rate = rate
    }

    package var isSet: Bool { report != nil }

    package mutating func receive(_ report: SenderReport) {
        guard report.ntpTime != 0 else { return }
        self.report = report
    }

    /// The track's timestamp at a time of our wall clock; nil before the first report.
    package func timestamp(at local: NTPTime, _ publisher: PublisherClock) -> UInt32? {
        guard let report, let offset = publisher.offset else { return nil }
        let elapsed = local.difference(since: NTPTime(bits: report.ntpTime)) &- offset
        return report.rtpTimestamp &+ ticks(of: elapsed)
    }

    /// The time of our wall clock at which the sample with this timestamp was captured.
    package func time(of timestamp: UInt32, _ publisher: PublisherClock) -> NTPTime? {
        guard let report, let offset = publisher.offset, rate > 0 else { return nil }
        let ticks = Int64(Int32(bitPattern: timestamp &- report.rtpTimestamp))
        let elapsed = ((ticks << 31) / Int64(rate)) << 1
        return NTPTime(bits: report.ntpTime &+ UInt64(bitPattern: offset &+ elapsed))
    }

    private func ticks(of elapsed: Int64) -> UInt32 {
        let seconds = elapsed >> 32
        let fraction = (UInt64(elapsed & 0xFFFF_FFFF) &* UInt64(rate)) >> 32
        return UInt32(truncatingIfNeeded: seconds &* Int64(rate) &+ Int64(truncatingIfNeeded: fraction))
    }
}
