import Audio
import RTP
import Synchronization
import TestSupport
import Testing
import Wire

@testable import Transcription

/// Captions of voices that arrive over a network, on a manual clock.
@Suite("Captioned voices", .timeLimit(.minutes(3)))
struct CaptionedVoiceTests {
    /// Returns the duration of each segment.
    private struct Measuring: Transcriber {
        var identity: String { "measuring" }
        var name: String { "measuring" }

        func transcribe(
            _ audio: SpeechAudio, language: String?, deadline: ContinuousClock.Instant
        ) async throws(TranscriptionFailure) -> Transcript {
            Transcript(language: language, text: "\(audio.milliseconds)", segments: [])
        }
    }

    /// A speaker, and the captions of the speech.
    private final class Speaker {
        let captions: LiveCaptions
        let voice: CaptionedVoice
        private let encoder: VoiceEncoder
        private var sequence: UInt16 = 65_530
        private var timestamp: UInt32 = 4_294_960_000
        private(set) var now: UInt64 = 5_000_000_000

        init(_ queue: TranscriptionQueue, isDiscontinuous: Bool = false) throws {
            captions = LiveCaptions(queue, maxWaiting: 50, within: .seconds(100))
            voice = try CaptionedVoice(begin: Instant(nanoseconds: now), captions)
            encoder = try VoiceEncoder(.wide, .init(repairsLoss: true, isDiscontinuous: isDiscontinuous))
        }

        var time: Int64 { Int64(now / 1_000_000) - 5_000 }

        /// Sends packets of 20 ms; those in `lost` do not arrive.
        func say(_ samples: [Int16], lost: (Int) -> Bool = { _ in false }) throws {
            for (number, start) in stride(from: 0, to: samples.count, by: encoder.frameCount).enumerated() {
                let frame = samples[start..<min(start + encoder.frameCount, samples.count)]
                let payload = try encoder.encode(frame + Array(repeating: 0, count: encoder.frameCount - frame.count))
                // Encoders return such packets when nothing has to be sent.
                if payload.count > 2, !lost(number) {
                    voice.take(
                        AudioPacket(
                            sequence: sequence, timestamp: timestamp, arrival: Instant(nanoseconds: now),
                            payload: payload))
                }
                if payload.count > 2 { sequence &+= 1 }
                timestamp &+= 960
                pass(milliseconds: 20)
            }
        }

        /// The microphone is muted: nothing arrives, and the source's clock stands still.
        func mute(milliseconds: UInt64) { pass(milliseconds: milliseconds) }

        private func pass(milliseconds: UInt64) {
            for _ in stride(from: 0, to: milliseconds, by: 20) {
                now += 20_000_000
                voice.advance(to: Instant(nanoseconds: now))
            }
        }

        func finish() async -> [LiveCaptions.Caption] {
            voice.finish(at: Instant(nanoseconds: now))
            var received: [LiveCaptions.Caption] = []
            await captions.run(payer: { .speaker }) { event in
                if case .caption(let caption) = event { received.append(caption) } else { Issue.record("\(event)") }
            }
            return received
        }
    }

    /// A buzz of 0.6 s, whose level goes up and down.
    private static let syllable: [Int16] = (0..<9_600).map { index in
        let level: Int16 = (index / 1_600) % 2 == 0 ? 1_000 : 5_000
        return index % 80 < 40 ? level : -level
    }

    @Test("muting ends an utterance, and later ones have correct times", arguments: [false, true])
    func muted(isDiscontinuous: Bool) async throws {
        let speaker = try Speaker(TranscriptionQueue(Measuring(), accounting: nil), isDiscontinuous: isDiscontinuous)
        try speaker.say(Flite.silence(0.4))
        var starts: [Int64] = []
        for round in 0..<12 {
            starts.append(speaker.time)
            try speaker.say(Self.syllable)
            // Sometimes nothing arrives, and sometimes silence does.
            if round % 3 == 2 {
                try speaker.say(Flite.silence(1.6))
            } else {
                speaker.mute(milliseconds: round % 2 == 0 ? 900 : 4_000)
            }
            let utterances = speaker.captions.waitingCount
            #expect(utterances == round + 1, "It is over within 0.9 s.")
        }
        let received = await speaker.finish()
        #expect(received.count == starts.count)
        for (caption, start) in zip(received, starts) {
            // An utterance begins up to 0.2 s before what is loud.
            #expect(caption.start <= start + 60 && caption.start >= start - 260, "\(caption.start) for \(start)")
        }
    }

    @Test("lost and late packets create no additional captions")
    func lossy() async throws {
        let speaker = try Speaker(TranscriptionQueue(Measuring(), accounting: nil))
        var random = SeededRandom(seed: 5)
        var starts: [Int64] = []
        for _ in 0..<20 {
            try speaker.say(Flite.silence(1))
            starts.append(speaker.time)
            try speaker.say(Self.syllable, lost: { $0 > 2 && Int.random(in: 0..<10, using: &random) == 0 })
        }
        let received = await speaker.finish()
        #expect(received.count == starts.count)
        for (caption, start) in zip(received, starts) {
            #expect(abs(caption.start - start) < 300, "\(caption.start) for \(start)")
            #expect((500...1_100).contains(Int(caption.text) ?? 0), "\(caption.text)")
        }
    }

    @Test("flite's speech becomes captions after Opus, DTX and mute", .enabled(if: Flite.hasRecognizer))
    func spoken() async throws {
        let phrases = ["one two three four five", "six seven eight nine ten"]
        let speaker = try Speaker(
            TranscriptionQueue(CommandTranscriber.pocketsphinx(), accounting: nil), isDiscontinuous: true)
        for phrase in phrases {
            try speaker.say(Flite.silence(0.5) + Flite.say(phrase))
            speaker.mute(milliseconds: 2_000)
        }
        #expect(await speaker.finish().map(\.text) == phrases)
    }
}
