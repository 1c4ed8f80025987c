import Gateway
import RTP
import SDP
import Testing
import Wire

@Suite struct ForwardingTests {
    @Test func speechReachesTheOthersUnderTheirOwnNumbers() throws {
        var conference = Conference()
        let ann = Client(audio: 11), ben = Client(audio: 22, opus: 109, extensionBase: 5), cleo = Client()
        let first = try conference.join("ann", ann)
        let second = try conference.join("ben", ben)
        let third = try conference.join("cleo", cleo)
        #expect(conference.outbox.names(on: first) == ["1": "ben microphone"])
        #expect(conference.outbox.names(on: second) == ["1": "ann microphone"])
        #expect(conference.outbox.names(on: third) == ["0": "ann microphone", "1": "ben microphone"])

        for step in 0..<5 as Range<UInt16> {
            conference.send(ann.speech(65_533 &+ step, timestamp: 1000 + 960 * UInt32(step)), from: first)
        }
        #expect(conference.outbox.take(first).isEmpty, "Nobody hears themselves.")
        let heard = conference.outbox.take(second)
        #expect(heard.count == 5)
        #expect(Set(heard.map(\.header.payloadType)) == [109])
        #expect(Set(heard.map(\.header.ssrc)).count == 1 && heard.first?.header.ssrc != 11)
        #expect(heard.map(\.payload) == (0..<5).map { [0x78, UInt8(truncatingIfNeeded: 65_533 + $0), 2, 3] })
        for (one, next) in zip(heard, heard.dropFirst()) {
            #expect(next.header.sequence == one.header.sequence &+ 1)
            #expect(next.header.timestamp == one.header.timestamp &+ 960)
        }
        #expect(heard.first?.header.marker == true, "The first after silence.")
        #expect(conference.outbox.take(third).count == 5)
    }

    @Test func aSlotThatComesBackGoesOnBehindItsNumbers() throws {
        var conference = Conference()
        let ann = Client(audio: 11, video: [33])
        var ben = Client()
        let first = try conference.join("ann", ann)
        let second = try conference.join("ben", ben)
        var last: [UInt32: RTPHeader] = [:]
        for round in 0..<20 as Range<UInt16> {
            conference.send(ann.speech(2 * round, timestamp: 1920 * UInt32(round)), from: first)
            conference.send(
                ann.frame(round, timestamp: 3000 * UInt32(round), ssrc: 33, picture: round, isKey: true), from: first)
            let heard = conference.outbox.take(second)
            #expect(heard.count == 2, "round \(round)")
            for packet in heard {
                if let before = last[packet.header.ssrc] {
                    #expect(packet.header.sequence == before.sequence &+ 1, "round \(round)")
                    #expect(packet.header.timestamp.isNewer(than: before.timestamp), "round \(round)")
                }
                last[packet.header.ssrc] = packet.header
            }
            ben.hasInactiveSlots = true
            try conference.renegotiate(second, ben)
            conference.send(ann.speech(2 * round + 1, timestamp: 1920 * UInt32(round) + 960), from: first)
            #expect(conference.outbox.take(second).isEmpty)
            conference.advance(milliseconds: 200)
            ben.hasInactiveSlots = false
            try conference.renegotiate(second, ben)
        }
        #expect(last.count == 2)
    }

    @Test func whatCannotBeProtectedIsNotCountedAsForwarded() throws {
        var conference = Conference()
        let ann = Client(audio: 11)
        let first = try conference.join("ann", ann)
        let second = try conference.join("ben", Client())
        conference.outbox.refuses = true
        conference.send(ann.speech(1, timestamp: 960), from: first)
        #expect(conference.engine.tally.forwarded == 0)
        conference.outbox.refuses = false
        conference.send(ann.speech(2, timestamp: 1920), from: first)
        #expect(conference.engine.tally.forwarded == 1 && conference.outbox.take(second).count == 1)
    }

    @Test func callsAreApart() throws {
        var conference = Conference()
        let ann = Client(audio: 11)
        let first = try conference.join("ann", ann, call: "one")
        let other = try conference.join("ben", Client(audio: 22), call: "two")
        conference.send(ann.speech(1, timestamp: 1), from: first)
        #expect(conference.outbox.take(other).isEmpty)
        #expect(conference.outbox.names(on: other) == [:])
    }

