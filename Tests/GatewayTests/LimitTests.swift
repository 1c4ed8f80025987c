import Gateway
import RTP
import SDP
import Testing
import Wire

/// What one client can make the gateway do with few bytes.
@Suite("Limits of what a client announces and sends")
struct LimitTests {
    /// Transport-wide feedback that so many packets in a row were lost, and one behind them arrived.
    private func lost(_ count: UInt16, from base: UInt16) -> [UInt8] {
        var chunks: [UInt8] = []
        var left = count
        while left > 0 {
            chunks += min(left, 0x1FFF).bigEndianBytes
            left -= min(left, 0x1FFF)
        }
        chunks += [0x20, 0x01, 4]
        while chunks.count % 4 != 0 { chunks.append(0) }
        return [0x8F, 205] + UInt16(4 + chunks.count / 4).bigEndianBytes + UInt32(1).bigEndianBytes
            + UInt32(2).bigEndianBytes + base.bigEndianBytes + (count + 1).bigEndianBytes + [0, 0, 1, 0] + chunks
    }

    @Test("feedback speaks of as many packets as were sent, and of what is kept of them")
    func statuses() throws {
        var conference = Conference()
        let ann = Client(video: [33])
        let first = try conference.join("ann", ann)
        let viewer = try conference.join("viewer", Client())
        let flood = lost(65_500, from: 0)
        #expect(flood.count <= 40)
        conference.report(flood, from: viewer)
        #expect(conference.engine.tally.feedbackRefused == 0, "As much as is remembered of what was sent.")
        for _ in 0..<1_000 { conference.report(flood, from: viewer) }
        #expect(conference.engine.tally.feedbackRefused == 1_000)
        // An honest client's comes to its right again with what it is sent.
        for step in 0..<20 as Range<UInt16> {
            conference.send(
                ann.frame(step, timestamp: 3000 * UInt32(step), ssrc: 33, picture: step, isKey: step == 0),
                from: first)
        }
        _ = conference.outbox.take(viewer)
        conference.report(lost(20, from: 0), from: viewer)
        #expect(conference.engine.tally.feedbackRefused == 1_000)
    }

    @Test("a NACK of thousands of packets looks at a thousand, and at none without credit")
    func questions() throws {
        var conference = Conference()
        let ann = Client(video: [33])
        let first = try conference.join("ann", ann)
        let viewer = try conference.join("viewer", Client())
        for step in 0..<200 as Range<UInt16> {
            conference.send(
                ann.frame(step, timestamp: 3000 * UInt32(step), ssrc: 33, picture: step, isKey: step == 0),
                from: first)
        }
        let seen = conference.outbox.take(viewer)
        let (source, newest) = (seen[0].header.ssrc, seen[seen.count - 1].header.sequence)
        var entries: [UInt8] = []
        for _ in 0..<353 { entries += (newest &- 16).bigEndianBytes + [0xFF, 0xFF] }
        let flood =
            [0x81, 205] + UInt16(2 + entries.count / 4).bigEndianBytes + UInt32(1).bigEndianBytes
            + source.bigEndianBytes + entries
        conference.report(flood, from: viewer)
        let tally = conference.engine.tally
        #expect(tally.repaired + tally.repairsRefused <= 1_001 && tally.repaired > 17)
        for _ in 0..<100 { conference.report(flood, from: viewer) }
        #expect(conference.engine.tally.repaired == tally.repaired, "No time has passed.")
        #expect(conference.outbox.take(viewer).count == Int(tally.repaired))
    }

    @Test("of a published track so much is taken, whoever sends more; others do not notice")
    func rates() throws {
        var conference = Conference()
        conference.engine.limits = TrackLimits(bitsPerSecond: 1_000_000, packetsPerSecond: 100)
        let ann = Client(audio: 11), ben = Client(audio: 22)
        let first = try conference.join("ann", ann)
        let second = try conference.join("ben", ben)
        let listener = try conference.join("listener", Client())
        var sequence: UInt16 = 0
        for step in 0..<300 as Range<UInt16> {
            for _ in 0..<4 {
                sequence += 1
                conference.send(
                    ann.speech(sequence, timestamp: 240 * UInt32(sequence), transport: sequence), from: first)
            }
            conference.send(ben.speech(step, timestamp: 960 * UInt32(step)), from: second)
            conference.advance(milliseconds: 10)
        }
        // Three seconds' worth, and one at once; a packet more or less.
        let refused = conference.engine.tally.overRate
        #expect((799...801).contains(refused))
        #expect(conference.outbox.take(listener).count == 1_500 - Int(refused))
        conference.engine.limits = TrackLimits(bitsPerSecond: 0, packetsPerSecond: 0)
        for step in 1_300..<2_300 as Range<UInt16> {
            conference.send(ann.speech(step, timestamp: 240 * UInt32(step)), from: first)
        }
        #expect(conference.engine.tally.overRate == refused)
    }

    @Test("bits are counted too, repairs among them")
    func bits() throws {
        var rate: UInt64 = 0
        var conference = Conference()
        conference.engine.limits = TrackLimits(bitsPerSecond: 80_000, packetsPerSecond: 0)
        let ann = Client(audio: 11)
        let first = try conference.join("ann", ann)
        for step in 0..<30 as Range<UInt16> {
            let packet = ann.packet(
                ann.opus, step, UInt32(step) * 960, 11, payload: [UInt8](repeating: 0x78, count: 988))
            conference.send(packet, from: first)
            rate += UInt64(packet.count) * 8
        }
        #expect(rate == 240_000)
        #expect(conference.engine.tally.overRate == 20)
    }

    @Test("a leg publishes so many encodings, whatever its offer has")
    func encodings() throws {
        var client = Client(rids: ["q", "h", "f"])
        client.audioSlots = 0
        client.videoSlots = 0
        client.repeatedSections = 200
        let leg = try client.negotiate()
        let published = leg.sections.filter(\.direction.receives)
        #expect(published.reduce(0) { $0 + $1.rids.count } == 15 && published.count == 5)
        #expect(leg.sections.count == 201 && leg.sections.allSatisfy { $0.rejection == nil })
    }
}
