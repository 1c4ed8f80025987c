/// Transcribes speech: a service, a program, or the operator's own webhook.
///
/// It validates what a provider returns, and ends at the deadline or when its task is cancelled. Concurrency and
/// retries are up to the queue.
package protocol Transcriber: Sendable {
    /// The provider and the model: transcripts of the same identity are interchangeable. It contains no secret.
    var identity: String { get }
    /// What operators know it by, in lists of calls and in metrics: of a service the model.
    var name: String { get }

    /// - Parameter language: a BCP 47 tag; nil: detected by the provider.
    func transcribe(
        _ audio: SpeechAudio, language: String?, deadline: ContinuousClock.Instant
    ) async throws(TranscriptionFailure) -> Transcript
}