    @Test func aVideoBeginsWithAKeyFrameThatThePublisherIsAskedFor() throws {
        var conference = Conference()
        let ann = Client(video: [33])
        let first = try conference.join("ann", ann)
        for step in 0..<3 as Range<UInt16> {
            conference.send(ann.frame(step, timestamp: 3000 * UInt32(step), ssrc: 33, picture: step), from: first)
        }
        let second = try conference.join("ben", Client(vp8: 100, rtx: 101))
        conference.advance(milliseconds: 20)
        #expect(conference.outbox.takeReports(first).contains { $0.asksForKeyFrame(of: 33) })
        conference.send(ann.frame(3, timestamp: 9000, ssrc: 33, picture: 3), from: first)
        #expect(conference.outbox.take(second).isEmpty, "A receiver cannot begin here.")
        conference.send(ann.frame(4, timestamp: 12_000, ssrc: 33, picture: 4, isKey: true), from: first)
        conference.send(ann.frame(5, timestamp: 15_000, ssrc: 33, picture: 5), from: first)
        let seen = conference.outbox.take(second)
        #expect(seen.count == 2 && seen.allSatisfy { $0.header.payloadType == 100 && $0.header.marker })
        conference.advance(milliseconds: 1500)
        #expect(!conference.outbox.takeReports(first).contains { $0.asksForKeyFrame(of: 33) }, "It came.")
    }

    @Test func aSlotGoesOnWithoutABreakWhenItShowsAnother() throws {
        var conference = Conference()
        let ann = Client(video: [33], videoSlots: 0), ben = Client(video: [44], videoSlots: 0)
        let viewer = try conference.join("viewer", Client(videoSlots: 1))
        let first = try conference.join("ann", ann)
        conference.send(ann.frame(100, timestamp: 90_000, ssrc: 33, picture: 10, isKey: true), from: first)
        conference.send(ann.frame(101, timestamp: 93_000, ssrc: 33, picture: 11), from: first)
        let second = try conference.join("ben", ben)
        conference.leave(first)
        #expect(conference.outbox.names(on: viewer) == ["2": "ben camera"])
        conference.advance(milliseconds: 100)
        conference.send(ben.frame(7, timestamp: 5, ssrc: 44, picture: 900, isKey: true), from: second)
        let seen = conference.outbox.take(viewer)
        #expect(seen.count == 3)
        for (one, next) in zip(seen, seen.dropFirst()) {
            #expect(next.header.ssrc == one.header.ssrc)
            #expect(next.header.sequence == one.header.sequence &+ 1)
            #expect(next.header.timestamp.isNewer(than: one.header.timestamp))
            #expect(next.picture == (one.picture + 1) & 0x7FFF)
        }
    }

    @Test func screensComeFirstWhereThereAreTooFewSlots() throws {
        var conference = Conference()
        let viewer = try conference.join("viewer", Client(videoSlots: 1))
        var ann = Client(video: [33, 34])
        ann.sources = ["1": .screen]
        let first = try conference.join("ann", ann)
        #expect(conference.outbox.names(on: viewer) == ["2": "ann screen"])
        _ = try conference.join("ben", Client(video: [44]))
        #expect(conference.outbox.names(on: viewer) == ["2": "ann screen"], "What is shown stays.")
        conference.leave(first)
        #expect(conference.outbox.names(on: viewer) == ["2": "ben camera"])
    }

    @Test func simulcastIsToldApartByNames() throws {
        var conference = Conference()
        let ann = Client(rids: ["q", "h"])
        let first = try conference.join("ann", ann)
        let viewer = try conference.join("viewer", Client())
        conference.send(
            ann.frame(1, timestamp: 1, ssrc: 71, picture: 1, isKey: true, elements: ann.named("q")), from: first)
        #expect(conference.outbox.take(viewer).count == 1, "It is all that there is.")
        conference.send(
            ann.frame(1, timestamp: 1, ssrc: 72, picture: 1, isKey: true, elements: ann.named("h")), from: first)
        // From now on without names.
        conference.send(ann.frame(2, timestamp: 3000, ssrc: 71, picture: 2), from: first)
        conference.send(ann.frame(2, timestamp: 3000, ssrc: 72, picture: 2), from: first)
        #expect(conference.outbox.take(viewer).count == 1, "It goes on until there is an entry to the better one.")
        conference.advance(milliseconds: 20)
        #expect(conference.outbox.takeReports(first).contains { $0.asksForKeyFrame(of: 72) })
        conference.send(ann.frame(3, timestamp: 6000, ssrc: 72, picture: 3, isKey: true), from: first)
        conference.send(ann.frame(3, timestamp: 6000, ssrc: 71, picture: 3), from: first)
        conference.send(ann.frame(4, timestamp: 9000, ssrc: 72, picture: 4), from: first)
        #expect(conference.outbox.take(viewer).count == 2, "The better one is shown, the other one is not.")
        conference.send(ann.frame(1, timestamp: 1, ssrc: 73, picture: 1, isKey: true), from: first)
        conference.send(
            ann.frame(1, timestamp: 1, ssrc: 74, picture: 1, isKey: true, elements: ann.named("x")), from: first)
        #expect(conference.outbox.take(viewer).isEmpty && conference.engine.tally.unknownStream == 2)
    }

