import Gateway
import RTP
import SDP
import Testing
import Wire

/// Legs behind links that carry so much and no more: a publisher with three layers, viewers who answer with real
/// feedback, virtual time.
@Suite struct BandwidthTests {
    @Test func aViewerWithRoomIsShownTheBestAndNobodyElseIsHeeded() throws {
        var stage = try Stage(viewers: [8_000_000, 300_000])
        stage.run(seconds: 15)
        #expect(stage.shownLayer(0) == 2)
        #expect(stage.shownLayer(1) == 0)
        #expect(stage.viewers.allSatisfy { $0.longestGap < 700_000_000 }, "\(stage.viewers.map(\.longestGap))")
    }

    @Test func aLinkThatIsThrottledLosesLayersWithinThreeSecondsAndHasThemBackWithinTen() throws {
        var stage = try Stage(viewers: [8_000_000, 8_000_000])
        stage.run(seconds: 12)
        #expect(stage.shownLayer(0) == 2 && stage.shownLayer(1) == 2)
        stage.viewers[0].rate = 300_000
        stage.run(seconds: 3)
        #expect(stage.shownLayer(0) == 0 && stage.shownLayer(1) == 2)
        stage.run(seconds: 17)
        #expect(stage.shownLayer(0) == 0)
        stage.viewers[0].rate = 8_000_000
        stage.run(seconds: 10)
        #expect(stage.shownLayer(0) == 2 && stage.shownLayer(1) == 2)
        #expect(stage.viewers[1].longestGap < 200_000_000, "Nobody else notices.")
    }

    @Test func whatAPublisherPadsWithMakesItsLowestLayerNoDearer() throws {
        var stage = try Stage(viewers: [8_000_000])
        stage.repeats = 12
        stage.run(seconds: 12)
        #expect(stage.shownLayer(0) == 2)
        stage.viewers[0].rate = 300_000
        stage.run(seconds: 3)
        #expect(stage.shownLayer(0) == 0)
        stage.viewers[0].rate = 8_000_000
        stage.run(seconds: 10)
        #expect(stage.shownLayer(0) == 2)
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
