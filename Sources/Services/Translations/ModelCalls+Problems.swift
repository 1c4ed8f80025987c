import Languages
import Messaging
import Model
import Storage

// What those are told who asked for what only a language model can do.
extension ModelCalls {
    static let isNotConfigured = Problem(.providerNotConfigured, "This server has no language model.")

    static func consentProblem(_ model: any LanguageModel) -> Problem {
        Problem(
            .consentRequired,
            model.isHosted
                ? "It would be given to the hosted language model \(model.name): the server, the conversation and its "
                    + "author have to allow the level full."
                : "The server, the conversation and its author have to allow that machines work with it.")
    }
}

extension ModelCalls.Failure {
    func problem(_ model: any LanguageModel) -> Problem {
        switch self {
        case .budgetExhausted:
            return .budgetExhausted(at: .systemClock())
        case .model(let failure):
            return Problem(
                .providerFailed, "The language model \(model.name) has not helped: \(failure.summary).")
        }
    }
}

extension TranslationFailure {
    /// For those who asked: nothing of what the provider said.
    fileprivate var summary: String {
        switch self {
        case .damaged: "links, names or code came back damaged"
        case .invalidResponse: "what it returned cannot be used"
        case .textTooLong: "the text is too long for it"
        case .limited, .unavailable, .cancelled: "it is not available now"
        case .pairNotSupported, .refused, .unknownWords, .ended: "it refuses"
        }
    }
}
