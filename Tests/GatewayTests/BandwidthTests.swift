import Gateway
import RTP
import SDP
import Testing
import Wire

/// Legs behind links that carry so much and no more: a publisher with three layers, viewers who answer with real
/// feedback, virtual time.
@Suite struct BandwidthTests {
    /// Every second, of all its video together; who gets transport-wide feedback is left to find out by itself.
    @Test(arguments: [false, true]) func aPublisherWithoutTransportFeedbackIsToldWhatItCanSend(hasFeedback: Bool) throws
    {
        var conference = Conference()
        var ann = Client(video: [33, 35])
        ann.hasTransportFeedback = hasFeedback
        let leg = try conference.join("ann", ann)
        var told: [(bitrate: UInt64, at: Instant)] = []
        for number in 0..<400 as Range<UInt16> {
            let sendTime = AbsoluteSendTime.value(at: conference.now)
            let bytes =
                [UInt8(truncatingIfNeeded: sendTime >> 16)] + UInt16(truncatingIfNeeded: sendTime).bigEndianBytes
            for ssrc in [33, 35] as [UInt32] {
                conference.send(
                    ann.part(
                        number, timestamp: UInt32(number) * 900, ssrc: ssrc, picture: number, bytes: 900,
                        isKey: number == 0, isFirst: true, isLast: true,
                        elements: hasFeedback ? [] : [(ann.sendTimeID, bytes)], layer: 0),
                    from: leg)
            }
            conference.advance(milliseconds: 10)
            for report in conference.outbox.takeReports(leg) {
                if let bitrate = report.estimatedMaximumBitrate { told.append((bitrate, conference.now)) }
            }
        }
        guard !hasFeedback else {
            #expect(told.isEmpty)
            return
        }
        #expect((3...5).contains(told.count), "\(told)")
        // What arrives without a queue that grows is carried: 1.45 Mbit/s with headers.
        #expect(told.allSatisfy { (1_400_000...2_300_000).contains($0.bitrate) }, "\(told)")
    }

    @Test func aViewerWithRoomIsShownTheBestAndNobodyElseIsHeeded() throws {
        var stage = try Stage(viewers: [8_000_000, 300_000])
        stage.run(seconds: 15)
        #expect(stage.shownLayer(0) == 2)
        #expect(stage.shownLayer(1) == 0)
        #expect(stage.viewers.allSatisfy { $0.longestGap < 700_000_000 }, "\(stage.viewers.map(\.longestGap))")
    }

    /// A browser of a publisher pads its lowest layer, and cameras are slow in the dark. With sound and headers the lowest
    /// layer just fits.
    @Test(arguments: [0, 12], [33, 49, 66, 97])
    func aLinkThatIsThrottledGetsASmallerPictureWithinThreeSecondsAndTheBestAgainWithinTen(
        repeats: Int, interval: Int
    ) throws {
        var stage = try Stage(viewers: [8_000_000, 8_000_000], hasSound: true)
        stage.repeats = repeats
        stage.voice = 160
        stage.interval = interval
        stage.run(seconds: 12)
        #expect(stage.shownLayer(0) == 2 && stage.shownLayer(1) == 2)
        let throttled = stage.now
        stage.viewers[0].rate = 300_000
        stage.run(seconds: 20)
        #expect(stage.shownLayer(0) == 0 && stage.shownLayer(1) == 2)
        let smaller = try #require(stage.viewers[0].pictures.frames.first { $0.at > throttled && $0.layer < 2 })
        #expect(smaller.at.nanoseconds(since: throttled) < 1_200_000_000, "The rest is for what the model leaves out.")
        let lifted = stage.now
        stage.viewers[0].rate = 8_000_000
        stage.run(seconds: 10)
        #expect(stage.shownLayer(0) == 2 && stage.shownLayer(1) == 2)
        #expect(stage.viewers[0].pictures.frames.contains { $0.at > lifted && $0.layer == 2 })
        #expect(stage.viewers[1].longestGap < 200_000_000, "Nobody else notices.")
    }

