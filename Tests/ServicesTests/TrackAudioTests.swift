import Audio
import Containers
import Testing

@testable import Services

/// Tracks of recordings, decoded while their files are read.
@Suite struct TrackAudioTests {
    /// A file with a tone, and a minute of silence in the middle.
    private func file() throws -> [UInt8] {
        let encoder = try VoiceEncoder(.full)
        var writer = OggOpusWriter(serial: 1, head: OpusHead(preSkip: encoder.preSkip))
        var file = writer.begin(OpusTags(vendor: "Switchboard"))
        func speak() throws {
            for frame in 0..<100 {
                let samples = (0..<960).map { Int16(($0 + frame * 960) % 200 * 80) }
                file += writer.append(try encoder.encode(samples)[...], duration: 960)
            }
        }
        try speak()
        for silence in OpusFiller.silence(60 * 48_000) {
            file += writer.append(silence.bytes[...], duration: silence.duration)
        }
        try speak()
        return file + writer.end(leavingOut: 400)
    }

    private func read(_ file: [UInt8], by step: Int) throws -> (samples: [Int16], longest: Int) {
        var audio = try TrackAudio()
        var samples: [Int16] = []
        var longest = 0
        for start in stride(from: 0, to: file.count, by: step) {
            audio.append(Array(file[start..<min(start + step, file.count)]))
            while let part = try audio.next() {
                longest = max(longest, part.count)
                samples += part
            }
        }
        #expect(audio.hasBegun)
        return (samples, longest)
    }

    @Test(arguments: [50, 1_000, 64 * 1024]) func decodingInChunksEqualsDecodingTheWhole(step: Int) throws {
        let file = try file()
        let whole = try VoiceReading.samples(of: file, seconds: 100)
        #expect(whole.count > 63 * 16_000)
        let (samples, longest) = try read(file, by: step)
        #expect(samples == whole)
        #expect(longest <= 16_000)
    }

    @Test func aTruncatedFileIsDecodedAsFarAsItGoes() throws {
        let file = try file()
        let whole = try VoiceReading.samples(of: file, seconds: 100)
        let (samples, _) = try read(Array(file.prefix(file.count / 2)), by: 1_000)
        #expect(samples.count > 16_000 && whole.starts(with: samples))
    }

    @Test func aFileThatIsNotOggIsAnError() throws {
        #expect(throws: ContainerError.self) { try read([UInt8](repeating: 7, count: 400), by: 100) }
        var empty = try TrackAudio()
        #expect(try empty.next() == nil && !empty.hasBegun)
    }
}
