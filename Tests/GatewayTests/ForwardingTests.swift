import Gateway
import RTP
import SDP
import Testing
import Wire

@Suite struct ForwardingTests {
    @Test func speechReachesTheOthersUnderTheirOwnNumbers() throws {
        var harness = GatewayHarness()
        let ann = Client(audio: 11), ben = Client(audio: 22, opus: 109, extensionBase: 5), cleo = Client()
        let first = try harness.join("ann", ann)
        let second = try harness.join("ben", ben)
        let third = try harness.join("cleo", cleo)
        #expect(harness.outbox.names(on: first) == ["1": "ben microphone"])
        #expect(harness.outbox.names(on: second) == ["1": "ann microphone"])
        #expect(harness.outbox.names(on: third) == ["0": "ann microphone", "1": "ben microphone"])

        for step in 0..<5 as Range<UInt16> {
            harness.send(ann.speech(65_533 &+ step, timestamp: 1000 + 960 * UInt32(step)), from: first)
        }
        #expect(harness.outbox.take(first).isEmpty, "Nobody hears themselves.")
        let received = harness.outbox.take(second)
        #expect(received.count == 5)
        #expect(Set(received.map(\.header.payloadType)) == [109])
        #expect(Set(received.map(\.header.ssrc)).count == 1 && received.first?.header.ssrc != 11)
        #expect(received.map(\.payload) == (0..<5).map { [0x78, UInt8(truncatingIfNeeded: 65_533 + $0), 2, 3] })
        for (one, next) in zip(received, received.dropFirst()) {
            #expect(next.header.sequence == one.header.sequence &+ 1)
            #expect(next.header.timestamp == one.header.timestamp &+ 960)
        }
        #expect(received.first?.header.marker == true, "The first after silence.")
        #expect(harness.outbox.take(third).count == 5)
    }

    @Test func aSlotThatComesBackGoesOnBehindItsNumbers() throws {
        var harness = GatewayHarness()
        let ann = Client(audio: 11, video: [33])
        var ben = Client()
        let first = try harness.join("ann", ann)
        let second = try harness.join("ben", ben)
        var last: [UInt32: RTPHeader] = [:]
        for round in 0..<20 as Range<UInt16> {
            harness.send(ann.speech(2 * round, timestamp: 1920 * UInt32(round)), from: first)
            harness.send(
                ann.frame(round, timestamp: 3000 * UInt32(round), ssrc: 33, picture: round, isKey: true), from: first)
            let received = harness.outbox.take(second)
            #expect(received.count == 2, "round \(round)")
            for packet in received {
                if let before = last[packet.header.ssrc] {
                    #expect(packet.header.sequence == before.sequence &+ 1, "round \(round)")
                    #expect(packet.header.timestamp.isNewer(than: before.timestamp), "round \(round)")
                }
                last[packet.header.ssrc] = packet.header
            }
            ben.hasInactiveSlots = true
            try harness.renegotiate(second, ben)
            harness.send(ann.speech(2 * round + 1, timestamp: 1920 * UInt32(round) + 960), from: first)
            #expect(harness.outbox.take(second).isEmpty)
            harness.advance(milliseconds: 200)
            ben.hasInactiveSlots = false
            try harness.renegotiate(second, ben)
        }
        #expect(last.count == 2)
    }

    @Test func packetsThatCannotBeEncryptedAreNotCounted() throws {
        var harness = GatewayHarness()
        let ann = Client(audio: 11)
        let first = try harness.join("ann", ann)
        let second = try harness.join("ben", Client())
        harness.outbox.rejectsCommits = true
        harness.send(ann.speech(1, timestamp: 960), from: first)
        #expect(harness.engine.counters.forwarded == 0)
        harness.outbox.rejectsCommits = false
        harness.send(ann.speech(2, timestamp: 1920), from: first)
        #expect(harness.engine.counters.forwarded == 1 && harness.outbox.take(second).count == 1)
    }

    @Test func callsAreApart() throws {
        var harness = GatewayHarness()
        let ann = Client(audio: 11)
        let first = try harness.join("ann", ann, call: "one")
        let other = try harness.join("ben", Client(audio: 22), call: "two")
        harness.send(ann.speech(1, timestamp: 1), from: first)
        #expect(harness.outbox.take(other).isEmpty)
        #expect(harness.outbox.names(on: other) == [:])
    }

