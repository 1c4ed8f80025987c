import Gateway
import RTP
import Testing
import Wire

/// Each viewer gets what its way carries, and nobody else notices. Chance comes from a seed, which failures print.
@Suite struct CongestionTests {
    private static let viewer = Client(audioSlots: 0, videoSlots: 1)

    @Test(arguments: [1, 2, 3, 4] as [UInt64])
    func aThrottledViewerGetsALowerLayerAndThenTheBestAgain(seed: UInt64) throws {
        var call = try SimulatedCall(viewers: [Self.viewer, Self.viewer, Self.viewer], seed: seed)
        call.run(milliseconds: 8_000)
        for viewer in call.viewers { #expect(viewer.layers(from: call.now - 1_000_000_000) == [2], "seed \(seed)") }

        let start = call.now
        call.viewers[0].bitsPerSecond = 300_000
        call.run(milliseconds: 3_000)
        let dropped = call.now
        call.run(milliseconds: 12_000)
        let end = call.now
        #expect(call.viewers[0].layers(from: dropped, until: end) == [0], "seed \(seed)")
        #expect(call.viewers[0].longestGap(from: dropped, until: end) < 400_000_000, "seed \(seed)")

        call.viewers[0].bitsPerSecond = nil
        call.run(milliseconds: 10_000)
        #expect(call.viewers[0].layers(from: call.now - 300_000_000) == [2], "seed \(seed)")
        for other in call.viewers.dropFirst() {
            #expect(other.layers(from: start) == [2], "seed \(seed)")
            #expect(other.longestGap(from: start) < 60_000_000, "seed \(seed)")
            let sequences = other.sights.filter { $0.at >= start }.map(\.sequence)
            #expect(zip(sequences, sequences.dropFirst()).allSatisfy { $1 == $0 &+ 1 }, "seed \(seed)")
        }
        #expect(call.camera.layers[2].packetCount > 0 && call.conference.engine.tally.noRoom == 0)
    }

    @Test(arguments: [1, 2] as [UInt64])
    func aPictureThatDoesNotFitAtAllIsPaused(seed: UInt64) throws {
        var call = try SimulatedCall([("", 1_500_000, 720)], viewers: [Self.viewer, Self.viewer], seed: seed)
        call.run(milliseconds: 6_000)
        #expect(call.viewers[0].longestGap(from: call.now - 3_000_000_000) < 100_000_000)
        let start = call.now
        call.viewers[0].bitsPerSecond = 300_000
        call.run(milliseconds: 5_000)
        let paused = call.now
        call.run(milliseconds: 5_000)
        #expect(call.viewers[0].layers(from: paused).isEmpty, "seed \(seed)")
        call.viewers[0].bitsPerSecond = nil
        call.run(milliseconds: 10_000)
        #expect(call.viewers[0].longestGap(from: call.now - 500_000_000) < 100_000_000)
        #expect(call.viewers[0].layers(from: call.now - 500_000_000) == [0], "seed \(seed)")
        #expect(call.viewers[1].longestGap(from: start) < 60_000_000, "seed \(seed)")
    }

    @Test func aViewerWithoutTransportFeedbackIsBelievedWhatItSays() throws {
        var client = Self.viewer
        client.hasTransportFeedback = false
        var call = try SimulatedCall(viewers: [client], seed: 5)
        call.run(milliseconds: 3_000)
        #expect(call.viewers[0].layers(from: call.now - 500_000_000) == [2])
        var writer = RTCPWriter()
        writer.appendEstimatedMaximumBitrate(700_000, of: [1], from: 1)
        call.conference.report(writer.bytes, from: call.viewers[0].leg)
        call.run(milliseconds: 1_000)
        #expect(call.viewers[0].layers(from: call.now - 500_000_000) == [1])
        writer.begin()
        writer.appendEstimatedMaximumBitrate(5_000_000, of: [1], from: 1)
        call.conference.report(writer.bytes, from: call.viewers[0].leg)
        call.run(milliseconds: 4_000)
        #expect(call.viewers[0].layers(from: call.now - 500_000_000) == [2])
        #expect(call.viewers[0].padding == 0)
    }

    @Test func wishesAreHeeded() throws {
        var call = try SimulatedCall(viewers: [Self.viewer], seed: 6)
        let leg = call.viewers[0].leg
        call.run(milliseconds: 6_000)
        #expect(call.viewers[0].layers(from: call.now - 500_000_000) == [2])
        let wishes: [(SlotWish, Set<UInt8>)] = [
            (SlotWish(maximumHeight: 400), [1]), (SlotWish(isPaused: true), []), (SlotWish(rid: "q"), [0]),
            (SlotWish(maximumHeight: 10), [0]), (SlotWish(rid: "none"), [2]),
        ]
        for (wish, layers) in wishes {
            let isKnown = call.conference.engine.setWish(of: leg, mid: "0", wish, at: call.conference.now)
            #expect(isKnown)
            call.run(milliseconds: 4_000)
            #expect(call.viewers[0].layers(from: call.now - 500_000_000) == layers, "\(wish)")
        }
        let isKnown = call.conference.engine.setWish(of: leg, mid: "9", SlotWish(), at: call.conference.now)
        #expect(!isKnown)
    }

    @Test func aLayerThatIsNoLongerSentIsLeft() throws {
        var call = try SimulatedCall(viewers: [Self.viewer], seed: 7)
        call.run(milliseconds: 6_000)
        #expect(call.viewers[0].layers(from: call.now - 500_000_000) == [2])
        call.camera.layers.removeLast()
        call.run(milliseconds: 2_000)
        #expect(call.viewers[0].layers(from: call.now - 500_000_000) == [1])
    }

    @Test func aBurstOfVideoIsSpreadAndSpeechPassesIt() throws {
        var conference = Conference()
        let ann = Client(audio: 11, video: [33], audioSlots: 0, videoSlots: 0)
        let viewer = try conference.join("viewer", Client(audioSlots: 1, videoSlots: 1))
        let first = try conference.join("ann", ann)
        conference.advance(milliseconds: 1_500)
        for step in 0..<60 as Range<UInt16> {
            conference.send(
                ann.frame(
                    step, timestamp: 3000, ssrc: 33, picture: 1, isKey: step == 0,
                    data: [UInt8](repeating: 1, count: 1000),
                    isStart: step == 0, isEnd: step == 59), from: first)
        }
        conference.send(ann.speech(1, timestamp: 960), from: first)
        let atOnce = conference.outbox.take(viewer)
        #expect(atOnce.last?.header.payloadType == 111)
        #expect((1...5).contains(atOnce.count - 1))
        conference.advance(milliseconds: 1_000)
        let later = conference.outbox.take(viewer)
        #expect(atOnce.count - 1 + later.count == 60)
        let video = (atOnce + later).filter { $0.header.payloadType == 96 }
        #expect(zip(video, video.dropFirst()).allSatisfy { $1.header.sequence == $0.header.sequence &+ 1 })
        #expect(video.allSatisfy { $0.payload.count == 1005 } && video.last?.header.marker == true)
    }
}