    @Test func anEncodingThatIsNoLongerSentIsLeft() throws {
        var conference = Conference()
        let ann = Client(rids: ["q", "h"])
        let first = try conference.join("ann", ann)
        let viewer = try conference.join("viewer", Client())
        var sequence: UInt16 = 1
        func sendBoth(_ conference: inout Conference, isKey: Bool, _ rids: [(String, UInt32)]) {
            for (rid, ssrc) in rids {
                conference.send(
                    ann.frame(
                        sequence, timestamp: UInt32(sequence) * 3000, ssrc: ssrc, picture: UInt16(sequence),
                        isKey: isKey,
                        elements: ann.named(rid)), from: first)
            }
            sequence += 1
            conference.advance(milliseconds: 100)
        }
        for frame in 0..<10 { sendBoth(&conference, isKey: frame < 2, [("q", 71), ("h", 72)]) }
        _ = conference.outbox.take(viewer)
        _ = conference.outbox.takeReports(first)
        // The better one stops: the publisher is asked for a key frame of the other, with which the picture goes on.
        for _ in 0..<25 { sendBoth(&conference, isKey: false, [("q", 71)]) }
        #expect(conference.outbox.take(viewer).isEmpty)
        #expect(!conference.outbox.takeReports(first).isEmpty)
        sendBoth(&conference, isKey: true, [("q", 71)])
        sendBoth(&conference, isKey: false, [("q", 71)])
        #expect(conference.outbox.take(viewer).count == 2)
    }

    @Test func whatIsLostIsSentAgainAndAskedFor() throws {
        var conference = Conference()
        let ann = Client(video: [33])
        let first = try conference.join("ann", ann)
        let viewer = try conference.join("viewer", Client(vp8: 100, rtx: 101))
        conference.send(ann.frame(10, timestamp: 0, ssrc: 33, picture: 1, isKey: true), from: first)
        conference.send(ann.frame(11, timestamp: 3000, ssrc: 33, picture: 2), from: first)
        conference.send(ann.frame(13, timestamp: 9000, ssrc: 33, picture: 4), from: first)
        let seen = conference.outbox.take(viewer)
        #expect(seen.map(\.header.sequence).last == seen[1].header.sequence &+ 2, "A gap stays a gap.")

        conference.advance(milliseconds: 20)
        #expect(conference.outbox.takeReports(first).contains { $0.asks(for: 12, of: 33) })
        conference.send(ann.frame(12, timestamp: 6000, ssrc: 33, picture: 3), from: first)
        #expect(conference.outbox.take(viewer).map(\.header.sequence) == [seen[1].header.sequence &+ 1])

        let source = seen[0].header.ssrc
        conference.report(.nack(seen[1].header.sequence, of: source), from: viewer)
        let repairs = conference.outbox.take(viewer)
        #expect(repairs.count == 1 && repairs[0].header.payloadType == 101 && repairs[0].header.ssrc == source + 1)
        #expect(repairs[0].payload == seen[1].header.sequence.bigEndianBytes + seen[1].payload)
        #expect(repairs[0].header.timestamp == seen[1].header.timestamp)

        for _ in 0..<200 {
            conference.report(.nack(seen[1].header.sequence, of: source, mask: 0xFFFF), from: viewer)
        }
        conference.report(.nack(seen[1].header.sequence &+ 5000, of: source), from: viewer)
        #expect(conference.engine.tally.repairsRefused > 0, "Nobody has the same packets sent again for ever.")
    }

