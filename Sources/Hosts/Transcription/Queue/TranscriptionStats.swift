/// What a queue of transcription does and did, for whoever watches it.
package struct TranscriptionFigures: Hashable, Sendable {
    /// Jobs that wait, for a turn or to be tried again.
    package var waiting = 0
    package var running = 0
    /// How long the oldest of those that wait has been there.
    package var oldest: Duration = .zero
    /// By `TranscriptionFailure.kind`, `done` or `cached`.
    package var outcomes: [String: UInt64] = [:]
    package var retries: UInt64 = 0
    /// Of the sound that was transcribed, not counting what was cached.
    package var milliseconds: Int64 = 0
}
