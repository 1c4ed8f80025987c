import Synchronization
import TestSupport
import Testing

@testable import Transcription

@Suite("Live captions", .timeLimit(.minutes(3)))
struct CaptionTests {
    @Test("flite's speech becomes captions, in order and in time", .enabled(if: Flite.hasRecognizer))
    func spoken() async throws {
        let phrases = ["one two three four five", "six seven eight nine ten"]
        var samples = Flite.silence(1)
        var starts: [Int64] = []
        for phrase in phrases {
            starts.append(Int64(samples.count / 16))
            samples += try Flite.say(phrase) + Flite.silence(1.2)
        }
        let captions = LiveCaptions(
            TranscriptionQueue(CommandTranscriber.pocketsphinx(), accounting: nil), within: .seconds(100))
        for start in stride(from: 0, to: samples.count, by: 320) {
            captions.feed(samples[start..<min(start + 320, samples.count)])
        }
        captions.finish()
        captions.feed(samples)
        var received: [LiveCaptions.Caption] = []
        await captions.run(payer: { .speaker }) { event in
            if case .caption(let caption) = event { received.append(caption) } else { Issue.record("\(event)") }
        }
        #expect(received.map(\.text) == phrases)
        for (caption, start) in zip(received, starts) {
            #expect(abs(caption.start - start) < 600)
            #expect(caption.end > caption.start + 1_000)
        }
        #expect(captions.stats == .init(captions: 2, failed: 0, dropped: 0))
    }

    /// Returns the duration of each segment.
    private struct Measuring: Transcriber {
        var failure: TranscriptionFailure?
        var identity: String { "measuring" }
        var name: String { "measuring" }

        func transcribe(
            _ audio: SpeechAudio, language: String?, deadline: ContinuousClock.Instant
        ) async throws(TranscriptionFailure) -> Transcript {
            if let failure { throw failure }
            return Transcript(language: language, text: "\(audio.milliseconds)", segments: [])
        }
    }

    /// So many syllables with pauses between them, a second each.
    private func syllables(_ count: Int) -> [Int16] {
        (0..<count).flatMap { number -> [Int16] in
            let voice = (0..<4_800).map { Int16(($0 % 80 < 40 ? 1 : -1) * (2_000 + number)) }
            return voice + Flite.silence(0.7)
        }
    }

    @Test("when the provider is too slow the oldest are dropped, and memory stays bounded") func behind() async {
        let captions = LiveCaptions(TranscriptionQueue(Measuring(), accounting: nil), language: "en", maxWaiting: 2)
        captions.feed(syllables(6))
        #expect(captions.stats.dropped == 4)
        captions.finish()
        var received: [LiveCaptions.Caption] = []
        await captions.run(payer: { .speaker }) { if case .caption(let caption) = $0 { received.append(caption) } }
        #expect(received.map(\.start).map { ($0 + 500) / 1_000 } == [4, 5])
        #expect(received.allSatisfy { $0.language == "en" })
    }

    /// Whoever speaks may change their mind at any time.
    @Test("what is not allowed is neither transcribed nor emitted") func consent() async {
        let provider = Measuring()
        let captions = LiveCaptions(TranscriptionQueue(provider, accounting: nil), language: "en")
        captions.feed(syllables(3))
        captions.finish()
        var asked = 0
        var received: [LiveCaptions.Caption] = []
        // Before the first and after it, before the second; and before the third, which was on its way by then.
        let allowed = [true, true, false, true, false]
        await captions.run(
            payer: {
                defer { asked += 1 }
                return allowed[asked] ? .speaker : nil
            }
        ) { if case .caption(let caption) = $0 { received.append(caption) } }
        #expect(received.count == 1 && asked == 5)
        #expect(captions.stats.captions == 1)
    }

    @Test("failures are reported, and later utterances are transcribed") func failing() async {
        let captions = LiveCaptions(TranscriptionQueue(Measuring(failure: .invalidResponse("none")), accounting: nil))
        captions.feed(syllables(2))
        captions.finish()
        var events: [LiveCaptions.Event] = []
        await captions.run(payer: { .speaker }) { events.append($0) }
        #expect(events == [.failed(.invalidResponse("none")), .failed(.invalidResponse("none"))])
        #expect(captions.stats.failed == 2)
    }

    @Test("captions come before the end; cancellation ends them") func running() async {
        let captions = LiveCaptions(TranscriptionQueue(Measuring(), accounting: nil))
        let (events, continuation) = AsyncStream.makeStream(of: LiveCaptions.Event.self)
        let task = Task { await captions.run(payer: { .speaker }) { continuation.yield($0) } }
        var coming = events.makeAsyncIterator()
        captions.feed(syllables(1))
        #expect(await coming.next() != nil)
        captions.skip(to: 60_000)
        captions.feed(syllables(1))
        guard case .caption(let caption)? = await coming.next() else {
            Issue.record("no caption")
            return
        }
        #expect(caption.start >= 60_000 && caption.start < 60_300)
        task.cancel()
        await task.value
    }
}
