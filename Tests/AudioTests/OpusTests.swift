import Audio
import Containers
import Testing

/// A tone whose pitch goes up and down, as that of speech does.
func tone(_ rate: SampleRate, seconds: Double) -> [Int16] {
    var phase = 0.0
    return (0..<Int(seconds * Double(rate.rawValue))).map { index in
        let time = Double(index) / Double(rate.rawValue)
        let sweep = (time * 2).truncatingRemainder(dividingBy: 1)
        phase += (200 + 300 * sweep) / Double(rate.rawValue)
        let turn = phase.truncatingRemainder(dividingBy: 1)
        // A parabola is near enough to a sine.
        let wave = turn < 0.5 ? 16 * turn * (0.5 - turn) : -16 * (turn - 0.5) * (1 - turn)
        return Int16(8_000 * wave)
    }
}

/// How alike two sounds are, 1 for the same, where the second may be late by so many samples.
func likeness(_ first: ArraySlice<Int16>, _ second: ArraySlice<Int16>, latest: Int = 0) -> Double {
    (0...latest).map { late in
        var (product, left, right) = (0.0, 0.0, 0.0)
        for (one, other) in zip(first, second.dropFirst(late)) {
            product += Double(one) * Double(other)
            left += Double(one) * Double(one)
            right += Double(other) * Double(other)
        }
        return left > 0 && right > 0 ? product / (left * right).squareRoot() : 0
    }.max() ?? 0
}

@Suite("Opus")
struct OpusTests {
    private func encoded(_ samples: [Int16], _ rate: SampleRate, _ options: VoiceEncoder.Options) throws -> [[UInt8]] {
        let encoder = try VoiceEncoder(rate, options)
        return try stride(from: 0, to: samples.count, by: encoder.frameCount).map { start in
            try encoder.encode(samples[start..<min(start + encoder.frameCount, samples.count)])
        }
    }

    @Test("fillers for silence are silent, and fillers for loss fade out")
    func fillers() throws {
        let voice = try encoded(tone(.full, seconds: 0.5), .full, .init())
        let decoder = try VoiceDecoder(.full)
        var decoded: [Int16] = []
        for packet in voice { #expect(decoder.decode(packet, into: &decoded)) }
        let spoken = decoded.count
        for filler in OpusFiller.lost(19_200) { #expect(decoder.decode(filler.bytes, into: &decoded)) }
        #expect(decoded.count == spoken + 19_200)
        let first = Waveform.level(of: decoded[spoken..<spoken + 480])
        #expect(first > -30, "made up from what came before")
        #expect(Waveform.level(of: decoded[(decoded.count - 4_800)...]) < first - 15)
        for packet in voice { #expect(decoder.decode(packet, into: &decoded)) }
        let again = decoded.count
        for filler in OpusFiller.silence(19_320) { #expect(decoder.decode(filler.bytes, into: &decoded)) }
        #expect(decoded.count == again + 19_320)
        // The first frame overlaps with the last decoded one.
        #expect(decoded[(again + 960)...].allSatisfy { abs(Int($0)) <= 1 })
    }

    @Test("encoded and decoded, at every rate", arguments: SampleRate.allCases, SampleRate.allCases)
    func roundTrip(from: SampleRate, to: SampleRate) throws {
        let packets = try encoded(tone(from, seconds: 1), from, .init())
        let decoder = try VoiceDecoder(to)
        var samples: [Int16] = []
        for packet in packets { #expect(decoder.decode(packet, into: &samples)) }
        #expect(samples.count == Int(to.rawValue))
        // 6.5 ms of look-ahead, and as much again for filters.
        #expect(likeness(tone(to, seconds: 1)[...], samples[...], latest: Int(to.rawValue) * 13 / 1_000) > 0.9)
    }

    @Test("an invalid packet decodes to nothing, and the next one is decoded")
    func damaged() throws {
        let packets = try encoded(tone(.wide, seconds: 1), .wide, .init())
        let decoder = try VoiceDecoder(.wide)
        var samples: [Int16] = []
        #expect(!decoder.decode([UInt8](), into: &samples))
        // Three frames of a length that is not there.
        #expect(!decoder.decode([0x0B, 0x83, 0xFF] as [UInt8], into: &samples))
        #expect(samples.isEmpty)
        #expect(decoder.decode(packets[0], into: &samples))
        #expect(samples.count == 320)
    }

    @Test("a lost packet is repaired from the next one, if the encoder uses FEC")
    func repair() throws {
        let original = tone(.wide, seconds: 1)
        func decoded(_ options: VoiceEncoder.Options) throws -> Double {
            let packets = try encoded(original, .wide, options)
            let decoder = try VoiceDecoder(.wide)
            var samples: [Int16] = []
            for (index, packet) in packets.enumerated() {
                if index % 10 == 8 { continue }
                if index % 10 == 9 { decoder.repair(320, before: packet, into: &samples) }
                decoder.decode(packet, into: &samples)
            }
            #expect(samples.count == 16_000)
            return likeness(original[...], samples[...], latest: 208)
        }
        let without = try decoded(.init(bitrate: 24_000))
        let with = try decoded(.init(bitrate: 24_000, repairsLoss: true))
        #expect(with > without && with > 0.8, "\(with), without \(without)")
    }

    @Test("concealment has the requested length, and fades out")
    func concealment() throws {
        let packets = try encoded(tone(.wide, seconds: 1), .wide, .init())
        let decoder = try VoiceDecoder(.wide)
        var samples: [Int16] = []
        for packet in packets { decoder.decode(packet, into: &samples) }
        for count in [0, 1, 39, 40, 41, 320, 1_920, 1_921, 32_000] {
            var made: [Int16] = []
            decoder.conceal(count, into: &made)
            #expect(made.count == count)
            if count == 32_000 {
                #expect(Waveform.level(of: made.suffix(8_000)) < Waveform.level(of: samples[...]) - 10)
            }
        }
    }

    @Test("almost nothing is sent during silence with DTX")
    func discontinuous() throws {
        let silence = [Int16](repeating: 0, count: 32_000)
        let small = try encoded(silence, .wide, .init(isDiscontinuous: true)).suffix(50).filter { $0.count <= 2 }
        #expect(small.count > 40, "\(small.count)")
    }
}

@Suite("Waveform")
struct WaveformTests {
    @Test("peaks and level")
    func waveform() {
        let quiet = [Int16](repeating: 0, count: 1_000)
        #expect(Waveform(quiet, count: 4).peaks == [0, 0, 0, 0] && Waveform(quiet, count: 4).level == -127)
        let loud: [Int16] = (0..<1_000).map { $0 % 2 == 0 ? .max : .min }
        #expect(Waveform(quiet + loud, count: 2).peaks == [0, 255])
        #expect(Waveform(loud, count: 3).level == 0)
        #expect(Waveform([], count: 5).peaks.isEmpty)
        #expect(Waveform([1, 2, 3], count: 5).peaks.count == 3)
        // A sine at a tenth of the loudest is 20 dB below it.
        let sine = tone(.wide, seconds: 1).map { Int16(Double($0) / 8_000 * 3_276.8) }
        #expect(abs(Waveform.level(of: sine[...]) + 20) <= 1)
    }
}
