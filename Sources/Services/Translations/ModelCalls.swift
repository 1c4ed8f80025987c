package import Languages
package import Logging
package import Messaging
internal import Model
package import Storage
import Synchronization

/// Asks the language model: each call of a hosted one is on somebody's budget, in the list of calls, and all are counted.
package final class ModelCalls: Sendable {
    package enum Purpose: String, Sendable, CaseIterable {
        case hints, replies, rewrite, summaries, assistant
        case draftCheck = "draft_check"
    }

    /// Of a purpose, since the start.
    package struct Counts: Hashable, Sendable {
        package var calls: Int64 = 0
        package var characters: Int64 = 0
        package var outcomes: [String: Int64] = [:]
    }

    package enum Failure: Error, Hashable, Sendable {
        case budgetExhausted
        case model(TranslationFailure)
    }

    private static let waiting = 64

    package let model: (any LanguageModel)?
    private let accounting: ProviderAccounting
    let timeout: Duration
    private let logger: Logger
    let limiter: ConcurrencyLimiter
    private let state = Mutex<[Purpose: Counts]>([:])

    package init(
        store: Store, commands: ConversationCommands, model: (any LanguageModel)?, timeout: Duration = .seconds(30),
        concurrency: Int = 4, logger: Logger
    ) {
        accounting = ProviderAccounting(store: store, commands: commands)
        self.model = model
        self.timeout = timeout
        self.logger = logger
        limiter = ConcurrencyLimiter(
            maxConcurrent: concurrency, maxWaiting: Self.waiting, busyWith: "requests to the language model")
    }

    package var values: [Purpose: Counts] { state.withLock { $0 } }
    /// Requests that are not sent yet.
    package var waitingCount: Int { limiter.waitingCount }

    /// - Parameter read: reads what came back, and refuses what cannot be used.
    ///
    /// - Throws: `Failure`; `rate_limited` or `unavailable` if too many requests wait.
    func ask<Result: Sendable>(
        _ request: ModelRequest, by model: any LanguageModel, for purpose: Purpose, payer: UserID,
        _ read: @Sendable ([UInt8]) throws(TranslationFailure) -> Result
    ) async throws -> Result {
        try await limiter.withSlot { try await send(request, to: model, for: purpose, payer: payer, read) }
    }

    private func send<Result: Sendable>(
        _ request: ModelRequest, to model: any LanguageModel, for purpose: Purpose, payer: UserID,
        _ read: @Sendable ([UInt8]) throws(TranslationFailure) -> Result
    ) async throws -> Result {
        let characters = Int64(request.data.unicodeScalars.count)
        return try await call(
            model, characters, estimate: TokenUsage(estimateOf: request), for: purpose, payer: payer
        ) { deadline throws(TranslationFailure) in
            try read(try await model.respond(to: request, deadline: deadline))
        }
    }

    /// One call of a model: reserved first, settled and counted after.
    ///
    /// - Parameter estimate: of the tokens that it may use.
    func call<Result: Sendable>(
        _ model: any LanguageModel, _ characters: Int64, estimate: TokenUsage, for purpose: Purpose, payer: UserID,
        _ call: (ContinuousClock.Instant) async throws(TranslationFailure) -> Result
    ) async throws -> Result {
        let reserved = try await reserve(model, purpose, payer, characters, estimate)
        state.withLock { counts in
            counts[purpose, default: Counts()].calls += 1
            counts[purpose, default: Counts()].characters += characters
        }
        let outcome = await reserved.metered { () async -> Swift.Result<Result, TranslationFailure> in
            do throws(TranslationFailure) {
                return .success(try await call(.now + timeout))
            } catch {
                return .failure(error)
            }
        }
        switch outcome {
        case .success(let result):
            count("done", purpose)
            try? await accounting.end(reserved, .done)
            return result
        case .failure(let error):
            count(error.label, purpose)
            // What was cancelled may have been written by half, which costs.
            try? await accounting.end(
                reserved, error.isTemporary && error != .cancelled ? .refused : .unusable)
            if !Task.isCancelled {
                logger.warning(
                    "the language model has not helped",
                    metadata: ["model": "\(model.name)", "purpose": "\(purpose.rawValue)", "reason": "\(error)"])
            }
            throw Failure.model(error)
        }
    }

    private func reserve(
        _ model: any LanguageModel, _ purpose: Purpose, _ payer: UserID, _ characters: Int64, _ estimate: TokenUsage
    ) async throws -> ProviderAccounting.OpenCall {
        let call = ProviderCall(
            at: .systemClock(), payer: payer, purpose: purpose.rawValue, engine: model.name, texts: 1,
            characters: characters, estimate: estimate)
        guard let reserved = try await accounting.begin(call, isHosted: model.isHosted) else {
            count("budget_exhausted", purpose)
            throw Failure.budgetExhausted
        }
        return reserved
    }

    private func count(_ outcome: String, _ purpose: Purpose) {
        state.withLock { $0[purpose, default: Counts()].outcomes[outcome, default: 0] += 1 }
    }
}
