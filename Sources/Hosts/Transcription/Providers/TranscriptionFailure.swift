/// Why there is no transcript, in words that can be shown to the one who asked for it.
package enum TranscriptionFailure: Error, Hashable, Sendable {
    /// The operator chose no provider.
    case notConfigured
    case timedOut
    /// The provider said no, with a status of HTTP.
    case refused(status: Int, reason: String, retryAfter: Duration?)
    /// What came is no transcript: what was wrong with it.
    case badAnswer(String)
    /// In bytes.
    case answerTooLarge(limit: Int)
    case unreachable(String)
    /// The webhook's name leads to an address within the operator's network, which has to be allowed.
    case addressRefused(String)
    /// It is not installed, or may not be run.
    case programMissing(String)
    /// How it ended, and the end of what it wrote on standard error, which may name files: for the log.
    case programFailed(ProgramEnding, complaint: String)
    case queueFull
    case tooLong(limit: Duration)
    case cancelled
    case shutDown

    package enum ProgramEnding: Hashable, Sendable {
        case exit(Int32)
        case signal(Int32)
    }

    /// Whether the same request may well have another answer soon, so that it is made again without being asked.
    package var isWorthARetry: Bool {
        switch self {
        case .timedOut, .unreachable: true
        case .refused(let status, _, _): [408, 425, 429, 500, 502, 503, 504].contains(status)
        case .notConfigured, .badAnswer, .answerTooLarge, .addressRefused, .programMissing, .programFailed, .queueFull,
            .tooLong, .cancelled, .shutDown:
            false
        }
    }

    /// Whether a person who tries again later may have luck without changing anything.
    package var mayBeTriedAgain: Bool {
        switch self {
        case .notConfigured, .tooLong, .addressRefused: false
        case .timedOut, .refused, .badAnswer, .answerTooLarge, .unreachable, .programMissing, .programFailed,
            .queueFull,
            .cancelled, .shutDown:
            true
        }
    }

    /// A stable name of the kind, for answers of the API and labels of metrics.
    package var kind: String {
        switch self {
        case .notConfigured: "provider_not_configured"
        case .timedOut: "timed_out"
        case .refused: "refused"
        case .badAnswer: "bad_answer"
        case .answerTooLarge: "answer_too_large"
        case .unreachable: "unreachable"
        case .addressRefused: "address_refused"
        case .programMissing: "program_missing"
        case .programFailed: "program_failed"
        case .queueFull: "queue_full"
        case .tooLong: "too_long"
        case .cancelled: "cancelled"
        case .shutDown: "shut_down"
        }
    }
}

extension TranscriptionFailure: CustomStringConvertible {
    package var description: String {
        switch self {
        case .notConfigured: "No provider of transcription is configured."
        case .timedOut: "The transcription took too long."
        case .refused(let status, let reason, _):
            "The provider of transcription refused with status \(status)\(reason.isEmpty ? "." : ": \(reason)")"
        case .badAnswer(let what): "The provider of transcription gave a bad answer: \(what)."
        case .answerTooLarge(let limit): "The provider of transcription answered more than \(limit) bytes."
        case .unreachable(let why): "The provider of transcription cannot be reached: \(why)."
        case .addressRefused(let address):
            "The provider of transcription is at the private address \(address), which is not allowed."
        case .programMissing(let name): "The program of transcription, \(name), cannot be run."
        case .programFailed(.exit(let code), _): "The program of transcription failed with exit code \(code)."
        case .programFailed(.signal(let number), _): "The program of transcription was ended by signal \(number)."
        case .queueFull: "Too much waits to be transcribed; try again later."
        case .tooLong(let limit): "Longer than \(limit.components.seconds) seconds, which is what is transcribed."
        case .cancelled: "The transcription was cancelled."
        case .shutDown: "The server is stopping."
        }
    }
}
