import Gateway
import RTP
import Testing
import Wire

/// Audio forwarding: redundancy for legs that support it, and reports that keep audio in sync with video.
@Suite struct AudioForwardingTests {
    /// One older block and the newest (RFC 2198).
    private func redundant(_ opus: UInt8) -> [UInt8] {
        [0x80 | opus, 15, 0, 2, opus, 0x78, 1, 0x78, 2, 3]
    }

    @Test func redundancyReachesThoseWhoReadIt() throws {
        var harness = GatewayHarness()
        let ann = Client(audio: 11, opus: 111, red: 63)
        let first = try harness.join("ann", ann)
        let reader = try harness.join("ben", Client(opus: 109, red: 120))
        let same = try harness.join("dora", Client(opus: 111, red: 63))
        let plain = try harness.join("cleo", Client(opus: 96, vp8: 100, rtx: 101))
        harness.send(ann.packet(63, 7, 960, 11, payload: redundant(111)), from: first)
        let read = harness.outbox.take(reader)
        #expect(read.map(\.header.payloadType) == [120] && read.first?.payload == redundant(109))
        #expect(harness.outbox.take(same).first?.payload == redundant(111))
        let received = harness.outbox.take(plain)
        #expect(received.map(\.header.payloadType) == [96] && received.first?.payload == [0x78, 2, 3])

        // An empty newest block is silence; its number is not missing.
        harness.send(ann.packet(63, 8, 1920, 11, payload: [0x80 | 111, 15, 0, 2, 111, 0x78, 1]), from: first)
        harness.send(ann.packet(63, 9, 2880, 11, payload: redundant(111)), from: first)
        let next = harness.outbox.take(plain)
        #expect(next.map(\.header.sequence) == [received[0].header.sequence &+ 1])
        // What is malformed reaches nobody who would have to be given a part of it.
        harness.send(ann.packet(63, 10, 3840, 11, payload: [0x80 | 111, 15, 0, 200, 111, 1]), from: first)
        harness.send(ann.packet(63, 11, 4800, 11, payload: [0x80 | 98, 15, 0, 1, 98, 1, 1]), from: first)
        #expect(harness.outbox.take(plain).isEmpty)
    }

    @Test func plainSpeechStaysPlain() throws {
        var harness = GatewayHarness()
        let ann = Client(audio: 11)
        let first = try harness.join("ann", ann)
        let reader = try harness.join("ben", Client(opus: 109, red: 120))
        harness.send(ann.speech(7, timestamp: 960), from: first)
        let received = harness.outbox.take(reader)
        #expect(received.map(\.header.payloadType) == [109] && received.first?.payload == [0x78, 7, 2, 3])
    }

    @Test func aReportFollowsAtOnceWhenASlotBeginsOrSwitches() throws {
        var harness = GatewayHarness()
        let ann = Client(audio: 11, audioSlots: 0), ben = Client(audio: 22, audioSlots: 0)
        let viewer = try harness.join("viewer", Client(audioSlots: 1))
        let first = try harness.join("ann", ann)
        harness.advance(milliseconds: 300)
        harness.send(ann.speech(1, timestamp: 960), from: first)
        harness.advance(milliseconds: 10)
        #expect(harness.outbox.takeReports(viewer).compactMap(\.senderReport).count == 1)
        harness.send(ann.speech(2, timestamp: 1920), from: first)
        harness.advance(milliseconds: 10)
        #expect(harness.outbox.takeReports(viewer).compactMap(\.senderReport).isEmpty)
        let second = try harness.join("ben", ben)
        harness.leave(first)
        harness.send(ben.speech(70, timestamp: 70_000), from: second)
        harness.advance(milliseconds: 10)
        #expect(harness.outbox.takeReports(viewer).compactMap(\.senderReport).count == 1)
    }

    @Test func reportsSayWhenThePublisherCapturedIt() throws {
        var harness = GatewayHarness()
        let ann = Client(audio: 11, audioSlots: 0)
        let viewer = try harness.join("viewer", Client(audioSlots: 1))
        let first = try harness.join("ann", ann)
        harness.send(ann.speech(1, timestamp: 100_000), from: first)
        let received = harness.outbox.take(viewer)
        harness.advance(milliseconds: 10)
        _ = harness.outbox.takeReports(viewer)
        // What is captured now has a timestamp 100 ms ahead of the packet that was just sent: it was late.
        var writer = RTCPWriter()
        let wallClock = NTPTime(bits: 0).adding(nanoseconds: harness.now.nanoseconds)
        writer.append(
            SenderReport(ssrc: 11, ntpTime: wallClock.bits, rtpTimestamp: 104_800, packetCount: 1, byteCount: 4))
        harness.report(writer.bytes, from: first)
        harness.advance(milliseconds: 10)
        let report = try #require(harness.outbox.takeReports(viewer).compactMap(\.senderReport).first)
        let ahead = report.rtpTimestamp &- received[0].header.timestamp
        #expect((5_270...5_290).contains(ahead), "100 ms, and 10 more until the report: \(ahead)")
    }
}
