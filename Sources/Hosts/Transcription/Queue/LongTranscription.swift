/// Transcribes audio of any length, a voice message or the track of a recording, with only one segment in memory.
///
/// The voice activity detector splits it where nobody speaks, so that silence costs nothing and words stay whole. Each
/// segment goes through the queue by itself, and the transcripts are joined with the times of the whole. The decoder
/// waits while a segment is transcribed. When a segment fails the whole transcription fails; a retry requests only what
/// is not in the cache.
package struct LongTranscription: Sendable {
    private let queue: TranscriptionQueue
    private let payer: TranscriptionPayer
    private let language: String?
    private let priority: TranscriptionPriority
    private let isCached: Bool
    private let timeout: Duration
    private var detector: VoiceActivityDetector
    private var parts: [(start: Int64, transcript: Transcript)] = []

    /// - Parameters:
    ///   - maxSegmentDuration: of the audio that a provider gets at a time.
    ///   - isCached: whether transcripts are looked up in the cache, and kept there.
    ///   - timeout: for each segment, waiting and retries included.
    package init(
        _ queue: TranscriptionQueue, for payer: TranscriptionPayer, language: String? = nil,
        maxSegmentDuration: Duration = .seconds(60), priority: TranscriptionPriority = .recorded, isCached: Bool = true,
        within timeout: Duration = .seconds(300)
    ) {
        self.queue = queue
        self.payer = payer
        self.language = language
        self.priority = priority
        self.isCached = isCached
        self.timeout = timeout
        var limits = VoiceActivityDetector.Limits()
        limits.maxDuration = maxSegmentDuration
        // Engines recognize longer segments better.
        limits.pause = .seconds(2)
        detector = VoiceActivityDetector(limits)
    }

    /// Adds the next samples, at 16 kHz.
    package mutating func take(_ samples: some Sequence<Int16>) async throws(TranscriptionFailure) {
        try await transcribe(detector.take(samples))
    }

    /// Transcribes samples that are there, at 16 kHz, a second at a time: what was found is transcribed before the rest is
    /// looked at.
    package mutating func transcript(of samples: [Int16]) async throws(TranscriptionFailure) -> Transcript {
        var left = samples[...]
        while !left.isEmpty {
            try await take(left.prefix(16_000))
            left = left.dropFirst(16_000)
        }
        return try await finish()
    }

    /// Skips silence up to a time since the beginning.
    package mutating func skip(to milliseconds: Int64) async throws(TranscriptionFailure) {
        try await transcribe(detector.skip(to: milliseconds))
    }

    /// Ends the audio and returns the whole transcript.
    package mutating func finish() async throws(TranscriptionFailure) -> Transcript {
        try await transcribe(detector.finish())
        return Transcript(joining: parts)
    }

    private mutating func transcribe(_ utterances: [Utterance]) async throws(TranscriptionFailure) {
        for utterance in utterances {
            let transcript = try await queue.transcribe(
                utterance.audio, for: payer, language: language, priority: priority, isCached: isCached, within: timeout
            )
            parts.append((utterance.start, transcript))
        }
    }
}