    @Test func aVideoBeginsWithARequestedKeyFrame() throws {
        var harness = GatewayHarness()
        let ann = Client(video: [33])
        let first = try harness.join("ann", ann)
        for step in 0..<3 as Range<UInt16> {
            harness.send(ann.frame(step, timestamp: 3000 * UInt32(step), ssrc: 33, picture: step), from: first)
        }
        let second = try harness.join("ben", Client(vp8: 100, rtx: 101))
        harness.advance(milliseconds: 20)
        #expect(harness.outbox.takeReports(first).contains { $0.requestsKeyFrame(of: 33) })
        harness.send(ann.frame(3, timestamp: 9000, ssrc: 33, picture: 3), from: first)
        #expect(harness.outbox.take(second).isEmpty, "A receiver cannot begin here.")
        harness.send(ann.frame(4, timestamp: 12_000, ssrc: 33, picture: 4, isKey: true), from: first)
        harness.send(ann.frame(5, timestamp: 15_000, ssrc: 33, picture: 5), from: first)
        let seen = harness.outbox.take(second)
        #expect(seen.count == 2 && seen.allSatisfy { $0.header.payloadType == 100 && $0.header.marker })
        harness.advance(milliseconds: 1500)
        #expect(!harness.outbox.takeReports(first).contains { $0.requestsKeyFrame(of: 33) }, "It came.")
    }

    @Test func aSlotGoesOnWithoutABreakWhenItShowsAnother() throws {
        var harness = GatewayHarness()
        let ann = Client(video: [33], videoSlots: 0), ben = Client(video: [44], videoSlots: 0)
        let viewer = try harness.join("viewer", Client(videoSlots: 1))
        let first = try harness.join("ann", ann)
        harness.send(ann.frame(100, timestamp: 90_000, ssrc: 33, picture: 10, isKey: true), from: first)
        harness.send(ann.frame(101, timestamp: 93_000, ssrc: 33, picture: 11), from: first)
        let second = try harness.join("ben", ben)
        harness.leave(first)
        #expect(harness.outbox.names(on: viewer) == ["2": "ben camera"])
        harness.advance(milliseconds: 100)
        harness.send(ben.frame(7, timestamp: 5, ssrc: 44, picture: 900, isKey: true), from: second)
        let seen = harness.outbox.take(viewer)
        #expect(seen.count == 3)
        for (one, next) in zip(seen, seen.dropFirst()) {
            #expect(next.header.ssrc == one.header.ssrc)
            #expect(next.header.sequence == one.header.sequence &+ 1)
            #expect(next.header.timestamp.isNewer(than: one.header.timestamp))
            #expect(next.picture == (one.picture + 1) & 0x7FFF)
        }
    }

    @Test func screensComeFirstWhereThereAreTooFewSlots() throws {
        var harness = GatewayHarness()
        let viewer = try harness.join("viewer", Client(videoSlots: 1))
        var ann = Client(video: [33, 34])
        ann.sources = ["1": .screen]
        let first = try harness.join("ann", ann)
        #expect(harness.outbox.names(on: viewer) == ["2": "ann screen"])
        _ = try harness.join("ben", Client(video: [44]))
        #expect(harness.outbox.names(on: viewer) == ["2": "ann screen"], "What is shown stays.")
        harness.leave(first)
        #expect(harness.outbox.names(on: viewer) == ["2": "ben camera"])
    }

    @Test func simulcastLayersAreIdentifiedByRID() throws {
        var harness = GatewayHarness()
        let ann = Client(rids: ["q", "h"])
        let first = try harness.join("ann", ann)
        let viewer = try harness.join("viewer", Client())
        harness.send(
            ann.frame(1, timestamp: 1, ssrc: 71, picture: 1, isKey: true, elements: ann.named("q")), from: first)
        #expect(harness.outbox.take(viewer).count == 1, "It is all that there is.")
        harness.send(
            ann.frame(1, timestamp: 1, ssrc: 72, picture: 1, isKey: true, elements: ann.named("h")), from: first)
        // From now on without names.
        harness.send(ann.frame(2, timestamp: 3000, ssrc: 71, picture: 2), from: first)
        harness.send(ann.frame(2, timestamp: 3000, ssrc: 72, picture: 2), from: first)
        #expect(harness.outbox.take(viewer).count == 1, "It goes on until there is an entry to the better one.")
        harness.advance(milliseconds: 20)
        #expect(harness.outbox.takeReports(first).contains { $0.requestsKeyFrame(of: 72) })
        harness.send(ann.frame(3, timestamp: 6000, ssrc: 72, picture: 3, isKey: true), from: first)
        harness.send(ann.frame(3, timestamp: 6000, ssrc: 71, picture: 3), from: first)
        harness.send(ann.frame(4, timestamp: 9000, ssrc: 72, picture: 4), from: first)
        #expect(harness.outbox.take(viewer).count == 2, "The better one is shown, the other one is not.")
        harness.send(ann.frame(1, timestamp: 1, ssrc: 73, picture: 1, isKey: true), from: first)
        harness.send(
            ann.frame(1, timestamp: 1, ssrc: 74, picture: 1, isKey: true, elements: ann.named("x")), from: first)
        #expect(harness.outbox.take(viewer).isEmpty && harness.engine.counters.unknownStream == 2)
    }

