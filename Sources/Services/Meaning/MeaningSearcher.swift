package import Languages
package import Logging
package import Messaging
import Metrics
package import Model
package import Storage

/// What a search compares.
package enum SearchMode: String, Hashable, Sendable, CaseIterable {
    case words
    case meaning
    /// The ranks of both as one.
    case both
}

/// What a search by meaning returns.
package struct MeaningResponse: Hashable, Sendable {
    package var page: MeaningPage
    /// The part of the messages that the user may see which was embedded, from 0 to 1; nil if only words were compared.
    package var coverage: Double?
    /// Why a search for words and meaning has compared the words alone.
    package var withoutMeaning: Problem.Kind?
}

/// Finds messages by their meaning: the query becomes a vector, and the vectors of messages like it propose, which the
/// messages themselves decide.
package final class MeaningSearcher: Sendable {
    /// Messages that vectors propose: with filters more, since most pass none of them.
    private static let candidates = (plain: 200, filtered: 1_000)

    /// What ends a search by meaning leaves one of both with the words.
    private static let leavesWords: Set<Problem.Kind> = [.providerFailed, .budgetExhausted, .consentRequired]

    private let store: Store
    private let commands: ConversationCommands
    private let engine: any EmbeddingEngine
    private let index: VectorIndex
    private let calls: EmbeddingCalls
    private let limits: SearchLimits
    private let duration = Timer(label: "meaning_search_seconds")

    package init(
        store: Store, commands: ConversationCommands, engine: any EmbeddingEngine, index: VectorIndex,
        limits: SearchLimits = SearchLimits(), logger: Logger
    ) {
        self.store = store
        self.commands = commands
        self.engine = engine
        self.index = index
        self.limits = limits
        calls = EmbeddingCalls(store: store, commands: commands, engine: engine, logger: logger)
    }

    /// - Parameter show: reads what the response shows, in the transaction in which messages decide.
    package func search<Shown: Sendable>(
        _ request: SearchRequest, mode: SearchMode, by user: UserID,
        show: @escaping @Sendable (MeaningResponse, StoreTransaction) throws -> Shown
    ) async throws -> Shown {
        guard let query = request.query else {
            throw Problem.invalid("query", "A search by meaning needs a query.")
        }
        guard request.cursor == nil else {
            throw Problem.invalid("cursor", "A search by meaning has one page, of the best.")
        }
        let start = ContinuousClock.now
        defer { duration.record(duration: ContinuousClock.now - start) }
        let (commands, limits) = (commands, limits)
        var proposed: (candidates: [MeaningCandidate], coverage: Double?) = ([], nil)
        var withoutMeaning: Problem.Kind?
        do {
            proposed = try await candidates(for: query, request.filters, by: user)
        } catch let problem as Problem where mode == .both && Self.leavesWords.contains(problem.kind) {
            withoutMeaning = problem.kind
        }
        let ((found, coverage), reason) = (proposed, withoutMeaning)
        return try await store.longRead { store in
            let page = try commands.searchByMeaning(
                request, found, withWords: mode == .both, limits: limits, by: user, in: store)
            let response = MeaningResponse(page: page, coverage: coverage, withoutMeaning: reason)
            return try show(response, store)
        }
    }

    /// The messages whose vectors are like the query's, the most similar first, and which part of all has one.
    private func candidates(
        for query: SearchQuery, _ filters: SearchFilters, by user: UserID
    ) async throws -> ([MeaningCandidate], coverage: Double) {
        let (commands, name, isHosted) = (commands, engine.model, engine.isHosted)
        let (model, scopes) = try await store.longRead { store in
            // What is searched for leaves the server only if its user allows that.
            guard try commands.level(of: user, in: store).allowsEmbedding(byHosted: isHosted) || !isHosted else {
                throw Problem(
                    .consentRequired, "A hosted service would have to read the query, which you do not allow.")
            }
            let model = try store.vectorModel(ifNamed: name)
            return (
                model,
                try commands.meaningScopes(
                    filters, by: user, model ?? VectorModel(key: -1, name: name), in: store)
            )
        }
        let (all, embedded) = scopes.reduce((Int64(0), Int64(0))) { ($0.0 + $1.count, $0.1 + $1.embedded) }
        let coverage = all == 0 ? 1 : Double(embedded) / Double(all)
        guard let model, all > 0,
            let vector = try await calls.vector(of: query.text, as: .query, for: .search, payer: user)
        else { return ([], coverage) }
        let limit = filters == filters.scope ? Self.candidates.plain : Self.candidates.filtered
        return (try await index.search(vector, in: scopes, by: model, limit: limit), coverage)
    }
}
