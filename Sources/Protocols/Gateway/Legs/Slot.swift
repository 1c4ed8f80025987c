import RTP
import SDP
import Wire

/// A section in which the gateway sends: one stream for ever, whichever track it shows.
struct Slot {
    let mid: String
    let kind: MediaKind
    let identity: SlotIdentity
    /// The place of the track that it shows.
    var track: Int?
    /// Of which encoding, by its number.
    var encoding: UInt32?
    /// The best of the track's encodings that may be shown, as chosen last; nil before that.
    var layer: Int?
    /// Nothing is shown although there is a track.
    var isOff = false
    var rewriter: SlotRewriter
    /// How good a picture its participant wants in it.
    var wanted = WantedQuality.high
    /// The next number of the repair stream.
    var repairSequence: UInt16
    var packetCount: UInt32 = 0
    var byteCount: UInt32 = 0
    /// The newest packet's timestamp, and when it was sent.
    var newest: (timestamp: UInt32, at: Instant)?
    /// It began, or shows another source: a receiver keeps sound and picture together by the reports.
    var owesReport = false

    init(mid: String, kind: MediaKind, identity: SlotIdentity, clockRate: UInt32, random: inout SeededRandom) {
        self.mid = mid
        self.kind = kind
        self.identity = identity
        let bits = random.next()
        // A first number in the lower half, since rollover counters are guessed from it (RFC 3711 section 3.3.1).
        rewriter = SlotRewriter(
            clockRate: clockRate, sequence: UInt16(truncatingIfNeeded: bits) & 0x7FFF,
            timestamp: UInt32(truncatingIfNeeded: bits >> 16))
        repairSequence = UInt16(truncatingIfNeeded: bits >> 48) & 0x7FFF
    }

    /// It shows nothing and wants nothing in particular, but goes on behind its numbers when it comes back: SRTP protects
    /// no sequence number of an SSRC twice (RFC 3711 section 9.1), and refuses what lies far behind the newest.
    var parked: Slot {
        var slot = self
        slot.track = nil
        slot.encoding = nil
        slot.layer = nil
        slot.isOff = false
        slot.wanted = .high
        slot.owesReport = false
        slot.rewriter.show(nil)
        return slot
    }

    mutating func count(_ header: RTPHeader, byteCount: Int, at now: Instant) {
        packetCount &+= 1
        self.byteCount &+= UInt32(truncatingIfNeeded: byteCount)
        if let newest, !header.timestamp.isNewer(than: newest.timestamp) { return }
        newest = (header.timestamp, now)
    }

    /// The report on it (RFC 3550 section 6.4.1); nil before its first packet.
    ///
    /// - Parameter sourceTimestamp: that of what it shows, for this moment, where its publisher has said so. Otherwise
    ///   the newest packet counts as captured when it was sent.
    func report(at now: Instant, wallClock: NTPTime, sourceTimestamp: UInt32?) -> SenderReport? {
        guard let newest else { return nil }
        let elapsed =
            MediaClock.ticks(at: now, rate: rewriter.clockRate)
            &- MediaClock.ticks(at: newest.at, rate: rewriter.clockRate)
        var timestamp = newest.timestamp &+ elapsed
        if let sourceTimestamp, let offset = rewriter.timestampOffset {
            let told = sourceTimestamp &+ offset
            // A publisher's clock that is that far from its packets says nothing of them.
            if Int32(bitPattern: told &- timestamp).magnitude < rewriter.clockRate &* 10 { timestamp = told }
        }
        return SenderReport(
            ssrc: identity.ssrc, ntpTime: wallClock.bits, rtpTimestamp: timestamp, packetCount: packetCount,
            byteCount: byteCount)
    }
}
