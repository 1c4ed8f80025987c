/// Writes down a sound of any length, a voice message or the track of a recording, without ever holding more of it than
/// one piece.
///
/// The voice gate cuts it where nobody speaks, so that silence costs nothing and words stay whole; each piece passes the
/// queue by itself, and what they say is joined with the times of the whole. Who decodes the sound waits while a piece is
/// written down. When a piece fails all of it has, and trying again asks only for what the cache has not.
package struct LongTranscription: Sendable {
    private let queue: TranscriptionQueue
    private let language: String?
    private let patience: Duration
    private var gate: VoiceGate
    private var parts: [(start: Int64, transcript: Transcript)] = []

    /// - Parameters:
    ///   - longestPiece: what a provider is given at a time.
    ///   - patience: for each piece, waiting and retries included.
    package init(
        _ queue: TranscriptionQueue, language: String? = nil, longestPiece: Duration = .seconds(60),
        within patience: Duration = .seconds(300)
    ) {
        self.queue = queue
        self.language = language
        self.patience = patience
        var limits = VoiceGate.Limits()
        limits.longest = longestPiece
        // Engines hear better what they hear together.
        limits.pause = .seconds(2)
        gate = VoiceGate(limits)
    }

    /// Takes what comes next, at 16 kHz.
    package mutating func take(_ samples: some Sequence<Int16>) async throws(TranscriptionFailure) {
        try await writeDown(gate.take(samples))
    }

    /// There was no sound until so many milliseconds from the beginning.
    package mutating func skip(to milliseconds: Int64) async throws(TranscriptionFailure) {
        try await writeDown(gate.skip(to: milliseconds))
    }

    /// Nothing more comes: all that was said.
    package mutating func finish() async throws(TranscriptionFailure) -> Transcript {
        try await writeDown(gate.finish())
        return Transcript(joining: parts)
    }

    private mutating func writeDown(_ utterances: [Utterance]) async throws(TranscriptionFailure) {
        for utterance in utterances {
            let transcript = try await queue.transcribe(
                utterance.audio, language: language, priority: .recorded, within: patience)
            parts.append((utterance.start, transcript))
        }
    }
}
