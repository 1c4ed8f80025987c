import Gateway
import RTP
import SDP
import TestSupport
import Testing
import Wire

/// Legs behind links that carry so much and no more: a publisher with three layers, viewers who answer with real
/// feedback, virtual time.
@Suite struct BandwidthTests {
    /// Every second, of all its video together; who gets transport-wide feedback is left to find out by itself.
    @Test(arguments: [false, true]) func aPublisherWithoutTransportFeedbackGetsREMB(hasFeedback: Bool) throws {
        var harness = GatewayHarness()
        var ann = Client(video: [33, 35])
        ann.hasTransportFeedback = hasFeedback
        let leg = try harness.join("ann", ann)
        var reported: [(bitrate: UInt64, at: Instant)] = []
        for number in 0..<400 as Range<UInt16> {
            let sendTime = AbsoluteSendTime.value(at: harness.now)
            let bytes =
                [UInt8(truncatingIfNeeded: sendTime >> 16)] + UInt16(truncatingIfNeeded: sendTime).bigEndianBytes
            for ssrc in [33, 35] as [UInt32] {
                harness.send(
                    ann.part(
                        number, timestamp: UInt32(number) * 900, ssrc: ssrc, picture: number, bytes: 900,
                        isKey: number == 0, isFirst: true, isLast: true,
                        elements: hasFeedback ? [] : [(ann.sendTimeID, bytes)], layer: 0),
                    from: leg)
            }
            harness.advance(milliseconds: 10)
            for report in harness.outbox.takeReports(leg) {
                if let bitrate = report.estimatedMaximumBitrate { reported.append((bitrate, harness.now)) }
            }
        }
        guard !hasFeedback else {
            #expect(reported.isEmpty)
            return
        }
        #expect((3...5).contains(reported.count), "\(reported)")
        // What arrives without a queue that grows is carried: 1.45 Mbit/s with headers.
        #expect(reported.allSatisfy { (1_400_000...2_300_000).contains($0.bitrate) }, "\(reported)")
    }

    @Test func aViewerWithBandwidthGetsTheBestLayerIndependentlyOfOthers() throws {
        var harness = try BandwidthHarness(viewers: [8_000_000, 300_000])
        harness.run(seconds: 15)
        #expect(harness.shownLayer(0) == 2)
        #expect(harness.shownLayer(1) == 0)
        #expect(harness.viewers.allSatisfy { $0.maxGap < 700_000_000 }, "\(harness.viewers.map(\.maxGap))")
    }

    /// A browser of a publisher pads its lowest layer, and cameras are slow in the dark. With sound and headers the
    /// lowest layer just fits.
    @Test(arguments: [0, 12], [33, 49, 66, 97])
    func aThrottledLinkGetsALowerLayerWithinThreeSecondsAndTheBestAgainWithinTen(
        repeats: Int, interval: Int
    ) throws {
        var harness = try BandwidthHarness(viewers: [8_000_000, 8_000_000], hasAudio: true)
        harness.repeats = repeats
        harness.voice = 160
        harness.interval = interval
        harness.run(seconds: 12)
        #expect(harness.shownLayer(0) == 2 && harness.shownLayer(1) == 2)
        let throttled = harness.now
        harness.viewers[0].link.rate = 300_000
        harness.run(seconds: 20)
        #expect(harness.shownLayer(0) == 0 && harness.shownLayer(1) == 2)
        let smaller = try #require(harness.viewers[0].video.frames.first { $0.at > throttled && $0.layer < 2 })
        #expect(smaller.at.nanoseconds(since: throttled) < 1_200_000_000, "The rest is for what the model leaves out.")
        let lifted = harness.now
        harness.viewers[0].link.rate = 8_000_000
        harness.run(seconds: 10)
        #expect(harness.shownLayer(0) == 2 && harness.shownLayer(1) == 2)
        #expect(harness.viewers[0].video.frames.contains { $0.at > lifted && $0.layer == 2 })
        #expect(harness.viewers[1].maxGap < 200_000_000, "Nobody else notices.")
    }

