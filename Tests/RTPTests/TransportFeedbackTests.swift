import RTP
import Testing
import Wire

@Suite("Transport-wide feedback")
struct TransportFeedbackTests {
    @Test("a packet by hand: a run, bits, and two-bit statuses with a negative delta")
    func byHand() {
        let bytes: [UInt8] = [
            0x8F, 205, 0x00, 0x08, 0, 0, 0, 1, 0, 0, 0, 2,
            // Base 65534, 12 statuses, reference time -1, number 5.
            0xFF, 0xFE, 0x00, 0x0C, 0xFF, 0xFF, 0xFF, 0x05,
            // Three lost; then 1 2 0 0 1 0 0; then two of 14.
            0x00, 0x03, 0xD8, 0x10, 0xA0, 0x00,
            // 4; -2; 255; 1
            0x04, 0xFF, 0xFE, 0xFF, 0x01,
            0, 0, 0,
        ]
        let padded = Array(bytes.prefix(31)) + [0, 0, 0, 0, 0]
        #expect(
            RTCPTests.describe(padded)
                == ["reduced", "TWCC 5 -1 65534:- 65535:- 0:- 1:-252 2:-254 3:- 4:- 5:1 6:- 7:- 8:2 9:-"])
    }

    @Test("malformed ones are no feedback")
    func malformed() {
        func body(_ statuses: UInt8, _ rest: [UInt8]) -> [String]? {
            RTCPTests.describe(
                [0x8F, 205, 0, UInt8(4 + rest.count / 4), 0, 0, 0, 1, 0, 0, 0, 2, 0, 1, 0, statuses, 0, 0, 1, 0] + rest)
        }
        #expect(body(1, [0x20, 0x01, 9, 0]) == ["reduced", "TWCC 0 1 1:265"])
        #expect(body(2, [0x20, 0x01, 9, 0])?.last == "bad TWCC", "a chunk is missing, the deltas are not one")
        #expect(body(1, [0x60, 0x01, 9, 0]) == ["reduced", "bad TWCC"], "a reserved status in a run")
        #expect(body(1, [0xF0, 0x00, 9, 0]) == ["reduced", "bad TWCC"], "a reserved status")
        #expect(body(1, [0x00, 0x00, 9, 0]) == ["reduced", "bad TWCC"], "an empty run")
        #expect(body(200, [0x20, 200, 9, 0]) == ["reduced", "bad TWCC"], "deltas beyond the end")
        #expect(body(1, []) == ["reduced", "bad TWCC"])
    }

    @Test("of feedback about very many packets, the latest are visited, with their times")
    func limit() {
        func chunk(_ symbol: UInt16, _ count: UInt16) -> [UInt8] {
            [UInt8((symbol << 13 | count) >> 8), UInt8(truncatingIfNeeded: symbol << 13 | count)]
        }
        // 100 that arrived, 3,000 that did not, 100 that did, each a tick after the one before.
        let body =
            [0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0x0C, 0x80, 0, 0, 0, 0] + chunk(1, 100) + chunk(0, 3_000) + chunk(1, 100)
            + [UInt8](repeating: 1, count: 200) + [0, 0]
        let bytes = [0x8F, 205, 0, UInt8(body.count / 4)] + body
        guard var compound = try? RTCPCompound(bytes.span.bytes), let packet = compound.next(),
            let feedback = TransportFeedback(packet)
        else {
            Issue.record("not read")
            return
        }
        var visited: [(UInt16, Int64?)] = []
        feedback.visit { visited.append(($0, $1)) }
        #expect(feedback.statusCount == 3_200 && visited.count == 2_048 && feedback.visitedCount == 2_048)
        #expect(visited.map(\.0) == Array(1_152..<3_200))
        #expect(visited.prefix(1_948).allSatisfy { $0.1 == nil })
        #expect(visited.suffix(100).map(\.1) == (101...200).map { Int64($0) })
    }

    @Test("the log's feedback is parsed correctly: loss, reordering, wrapping, long pauses", arguments: 0..<40)
    func roundTrip(seed: Int) throws {
        var random = SeededRandom(seed: UInt64(seed))
        var log = ArrivalLog()
        var writer = RTCPWriter(limit: seed % 2 == 0 ? 1200 : 100)
        var time: UInt64 = 1_000_000_000_000
        var sent = UInt16.random(in: 0...65535, using: &random)
        var expected: [UInt16: Int64] = [:]
        var reported: [UInt16: Int64] = [:]
        var numbers: [UInt8] = []
        for _ in 0..<200 {
            // A batch that is shuffled within itself, part of which is lost.
            let batch = (0..<Int.random(in: 1...60, using: &random)).map { sent &+ UInt16($0) }
            sent &+= UInt16(batch.count)
            let lossPercent = [0, 3, 50].randomElement(using: &random) ?? 0
            let order = Bool.random(using: &random) ? batch : batch.shuffled(using: &random)
            for sequence in order where Int.random(in: 0..<100, using: &random) >= lossPercent {
                time += UInt64.random(in: 0...5_000_000, using: &random)
                if Int.random(in: 0..<500, using: &random) == 0 { time += 20_000_000_000 }
                log.record(sequence, at: Instant(nanoseconds: time))
                expected[sequence] = Int64(time / 250_000)
            }
            writer.begin()
            while log.hasUnreported {
                if !log.write(into: &writer, from: 1, of: 2) {
                    if writer.isEmpty { break }
                    Self.read(writer.bytes, &reported, &numbers)
                    writer.begin()
                }
            }
            if !writer.isEmpty { Self.read(writer.bytes, &reported, &numbers) }
            writer.begin()
        }
        let wrong = expected.filter { sequence, ticks in
            // The reference time has 24 bits of 64 ms.
            guard let found = reported[sequence] else { return true }
            return (found - ticks) % (1 << 32) != 0
        }
        #expect(wrong.isEmpty, "seed \(seed)")
        #expect(reported.count == expected.count, "seed \(seed)")
        #expect(zip(numbers, numbers.dropFirst()).allSatisfy { $1 == $0 &+ 1 }, "seed \(seed)")
    }

    private static func read(_ bytes: [UInt8], _ reported: inout [UInt16: Int64], _ numbers: inout [UInt8]) {
        guard var compound = try? RTCPCompound(bytes.span.bytes) else {
            Issue.record("refused")
            return
        }
        while let packet = compound.next() {
            guard let feedback = TransportFeedback(packet) else {
                Issue.record("malformed")
                return
            }
            numbers.append(feedback.number)
            feedback.visit { if let ticks = $1 { reported[$0] = ticks } }
        }
    }

    @Test("a packet that comes late is reported after all, and a duplicate keeps its first arrival")
    func late() {
        var log = ArrivalLog()
        var writer = RTCPWriter()
        func at(_ milliseconds: UInt64) -> Instant { Instant(nanoseconds: milliseconds * 1_000_000) }
        log.record(10, at: at(64))
        log.record(12, at: at(66))
        _ = log.write(into: &writer, from: 1, of: 2)
        #expect(!log.hasUnreported)
        log.record(11, at: at(70))
        log.record(12, at: at(90))
        _ = log.write(into: &writer, from: 1, of: 2)
        let bytes = writer.bytes
        #expect(RTCPTests.describe(bytes) == ["reduced", "TWCC 0 1 10:256 11:- 12:264", "TWCC 1 1 11:280 12:264"])
    }
}
