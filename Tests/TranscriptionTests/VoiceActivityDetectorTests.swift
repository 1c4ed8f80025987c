import Testing
import Wire

@testable import Transcription

@Suite("Voice gate")
struct VoiceGateTests {
    /// White noise whose loudest samples are `amplitude`.
    private func noise(_ seconds: Double, amplitude: Int, seed: UInt64) -> [Int16] {
        var random = SeededRandom(seed: seed)
        return (0..<Int(seconds * 16_000)).map { _ in Int16(Int.random(in: -amplitude...amplitude, using: &random)) }
    }

    private func sum(_ one: [Int16], _ other: [Int16]) -> [Int16] {
        zip(one, other).map { Int16(clamping: Int($0) + Int($1)) }
    }

    private func pass(_ sound: [Int16], _ gate: inout VoiceGate, by step: Int = 320) -> [Utterance] {
        var heard: [Utterance] = []
        for start in stride(from: 0, to: sound.count, by: step) {
            heard += gate.take(sound[start..<min(start + step, sound.count)])
        }
        return heard + gate.finish()
    }

    @Test("silence and steady noise, also noise that sets in, are nothing", arguments: [0, 1, 30, 1_000, 20_000])
    func nothing(amplitude: Int) {
        var gate = VoiceGate()
        #expect(pass(noise(20, amplitude: amplitude, seed: 3), &gate).isEmpty)
        #expect(pass(Flite.silence(2) + noise(20, amplitude: amplitude, seed: 4), &gate).isEmpty)
    }

    @Test("a click is nothing, and counted") func click() {
        var gate = VoiceGate()
        let sound =
            noise(3, amplitude: 30, seed: 1) + noise(0.03, amplitude: 20_000, seed: 2)
            + noise(2, amplitude: 30, seed: 3)
        #expect(pass(sound, &gate).isEmpty)
        #expect(gate.droppedCount == 1)
    }

    @Test(
        "speech is found where it is, in silence and in noise", .enabled(if: Flite.isInstalled),
        arguments: [0, 30, 300])
    func speech(amplitude: Int) throws {
        let words = ["one two three", "go forward ten meters", "four five six seven"]
        var sound = Flite.silence(1)
        var places: [(Double, Double)] = []
        for phrase in words {
            let spoken = try Flite.say(phrase)
            places.append((Double(sound.count) / 16, Double(sound.count + spoken.count) / 16))
            sound += spoken + Flite.silence(1.5)
        }
        var gate = VoiceGate()
        let heard = pass(
            sum(sound, noise(Double(sound.count) / 16_000 + 1, amplitude: amplitude, seed: 9)), &gate, by: 777)
        try #require(heard.count == words.count)
        for (utterance, place) in zip(heard, places) {
            // flite begins and ends with some silence of its own.
            #expect(abs(Double(utterance.start) - place.0) < 400)
            #expect(abs(Double(utterance.start + utterance.audio.milliseconds) - place.1) < 500)
        }
    }

    @Test("speech from the first sample on is heard from its beginning", .enabled(if: Flite.isInstalled))
    func atOnce() throws {
        let spoken = try Flite.say("seven eight nine ten")
        let begin = spoken.firstIndex { abs(Int($0)) > 2_000 } ?? 0
        var gate = VoiceGate()
        let heard = pass(Array(spoken[begin...]) + Flite.silence(1), &gate)
        #expect(heard.first?.start == 0)
    }

    @Test("who goes on speaking is cut where it is quiet, and nothing is lost", .enabled(if: Flite.isInstalled))
    func long() throws {
        let spoken = try Flite.say(String(repeating: "one two three four five six seven eight nine ten ", count: 4))
        var limits = VoiceGate.Limits()
        limits.longest = .seconds(4)
        var gate = VoiceGate(limits)
        let heard = pass(spoken, &gate)
        #expect(heard.count >= 3)
        #expect(heard.allSatisfy { $0.audio.duration <= .seconds(4) })
        for (utterance, next) in zip(heard, heard.dropFirst()) {
            let end = utterance.start + utterance.audio.milliseconds
            #expect(next.start >= end)
            // At the cut, it is quieter than speech is.
            let cut = Int(end) * 16
            if next.start == end {
                #expect(VoiceFrame.level(of: spoken[max(cut - 160, 0)..<cut]) < VoiceFrame.level(of: spoken[...]))
            }
        }
        let kept = heard.reduce(0) { $0 + $1.audio.samples.count }
        #expect(Double(kept) > 0.9 * Double(spoken.count))
        for utterance in heard {
            let begin = Int(utterance.start) * 16
            let end = min(begin + utterance.audio.samples.count, spoken.count)
            #expect(utterance.audio.samples.prefix(end - begin).elementsEqual(spoken[begin..<end]))
        }
    }

    @Test("a hole in the sound ends what was said, and times go on behind it", .enabled(if: Flite.isInstalled))
    func hole() throws {
        let spoken = try Flite.say("one two three")
        var gate = VoiceGate()
        var heard = gate.take(spoken)
        heard += gate.skip(to: 60_000)
        #expect(heard.count == 1)
        #expect(gate.milliseconds == 60_000)
        // Time does not run backwards.
        #expect(gate.skip(to: 5).isEmpty)
        heard += gate.take(spoken)
        heard += gate.finish()
        try #require(heard.count == 2)
        #expect(heard[1].start >= 60_000 && heard[1].start < 60_400)
        #expect(heard[0].audio.samples.count > 8_000)
    }

    @Test("whatever sound comes, pieces are of it, in order, within their length") func anything() {
        let seed = UInt64.random(in: 0 ... .max)
        var random = SeededRandom(seed: seed)
        var limits = VoiceGate.Limits()
        limits.longest = .seconds(3)
        var gate = VoiceGate(limits)
        var sound: [Int16] = []
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
                sound.append(Int16(value))
            }
        }
        var heard: [Utterance] = []
        var start = 0
        while start < sound.count {
            let end = min(start + Int.random(in: 1...5_000, using: &random), sound.count)
            heard += gate.take(sound[start..<end])
            start = end
        }
        heard += gate.finish()
        #expect(!heard.isEmpty, "seed \(seed)")
        sound += Flite.silence(1)
        var last: Int64 = 0
        for utterance in heard {
            let begin = Int(utterance.start) * 16
            #expect(utterance.start >= last, "seed \(seed)")
            #expect(utterance.audio.duration <= .seconds(3), "seed \(seed)")
            #expect(sound[begin...].starts(with: utterance.audio.samples), "seed \(seed)")
            last = utterance.start + utterance.audio.milliseconds
        }
        // Times that are none.
        #expect(gate.skip(to: .max).isEmpty && gate.skip(to: .min).isEmpty)
        _ = gate.take(sound.prefix(50_000)) + gate.finish()
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