    @Test func anEncodingThatIsNoLongerSentIsLeft() throws {
        var harness = GatewayHarness()
        let ann = Client(rids: ["q", "h"])
        let first = try harness.join("ann", ann)
        let viewer = try harness.join("viewer", Client())
        var sequence: UInt16 = 1
        func sendBoth(_ harness: inout GatewayHarness, isKey: Bool, _ rids: [(String, UInt32)]) {
            for (rid, ssrc) in rids {
                harness.send(
                    ann.frame(
                        sequence, timestamp: UInt32(sequence) * 3000, ssrc: ssrc, picture: UInt16(sequence),
                        isKey: isKey,
                        elements: ann.named(rid)), from: first)
            }
            sequence += 1
            harness.advance(milliseconds: 100)
        }
        for frame in 0..<10 { sendBoth(&harness, isKey: frame < 2, [("q", 71), ("h", 72)]) }
        _ = harness.outbox.take(viewer)
        _ = harness.outbox.takeReports(first)
        // The better one stops: a key frame of the other is requested, with which the video continues.
        for _ in 0..<25 { sendBoth(&harness, isKey: false, [("q", 71)]) }
        #expect(harness.outbox.take(viewer).isEmpty)
        #expect(!harness.outbox.takeReports(first).isEmpty)
        sendBoth(&harness, isKey: true, [("q", 71)])
        sendBoth(&harness, isKey: false, [("q", 71)])
        #expect(harness.outbox.take(viewer).count == 2)
    }

    @Test func lostPacketsAreRetransmittedAndRequested() throws {
        var harness = GatewayHarness()
        let ann = Client(video: [33])
        let first = try harness.join("ann", ann)
        let viewer = try harness.join("viewer", Client(vp8: 100, rtx: 101))
        harness.send(ann.frame(10, timestamp: 0, ssrc: 33, picture: 1, isKey: true), from: first)
        harness.send(ann.frame(11, timestamp: 3000, ssrc: 33, picture: 2), from: first)
        harness.send(ann.frame(13, timestamp: 9000, ssrc: 33, picture: 4), from: first)
        let seen = harness.outbox.take(viewer)
        #expect(seen.map(\.header.sequence).last == seen[1].header.sequence &+ 2, "A gap stays a gap.")

        harness.advance(milliseconds: 20)
        #expect(harness.outbox.takeReports(first).contains { $0.requests(for: 12, of: 33) })
        harness.send(ann.frame(12, timestamp: 6000, ssrc: 33, picture: 3), from: first)
        #expect(harness.outbox.take(viewer).map(\.header.sequence) == [seen[1].header.sequence &+ 1])

        let source = seen[0].header.ssrc
        harness.report(.nack(seen[1].header.sequence, of: source), from: viewer)
        let repairs = harness.outbox.take(viewer)
        #expect(repairs.count == 1 && repairs[0].header.payloadType == 101 && repairs[0].header.ssrc == source + 1)
        #expect(repairs[0].payload == seen[1].header.sequence.bigEndianBytes + seen[1].payload)
        #expect(repairs[0].header.timestamp == seen[1].header.timestamp)

        for _ in 0..<200 {
            harness.report(.nack(seen[1].header.sequence, of: source, mask: 0xFFFF), from: viewer)
        }
        harness.report(.nack(seen[1].header.sequence &+ 5000, of: source), from: viewer)
        #expect(harness.engine.counters.repairsRejected > 0, "Nobody has the same packets sent again for ever.")
    }

