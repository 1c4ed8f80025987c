import TestSupport
import Testing
import Wire

@testable import Transcription

@Suite("Voice activity detector")
struct VoiceActivityDetectorTests {
    /// White noise whose loudest samples are `amplitude`.
    private func noise(_ seconds: Double, amplitude: Int, seed: UInt64) -> [Int16] {
        var random = SeededRandom(seed: seed)
        return (0..<Int(seconds * 16_000)).map { _ in Int16(Int.random(in: -amplitude...amplitude, using: &random)) }
    }

    private func sum(_ one: [Int16], _ other: [Int16]) -> [Int16] {
        zip(one, other).map { Int16(clamping: Int($0) + Int($1)) }
    }

    private func pass(_ samples: [Int16], _ detector: inout VoiceActivityDetector, by step: Int = 320) -> [Utterance] {
        var utterances: [Utterance] = []
        for start in stride(from: 0, to: samples.count, by: step) {
            utterances += detector.take(samples[start..<min(start + step, samples.count)])
        }
        return utterances + detector.finish()
    }

    @Test("silence and steady noise, also noise that starts, are not speech", arguments: [0, 1, 30, 1_000, 20_000])
    func nothing(amplitude: Int) {
        var detector = VoiceActivityDetector()
        #expect(pass(noise(20, amplitude: amplitude, seed: 3), &detector).isEmpty)
        #expect(pass(Flite.silence(2) + noise(20, amplitude: amplitude, seed: 4), &detector).isEmpty)
    }

    @Test("a click is dropped, and counted") func click() {
        var detector = VoiceActivityDetector()
        let samples =
            noise(3, amplitude: 30, seed: 1) + noise(0.03, amplitude: 20_000, seed: 2)
            + noise(2, amplitude: 30, seed: 3)
        #expect(pass(samples, &detector).isEmpty)
        #expect(detector.droppedCount == 1)
    }

    @Test(
        "speech is found where it is, in silence and in noise", .enabled(if: Flite.isInstalled),
        arguments: [0, 30, 300])
    func speech(amplitude: Int) throws {
        let words = ["one two three", "go forward ten meters", "four five six seven"]
        var samples = Flite.silence(1)
        var expected: [(Double, Double)] = []
        for phrase in words {
            let spoken = try Flite.say(phrase)
            expected.append((Double(samples.count) / 16, Double(samples.count + spoken.count) / 16))
            samples += spoken + Flite.silence(1.5)
        }
        var detector = VoiceActivityDetector()
        let utterances = pass(
            sum(samples, noise(Double(samples.count) / 16_000 + 1, amplitude: amplitude, seed: 9)), &detector, by: 777)
        try #require(utterances.count == words.count)
        for (utterance, time) in zip(utterances, expected) {
            // flite begins and ends with some silence of its own.
            #expect(abs(Double(utterance.start) - time.0) < 400)
            #expect(abs(Double(utterance.start + utterance.audio.milliseconds) - time.1) < 500)
        }
    }

    @Test("speech from the first sample on is complete", .enabled(if: Flite.isInstalled))
    func atOnce() throws {
        let spoken = try Flite.say("seven eight nine ten")
        let begin = spoken.firstIndex { abs(Int($0)) > 2_000 } ?? 0
        var detector = VoiceActivityDetector()
        let utterances = pass(Array(spoken[begin...]) + Flite.silence(1), &detector)
        #expect(utterances.first?.start == 0)
    }

