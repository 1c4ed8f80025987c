import Synchronization
import Testing

@testable import Transcription

@Suite("Transcription of long sounds", .timeLimit(.minutes(3)))
struct LongTests {
    @Test("flite's phrases far apart are one transcript, with the times of the whole", .enabled(if: Flite.hasEar))
    func spoken() async throws {
        let phrases = ["one two three four five", "six seven eight nine ten"]
        var starts: [Int64] = []
        var sound: [Int16] = []
        for phrase in phrases {
            sound += Flite.silence(4)
            starts.append(Int64(sound.count / 16))
            sound += try Flite.say(phrase)
        }
        let queue = TranscriptionQueue(CommandTranscriber.pocketsphinx())
        var long = LongTranscription(queue)
        for start in stride(from: 0, to: sound.count, by: 16_000) {
            try await long.take(sound[start..<min(start + 16_000, sound.count)])
        }
        try await long.skip(to: 3_600_000)
        let transcript = try await long.finish()
        #expect(transcript.text == phrases.joined(separator: " "))
        #expect(transcript.segments.map(\.text) == phrases)
        for (segment, start) in zip(transcript.segments, starts) { #expect(abs(segment.start - start) < 600) }
        // Silence was not asked about.
        #expect(await queue.figures.milliseconds < 7_000)
    }

    /// Fails at the second piece, the first time that it comes.
    private final class Failing: Transcriber {
        let asked = Mutex(0)
        let identity = "failing"

        func transcribe(
            _ audio: SpeechAudio, language: String?, deadline: ContinuousClock.Instant
        ) async throws(TranscriptionFailure) -> Transcript {
            let count = asked.withLock { asked in
                asked += 1
                return asked
            }
            if count == 2 { throw .badAnswer("none") }
            return Transcript(language: "en", text: "\(count)", segments: [])
        }
    }

    @Test("trying again asks for what is missing alone") func again() async throws {
        // Two tones of a voice's pitch, which differ.
        let sound = [2_000, 3_000].flatMap { loudness -> [Int16] in
            (0..<16_000).map { Int16(($0 % 80 < 40 ? 1 : -1) * loudness) } + Flite.silence(3)
        }
        let provider = Failing()
        let queue = TranscriptionQueue(provider)
        var first = LongTranscription(queue)
        await #expect(throws: TranscriptionFailure.badAnswer("none")) { try await first.take(sound) }
        var second = LongTranscription(queue)
        try await second.take(sound)
        #expect(try await second.finish().text == "1 3")
        #expect(provider.asked.withLock { $0 } == 3)
    }

    @Test("silence is an empty transcript, and nobody is asked") func silence() async throws {
        let queue = TranscriptionQueue(CommandTranscriber(["nonexistent-ear"]))
        var long = LongTranscription(queue)
        try await long.take(Flite.silence(100))
        #expect(try await long.finish() == Transcript(language: nil, text: "", segments: []))
    }
}