    /// The round trip is 300 ms: with requests every 125 ms, as for 100 ms, each packet would be sent three times.
    @Test func nacksAreRepeatedAfterAMeasuredRoundTrip() throws {
        var harness = GatewayHarness()
        let ann = Client(video: [33])
        let first = try harness.join("ann", ann)
        harness.send(ann.frame(1, timestamp: 0, ssrc: 33, picture: 1, isKey: true), from: first)
        var requests: [Int] = []
        for number in 1...12 as ClosedRange<UInt16> {
            let lost = 2 * number
            harness.send(
                ann.frame(lost + 1, timestamp: 3000 * UInt32(lost), ssrc: 33, picture: lost), from: first)
            var requested = 0
            for step in 0..<32 {
                harness.advance(milliseconds: 10)
                requested += harness.outbox.takeReports(first).count { $0.requests(for: lost, of: 33) }
                guard step == 30 else { continue }
                let repaired = ann.frame(lost, timestamp: 3000 * UInt32(lost), ssrc: 34, picture: lost)
                var bytes = Array(repaired.prefix(12)) + lost.bigEndianBytes + repaired.dropFirst(12)
                bytes[1] = ann.rtx
                bytes[2...3] = number.bigEndianBytes[...]
                harness.send(bytes, from: first)
            }
            requests.append(requested)
        }
        #expect(requests.prefix(1).allSatisfy { $0 > 1 } && requests.suffix(4).allSatisfy { $0 == 1 }, "\(requests)")
    }

    /// A client without RTX sends repairs as they were, under the media's own SSRC.
    @Test func lateRetransmissionsAreForwardedAndCauseNoRestart() throws {
        var harness = GatewayHarness()
        let ann = Client(video: [33])
        let first = try harness.join("ann", ann)
        let viewer = try harness.join("viewer", Client())
        func frame(_ number: UInt16) -> [UInt8] {
            ann.frame(number, timestamp: 90 * UInt32(number), ssrc: 33, picture: number, isKey: number == 1)
        }
        for number in 1...900 as ClosedRange<UInt16> where number != 100 && number != 101 {
            harness.send(frame(number), from: first)
            if number % 2 == 0 { harness.now = harness.now.adding(nanoseconds: 1_000_000) }
        }
        let seen = harness.outbox.take(viewer)
        let start = seen[0].header.sequence
        // Two in a row, 800 packets late: neither noise nor another stream.
        for number in [100, 101] as [UInt16] { harness.send(frame(number), from: first) }
        let late = harness.outbox.take(viewer)
        #expect(late.map { $0.header.sequence &- start } == [99, 100])
        let repeated = harness.engine.counters.repeated
        for number in [100, 101, 102, 103] as [UInt16] { harness.send(frame(number), from: first) }
        #expect(harness.outbox.take(viewer).isEmpty, "Nobody waits for them any more.")
        #expect(harness.engine.counters.repeated == repeated + 4)
        harness.send(frame(901), from: first)
        #expect(harness.outbox.take(viewer).map { $0.header.sequence &- start } == [900])
        // A packet that was 800 packets late can be requested again.
        harness.report(.nack(late[0].header.sequence, of: late[0].header.ssrc), from: viewer)
        #expect(
            harness.outbox.take(viewer).map(\.payload) == [late[0].header.sequence.bigEndianBytes + late[0].payload])
    }

    @Test func eachStreamIsReportedOnAndEachPacketFedBack() throws {
        var harness = GatewayHarness()
        let ann = Client(audio: 11)
        let first = try harness.join("ann", ann)
        let listener = try harness.join("listener", Client())
        for step in 0..<50 as Range<UInt16> {
            harness.send(ann.speech(step, timestamp: 960 * UInt32(step), transport: step), from: first)
            harness.advance(milliseconds: 20)
        }
        let back = harness.outbox.takeReports(first)
        #expect(back.contains { $0.kinds.contains(.transportFeedback) })
        #expect(back.contains { $0.blocks.contains { $0.ssrc == 11 && $0.cumulativeLost == 0 } })
        let reports = harness.outbox.takeReports(listener)
        let report = try #require(reports.compactMap(\.senderReport).last)
        let received = harness.outbox.take(listener)
        #expect(report.ssrc == received[0].header.ssrc && report.packetCount > 0 && report.packetCount <= 50)
        #expect(reports.contains { $0.kinds.contains(.sourceDescription) })
    }

    @Test func whoLeavesIsForgotten() throws {
        var harness = GatewayHarness()
        for round in 0..<100 as Range<UInt32> {
            let ann = Client(audio: 11 + round, video: [33 + round])
            let first = try harness.join("ann", ann)
            let second = try harness.join("ben", Client(audio: 22))
            harness.send(ann.speech(1, timestamp: 1), from: first)
            harness.leave(first)
            harness.send(ann.speech(2, timestamp: 961), from: first)
            #expect(harness.outbox.take(second).count == 1)
            harness.leave(second)
            harness.leave(second)
        }
        #expect(
            harness.engine.legCount == 0 && harness.engine.trackCount == 0 && harness.engine.callCount == 0)
    }
}
