package import Languages
package import Logging
package import Messaging
internal import Model
package import Storage

/// Has single texts turned into vectors for who waits for it. Where the engine is hosted, that is on their budget.
package struct EmbeddingCalls: Sendable {
    package enum Purpose: String, Sendable, CaseIterable {
        case search, replies, summaries
    }

    private static let timeout = Duration.seconds(5)

    package let engine: any EmbeddingEngine
    private let accounting: ProviderAccounting
    private let logger: Logger

    package init(store: Store, commands: ConversationCommands, engine: any EmbeddingEngine, logger: Logger) {
        accounting = ProviderAccounting(store: store, commands: commands)
        self.engine = engine
        self.logger = logger
    }

    /// - Returns: nil for a text of which the engine makes none.
    /// - Throws: `budget_exhausted`, `provider_failed`.
    func vector(
        of text: String, as kind: EmbeddingRequest.Purpose, for purpose: Purpose, payer: UserID
    ) async throws -> EmbeddingVector? {
        try await vectors(of: [text], as: kind, for: purpose, payer: payer).first ?? nil
    }

    /// - Parameter texts: of one author; any number of them.
    func vectors(
        of texts: [String], as kind: EmbeddingRequest.Purpose, for purpose: Purpose, payer: UserID
    ) async throws -> [EmbeddingVector?] {
        var vectors: [EmbeddingVector?] = []
        for start in stride(from: 0, to: texts.count, by: EmbeddingRequest.maxTexts) {
            let part = texts[start..<min(start + EmbeddingRequest.maxTexts, texts.count)].map { text in
                String(String.UnicodeScalarView(text.unicodeScalars.prefix(EmbeddingRequest.maxLength)))
            }
            vectors += try await send(EmbeddingRequest(part, kind), for: purpose, payer: payer)
        }
        return vectors
    }

    private func send(
        _ request: EmbeddingRequest, for purpose: Purpose, payer: UserID
    ) async throws -> [EmbeddingVector?] {
        let call = ProviderCall(
            at: .systemClock(), payer: payer, purpose: purpose.rawValue, engine: engine.model,
            texts: request.texts.count,
            characters: request.texts.reduce(0) { $0 + Int64($1.unicodeScalars.count) },
            estimate: engine.estimate(of: request.texts))
        guard let open = try await accounting.begin(call, isHosted: engine.isHosted) else {
            throw Problem(
                .budgetExhausted, "What hosted services may be given is used up for today, or for this month.",
                retryAfter: 3_600)
        }
        switch await open.vectors(of: request, by: engine, deadline: .now + Self.timeout) {
        case .success(let vectors):
            try await accounting.end(open, .done)
            return vectors
        case .failure(let error):
            try await accounting.end(open, .refused)
            if error == .cancelled { throw CancellationError() }
            logger.warning("no vectors of texts", metadata: ["engine": "\(engine.model)", "reason": "\(error)"])
            throw Problem(
                .providerFailed,
                purpose == .search
                    ? "What understands texts did not respond: search by words, or try again."
                    : "What understands texts did not respond: try again.")
        }
    }
}

extension ProviderAccounting.OpenCall {
    func vectors(
        of request: EmbeddingRequest, by engine: any EmbeddingEngine, deadline: ContinuousClock.Instant
    ) async -> Result<[EmbeddingVector?], EmbeddingFailure> {
        await metered {
            do throws(EmbeddingFailure) {
                return .success(try await engine.embed(request, deadline: deadline))
            } catch {
                return .failure(error)
            }
        }
    }
}