    /// Nothing is lost until the queue, of so many milliseconds, is full, and then the picture comes behind all of it.
    @Test(arguments: [33, 49, 66, 97], [300, 1_000])
    func aThrottledLinkWithALongQueueGetsASmallerPicture(interval: Int, queue: UInt64) throws {
        var stage = try Stage(viewers: [8_000_000], hasSound: true)
        stage.interval = interval
        stage.run(seconds: 12)
        #expect(stage.shownLayer(0) == 2)
        let throttled = stage.now
        stage.viewers[0].rate = 300_000
        stage.viewers[0].queueNanoseconds = queue * 1_000_000
        stage.run(seconds: 5)
        let smaller = try #require(stage.viewers[0].pictures.frames.first { $0.at > throttled && $0.layer < 2 })
        #expect(smaller.at.nanoseconds(since: throttled) < (1_000 + queue * 14 / 10) * 1_000_000)
    }

    @Test func picturesComeBackToAMachineThatWasBusy() throws {
        var stage = try Stage(viewers: [8_000_000])
        stage.run(seconds: 10)
        // Again and again everything is read late for a while, though the link is free.
        for _ in 0..<10 {
            stage.viewers[0].heldUpUntil = stage.now.nanoseconds + 700_000_000
            stage.run(seconds: 2)
            #expect(stage.shownLayer(0) != nil)
        }
        stage.run(seconds: 12)
        #expect(stage.shownLayer(0) == 2)
    }

    @Test func aLinkThatDoesNotCarryTheLeastLosesItsPictureAndKeepsItsSound() throws {
        var stage = try Stage(viewers: [60_000], hasSound: true)
        stage.run(seconds: 30)
        let voices = stage.viewers[0].voices
        #expect(stage.viewers[0].pausedSeconds > 5)
        stage.run(seconds: 10)
        #expect(stage.viewers[0].voices - voices > 300, "\(stage.viewers[0].voices - voices) of 500")
        stage.viewers[0].rate = 8_000_000
        stage.run(seconds: 60)
        #expect(stage.shownLayer(0) == 2)
    }

    /// A small picture needs no probe, so nothing else looks at what waits.
    @Test(arguments: [false, true], [WantedQuality.low, .high])
    func aCameraThatIsTurnedOnIsSeenAtOnce(hasSound: Bool, quality: WantedQuality) throws {
        var stage = try Stage(viewers: [8_000_000], hasSound: hasSound)
        stage.conference.engine.want(["2": quality], on: stage.viewers[0].leg)
        stage.isFilmed = false
        stage.run(seconds: 5)
        let begun = stage.now
        stage.isFilmed = true
        stage.run(seconds: 2)
        let first = try #require(stage.viewers[0].pictures.frames.first)
        #expect(first.at.nanoseconds(since: begun) < 150_000_000)
        #expect(stage.viewers[0].longestGap < 150_000_000)
    }

    @Test func aKeyFrameForManyLeavesInPieces() throws {
        var stage = try Stage(viewers: [8_000_000])
        stage.run(seconds: 8)
        let before = stage.conference.engine.tally.waited
        stage.frame(bytes: 60_000, isKey: true)
        let sent = stage.conference.outbox.take(stage.viewers[0].leg)
        #expect(sent.count < 40, "\(sent.count) packets at once")
        #expect(stage.conference.engine.tally.waited > before)
        #expect(stage.conference.engine.nextRelease < .distantFuture)
    }

    @Test func aPeerWithNothingButREMBIsHeeded() throws {
        var stage = try Stage(viewers: [8_000_000], feedback: .receiverLimit(250_000))
        stage.run(seconds: 10)
        #expect(stage.shownLayer(0) == 0)
        stage.viewers[0].feedback = .receiverLimit(5_000_000)
        stage.run(seconds: 10)
        #expect(stage.shownLayer(0) == 2)
    }

    @Test func nobodyIsShownABetterPictureThanTheyWant() throws {
        var stage = try Stage(viewers: [8_000_000, 8_000_000])
        // The slots follow those for sound.
        for (wanted, layer) in [(WantedQuality.low, 0), (.medium, 1), (.high, 2), (.off, nil), (.high, 2)] {
            stage.conference.engine.want(["2": wanted], on: stage.viewers[0].leg)
            stage.run(seconds: 8)
            #expect(stage.shownLayer(0) == layer, "\(wanted)")
        }
        #expect(stage.shownLayer(1) == 2)
    }
}
