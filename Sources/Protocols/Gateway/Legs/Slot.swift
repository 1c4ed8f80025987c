import RTP
import SDP
import Wire

/// A section in which the gateway sends: one continuous stream, whichever track it shows.
struct Slot {
    let mid: String
    let kind: MediaKind
    let identity: SlotIdentity
    /// The index of the track that it shows.
    var track: Int?
    /// The number of the encoding that it shows.
    var encoding: UInt32?
    /// The highest layer that may be shown, as last selected; nil before that.
    var layer: Int?
    /// Nothing is shown although there is a track.
    var isOff = false
    var rewriter: SlotRewriter
    var preferredQuality = PreferredQuality.high
    /// The next sequence number of the repair stream.
    var repairSequence: UInt16
    var packetCount: UInt32 = 0
    var byteCount: UInt32 = 0
    /// The newest packet's timestamp, and when it was sent.
    var newest: (timestamp: UInt32, at: Instant)?
    /// It began, or shows another source: receivers synchronize audio and video by the reports.
    var needsReport = false

    init(mid: String, kind: MediaKind, identity: SlotIdentity, clockRate: UInt32, random: inout SeededRandom) {
        self.mid = mid
        self.kind = kind
        self.identity = identity
        let bits = random.next()
        // A first number in the lower half, since rollover counters are estimated from it (RFC 3711 section 3.3.1).
        rewriter = SlotRewriter(
            clockRate: clockRate, sequence: UInt16(truncatingIfNeeded: bits) & 0x7FFF,
            timestamp: UInt32(truncatingIfNeeded: bits >> 16))
        repairSequence = UInt16(truncatingIfNeeded: bits >> 48) & 0x7FFF
    }

    /// The slot without track and preference, but with its numbers, which continue when it is used again: SRTP must not
    /// use a sequence number of an SSRC twice (RFC 3711 section 9.1), and rejects packets far behind the newest.
    var parked: Slot {
        var slot = self
        slot.track = nil
        slot.encoding = nil
        slot.layer = nil
        slot.isOff = false
        slot.preferredQuality = .high
        slot.needsReport = false
        slot.rewriter.show(nil)
        return slot
    }

    mutating func count(_ header: RTPHeader, byteCount: Int, at now: Instant) {
        packetCount &+= 1
        self.byteCount &+= UInt32(truncatingIfNeeded: byteCount)
        if let newest, !header.timestamp.isNewer(than: newest.timestamp) { return }
        newest = (header.timestamp, now)
    }

    /// Its sender report (RFC 3550 section 6.4.1); nil before its first packet.
    ///
    /// - Parameter sourceTimestamp: the current timestamp of its source, from the publisher's reports. Without it, the
    ///   newest packet counts as captured when it was sent.
    func report(at now: Instant, wallClock: NTPTime, sourceTimestamp: UInt32?) -> SenderReport? {
        guard let newest else { return nil }
        let elapsed =
            MediaClock.ticks(at: now, rate: rewriter.clockRate)
            &- MediaClock.ticks(at: newest.at, rate: rewriter.clockRate)
        var timestamp = newest.timestamp &+ elapsed
        if let sourceTimestamp, let offset = rewriter.timestampOffset {
            let reported = sourceTimestamp &+ offset
            // A publisher's clock that is so far from its packets is of no use.
            if Int32(bitPattern: reported &- timestamp).magnitude < rewriter.clockRate &* 10 { timestamp = reported }
        }
        return SenderReport(
            ssrc: identity.ssrc, ntpTime: wallClock.bits, rtpTimestamp: timestamp, packetCount: packetCount,
            byteCount: byteCount)
    }
}
