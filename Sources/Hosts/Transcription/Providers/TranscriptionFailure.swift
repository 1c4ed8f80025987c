package import Providers

/// Why there is no transcript. Its description can be shown to users.
package enum TranscriptionFailure: Error, Hashable, Sendable {
    /// The operator has configured no provider.
    case notConfigured
    case timedOut
    /// The provider responded with an HTTP error.
    case refused(status: Int, reason: String, retryAfter: Duration?)
    /// The response is not a valid transcript, and why.
    case invalidResponse(String)
    /// In bytes.
    case responseTooLarge(limit: Int)
    case unreachable(String)
    /// The webhook's name resolves to a private address, which is not allowed by the configuration.
    case addressNotAllowed(String)
    /// The program is not installed or not executable.
    case programMissing(String)
    /// The exit status and the end of standard error, which may name files: for the log only.
    case programFailed(ProgramEnding, errorOutput: String)
    case queueFull
    /// What the provider may be given is used up, for whoever speaks or for the server.
    case budgetExhausted
    case tooLong(limit: Duration)
    case cancelled
    case shutDown

    /// Whether an automatic retry of the same request may succeed soon.
    package var isRetryable: Bool {
        switch self {
        case .timedOut, .unreachable: true
        case .refused(let status, _, _): [408, 425, 429, 500, 502, 503, 504].contains(status)
        case .notConfigured, .invalidResponse, .responseTooLarge, .addressNotAllowed, .programMissing, .programFailed,
            .queueFull, .budgetExhausted, .tooLong, .cancelled, .shutDown:
            false
        }
    }

    /// Whether a user's later retry may succeed without any change.
    package var mayRetryLater: Bool {
        switch self {
        case .notConfigured, .tooLong, .addressNotAllowed: false
        case .timedOut, .refused, .invalidResponse, .responseTooLarge, .unreachable, .programMissing, .programFailed,
            .queueFull, .budgetExhausted, .cancelled, .shutDown:
            true
        }
    }

    /// A stable name of the kind, for responses of the API and labels of metrics.
    package var kind: String {
        switch self {
        case .notConfigured: "provider_not_configured"
        case .timedOut: "timed_out"
        case .refused: "refused"
        case .invalidResponse: "bad_answer"
        case .responseTooLarge: "answer_too_large"
        case .unreachable: "unreachable"
        case .addressNotAllowed: "address_refused"
        case .programMissing: "program_missing"
        case .programFailed: "program_failed"
        case .queueFull: "queue_full"
        case .budgetExhausted: "budget_exhausted"
        case .tooLong: "too_long"
        case .cancelled: "cancelled"
        case .shutDown: "shut_down"
        }
    }
}

extension TranscriptionFailure {
    init(_ failure: ProviderFailure) {
        self =
            switch failure {
            case .timedOut: .timedOut
            case .responseTooLarge(let limit): .responseTooLarge(limit: limit)
            case .unreachable(let why): .unreachable(why)
            case .addressNotAllowed(let address): .addressNotAllowed(address)
            case .programMissing(let name): .programMissing(name)
            case .programFailed(let ending, let errorOutput): .programFailed(ending, errorOutput: errorOutput)
            case .cancelled: .cancelled
            }
    }
}

extension TranscriptionFailure: CustomStringConvertible {
    package var description: String {
        switch self {
        case .notConfigured: "No transcription provider is configured."
        case .timedOut: "The transcription took too long."
        case .refused(let status, let reason, _):
            "The transcription provider returned status \(status)\(reason.isEmpty ? "." : ": \(reason)")"
        case .invalidResponse(let what): "The transcription provider returned an invalid response: \(what)."
        case .responseTooLarge(let limit): "The transcription provider returned more than \(limit) bytes."
        case .unreachable(let why): "The transcription provider cannot be reached: \(why)."
        case .addressNotAllowed(let address):
            "The transcription provider has the private address \(address), which is not allowed."
        case .programMissing(let name): "The transcription program \(name) cannot be run."
        case .programFailed(.exit(let code), _): "The transcription program failed with exit code \(code)."
        case .programFailed(.signal(let number), _): "The transcription program was killed by signal \(number)."
        case .budgetExhausted: "What may be transcribed is used up for today, or for this month."
        case .queueFull: "Too many transcriptions are waiting; try again later."
        case .tooLong(let limit): "Audio longer than \(limit.components.seconds) seconds is not transcribed."
        case .cancelled: "The transcription was cancelled."
        case .shutDown: "The server is stopping."
        }
    }
}
