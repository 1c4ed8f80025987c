internal import Languages
internal import Providers

extension EmbeddingFailure {
    init(_ failure: ProviderFailure) {
        self =
            switch failure {
            case .timedOut, .unreachable, .programMissing, .programFailed: .unavailable(failure.description)
            case .responseTooLarge: .invalidResponse(failure.description)
            case .addressNotAllowed: .refused(failure.description)
            case .cancelled: .cancelled
            }
    }
}
