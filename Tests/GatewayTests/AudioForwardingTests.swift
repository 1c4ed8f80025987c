import Gateway
import RTP
import Testing
import Wire

/// What sound needs beside being forwarded: redundancy for those who read it, and reports that keep it with the picture.
@Suite struct SoundTests {
    /// One older block and the newest (RFC 2198).
    private func redundant(_ opus: UInt8) -> [UInt8] {
        [0x80 | opus, 15, 0, 2, opus, 0x78, 1, 0x78, 2, 3]
    }

    @Test func redundancyReachesThoseWhoReadIt() throws {
        var conference = Conference()
        let ann = Client(audio: 11, opus: 111, red: 63)
        let first = try conference.join("ann", ann)
        let reader = try conference.join("ben", Client(opus: 109, red: 120))
        let same = try conference.join("dora", Client(opus: 111, red: 63))
        let plain = try conference.join("cleo", Client(opus: 96, vp8: 100, rtx: 101))
        conference.send(ann.packet(63, 7, 960, 11, payload: redundant(111)), from: first)
        let read = conference.outbox.take(reader)
        #expect(read.map(\.header.payloadType) == [120] && read.first?.payload == redundant(109))
        #expect(conference.outbox.take(same).first?.payload == redundant(111))
        let heard = conference.outbox.take(plain)
        #expect(heard.map(\.header.payloadType) == [96] && heard.first?.payload == [0x78, 2, 3])

        // An empty newest block is silence; its number is not missing.
        conference.send(ann.packet(63, 8, 1920, 11, payload: [0x80 | 111, 15, 0, 2, 111, 0x78, 1]), from: first)
        conference.send(ann.packet(63, 9, 2880, 11, payload: redundant(111)), from: first)
        let next = conference.outbox.take(plain)
        #expect(next.map(\.header.sequence) == [heard[0].header.sequence &+ 1])
        // What is malformed reaches nobody who would have to be given a part of it.
        conference.send(ann.packet(63, 10, 3840, 11, payload: [0x80 | 111, 15, 0, 200, 111, 1]), from: first)
        conference.send(ann.packet(63, 11, 4800, 11, payload: [0x80 | 98, 15, 0, 1, 98, 1, 1]), from: first)
        #expect(conference.outbox.take(plain).isEmpty)
    }

    @Test func plainSpeechStaysPlain() throws {
        var conference = Conference()
        let ann = Client(audio: 11)
        let first = try conference.join("ann", ann)
        let reader = try conference.join("ben", Client(opus: 109, red: 120))
        conference.send(ann.speech(7, timestamp: 960), from: first)
        let heard = conference.outbox.take(reader)
        #expect(heard.map(\.header.payloadType) == [109] && heard.first?.payload == [0x78, 7, 2, 3])
    }

    @Test func aReportFollowsAtOnceWhenASlotBeginsOrSwitches() throws {
        var conference = Conference()
        let ann = Client(audio: 11, audioSlots: 0), ben = Client(audio: 22, audioSlots: 0)
        let viewer = try conference.join("viewer", Client(audioSlots: 1))
        let first = try conference.join("ann", ann)
        conference.advance(milliseconds: 300)
        conference.send(ann.speech(1, timestamp: 960), from: first)
        conference.advance(milliseconds: 10)
        #expect(conference.outbox.takeReports(viewer).compactMap(\.senderReport).count == 1)
        conference.send(ann.speech(2, timestamp: 1920), from: first)
        conference.advance(milliseconds: 10)
        #expect(conference.outbox.takeReports(viewer).compactMap(\.senderReport).isEmpty)
        let second = try conference.join("ben", ben)
        conference.leave(first)
        conference.send(ben.speech(70, timestamp: 70_000), from: second)
        conference.advance(milliseconds: 10)
        #expect(conference.outbox.takeReports(viewer).compactMap(\.senderReport).count == 1)
    }

    @Test func reportsSayWhenThePublisherCapturedIt() throws {
        var conference = Conference()
        let ann = Client(audio: 11, audioSlots: 0)
        let viewer = try conference.join("viewer", Client(audioSlots: 1))
        let first = try conference.join("ann", ann)
        conference.send(ann.speech(1, timestamp: 100_000), from: first)
        let heard = conference.outbox.take(viewer)
        conference.advance(milliseconds: 10)
        _ = conference.outbox.takeReports(viewer)
        // What is captured now has a timestamp 100 ms ahead of the packet that was just sent: it was late.
        var writer = RTCPWriter()
        let wallClock = NTPTime(bits: 0).adding(nanoseconds: conference.now.nanoseconds)
        writer.append(
            SenderReport(ssrc: 11, ntpTime: wallClock.bits, rtpTimestamp: 104_800, packetCount: 1, byteCount: 4))
        conference.report(writer.bytes, from: first)
        conference.advance(milliseconds: 10)
        let report = try #require(conference.outbox.takeReports(viewer).compactMap(\.senderReport).first)
        let ahead = report.rtpTimestamp &- heard[0].header.timestamp
        #expect((5_270...5_290).contains(ahead), "100 ms, and 10 more until the report: \(ahead)")
    }
}
