import RTP
import Wire

/// Any bytes as RTCP: everything in it is read, and feedback reaches an estimate that had sent a few packets.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzRTCP(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let bytes = UnsafeRawBufferPointer(start: start, count: count).bytes
    guard var compound = try? RTCPCompound(bytes) else { return 0 }
    var now = Instant(nanoseconds: 1_000_000_000)
    var estimate = BandwidthEstimate()
    for sequence in 0..<UInt16(64) {
        now = now.adding(nanoseconds: 1_000_000)
        estimate.sent(sequence, byteCount: 1_000, probe: sequence < 8 ? 1 : 0, at: now)
    }
    var statistics = ReceiveStatistics(clockRate: 90_000)
    var publisher = PublisherClock()
    var clock = TrackClock(rate: 90_000)
    var walked = 0
    while let packet = compound.next() {
        walked += 4 + packet.body.byteCount
        now = now.adding(nanoseconds: 50_000_000)
        let local = NTPTime(unixNanoseconds: now.nanoseconds)
        if let report = packet.senderReport {
            statistics.receive(report, at: now)
            publisher.receive(report, at: local)
            clock.receive(report)
            _ = clock.timestamp(at: local, publisher)
            _ = clock.time(of: report.rtpTimestamp &+ 1, publisher)
        }
        packet.visitReportBlocks { block in
            estimate.receive(block, roundTrip: block.roundTrip(at: local.compact), at: now)
        }
        var names = 0
        packet.visitNames { names += $1.byteCount }
        if names > packet.body.byteCount { fatalError("names beyond the end") }
        packet.visitGoodbyes { _ in }
        var asked = 0
        packet.visitLost(atMost: 100) { _ in asked += 1 }
        if asked > 100 { fatalError("more was asked for than may be") }
        packet.visitFullIntraRequests { _, _ in }
        if let bitrate = packet.estimatedMaximumBitrate { estimate.receive(estimatedMaximumBitrate: bitrate) }
        if let feedback = TransportFeedback(packet) {
            var statuses = 0
            feedback.visit { _, _ in statuses += 1 }
            if statuses != feedback.visitedCount || statuses > TransportFeedback.visitLimit {
                fatalError("not every status was visited")
            }
            estimate.receive(feedback, at: now)
        }
        _ = estimate.advance(to: now)
        if !(50_000...30_000_000).contains(estimate.bitrate) { fatalError("a rate beyond its bounds") }
    }
    if walked > count { fatalError("more than there is") }
    _ = statistics.report(of: 1, at: now)
    return 0
}
