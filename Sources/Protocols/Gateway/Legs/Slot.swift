import RTP
import SDP
import Wire

/// A section in which the gateway sends: one continuous stream, whichever track it shows.
///
///     empty ── a track ──> showing ── not wanted, or no bandwidth ──> paused
///       ^                   │  ^──── wanted, and bandwidth ───────────┘ │
///       └── no track ───────┴───────────────────────────────────────────┘
struct Slot {
    /// Tracks are given by their indices.
    enum State {
        case empty
        /// It has a track but sends nothing: its participant does not want to see it, or its link cannot carry it.
        case paused(track: Int)
        /// With the highest layer that may be shown, as last selected; nil before that. Its encoding is the target of
        /// the rewriter, once one that is being sent was chosen.
        case showing(track: Int, layer: Int?)

        var track: Int? {
            switch self {
            case .empty: nil
            case .paused(let track), .showing(let track, _): track
            }
        }
    }

    let mid: String
    let kind: MediaKind
    let identity: SlotIdentity
    private(set) var state = State.empty
    /// Its sources are encodings, by number.
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
        slot.clear()
        slot.preferredQuality = .high
        slot.needsReport = false
        return slot
    }

    /// Assigns another track. The rewriter keeps its target until an encoding of this track is chosen.
    mutating func show(_ track: Int) {
        state = .showing(track: track, layer: nil)
    }

    /// Shows no higher layer of its track than this.
    mutating func select(layer: Int?) {
        guard let track = state.track else { return }
        state = .showing(track: track, layer: layer)
    }

    mutating func pause() {
        guard let track = state.track else { return }
        state = .paused(track: track)
        rewriter.show(nil)
    }

    mutating func clear() {
        state = .empty
        rewriter.show(nil)
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
