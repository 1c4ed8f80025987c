import RTP
import Testing
import Wire

@Suite("Sequence and time")
struct TimingTests {
    @Test("sequence numbers and timestamps unwrap over many turns, with disorder")
    func unwrapping() {
        var random = SeededRandom(seed: 0x5EED_0004)
        var sequences = SequenceUnwrapper()
        var timestamps = TimestampUnwrapper()
        var position: Int64 = 60_000
        for _ in 0..<20_000 {
            position += Int64.random(in: 0...200, using: &random)
            let late = max(60_000, position - Int64.random(in: 0...1000, using: &random))
            _ = sequences.unwrap(UInt16(truncatingIfNeeded: position))
            #expect(sequences.unwrap(UInt16(truncatingIfNeeded: late)) == late)
            _ = timestamps.unwrap(UInt32(truncatingIfNeeded: position * 100_000))
            let unwrapped = timestamps.unwrap(UInt32(truncatingIfNeeded: late * 100_000))
            #expect(unwrapped - late * 100_000 == (60_000 * 100_000) / (1 << 32) * -(1 << 32))
        }
    }

    @Test("a rate is that of the last two seconds, whenever it is asked for")
    func bitrate() {
        func at(_ milliseconds: Int) -> Instant { Instant(nanoseconds: UInt64(5_000 + milliseconds) * 1_000_000) }
        var meter = BitrateMeter()
        #expect(meter.bitsPerSecond(at: at(0)) == 0)
        for time in stride(from: 0, to: 4_000, by: 10) { meter.count(1_250, at: at(time)) }
        #expect((900_000...1_000_000).contains(meter.bitsPerSecond(at: at(4_000))))
        #expect((400_000...560_000).contains(meter.bitsPerSecond(at: at(5_000))), "half of it is silence")
        #expect(meter.bitsPerSecond(at: at(6_100)) == 0)
        meter.count(1_250, at: at(20_000))
        #expect(meter.bitsPerSecond(at: at(20_000)) == 20_000, "half a second at least")
        meter.count(1_250, at: at(19_000))
        #expect(meter.bitsPerSecond(at: at(20_000)) == 40_000, "a clock that goes back is no matter")
    }

    @Test("loss is counted, in all and since the last report")
    func loss() {
        var statistics = ReceiveStatistics(clockRate: 90_000)
        for sequence in 0..<200 where sequence % 4 != 1 {
            let header = RTPHeader(
                payloadType: 96, sequence: UInt16(truncatingIfNeeded: 65_500 + sequence), timestamp: 0, ssrc: 1)
            #expect(statistics.receive(header, byteCount: 100, at: Instant(nanoseconds: 0)) == .accepted)
        }
        let report = statistics.report(of: 1, at: Instant(nanoseconds: 0))
        #expect(report.cumulativeLost == 50)
        #expect(report.fractionLost == 64)
        #expect(report.highestSequence == 65_500 + 199)
        #expect(statistics.report(of: 1, at: Instant(nanoseconds: 0)).fractionLost == 0)
        #expect(statistics.byteCount == 15_000)
    }

    @Test("a jump is ignored until a second packet follows it")
    func restart() {
        var statistics = ReceiveStatistics(clockRate: 90_000)
        func receive(_ sequence: UInt16) -> ReceiveStatistics.Verdict {
            statistics.receive(
                RTPHeader(payloadType: 96, sequence: sequence, timestamp: 0, ssrc: 1), byteCount: 1,
                at: Instant(nanoseconds: 0))
        }
        #expect(receive(100) == .accepted)
        #expect(receive(40_000) == .rejected)
        #expect(receive(101) == .accepted)
        #expect(receive(90) == .accepted)
        #expect(receive(40_000) == .rejected)
        #expect(receive(40_001) == .restarted)
        #expect(statistics.highestSequence == 40_001)
        #expect(statistics.lost == 0)
    }

    @Test("jitter is that of RFC 3550, also where a clock wraps")
    func jitter() {
        var statistics = ReceiveStatistics(clockRate: 8_000)
        var model = 0
        var previous: Int?
        var random = SeededRandom(seed: 0x5EED_0005)
        for index in 0..<1000 {
            let delay = Int.random(in: 0...40, using: &random)
            let milliseconds = 600_000_000_000 + index * 20 + delay
            let timestamp = UInt32(truncatingIfNeeded: index * 160 - 1000)
            _ = statistics.receive(
                RTPHeader(payloadType: 0, sequence: UInt16(index), timestamp: timestamp, ssrc: 1), byteCount: 1,
                at: Instant(nanoseconds: UInt64(milliseconds) * 1_000_000))
            if let previous { model += abs(delay * 8 - previous) - (model + 8) >> 4 }
            previous = delay * 8
        }
        #expect(statistics.jitter == UInt32(model >> 4))
    }

    @Test("a report names the sender's last one and how long it lay here")
    func lastReport() {
        var statistics = ReceiveStatistics(clockRate: 48_000)
        statistics.receive(RTCPTests.report, at: Instant(nanoseconds: 1_000_000_000))
        let block = statistics.report(of: 1, at: Instant(nanoseconds: 3_500_000_000))
        #expect(block.lastSenderReport == 0x0304_0506)
        #expect(block.delaySinceSenderReport == 0x2_8000)
    }

    @Test("timestamps and our wall clock follow from sender reports, for audio and video alike")
    func clocks() throws {
        var publisher = PublisherClock()
        var audio = TrackClock(rate: 48_000)
        var video = TrackClock(rate: 90_000)
        let theirs = NTPTime(unixNanoseconds: 1_700_000_000_000_000_000)
        // Their clock is 400 ms behind; the reports take 30 and 10 ms.
        let ours = theirs.adding(nanoseconds: 400_000_000)
        let first = SenderReport(
            ssrc: 1, ntpTime: theirs.bits, rtpTimestamp: 0xFFFF_FF00, packetCount: 0, byteCount: 0)
        let second = SenderReport(ssrc: 2, ntpTime: theirs.bits, rtpTimestamp: 5, packetCount: 0, byteCount: 0)
        #expect(audio.timestamp(at: ours, publisher) == nil)
        publisher.receive(first, at: ours.adding(nanoseconds: 30_000_000))
        audio.receive(first)
        publisher.receive(second, at: ours.adding(nanoseconds: 10_000_000))
        video.receive(second)
        let later = ours.adding(nanoseconds: 1_010_000_000)
        let captureTimestamp = try #require(audio.timestamp(at: later, publisher))
        let seen = try #require(video.timestamp(at: later, publisher))
        #expect((0xFFFF_FF00 &+ 47_999...0xFFFF_FF00 &+ 48_000).contains(captureTimestamp))
        #expect((90_004...90_005).contains(seen))
        let back = try #require(video.time(of: seen, publisher))
        #expect(abs(back.difference(since: later)) < 1 << 32 / 45_000)
        let before = try #require(audio.time(of: 0xFFFF_FF00 &- 48_000, publisher))
        #expect(abs(later.difference(since: before) - 2 << 32) < 1 << 20)
    }
}