    /// Nothing is lost until the queue, of so many milliseconds, is full, and then the picture comes behind all of it.
    @Test(arguments: [33, 49, 66, 97], [300, 1_000])
    func aThrottledLinkWithALongQueueGetsALowerLayer(interval: Int, queue: UInt64) throws {
        var harness = try BandwidthHarness(viewers: [8_000_000], hasAudio: true)
        harness.interval = interval
        harness.run(seconds: 12)
        #expect(harness.shownLayer(0) == 2)
        let throttled = harness.now
        harness.viewers[0].link.rate = 300_000
        harness.viewers[0].link.queueLimit = .nanoseconds(queue * 1_000_000)
        harness.run(seconds: 5)
        let smaller = try #require(harness.viewers[0].video.frames.first { $0.at > throttled && $0.layer < 2 })
        #expect(smaller.at.nanoseconds(since: throttled) < (1_000 + queue * 14 / 10) * 1_000_000)
    }

    @Test func videoReturnsToAMachineThatWasBusy() throws {
        var harness = try BandwidthHarness(viewers: [8_000_000])
        harness.run(seconds: 10)
        // Again and again everything is read late for a while, though the link is free.
        for _ in 0..<10 {
            harness.viewers[0].blockedUntil = harness.now.nanoseconds + 700_000_000
            harness.run(seconds: 2)
            #expect(harness.shownLayer(0) != nil)
        }
        harness.run(seconds: 12)
        #expect(harness.shownLayer(0) == 2)
    }

    @Test func aLinkTooSlowForTheLowestLayerLosesVideoAndKeepsAudio() throws {
        var harness = try BandwidthHarness(viewers: [60_000], hasAudio: true)
        harness.run(seconds: 30)
        let voices = harness.viewers[0].voices
        #expect(harness.viewers[0].pausedSeconds > 5)
        harness.run(seconds: 10)
        #expect(harness.viewers[0].voices - voices > 300, "\(harness.viewers[0].voices - voices) of 500")
        harness.viewers[0].link.rate = 8_000_000
        harness.run(seconds: 60)
        #expect(harness.shownLayer(0) == 2)
    }

    /// A low layer needs no probe, so nothing else releases what waits.
    @Test(arguments: [false, true], [PreferredQuality.low, .high])
    func aCameraThatIsTurnedOnIsSeenAtOnce(hasAudio: Bool, quality: PreferredQuality) throws {
        var harness = try BandwidthHarness(viewers: [8_000_000], hasAudio: hasAudio)
        harness.gateway.engine.setPreferences(["2": quality], on: harness.viewers[0].leg)
        harness.isFilmed = false
        harness.run(seconds: 5)
        let begun = harness.now
        harness.isFilmed = true
        harness.run(seconds: 2)
        let first = try #require(harness.viewers[0].video.frames.first)
        #expect(first.at.nanoseconds(since: begun) < 150_000_000)
        #expect(harness.viewers[0].maxGap < 150_000_000)
    }

    @Test func aKeyFrameForManyIsPaced() throws {
        var harness = try BandwidthHarness(viewers: [8_000_000])
        harness.run(seconds: 8)
        let before = harness.gateway.engine.counters.waited
        harness.frame(bytes: 60_000, isKey: true)
        let sent = harness.gateway.outbox.take(harness.viewers[0].leg)
        #expect(sent.count < 40, "\(sent.count) packets at once")
        #expect(harness.gateway.engine.counters.waited > before)
        #expect(harness.gateway.engine.nextRelease < .distantFuture)
    }

    @Test func aPeerWithREMBOnlyIsLimitedByIt() throws {
        var harness = try BandwidthHarness(viewers: [8_000_000], feedback: .receiverLimit(250_000))
        harness.run(seconds: 10)
        #expect(harness.shownLayer(0) == 0)
        harness.viewers[0].feedback = .receiverLimit(5_000_000)
        harness.run(seconds: 10)
        #expect(harness.shownLayer(0) == 2)
    }

    @Test func noSlotExceedsItsPreferredQuality() throws {
        var harness = try BandwidthHarness(viewers: [8_000_000, 8_000_000])
        // The video slots follow the audio slots.
        for (quality, layer) in [(PreferredQuality.low, 0), (.medium, 1), (.high, 2), (.off, nil), (.high, 2)] {
            harness.gateway.engine.setPreferences(["2": quality], on: harness.viewers[0].leg)
            harness.run(seconds: 8)
            #expect(harness.shownLayer(0) == layer, "\(quality)")
        }
        #expect(harness.shownLayer(1) == 2)
    }
}
