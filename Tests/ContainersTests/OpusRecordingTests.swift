import Containers
import RTP
import TestSupport
import Testing
import Wire

/// Live recordings.
@Suite("Voice recordings")
struct OpusRecordingTests {
    /// A source whose packets come in over a network, and what is on the disk at each moment.
    private struct Line {
        var random: SeededRandom
        var recording: OpusRecording?
        var disk: [UInt8] = []
        var now = 1_000.0
        private var inFlight = ArrivalQueue<AudioPacket>()
        private var sequence: UInt16 = 65_500
        private var timestamp: UInt32 = 4_294_900_000

        init(seed: UInt64) { random = SeededRandom(seed: seed) }

        /// 20 ms of speech, or of nothing.
        mutating func pass(isSpeaking: Bool = true, loss: Double = 0, jitter: Double = 0) {
            if isSpeaking {
                let isLost = Double.random(in: 0..<1, using: &random) < loss
                let arrival = now + 20 + (jitter > 0 ? Double.random(in: 0..<jitter, using: &random) : 0)
                let packet = AudioPacket(
                    sequence: sequence, timestamp: timestamp, arrival: instant(arrival),
                    payload: [0x78, UInt8(truncatingIfNeeded: sequence), UInt8(truncatingIfNeeded: sequence >> 8)])
                if !isLost { inFlight.insert(packet, arrival: instant(arrival)) }
                sequence &+= 1
            }
            timestamp &+= 960
            now += 20
            deliver(until: now)
        }

        private mutating func deliver(until moment: Double) {
            let time = instant(moment)
            for (_, packet) in inFlight.take(until: time) {
                if recording == nil {
                    recording = OpusRecording(packet, serial: 7, tags: OpusTags(vendor: "test"))
                } else {
                    recording?.take(packet)
                }
            }
            recording?.advance(to: time)
            disk += recording?.takePages() ?? []
        }

        mutating func finish() {
            let time = instant(now)
            recording?.finish(at: time)
            disk += recording?.takePages() ?? []
        }

        func instant(_ milliseconds: Double) -> Instant { Instant(nanoseconds: UInt64(milliseconds * 1e6)) }
        /// Since the first packet came.
        var age: Double { now - Double(recording?.begin.nanoseconds ?? 0) / 1e6 }
        func read() throws -> OpusTrack { try OpusFile.read(disk.span.bytes, limit: OpusLimit(seconds: 3_600)) }
    }

    @Test("a file is as long as the call, whatever came through", arguments: [1, 2, 3] as [UInt64])
    func length(seed: UInt64) throws {
        var line = Line(seed: seed)
        for second in 0..<120 {
            for _ in 0..<50 { line.pass(isSpeaking: second % 20 < 15, loss: 0.1, jitter: 60) }
        }
        line.finish()
        let track = try line.read()
        #expect(!track.isTruncated)
        #expect(abs(Double(track.sampleCount) / 48 - line.age) < 10, "seed \(seed)")
        #expect(track.sampleCount == line.recording?.sampleCount)
    }

    @Test("a file has two channels if the first packet has, or if later ones may")
    func channels() throws {
        for (first, isStereo, expected) in [(0x78, false, 1), (0x7C, false, 2), (0x78, true, 2), (0x7C, true, 2)] {
            func packet(_ sequence: UInt16, _ start: UInt8) -> AudioPacket {
                AudioPacket(
                    sequence: sequence, timestamp: UInt32(sequence) * 960,
                    arrival: Instant(nanoseconds: 1_000_000_000 + UInt64(sequence) * 20_000_000),
                    payload: [start, 1, 2])
            }
            var recording = OpusRecording(
                packet(1, UInt8(first)), serial: 7, tags: OpusTags(vendor: "test"), isStereo: isStereo)
            recording.take(packet(2, 0x7C))
            recording.finish(at: Instant(nanoseconds: 1_060_000_000))
            let file = recording.takePages()
            #expect(try OpusFile.read(file.span.bytes, limit: OpusLimit(seconds: 60)).head.channelCount == expected)
        }
    }

    @Test("packets are in it as they came, in order")
    func packets() throws {
        var line = Line(seed: 5)
        for _ in 0..<500 { line.pass(jitter: 28) }
        for _ in 0..<15 { line.pass(isSpeaking: false) }
        line.finish()
        let track = try line.read()
        let numbers = (0..<track.packetCount).compactMap { index -> UInt16? in
            let bytes = Array(track.packet(index).bytes)
            return bytes.first == 0x78 ? UInt16(bytes[1]) | UInt16(bytes[2]) << 8 : nil
        }
        let first = try #require(numbers.first)
        #expect(numbers == numbers.indices.map { first &+ UInt16($0) })
        #expect(numbers.count >= 499, "one may come before the first")
    }

    @Test("at any moment no more than a second is not on the disk")
    func interruption() throws {
        var line = Line(seed: 9)
        for step in 0..<1_500 {
            line.pass(isSpeaking: step % 400 < 300, loss: 0.05, jitter: 80)
            // What nobody said is not missing.
            guard step % 10 == 0, (10..<300).contains(step % 400) else { continue }
            let track = try line.read()
            #expect(track.isTruncated)
            #expect(line.age - Double(track.sampleCount) / 48 < 1_000, "after \(line.age) ms")
        }
    }

    @Test("what comes behind the end changes nothing")
    func afterwards() throws {
        var line = Line(seed: 6)
        for _ in 0..<50 { line.pass() }
        line.finish()
        let before = (line.disk.count, line.recording?.sampleCount)
        for _ in 0..<50 { line.pass() }
        line.finish()
        #expect(line.disk.count == before.0)
        #expect(line.recording?.sampleCount == before.1)
        #expect(try line.read().sampleCount == before.1)
    }

    @Test("time without packets is filled exactly")
    func fillers() {
        for samples: UInt64 in [0, 119, 120, 240, 360, 960, 1_080, 5_760, 6_600, 48_000, 2_879_880] {
            for packets in [OpusFiller.silence(samples), OpusFiller.lost(samples)] {
                #expect(packets.reduce(0) { $0 + UInt64($1.duration) } == samples / 120 * 120)
                for packet in packets {
                    #expect(OpusPayload(packet.bytes.span.bytes)?.duration == packet.duration)
                }
            }
        }
    }
}
