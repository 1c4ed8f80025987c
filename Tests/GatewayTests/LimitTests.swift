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

    @Test("feedback covers only as many packets as were sent")
    func statuses() throws {
        var harness = GatewayHarness()
        let ann = Client(video: [33])
        let first = try harness.join("ann", ann)
        let viewer = try harness.join("viewer", Client())
        let flood = lost(65_500, from: 0)
        #expect(flood.count <= 40)
        harness.report(flood, from: viewer)
        #expect(harness.engine.counters.feedbackRejected == 0, "As much as is remembered of what was sent.")
        for _ in 0..<1_000 { harness.report(flood, from: viewer) }
        #expect(harness.engine.counters.feedbackRejected == 1_000)
        // An honest client's comes to its right again with what it is sent.
        for step in 0..<20 as Range<UInt16> {
            harness.send(
                ann.frame(step, timestamp: 3000 * UInt32(step), ssrc: 33, picture: step, isKey: step == 0),
                from: first)
        }
        _ = harness.outbox.take(viewer)
        harness.report(lost(20, from: 0), from: viewer)
        #expect(harness.engine.counters.feedbackRejected == 1_000)
    }

    @Test("a NACK of thousands of packets is limited to a thousand, and to none without credit")
    func nackLimits() throws {
        var harness = GatewayHarness()
        let ann = Client(video: [33])
        let first = try harness.join("ann", ann)
        let viewer = try harness.join("viewer", Client())
        for step in 0..<200 as Range<UInt16> {
            harness.send(
                ann.frame(step, timestamp: 3000 * UInt32(step), ssrc: 33, picture: step, isKey: step == 0),
                from: first)
        }
        let seen = harness.outbox.take(viewer)
        let (source, newest) = (seen[0].header.ssrc, seen[seen.count - 1].header.sequence)
        var entries: [UInt8] = []
        for _ in 0..<353 { entries += (newest &- 16).bigEndianBytes + [0xFF, 0xFF] }
        let flood =
            [0x81, 205] + UInt16(2 + entries.count / 4).bigEndianBytes + UInt32(1).bigEndianBytes
            + source.bigEndianBytes + entries
        harness.report(flood, from: viewer)
        let counters = harness.engine.counters
        #expect(counters.repaired + counters.repairsRejected <= 1_001 && counters.repaired > 17)
        for _ in 0..<100 { harness.report(flood, from: viewer) }
        #expect(harness.engine.counters.repaired == counters.repaired, "No time has passed.")
        #expect(harness.outbox.take(viewer).count == Int(counters.repaired))
    }

    @Test("a published track is limited in rate; others are not affected")
    func rates() throws {
        var harness = GatewayHarness()
        harness.engine.limits = TrackLimits(bitsPerSecond: 1_000_000, packetsPerSecond: 100)
        let ann = Client(audio: 11), ben = Client(audio: 22)
        let first = try harness.join("ann", ann)
        let second = try harness.join("ben", ben)
        let listener = try harness.join("listener", Client())
        var sequence: UInt16 = 0
        for step in 0..<300 as Range<UInt16> {
            for _ in 0..<4 {
                sequence += 1
                harness.send(
                    ann.speech(sequence, timestamp: 240 * UInt32(sequence), transport: sequence), from: first)
            }
            harness.send(ben.speech(step, timestamp: 960 * UInt32(step)), from: second)
            harness.advance(milliseconds: 10)
        }
        // Three seconds' worth, and one at once; a packet more or less.
        let dropped = harness.engine.counters.overRate
        #expect((799...801).contains(dropped))
        #expect(harness.outbox.take(listener).count == 1_500 - Int(dropped))
        harness.engine.limits = TrackLimits(bitsPerSecond: 0, packetsPerSecond: 0)
        for step in 1_300..<2_300 as Range<UInt16> {
            harness.send(ann.speech(step, timestamp: 240 * UInt32(step)), from: first)
        }
        #expect(harness.engine.counters.overRate == dropped)
    }

    @Test("bits are counted too, repairs among them")
    func bits() throws {
        var rate: UInt64 = 0
        var harness = GatewayHarness()
        harness.engine.limits = TrackLimits(bitsPerSecond: 80_000, packetsPerSecond: 0)
        let ann = Client(audio: 11)
        let first = try harness.join("ann", ann)
        for step in 0..<30 as Range<UInt16> {
            let packet = ann.packet(
                ann.opus, step, UInt32(step) * 960, 11, payload: [UInt8](repeating: 0x78, count: 988))
            harness.send(packet, from: first)
            rate += UInt64(packet.count) * 8
        }
        #expect(rate == 240_000)
        #expect(harness.engine.counters.overRate == 20)
    }

    @Test("the number of published encodings is limited, whatever the offer")
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