    /// The publisher is 300 ms away: asked again after 125 ms, as for 100 ms, each packet would be sent thrice.
    @Test func whatIsLostIsAskedForAgainAfterARoundTripThatWasMeasured() throws {
        var conference = Conference()
        let ann = Client(video: [33])
        let first = try conference.join("ann", ann)
        conference.send(ann.frame(1, timestamp: 0, ssrc: 33, picture: 1, isKey: true), from: first)
        var questions: [Int] = []
        for number in 1...12 as ClosedRange<UInt16> {
            let lost = 2 * number
            conference.send(
                ann.frame(lost + 1, timestamp: 3000 * UInt32(lost), ssrc: 33, picture: lost), from: first)
            var asked = 0
            for step in 0..<32 {
                conference.advance(milliseconds: 10)
                asked += conference.outbox.takeReports(first).count { $0.asks(for: lost, of: 33) }
                guard step == 30 else { continue }
                let repaired = ann.frame(lost, timestamp: 3000 * UInt32(lost), ssrc: 34, picture: lost)
                var bytes = Array(repaired.prefix(12)) + lost.bigEndianBytes + repaired.dropFirst(12)
                bytes[1] = ann.rtx
                bytes[2...3] = number.bigEndianBytes[...]
                conference.send(bytes, from: first)
            }
            questions.append(asked)
        }
        #expect(questions.prefix(1).allSatisfy { $0 > 1 } && questions.suffix(4).allSatisfy { $0 == 1 }, "\(questions)")
    }

    /// A client without RTX sends repairs as they were, under the media's own SSRC.
    @Test func lateRepairsPassWhenTheyWereAskedForAndBeginNothingAnew() throws {
        var conference = Conference()
        let ann = Client(video: [33])
        let first = try conference.join("ann", ann)
        let viewer = try conference.join("viewer", Client())
        func frame(_ number: UInt16) -> [UInt8] {
            ann.frame(number, timestamp: 90 * UInt32(number), ssrc: 33, picture: number, isKey: number == 1)
        }
        for number in 1...900 as ClosedRange<UInt16> where number != 100 && number != 101 {
            conference.send(frame(number), from: first)
            if number % 2 == 0 { conference.now = conference.now.adding(nanoseconds: 1_000_000) }
        }
        let seen = conference.outbox.take(viewer)
        let start = seen[0].header.sequence
        // Two in a row, 800 packets late: neither noise nor another stream.
        for number in [100, 101] as [UInt16] { conference.send(frame(number), from: first) }
        let late = conference.outbox.take(viewer)
        #expect(late.map { $0.header.sequence &- start } == [99, 100])
        let repeated = conference.engine.tally.repeated
        for number in [100, 101, 102, 103] as [UInt16] { conference.send(frame(number), from: first) }
        #expect(conference.outbox.take(viewer).isEmpty, "Nobody waits for them any more.")
        #expect(conference.engine.tally.repeated == repeated + 4)
        conference.send(frame(901), from: first)
        #expect(conference.outbox.take(viewer).map { $0.header.sequence &- start } == [900])
        // What was 800 packets late can be asked for again.
        conference.report(.nack(late[0].header.sequence, of: late[0].header.ssrc), from: viewer)
        #expect(
            conference.outbox.take(viewer).map(\.payload) == [late[0].header.sequence.bigEndianBytes + late[0].payload])
    }

    @Test func eachStreamIsReportedOnAndEachPacketFedBack() throws {
        var conference = Conference()
        let ann = Client(audio: 11)
        let first = try conference.join("ann", ann)
        let listener = try conference.join("listener", Client())
        for step in 0..<50 as Range<UInt16> {
            conference.send(ann.speech(step, timestamp: 960 * UInt32(step), transport: step), from: first)
            conference.advance(milliseconds: 20)
        }
        let back = conference.outbox.takeReports(first)
        #expect(back.contains { $0.kinds.contains(.transportFeedback) })
        #expect(back.contains { $0.blocks.contains { $0.ssrc == 11 && $0.cumulativeLost == 0 } })
        let told = conference.outbox.takeReports(listener)
        let report = try #require(told.compactMap(\.senderReport).last)
        let heard = conference.outbox.take(listener)
        #expect(report.ssrc == heard[0].header.ssrc && report.packetCount > 0 && report.packetCount <= 50)
        #expect(told.contains { $0.kinds.contains(.sourceDescription) })
    }

    @Test func whoLeavesIsForgotten() throws {
        var conference = Conference()
        for round in 0..<100 as Range<UInt32> {
            let ann = Client(audio: 11 + round, video: [33 + round])
            let first = try conference.join("ann", ann)
            let second = try conference.join("ben", Client(audio: 22))
            conference.send(ann.speech(1, timestamp: 1), from: first)
            conference.leave(first)
            conference.send(ann.speech(2, timestamp: 961), from: first)
            #expect(conference.outbox.take(second).count == 1)
            conference.leave(second)
            conference.leave(second)
        }
        #expect(
            conference.engine.legCount == 0 && conference.engine.trackCount == 0 && conference.engine.callCount == 0)
    }
}
