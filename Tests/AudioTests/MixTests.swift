import Containers
import Foundation
import Testing

@testable import Audio

@Suite("Mixes")
struct MixTests {
    /// A tone of one pitch, at 48 kHz, of so many milliseconds.
    private func tone(_ pitch: Double, _ milliseconds: Int, peak: Double = 8_000) -> [Int16] {
        (0..<milliseconds * 48).map { Int16(peak * sin(2 * .pi * pitch * Double($0) / 48_000)) }
    }

    /// As it is recorded: Ogg with Opus.
    private func track(_ samples: [Int16]) throws -> [UInt8] {
        let encoder = try VoiceEncoder(.full, .init(bitrate: 64_000))
        var writer = OggOpusWriter(serial: 1, head: OpusHead(preSkip: encoder.preSkip))
        var file = writer.begin(OpusTags(vendor: "test"))
        let target = samples.count + Int(encoder.preSkip)
        var count = 0
        while count < target {
            let part = samples.dropFirst(count).prefix(encoder.frameCount)
            file += writer.append(try encoder.encode(part)[...], duration: UInt32(encoder.frameCount))
            count += encoder.frameCount
        }
        return file + writer.end(leavingOut: UInt64(count - target))
    }

    private func voice(_ file: [UInt8], at offset: Int64, by size: Int = 4_096) -> VoiceMix.Voice {
        VoiceMix.Voice(offset: offset) {
            var rest = file[...]
            return {
                let piece = Array(rest.prefix(size))
                rest = rest.dropFirst(piece.count)
                return piece
            }
        }
    }

    private func mix(_ voices: [VoiceMix.Voice]) throws -> (file: [UInt8], samples: [Int16]) {
        var mix = try VoiceMix(voices, serial: 2, tags: OpusTags(vendor: "test"))
        var file: [UInt8] = []
        let count = try mix.run {
            file += $0
        } check: {
        }
        let track = try OpusFile.read(file.span.bytes, limit: OpusLimit(seconds: 10_000))
        #expect(!track.isTruncated && track.sampleCount == count)
        return (file, try decodedSamples(track))
    }

