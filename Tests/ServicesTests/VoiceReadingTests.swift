import Audio
import Containers
import Foundation
import Model
import Testing
import Voice

@testable import Services

/// The file and the properties of a voice message from an upload or a recording.
@Suite struct VoiceReadingTests {
    /// A tone that is twice as loud in its second half, behind silence: a second of each.
    private func upload(gain: Int16 = 0) throws -> [UInt8] {
        let encoder = try VoiceEncoder(.full)
        var writer = OggOpusWriter(serial: 7, head: OpusHead(preSkip: encoder.preSkip, gain: gain))
        var file = writer.begin(OpusTags(vendor: "test", comments: ["LOCATION=home"]))
        let count = 3 * 48_000
        let samples = (0..<count).map { index -> Int16 in
            let loudness = [0.0, 8_000, 16_000][min(index / 48_000, 2)]
            return Int16(loudness * sin(Double(index) * 440 * 2 * .pi / 48_000))
        }
        // Includes the samples that the decoder outputs before the first one.
        for start in stride(from: 0, to: count + Int(encoder.preSkip), by: encoder.frameCount) {
            let frame = start < count ? samples[start..<min(start + encoder.frameCount, count)] : []
            file += writer.append(try encoder.encode(frame)[...], duration: 960)
        }
        file += writer.end(leavingOut: writer.sampleCount - UInt64(count))
        return file
    }

    private func track(_ bytes: [UInt8]) throws -> OpusTrack {
        try OpusFile.read(bytes.span.bytes, limit: OpusLimit(seconds: 10))
    }

    @Test func anUploadIsMeasuredAndItsPacketsAreKept() throws {
        let reading = try VoiceReading(upload(), VoiceRules())
        #expect(reading.audio.durationMs == 3_000)
        #expect(reading.audio.contentType == "audio/ogg")
        #expect(reading.audio.byteCount == reading.file.count)
        let waveform = reading.audio.waveform
        #expect(waveform.count == 100)
        #expect(waveform[5..<30].allSatisfy { $0 <= 2 }, "\(waveform)")
        #expect(waveform[36..<64].allSatisfy { (20...30).contains($0) }, "\(waveform)")
        #expect(waveform[69..<98].allSatisfy { (43...56).contains($0) }, "\(waveform)")
        // The mean of silence, -12.2 and -6.2 dB.
        #expect((-11 ... -9).contains(reading.audio.level), "\(reading.audio.level)")
        let kept = try track(reading.file)
        let sent = try track(upload())
        #expect(kept.sampleCount == sent.sampleCount && kept.head == sent.head && !kept.isTruncated)
        for index in 0..<min(sent.packetCount, kept.packetCount) {
            #expect(Array(kept.packet(index).bytes) == Array(sent.packet(index).bytes))
        }
        #expect(sent.packetCount == kept.packetCount)
        // Comments of the recorder are removed.
        #expect(!String(decoding: reading.file, as: UTF8.self).contains("LOCATION"))
    }

    /// A second of a tone as it is recorded, then nothing for three more.
    private func recorded(silence: UInt64 = 3 * 48_000) throws -> [UInt8] {
        let encoder = try VoiceEncoder(.full)
        var writer = OggOpusWriter(serial: 7, head: OpusHead(preSkip: encoder.preSkip))
        var file = writer.begin(OpusTags(vendor: "test"))
        for start in stride(from: 0, to: 48_000, by: encoder.frameCount) {
            let samples = (start..<start + encoder.frameCount).map { index in
                Int16(8_000 * sin(Double(index) * 440 * 2 * .pi / 48_000))
            }
            file += writer.append(try encoder.encode(samples[...])[...], duration: 960)
        }
        for filler in OpusFiller.silence(silence) {
            file += writer.append(filler.bytes[...], duration: filler.duration)
        }
        return file + writer.end()
    }

    @Test func aRecordingEndsWithItsLastAudio() throws {
        for silence in [0, 480, 960, 48_000, 35 * 48_000] as [UInt64] {
            let reading = try VoiceReading(recorded: recorded(silence: silence), VoiceRules())
            // Without the silence the last of it, which decoders still hold back, is no part of the file.
            #expect((993...1_000).contains(reading.audio.durationMs), "\(silence): \(reading.audio.durationMs)")
            #expect(reading.audio.waveform.suffix(3).allSatisfy { $0 > 15 }, "\(reading.audio.waveform)")
            let kept = try track(reading.file)
            #expect(kept.sampleCount / 48 == UInt64(reading.audio.durationMs) && !kept.isTruncated)
        }
    }

    @Test func aRecordingIsTrimmedToTheMaximumLength() throws {
        var rules = VoiceRules()
        rules.secondsLimit = 2
        #expect(try VoiceReading(recorded: upload(), rules).audio.durationMs == 2_000)
        #expect(try track(VoiceReading(recorded: upload(), rules).file).sampleCount == 96_000)
        #expect(throws: Problem.self) { try VoiceReading(upload(), rules) }
    }

    @Test func nothingRecordedIsNoMessage() throws {
        var writer = OggOpusWriter(serial: 7, head: OpusHead(preSkip: 312))
        var file = writer.begin(OpusTags(vendor: "test"))
        for filler in OpusFiller.silence(96_000) { file += writer.append(filler.bytes[...], duration: filler.duration) }
        file += writer.end()
        #expect { try VoiceReading(recorded: file, VoiceRules()) } throws: { ($0 as? Problem)?.field == "recording" }
    }

    @Test func theHeadersGainCounts() throws {
        let plain = try VoiceReading(upload(), VoiceRules()).audio.level
        let loud = try VoiceReading(upload(gain: 6 * 256), VoiceRules()).audio.level
        let hostile = try VoiceReading(upload(gain: .max), VoiceRules()).audio
        #expect((5...6).contains(loud - plain))
        #expect(hostile.level >= -3 && hostile.waveform.allSatisfy { (0...100).contains($0) })
    }

    @Test func theLimitAndNothingAreProblemsOfTheBody() throws {
        var rules = VoiceRules()
        rules.secondsLimit = 2
        let file = try upload()
        var writer = OggOpusWriter(serial: 7, head: OpusHead(preSkip: 312))
        let empty = writer.begin(OpusTags(vendor: "test")) + writer.end()
        for (bytes, rules, word) in [
            (file, rules, "2 seconds"), (empty, VoiceRules(), "no audio"), ([], VoiceRules(), "neither an Ogg"),
            (Array("RIFFWAVE".utf8), VoiceRules(), "neither an Ogg"), (Array(file[..<60]), VoiceRules(), "byte"),
        ] {
            let problem = #expect(throws: Problem.self) { _ = try VoiceReading(bytes, rules) }
            #expect(problem?.kind == .invalidRequest && problem?.field == "body")
            #expect(problem?.detail.contains(word) == true, "\(problem?.detail ?? "")")
        }
    }

    @Test func whatWasCutOffIsKeptUpToThere() throws {
        let file = try upload()
        let reading = try VoiceReading(Array(file[..<(file.count * 2 / 3)]), VoiceRules())
        #expect((900...2_500).contains(reading.audio.durationMs), "\(reading.audio.durationMs)")
        let kept = try track(reading.file)
        #expect(!kept.isTruncated)
    }
}
