/// Something that writes down what is said: a service, a program, the operator's own webhook.
///
/// It trusts nobody: what it returns has been checked, and whatever it waits for ends with the deadline or with the task.
/// How many run at a time, and what is tried again, is the queue's to decide.
package protocol Transcriber: Sendable {
    /// Who answers, with which model: answers of one identity may stand for each other. It holds no secret.
    var identity: String { get }

    /// - Parameter language: of which it is said to be, as BCP 47 writes it; nil: to be found out.
    func transcribe(
        _ audio: SpeechAudio, language: String?, deadline: ContinuousClock.Instant
    ) async throws(TranscriptionFailure) -> Transcript
}
