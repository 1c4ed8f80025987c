import RTP
import Testing
import Wire

@Suite("History, NACK and key frame requests")
struct RecoveryTests {
    private static func packet(_ sequence: UInt16, byteCount: Int) -> [UInt8] {
        [0x80, 96, UInt8(sequence >> 8), UInt8(sequence & 255), 0, 0, 0, 0, 0, 0, 0, 1]
            + (0..<byteCount).map { UInt8(truncatingIfNeeded: Int(sequence) &* 31 &+ $0) }
    }

    @Test("the history returns what it holds, never something else", arguments: 0..<10)
    func history(seed: Int) throws {
        var random = SeededRandom(seed: UInt64(seed))
        var history = PacketHistory(byteLimit: 64 * 1024)
        var sequence = UInt16.random(in: 0...65535, using: &random)
        var kept: [(UInt16, [UInt8])] = []
        for _ in 0..<3_000 {
            sequence &+= 1
            let size = seed % 2 == 0 ? Int.random(in: 0...1400, using: &random) : Int.random(in: 0...40, using: &random)
            let bytes = Self.packet(sequence, byteCount: size)
            let parsed = try RTPPacket(bytes.span.bytes)
            history.store(parsed)
            kept.append((sequence, bytes))
        }
        let total = history.byteCount
        #expect(total <= 64 * 1024)
        var held = 0
        var heldCount = 0
        for (sequence, bytes) in kept.suffix(2048).reversed() {
            guard let found = history.packet(sequence)?.copyToArray() else { continue }
            #expect(found == bytes, "seed \(seed)")
            held += bytes.count
            heldCount += 1
        }
        // All but what is lost at the end of the ring.
        #expect(heldCount == PacketHistory.packetLimit || held > 60 * 1024, "seed \(seed)")
        let (never, first) = (history.packet(sequence &+ 1)?.byteCount, history.packet(kept[0].0)?.byteCount)
        #expect(never == nil)
        #expect(first == nil)
        history.removeAll()
        let after = history.packet(sequence)?.byteCount
        #expect(after == nil)
    }

    private func at(_ milliseconds: UInt64) -> Instant { Instant(nanoseconds: milliseconds * 1_000_000) }

    @Test("a gap is requested after a short delay, again after a round trip, and given up in the end")
    func nackTimes() {
        var generator = NACKGenerator()
        generator.roundTripNanoseconds = 40_000_000
        var lost: [UInt16] = []
        #expect(generator.receive(65_534, at: at(0)) == .inOrder)
        #expect(generator.receive(1, at: at(1)) == .inOrder)
        generator.collect(at: at(5), into: &lost)
        #expect(lost == [])
        #expect(generator.deadline == at(11))
        generator.collect(at: at(11), into: &lost)
        #expect(lost == [65_535, 0])
        #expect(generator.receive(0, at: at(30)) == .recovered)
        #expect(generator.receive(0, at: at(31)) == .old)
        generator.collect(at: at(60), into: &lost)
        #expect(lost == [])
        generator.collect(at: at(61), into: &lost)
        #expect(lost == [65_535])
        var requested = 2
        var now: UInt64 = 61
        while let deadline = generator.deadline, now < 10_000 {
            now = deadline.nanoseconds / 1_000_000
            generator.collect(at: deadline, into: &lost)
            requested += lost.count
        }
        #expect(requested == 10)
        #expect(generator.missingCount == 0)
        #expect(generator.abandonedCount == 1)
        #expect(now < 1_200)
    }

    @Test("too many missing packets are not requested at all")
    func overwhelmed() {
        var generator = NACKGenerator()
        #expect(generator.receive(0, at: at(0)) == .inOrder)
        #expect(generator.receive(200, at: at(1)) == .inOrder)
        #expect(generator.receive(400, at: at(2)) == .overwhelmed)
        #expect(generator.missingCount == 0)
        #expect(generator.receive(402, at: at(3)) == .inOrder)
        #expect(generator.missingCount == 1)
    }

    @Test("every lost packet is requested, and received ones are not requested again", arguments: 0..<20)
    func model(seed: Int) {
        var random = SeededRandom(seed: UInt64(seed))
        var generator = NACKGenerator()
        var lost: [UInt16] = []
        var missing: Set<UInt16> = []
        var requested: Set<UInt16> = []
        var sequence = UInt16.random(in: 0...65535, using: &random)
        _ = generator.receive(sequence, at: at(0))
        for step in 1..<4_000 {
            let now = at(UInt64(step) * 3)
            sequence &+= 1
            if Int.random(in: 0..<100, using: &random) < 10 {
                missing.insert(sequence)
            } else {
                _ = generator.receive(sequence, at: now)
            }
            generator.collect(at: now, into: &lost)
            for number in lost {
                #expect(missing.contains(number), "seed \(seed)")
                requested.insert(number)
                // The answer is lost half of the time.
                if Bool.random(using: &random), missing.remove(number) != nil {
                    #expect(generator.receive(number, at: now) == .recovered)
                }
            }
        }
        // Those at the very end have had no time; a few of the others are given up after a second.
        let old = missing.filter { sequence &- $0 > 400 }
        #expect(old.allSatisfy(requested.contains), "seed \(seed)")
        #expect(old.count <= 30 && UInt64(old.count) <= generator.abandonedCount, "seed \(seed): \(old.count) of 400")
    }

    @Test("key frames are requested once, again without a response, and never more often than the interval")
    func keyFrames() {
        var requests = KeyFrameRequests(interval: 500_000_000)
        #expect(requests.deadline == nil)
        #expect(requests.request(at: at(1_000)) == true)
        #expect(requests.request(at: at(1_100)) == false)
        #expect(requests.deadline == at(1_500))
        #expect(requests.advance(to: at(1_499)) == false)
        #expect(requests.advance(to: at(1_500)) == true)
        requests.keyFrameArrived()
        #expect(requests.deadline == nil)
        #expect(requests.advance(to: at(9_000)) == false)
        #expect(requests.request(at: at(9_001)) == true)
        requests.keyFrameArrived()
        #expect(requests.request(at: at(9_100)) == false, "too early, but not forgotten")
        #expect(requests.advance(to: at(9_501)) == true)
    }
}
