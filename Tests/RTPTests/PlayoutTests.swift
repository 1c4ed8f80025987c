import RTP
import Testing
import Wire

/// A packet of 20 ms, spoken or with nothing but comfort noise.
private func packet(_ sequence: Int, _ timestamp: Int, milliseconds: Double, isSilence: Bool = false) -> AudioPacket {
    AudioPacket(
        sequence: UInt16(truncatingIfNeeded: sequence), timestamp: UInt32(truncatingIfNeeded: timestamp),
        arrival: Instant(nanoseconds: UInt64(milliseconds * 1e6) + 5_000_000_000),
        payload: isSilence ? [0x78] : [0x78, 1, 2, 3])
}

private func instant(_ milliseconds: Double) -> Instant {
    Instant(nanoseconds: UInt64(milliseconds * 1e6) + 5_000_000_000)
}

@Suite("Jitter buffer")
struct JitterBufferTests {
    private func all(_ buffer: inout JitterBuffer, at milliseconds: Double) -> [String] {
        var found: [String] = []
        while let output = buffer.next(at: instant(milliseconds)) {
            switch output {
            case .packet(let packet): found.append("\(packet.sequence)")
            case .lost(let count): found.append("-\(count)")
            }
        }
        return found
    }

    @Test("in order, at once, and without what came before")
    func order() {
        var buffer = JitterBuffer()
        for (index, number) in [65_534, 65_535, 65_536, 65_538, 65_537, 65_537, 65_539, 65_535].enumerated() {
            buffer.insert(packet(number, number * 960, milliseconds: Double(index) * 20))
        }
        #expect(all(&buffer, at: 160) == ["65534", "65535", "0", "1", "2", "3"])
        #expect(buffer.repeatedCount == 2)
        buffer.insert(packet(65_537, 0, milliseconds: 170))
        #expect(all(&buffer, at: 180).isEmpty && buffer.lateCount == 1)
        #expect(buffer.deadline == nil)
    }

    @Test("a missing packet delays the following ones, but not for ever")
    func loss() {
        var buffer = JitterBuffer(maxWait: 200_000_000, capacity: 100)
        buffer.insert(packet(1, 960, milliseconds: 0))
        buffer.insert(packet(4, 3_840, milliseconds: 60))
        #expect(all(&buffer, at: 250) == ["1"])
        #expect(buffer.deadline == instant(260))
        #expect(all(&buffer, at: 260) == ["-2", "4"])
        buffer.insert(packet(3, 2_880, milliseconds: 270))
        #expect(all(&buffer, at: 270).isEmpty && buffer.lateCount == 1)
        buffer.insert(packet(6, 5_760, milliseconds: 300))
        #expect(buffer.drain() == .lost(1))
        #expect(buffer.drain() == .packet(packet(6, 5_760, milliseconds: 300)))
        #expect(buffer.drain() == nil)
    }

    @Test("it holds no more than it may")
    func capacity() {
        var buffer = JitterBuffer(maxWait: 1_000_000_000_000, capacity: 3)
        for number in [1, 3, 4, 5] { buffer.insert(packet(number, 0, milliseconds: 0)) }
        #expect(all(&buffer, at: 0) == ["1", "-1", "3", "4", "5"])
    }

    @Test("a source that restarts is followed", arguments: [40_000, 5_000, 9_900])
    func restart(number: Int) {
        var buffer = JitterBuffer()
        buffer.insert(packet(10_000, 0, milliseconds: 0))
        #expect(all(&buffer, at: 0) == ["10000"])
        // One that waits behind a loss comes before.
        buffer.insert(packet(10_002, 0, milliseconds: 10))
        var found: [String] = []
        for index in 0..<80 {
            buffer.insert(packet(number + index, 0, milliseconds: 20))
            found += all(&buffer, at: 20)
        }
        found += all(&buffer, at: 1_000)
        #expect(found.contains("10002"))
        #expect(found.suffix(20) == (60..<80).map { "\(number + $0)" })
    }
}

@Suite("Timeline of a recording")
struct AudioTimelineTests {
    /// Everything that a source sends in a call, and what becomes of it.
    private struct Source {
        var timeline = AudioTimeline(begin: instant(0))
        var random: SeededRandom
        /// How much faster its clock is than ours.
        var skew = 0.0
        var jitter = 0.0
        var sequence = 60_000
        var timestamp = 4_294_000_000
        var lost = 0.0
        var segments: [AudioTimeline.Segment] = []
        private var buffer = JitterBuffer()
        private var isAfterLoss = false

        init(seed: UInt64) {
            random = SeededRandom(seed: seed)
        }

