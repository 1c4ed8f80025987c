import Synchronization
import TestSupport
import Testing

@testable import Transcription

@Suite("Transcription of long audio", .timeLimit(.minutes(3)))
struct LongTests {
    @Test("distant phrases of flite are one transcript, with the times of the whole", .enabled(if: Flite.hasRecognizer))
    func spoken() async throws {
        let phrases = ["one two three four five", "six seven eight nine ten"]
        var starts: [Int64] = []
        var samples: [Int16] = []
        for phrase in phrases {
            samples += Flite.silence(4)
            starts.append(Int64(samples.count / 16))
            samples += try Flite.say(phrase)
        }
        let queue = TranscriptionQueue(CommandTranscriber.pocketsphinx(), accounting: nil)
        var long = LongTranscription(queue, for: .speaker)
        for start in stride(from: 0, to: samples.count, by: 16_000) {
            try await long.take(samples[start..<min(start + 16_000, samples.count)])
        }
        try await long.skip(to: 3_600_000)
        let transcript = try await long.finish()
        #expect(transcript.text == phrases.joined(separator: " "))
        #expect(transcript.segments.map(\.text) == phrases)
        for (segment, start) in zip(transcript.segments, starts) { #expect(abs(segment.start - start) < 600) }
        // Silence was not transcribed.
        #expect(await queue.stats.milliseconds < 7_000)
    }

    /// Fails at the second segment, the first time.
    private final class Failing: Transcriber {
        let asked = Mutex(0)
        let identity = "failing"
        let name = "failing"

        func transcribe(
            _ audio: SpeechAudio, language: String?, deadline: ContinuousClock.Instant
        ) async throws(TranscriptionFailure) -> Transcript {
            let count = asked.withLock { asked in
                asked += 1
                return asked
            }
            if count == 2 { throw .invalidResponse("none") }
            return Transcript(language: "en", text: "\(count)", segments: [])
        }
    }

    @Test("a retry transcribes only what is missing") func again() async throws {
        // Two tones of a voice's pitch, which differ.
        let samples = [2_000, 3_000].flatMap { loudness -> [Int16] in
            (0..<16_000).map { Int16(($0 % 80 < 40 ? 1 : -1) * loudness) } + Flite.silence(3)
        }
        let provider = Failing()
        let queue = TranscriptionQueue(provider, accounting: nil)
        var first = LongTranscription(queue, for: .speaker)
        await #expect(throws: TranscriptionFailure.invalidResponse("none")) { try await first.take(samples) }
        var second = LongTranscription(queue, for: .speaker)
        try await second.take(samples)
        #expect(try await second.finish().text == "1 3")
        #expect(provider.asked.withLock { $0 } == 3)
    }

    @Test("silence is an empty transcript, without a request") func silence() async throws {
        let queue = TranscriptionQueue(CommandTranscriber(["nonexistent-ear"]), accounting: nil)
        var long = LongTranscription(queue, for: .speaker)
        try await long.take(Flite.silence(100))
        #expect(try await long.finish() == Transcript(language: nil, text: "", segments: []))
    }
}
