import Languages
import Messaging
import Model
import Storage

// Hints by a language model: one message at a time.
extension TranslationWorker {
    func makeHints(_ claim: ClaimedJob) async throws {
        let (commands, models) = (commands, models)
        guard let model = models.model else { return try await end(claim, .failed(.providerFailed)) }
        let isHosted = model.isHosted
        let work = try await store.read { try commands.hintWork(for: claim, isHosted: isHosted, in: $0) }
        guard let work else {
            // Its message has changed.
            _ = try await store.write { try $0.finish(claim) }
            return
        }
        guard work.level.allowsModel(isHosted: isHosted) else {
            return try await end(claim, .unavailable(.consentRequired))
        }
        let prompt = HintPrompt(
            work.text, language: work.language, reader: claim.job.target.language, earlier: work.earlier)
        do {
            let hints = try await models.ask(prompt.request, by: model, for: .hints, payer: claim.job.payer) {
                response throws(TranslationFailure) in try prompt.hints(response)
            }
            try await end(claim, .explained(hints, engine: model.name, isHosted: isHosted, sources: work.sources))
        } catch ModelCalls.Failure.budgetExhausted {
            try await end(claim, .unavailable(.budgetExhausted))
        } catch ModelCalls.Failure.model(let failure) {
            // Who asked waits for it: soon it is said that it has failed, and asking again tries again.
            guard failure.isTemporary, claim.attempts < Self.hintAttempts, let delay = delay(after: claim) else {
                return try await end(claim, .failed(.providerFailed))
            }
            try await postpone(claim, by: delay)
        } catch is Problem {
            // Too many others ask it.
            try await postpone(claim, by: limits.firstDelay)
        }
    }

    private func postpone(_ claim: ClaimedJob, by seconds: Int64) async throws {
        let commands = commands
        _ = try await store.write { store in
            try commands.postpone(claim, until: store.now.adding(seconds: seconds), in: store)
        }
    }

    private static var hintAttempts: Int { 3 }

    private func end(_ claim: ClaimedJob, _ outcome: HintOutcome) async throws {
        let commands = commands
        _ = try await store.write { try commands.completeHints(claim, outcome, in: $0) }
    }
}