        /// It speaks for that time of our clock; what it sends comes late by so much.
        mutating func speak(from begin: Double, to end: Double, late: Double = 0, isSilence: Bool = false) {
            let step = 20 / (1 + skew)
            var moment = begin
            while moment + step <= end + 0.001 {
                moment += step
                send(at: moment + late, isSilence: isSilence)
                timestamp += 960
            }
        }

        mutating func send(at moment: Double, isSilence: Bool = false) {
            defer { sequence += 1 }
            guard Double.random(in: 0..<1, using: &random) >= lost else { return }
            let delay = jitter > 0 ? Double.random(in: 0..<jitter, using: &random) : 0
            buffer.insert(packet(sequence, timestamp, milliseconds: moment + delay, isSilence: isSilence))
            pass(at: moment + delay)
        }

        private mutating func pass(at moment: Double) {
            while let output = buffer.next(at: instant(moment)) {
                switch output {
                case .lost: isAfterLoss = true
                case .packet(let packet):
                    segments += timeline.take(packet, isAfterLoss: isAfterLoss)
                    isAfterLoss = false
                }
            }
        }

        mutating func finish(at moment: Double) {
            pass(at: moment + 10_000)
            segments += timeline.finish(at: instant(moment))
        }

        /// In milliseconds.
        var length: Double { Double(timeline.end) / 48 }
        /// When each packet plays, in milliseconds.
        var positions: [Double] {
            var position: UInt64 = 0
            var found: [Double] = []
            for segment in segments {
                switch segment {
                case .packet(_, let duration):
                    found.append(Double(position) / 48)
                    position += UInt64(duration)
                case .silence(let samples), .lost(let samples): position += samples
                }
            }
            return found
        }
    }

    @Test(
        "ten minutes with mute, DTX, jitter, loss and a clock that is off", arguments: [1, 2, 3] as [UInt64],
        [-1e-4, 1e-4])
    func call(seed: UInt64, skew: Double) {
        var source = Source(seed: seed)
        source.skew = skew
        source.jitter = 60
        source.lost = 0.02
        var moment = 3_000.0
        while moment < 570_000 {
            let spoken = Double.random(in: 500...20_000, using: &source.random)
            source.speak(from: moment, to: moment + spoken)
            moment += spoken
            let pause = Double(Int.random(in: 10...300, using: &source.random)) * 20
            if Bool.random(using: &source.random) {
                // DTX: the timestamps go on, and now and then there is a packet of comfort noise.
                var passed = 0.0
                while passed < pause {
                    let step = min(400, pause - passed)
                    source.timestamp += Int(step * 48 * (1 + skew))
                    passed += step
                    source.send(at: moment + passed + 20, isSilence: true)
                    source.timestamp += 960
                    passed += 20
                }
                moment += passed
            } else {
                // Mute: a source that sends nothing; its timestamps stand still every other time.
                if Bool.random(using: &source.random) { source.timestamp += Int(pause * 48 * (1 + skew)) }
                moment += pause
            }
        }
        source.finish(at: 600_000)
        #expect(abs(source.length - 600_000) < 40, "seed \(seed): \(source.length)")
        let placed = source.segments.compactMap { segment -> AudioPacket? in
            if case .packet(let packet, _) = segment { packet } else { nil }
        }
        // Each plays when it arrived, apart from delay and later corrections.
        for (packet, position) in zip(placed, source.positions) {
            let arrived = Double(packet.arrival.nanoseconds - 5_000_000_000) / 1e6
            #expect(position > arrived - 190 && position < arrived + 70, "seed \(seed): \(position), came \(arrived)")
        }
        #expect(source.timeline.droppedCount < 30, "seed \(seed): \(source.timeline.droppedCount)")
    }

    @Test("a burst after an outage belongs to the time of the outage")
    func burst() {
        var source = Source(seed: 1)
        source.speak(from: 0, to: 5_000)
        for _ in 0..<100 {
            source.send(at: 7_000)
            source.timestamp += 960
        }
        source.speak(from: 7_000, to: 10_000)
        source.finish(at: 10_000)
        #expect(abs(source.length - 10_000) < 40, "\(source.length)")
        #expect(!source.segments.dropFirst().contains { if case .silence = $0 { true } else { false } })
        #expect(source.timeline.droppedCount == 0)
    }

