/// The statistics of a transcription queue.
package struct TranscriptionStats: Hashable, Sendable {
    /// Jobs that wait for a slot or for a retry.
    package var waiting = 0
    package var running = 0
    /// The age of the oldest waiting job.
    package var oldest: Duration = .zero
    /// By `TranscriptionFailure.kind`, `done` or `cached`.
    package var outcomes: [String: UInt64] = [:]
    package var retries: UInt64 = 0
    /// The duration of the transcribed audio, without what came from the cache.
    package var milliseconds: Int64 = 0
}