    @Test("long speech is split where it is quiet, and nothing is lost", .enabled(if: Flite.isInstalled))
    func long() throws {
        let spoken = try Flite.say(String(repeating: "one two three four five six seven eight nine ten ", count: 4))
        var limits = VoiceActivityDetector.Limits()
        limits.maxDuration = .seconds(4)
        var detector = VoiceActivityDetector(limits)
        let utterances = pass(spoken, &detector)
        #expect(utterances.count >= 3)
        #expect(utterances.allSatisfy { $0.audio.duration <= .seconds(4) })
        for (utterance, next) in zip(utterances, utterances.dropFirst()) {
            let end = utterance.start + utterance.audio.milliseconds
            #expect(next.start >= end)
            // The boundary is quieter than the speech.
            let boundary = Int(end) * 16
            if next.start == end {
                let level = VoiceFrame.level(of: spoken[max(boundary - 160, 0)..<boundary])
                #expect(level < VoiceFrame.level(of: spoken[...]))
            }
        }
        let kept = utterances.reduce(0) { $0 + $1.audio.samples.count }
        #expect(Double(kept) > 0.9 * Double(spoken.count))
        for utterance in utterances {
            let begin = Int(utterance.start) * 16
            let end = min(begin + utterance.audio.samples.count, spoken.count)
            #expect(utterance.audio.samples.prefix(end - begin).elementsEqual(spoken[begin..<end]))
        }
    }

    @Test("a gap in the audio ends an utterance, and times continue after it", .enabled(if: Flite.isInstalled))
    func hole() throws {
        let spoken = try Flite.say("one two three")
        var detector = VoiceActivityDetector()
        var utterances = detector.take(spoken)
        utterances += detector.skip(to: 60_000)
        #expect(utterances.count == 1)
        #expect(detector.milliseconds == 60_000)
        // Time does not run backwards.
        #expect(detector.skip(to: 5).isEmpty)
        utterances += detector.take(spoken)
        utterances += detector.finish()
        try #require(utterances.count == 2)
        #expect(utterances[1].start >= 60_000 && utterances[1].start < 60_400)
        #expect(utterances[0].audio.samples.count > 8_000)
    }

    @Test("for any audio, segments are parts of it, in order, and not too long") func anything() {
        let seed = freshSeed()
        var random = SeededRandom(seed: seed)
        var limits = VoiceActivityDetector.Limits()
        limits.maxDuration = .seconds(3)
        var detector = VoiceActivityDetector(limits)
        var samples: [Int16] = []
        for _ in 0..<40 {
            let (pitch, loudness) = (
                Int.random(in: 1...300, using: &random), Int.random(in: 0...32_767, using: &random)
            )
            let isNoise = Bool.random(using: &random)
            for index in 0..<Int.random(in: 1...40_000, using: &random) {
                let value =
                    isNoise
                    ? Int.random(in: -loudness...loudness, using: &random)
                    : index % pitch * 2 < pitch ? loudness : -loudness
                samples.append(Int16(value))
            }
        }
        var utterances: [Utterance] = []
        var start = 0
        while start < samples.count {
            let end = min(start + Int.random(in: 1...5_000, using: &random), samples.count)
            utterances += detector.take(samples[start..<end])
            start = end
        }
        utterances += detector.finish()
        #expect(!utterances.isEmpty, "seed \(seed)")
        samples += Flite.silence(1)
        var last: Int64 = 0
        for utterance in utterances {
            let begin = Int(utterance.start) * 16
            #expect(utterance.start >= last, "seed \(seed)")
            #expect(utterance.audio.duration <= .seconds(3), "seed \(seed)")
            #expect(samples[begin...].starts(with: utterance.audio.samples), "seed \(seed)")
            last = utterance.start + utterance.audio.milliseconds
        }
        // Absurd times.
        #expect(detector.skip(to: .max).isEmpty && detector.skip(to: .min).isEmpty)
        _ = detector.take(samples.prefix(50_000)) + detector.finish()
    }

    @Test("a WAV file is as its header says") func wav() {
        let file = WAVEncoder.encode(SpeechAudio([1, -2, 0x1234]))
        #expect(file.count == 50)
        #expect(Array(file.prefix(4)) == Array("RIFF".utf8))
        #expect(file[4] == 42)
        #expect(Array(file[24..<28]) == [0x80, 0x3E, 0, 0])
        #expect(Array(file.suffix(10)) == [6, 0, 0, 0, 1, 0, 0xFE, 0xFF, 0x34, 0x12])
    }
}