    @Test("a delayed source that catches up, even slowly, had no pause", arguments: [5.0, 12, 15])
    func stall(interval: Double) {
        var source = Source(seed: 1)
        source.jitter = 5
        source.speak(from: 0, to: 4_000)
        var free = 4_400.0
        for number in 0..<300 {
            let sent = max(4_020 + Double(number) * 20, free)
            source.send(at: sent)
            source.timestamp += 960
            free = sent + interval
        }
        source.speak(from: 10_000, to: 12_000)
        source.finish(at: 12_000)
        #expect(abs(source.length - 12_000) < 40, "\(source.length)")
        #expect(source.positions.count == 600)
        #expect(!source.segments.dropFirst().contains { if case .silence = $0 { true } else { false } })
        #expect(source.timeline.droppedCount == 0)
    }

    @Test("a delay that is long for a while costs no word", arguments: [300.0, 500, 800, 1_000])
    func slowness(most: Double) {
        var source = Source(seed: 1)
        source.speak(from: 0, to: 4_000)
        // A queue on the path fills and drains again, each in two seconds.
        for number in 0..<200 {
            let sent = 4_020 + Double(number) * 20
            source.send(at: sent + most * Double(number < 100 ? number : 200 - number) / 100)
            source.timestamp += 960
        }
        source.speak(from: 8_000, to: 40_000)
        source.finish(at: 40_000)
        // What is tolerated, and a packet.
        #expect(abs(source.length - 40_000) <= 50, "\(source.length)")
        #expect(source.timeline.droppedCount <= Int(most / 20))
        // Dropped packets are far apart, and no packet is far from its time.
        let numbers = source.segments.compactMap { segment -> Int? in
            if case .packet(let packet, _) = segment { Int(packet.sequence) } else { nil }
        }
        let gaps = zip(numbers, numbers.dropFirst()).map { ($1 - $0 + 65_536) % 65_536 }
        #expect(gaps.allSatisfy { $0 <= 2 }, "\(gaps.filter { $0 > 2 })")
    }

    @Test("a source that is held up again and again, as on a busy machine, had hardly a pause")
    func load() {
        var silence: UInt64 = 0
        var dropped = 0
        for seed in 1...8 {
            var source = Source(seed: UInt64(seed))
            source.jitter = 30
            source.lost = 0.1
            var free = 0.0
            for number in 0..<1_000 {
                if Double.random(in: 0..<1, using: &source.random) < 0.012 {
                    free += Double.random(in: 100...400, using: &source.random)
                }
                let sent = max(Double(number) * 20, free)
                source.send(at: sent)
                source.timestamp += 960
                free = sent + Double.random(in: 4...16, using: &source.random)
            }
            source.finish(at: 20_500)
            for case .silence(let samples) in source.segments.dropFirst().dropLast() { silence += samples }
            dropped += source.timeline.droppedCount
        }
        // Of 160 s. With a wait of 0.3 s it would be 2.6 s and 50 packets.
        #expect(silence < 48_000, "\(silence)")
        #expect(dropped < 10, "\(dropped)")
    }

    @Test("timestamps that stand still while nothing is sent", arguments: [0, 960, -50_000_000, 1_000_000_000])
    func mute(jump: Int) {
        var source = Source(seed: 1)
        source.speak(from: 0, to: 5_000)
        source.timestamp += jump
        source.speak(from: 65_000, to: 70_000)
        source.finish(at: 80_000)
        #expect(abs(source.length - 80_000) < 40, "\(source.length)")
        let positions = source.positions
        #expect(positions.count == 500)
        #expect(abs(positions[250] - 65_020) < 40, "\(positions[250])")
    }

    @Test("loss is distinguished from silence")
    func loss() {
        var source = Source(seed: 1)
        source.speak(from: 0, to: 1_000)
        source.sequence += 3
        source.timestamp += 3 * 960
        source.speak(from: 1_060, to: 2_000)
        source.timestamp += 960 * 10
        source.speak(from: 2_200, to: 3_000)
        source.finish(at: 3_000)
        let gaps = source.segments.filter { if case .packet = $0 { false } else { true } }
        // It begins with the first packet's arrival.
        #expect(gaps == [.silence(960), .lost(2_880), .silence(9_600)])
    }

    @Test("one wrong timestamp does not cause hours of silence", arguments: [2_000_000_000, -2_000_000_000, 100_000])
    func wrong(jump: Int) {
        var source = Source(seed: 1)
        source.speak(from: 0, to: 1_000)
        source.timestamp += jump
        source.send(at: 1_020)
        source.timestamp -= jump - 960
        source.speak(from: 1_020, to: 2_000)
        // And one at the end, behind which nothing comes.
        source.timestamp += jump
        source.send(at: 2_020)
        source.finish(at: 2_020)
        #expect(abs(source.length - 2_020) < 40, "\(source.length)")
    }
}