    private func decodedSamples(_ track: OpusTrack) throws -> [Int16] {
        let decoder = try VoiceDecoder(.full)
        var samples: [Int16] = []
        for index in 0..<track.packetCount { #expect(decoder.decode(track.packet(index).bytes, into: &samples)) }
        return Array(samples.dropFirst(Int(track.head.preSkip)).prefix(Int(track.sampleCount)))
    }

    /// How loud one pitch is: the peak of its sine (Goertzel).
    private func peak(_ pitch: Double, _ samples: ArraySlice<Int16>) -> Double {
        let factor = 2 * cos(2 * .pi * pitch / 48_000)
        var (last, before) = (0.0, 0.0)
        for sample in samples { (last, before) = (Double(sample) + factor * last - before, last) }
        let power = last * last + before * before - factor * last * before
        return 2 * max(power, 0).squareRoot() / Double(max(samples.count, 1))
    }

    private func part(_ samples: [Int16], _ from: Int, _ to: Int) -> ArraySlice<Int16> {
        samples[min(from * 48, samples.count)..<min(to * 48, samples.count)]
    }

    @Test("each track plays at its time and level")
    func offsets() throws {
        let (_, samples) = try mix([
            voice(try track(tone(400, 1_000)), at: 0), voice(try track(tone(900, 500)), at: 1_203),
            voice(try track(tone(1_600, 2_000)), at: 300, by: 100),
            // Somebody comes back after a long silence.
            voice(try track(tone(400, 400)), at: 9_001),
        ])
        #expect(samples.count == 9_401 * 48)
        for (pitch, from, to) in [(400.0, 0, 1_000), (900, 1_203, 1_703), (1_600, 300, 2_300), (400, 9_001, 9_401)] {
            let middle = peak(pitch, part(samples, from + 60, to - 60))
            #expect(abs(middle - 8_000) < 800, "\(pitch) Hz: \(middle)")
        }
        #expect(peak(400, part(samples, 1_100, 8_900)) < 10)
        #expect(peak(900, part(samples, 100, 1_100)) < 100)
        #expect(part(samples, 2_400, 8_950).allSatisfy { abs(Int($0)) < 100 })
        // To the millisecond: half of the tone's level is reached within a period or so.
        for start in [0, 9_001] {
            let onset = try #require(samples[(start * 48)...].firstIndex { abs(Int($0)) > 4_000 })
            #expect(abs(onset - start * 48) < 5 * 48, "\(onset / 48) ms")
        }
    }

    @Test("forty tracks at full scale are limited without clipping")
    func loud() throws {
        let pitches = (0..<40).map { 200 + 10 * Double($0 % 4) }
        let files = try Dictionary(
            uniqueKeysWithValues: Set(pitches).map { ($0, try track(tone($0, 1_000, peak: 32_000))) })
        let quiet = try track(tone(1_000, 3_000, peak: 6_000))
        let (_, samples) = try mix(
            try pitches.map { voice(try #require(files[$0]), at: 1_000) } + [voice(quiet, at: 0)])
        let loud = part(samples, 1_100, 1_900)
        #expect(loud.contains { abs(Int($0)) > 20_000 })
        // 40 sines of 230 Hz or less at full scale would step by that, and a wrap or a click by far more.
        let steps = zip(loud, loud.dropFirst()).map { abs(Int($0) - Int($1)) }
        #expect(steps.allSatisfy { $0 < 2_500 }, "\(steps.max() ?? 0)")
        for pitch in stride(from: 2_000.0, to: 12_000, by: 500) { #expect(peak(pitch, loud) < 60, "\(pitch) Hz") }
        // Who spoke before is as loud as before, once the others are quiet for a while.
        #expect(abs(peak(1_000, part(samples, 100, 900)) - 6_000) < 600)
        #expect(abs(peak(1_000, part(samples, 2_850, 2_950)) - 6_000) < 600)
    }

    @Test("the limiter leaves quiet audio alone, and keeps loud audio below its ceiling")
    func limiter() {
        func limited(_ samples: [Int32]) -> [Int16] {
            var (limiter, out) = (SoftLimiter(), [Int16]())
            for start in stride(from: 0, to: samples.count, by: SoftLimiter.blockCount) {
                limiter.process(Array(samples[start..<min(start + SoftLimiter.blockCount, samples.count)]), into: &out)
            }
            limiter.finish(into: &out)
            return out
        }
        let soft = (0..<4_801).map { Int32(20_000 * sin(Double($0) / 10)) }
        #expect(limited(soft) == soft.map { Int16($0) })
        #expect(limited([]).isEmpty)
        // A burst in the middle, sums of any size, and the largest there can be.
        for factor in [1.2, 2, 40, 60_000] {
            let burst = (0..<48_000).map { index -> Int32 in
                let sine = 32_767 * sin(Double(index) / 30)
                // From one zero to another.
                return Int32((10_085..<20_169).contains(index) ? sine * factor : sine / 2)
            }
            let out = limited(burst)
            #expect(out.count == burst.count)
            #expect(out.allSatisfy { abs(Float($0)) <= SoftLimiter.ceiling + 1 })
            let steps = zip(out, out.dropFirst()).map { abs(Int($0) - Int($1)) }
            #expect(steps.allSatisfy { $0 < 1_400 }, "a sine at the ceiling steps by 973: \(steps.max() ?? 0)")
            #expect(out[..<9_500].elementsEqual(burst[..<9_500].map { Int16($0) }))
        }
        #expect(limited([.max, .min, 0, .max]).allSatisfy { abs(Float($0)) <= SoftLimiter.ceiling + 1 })
    }

    @Test("a truncated file is mixed as far as it goes, and a file without audio is an error")
    func cut() throws {
        let whole = try track(tone(500, 4_000))
        let (_, samples) = try mix([voice(Array(whole.prefix(whole.count / 2)), at: 0), voice(whole, at: 5_000)])
        #expect(samples.count == 9_000 * 48)
        #expect(abs(peak(500, part(samples, 100, 900)) - 8_000) < 800)
        #expect(peak(500, part(samples, 3_000, 4_900)) < 10)
        #expect(abs(peak(500, part(samples, 5_100, 8_900)) - 8_000) < 800)
        #expect(throws: ContainerError.self) { _ = try mix([voice([UInt8](repeating: 1, count: 1_000), at: 0)]) }
        #expect(throws: ContainerError.self) { _ = try mix([voice([], at: 0)]) }
        #expect(try mix([]).samples.isEmpty)
    }

    @Test("it can be cancelled, and passes on errors of its files")
    func stopped() throws {
        struct Stop: Error {}
        let file = try track(tone(500, 3_000))
        var mix = try VoiceMix([voice(file, at: 0)], serial: 2, tags: OpusTags(vendor: "test"))
        var turns = 0
        #expect(throws: Stop.self) {
            _ = try mix.run { _ in
            } check: {
                turns += 1
                if turns == 3 { throw Stop() }
            }
        }
        #expect(turns == 3)
        var other = try VoiceMix([.init(offset: 0) { { throw Stop() } }], serial: 2, tags: OpusTags(vendor: "test"))
        #expect(throws: Stop.self) {
            _ = try other.run { _ in
            } check: {
            }
        }
    }

    @Test("a minute of silence takes little, and ends where it should")
    func silence() throws {
        var writer = OggOpusWriter(serial: 1, head: OpusHead(preSkip: 312))
        var file = writer.begin(OpusTags(vendor: "test"))
        for filler in OpusFiller.silence(48_000 * 60) {
            file += writer.append(filler.bytes[...], duration: filler.duration)
        }
        file += writer.end()
        let (mixed, samples) = try mix([voice(file, at: 0, by: 65_536), voice(try track(tone(700, 200)), at: 60_000)])
        #expect(samples.count == 60_200 * 48)
        #expect(peak(700, part(samples, 60_050, 60_150)) > 7_000)
        #expect(mixed.count < 60 * 6_000 / 2, "\(mixed.count)")
    }
}
