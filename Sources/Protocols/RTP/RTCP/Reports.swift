import Wire

/// A sender report (RFC 3550 section 6.4.1): maps an RTP timestamp of the stream to wall clock time.
package struct SenderReport: Hashable, Sendable {
    package var ssrc: UInt32
    /// Seconds since 1900 in 32.32 fixed point.
    package var ntpTime: UInt64
    package var rtpTimestamp: UInt32
    package var packetCount: UInt32
    package var byteCount: UInt32

    package init(ssrc: UInt32, ntpTime: UInt64, rtpTimestamp: UInt32, packetCount: UInt32, byteCount: UInt32) {
        self.ssrc = ssrc
        self.ntpTime = ntpTime
        self.rtpTimestamp = rtpTimestamp
        self.packetCount = packetCount
        self.byteCount = byteCount
    }

    /// The middle 32 bits, by which a receiver report refers to this report (LSR).
    package var compactTime: UInt32 { UInt32(truncatingIfNeeded: ntpTime >> 16) }
}

/// A report block: a receiver's statistics of one stream (RFC 3550 section 6.4.1).
///
///     |                 SSRC of the source reported on                |
///     | fraction lost |       cumulative number of packets lost       |
///     |           extended highest sequence number received           |
///     |                      interarrival jitter                      |
///     |                  last SR, its compact time (LSR)              |
///     |             delay since last SR, in 1/65536 s (DLSR)          |
package struct ReportBlock: Hashable, Sendable {
    package static let byteCount = 24

    package var ssrc: UInt32
    /// Of the packets since the last report, in 1/256.
    package var fractionLost: UInt8
    /// 24 bits, negative when there were duplicates.
    package var cumulativeLost: Int32
    package var highestSequence: UInt32
    /// In units of the timestamp.
    package var jitter: UInt32
    package var lastSenderReport: UInt32
    package var delaySinceSenderReport: UInt32

    package init(
        ssrc: UInt32, fractionLost: UInt8, cumulativeLost: Int32, highestSequence: UInt32, jitter: UInt32,
        lastSenderReport: UInt32, delaySinceSenderReport: UInt32
    ) {
        self.ssrc = ssrc
        self.fractionLost = fractionLost
        self.cumulativeLost = cumulativeLost
        self.highestSequence = highestSequence
        self.jitter = jitter
        self.lastSenderReport = lastSenderReport
        self.delaySinceSenderReport = delaySinceSenderReport
    }

    init?(_ bytes: RawSpan, at offset: Int) {
        guard let ssrc = bytes.integer(at: offset, as: UInt32.self),
            let loss = bytes.integer(at: offset &+ 4, as: UInt32.self),
            let highest = bytes.integer(at: offset &+ 8, as: UInt32.self),
            let jitter = bytes.integer(at: offset &+ 12, as: UInt32.self),
            let last = bytes.integer(at: offset &+ 16, as: UInt32.self),
            let delay = bytes.integer(at: offset &+ 20, as: UInt32.self)
        else { return nil }
        self.init(
            ssrc: ssrc, fractionLost: UInt8(truncatingIfNeeded: loss >> 24),
            // Shifted up and back down, so that the sign of the 24 bits is kept.
            cumulativeLost: Int32(truncatingIfNeeded: loss << 8) >> 8, highestSequence: highest, jitter: jitter,
            lastSenderReport: last, delaySinceSenderReport: delay)
    }

    /// The round trip time to the receiver (section 6.4.1), in nanoseconds: `now` is the compact time at which the
    /// block arrived. Nil when it refers to no report or to one in the future.
    package func roundTrip(at now: UInt32) -> UInt64? {
        guard lastSenderReport != 0 else { return nil }
        let units = now &- lastSenderReport &- delaySinceSenderReport
        guard units < 0x8000_0000 else { return nil }
        return (UInt64(units) &* 1_000_000_000) >> 16
    }
}

extension RTCPPacket {
    package var senderReport: SenderReport? {
        guard kind == .senderReport, let ssrc = sender, let time = body.integer(at: 4, as: UInt64.self),
            let timestamp = body.integer(at: 12, as: UInt32.self), let packets = body.integer(at: 16, as: UInt32.self),
            let bytes = body.integer(at: 20, as: UInt32.self)
        else { return nil }
        return SenderReport(
            ssrc: ssrc, ntpTime: time, rtpTimestamp: timestamp, packetCount: packets, byteCount: bytes)
    }

    /// Calls `visit` with each complete block of a sender or receiver report.
    package func visitReportBlocks(_ visit: (ReportBlock) -> Void) {
        let start: Int
        switch kind {
        case .senderReport: start = 24
        case .receiverReport: start = 4
        default: return
        }
        for index in 0..<Int(count) {
            guard let block = ReportBlock(body, at: start &+ index &* ReportBlock.byteCount) else { return }
            visit(block)
        }
    }

    /// Calls `visit` with each source's canonical name (RFC 3550 section 6.5.1).
    package func visitNames(_ visit: (UInt32, RawSpan) -> Void) {
        guard kind == .sourceDescription else { return }
        var offset = 0
        for _ in 0..<Int(count) {
            guard let ssrc = body.integer(at: offset, as: UInt32.self) else { return }
            offset &+= 4
            while let item = body.byte(at: offset), item != 0 {
                guard let length = body.byte(at: offset &+ 1),
                    let text = body.part(min(offset &+ 2, body.byteCount)..<offset &+ 2 &+ Int(length))
                else { return }
                if item == 1 { visit(ssrc, text) }
                offset &+= 2 &+ Int(length)
            }
            // A chunk ends with at least one zero byte, on a word boundary.
            offset = (offset &+ 4) & ~3
        }
    }

    /// Calls `visit` with each source that leaves (RFC 3550 section 6.6).
    package func visitGoodbyes(_ visit: (UInt32) -> Void) {
        guard kind == .goodbye else { return }
        for index in 0..<Int(count) {
            guard let ssrc = body.integer(at: index &* 4, as: UInt32.self) else { return }
            visit(ssrc)
        }
    }
}
