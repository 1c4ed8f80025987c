import Audio
import RTP
import TestSupport
import Testing
import Wire

/// Words that flite speaks, and that pocketsphinx recognizes after Opus and a bad network.
@Suite("Speech", .enabled(if: Flite.hasRecognizer, "flite and pocketsphinx are not installed"))
struct SpeechTests {
    @Test("words are recognized after Opus", arguments: [false, true])
    func understood(isBadNetwork: Bool) throws {
        let words = "one two three four five"
        let spoken = try Flite.say(words)
        #expect(spoken.count > 16_000)
        let encoder = try VoiceEncoder(.wide, .init(repairsLoss: isBadNetwork, isDiscontinuous: true))
        var random = SeededRandom(seed: 11)
        var buffer = JitterBuffer()
        var timeline = AudioTimeline(begin: Instant(nanoseconds: 0))
        let voice = try RecordedVoice(.wide)
        var decoded: [Int16] = []
        var isAfterLoss = false
        func pass(_ output: JitterBuffer.Output) {
            switch output {
            case .lost: isAfterLoss = true
            case .packet(let packet):
                for segment in timeline.take(packet, isAfterLoss: isAfterLoss) { voice.take(segment, into: &decoded) }
                isAfterLoss = false
            }
        }
        var number = 0
        for start in stride(from: 0, to: spoken.count, by: encoder.frameCount) {
            let payload = try encoder.encode(spoken[start..<min(start + encoder.frameCount, spoken.count)])
            defer { number += 1 }
            if isBadNetwork, Int.random(in: 0..<100, using: &random) < 5 { continue }
            let late = isBadNetwork ? UInt64.random(in: 0...40_000_000, using: &random) : 0
            let now = Instant(nanoseconds: UInt64(number) * 20_000_000 + late)
            buffer.insert(
                AudioPacket(
                    sequence: UInt16(truncatingIfNeeded: number), timestamp: UInt32(number) * 960, arrival: now,
                    payload: payload))
            while let output = buffer.next(at: now) { pass(output) }
        }
        while let output = buffer.drain() { pass(output) }
        let end = Instant(nanoseconds: UInt64(number) * 20_000_000)
        for segment in timeline.finish(at: end) { voice.take(segment, into: &decoded) }
        voice.finish(into: &decoded)
        #expect(abs(decoded.count - number * 320) < 640)
        let understood = try Flite.recognize(decoded)
        if isBadNetwork {
            #expect(understood.contains("three"), "\(understood)")
        } else {
            #expect(understood == words)
        }
    }
}
