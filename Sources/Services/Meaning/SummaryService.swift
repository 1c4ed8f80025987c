internal import Languages
package import Messaging
package import Model
package import Storage

/// Says what is worth knowing of messages: summaries, and which unread ones come first. What is made of the vectors that
/// messages have already is made for who asks, and stored nowhere; of what a model writes see `WrittenSummaries`.
package final class SummaryService: Sendable {
    private static let concurrent = 2
    private static let waiting = 64
    private static let maxPriority = 50

    private let store: Store
    private let commands: ConversationCommands
    private let model: String
    private let intents: IntentSource?
    private let calls: EmbeddingCalls?
    private let written: WrittenSummaries?
    private let limiter = ConcurrencyLimiter(
        maxConcurrent: concurrent, maxWaiting: waiting, busyWith: "summaries")
    private let turns: KeyedSerialQueue<UserID>

    /// - Parameters:
    ///   - intents: nil without a provider of embeddings, as `calls`.
    ///   - models: what has a language model, or not.
    package init(
        store: Store, commands: ConversationCommands, intents: IntentSource?, calls: EmbeddingCalls?, models: ModelCalls
    ) {
        self.store = store
        self.commands = commands
        model = intents?.engine.model ?? ""
        self.intents = intents
        self.calls = calls
        let turns = KeyedSerialQueue<UserID>()
        self.turns = turns
        written = models.model.map {
            WrittenSummaries(store: store, commands: commands, models: models, model: $0, turns: turns)
        }
    }

    /// A summary of messages that the user sees: by the language model, and by what the messages say themselves where there
    /// is none, it may not be given any of them, or it does not help.
    ///
    /// - Throws: `provider_not_configured` without anything that summarises, `consent_required`, `budget_exhausted` or
    ///   `provider_failed` if the only thing that does may not, or does not respond.
    package func summary(
        of id: ConversationID, _ scope: SummaryScope, by user: UserID
    ) async throws -> MessageSummary {
        guard let written else { return try await extracted(of: id, scope, by: user, reason: nil) }
        switch try await written.summary(of: id, scope, by: user) {
        case .summary(let summary): return summary
        case .none(let reason, let problem):
            guard intents != nil else { throw problem }
            return try await extracted(of: id, scope, by: user, reason: reason)
        }
    }

    /// What messages say themselves, whether there is a language model or not.
    package func extract(
        of id: ConversationID, _ scope: SummaryScope, by user: UserID
    ) async throws -> MessageSummary { try await extracted(of: id, scope, by: user, reason: nil) }

    private func extracted(
        of id: ConversationID, _ scope: SummaryScope, by user: UserID, reason: MessageSummary.Reason?
    ) async throws -> MessageSummary {
        if let call = scope.call { return try await extracted(ofCall: call, in: id, by: user, reason) }
        let (commands, name) = (commands, model)
        // Who may not see the messages does not learn what the server has.
        let found = try await read(for: user) { store in
            let model = try store.vectorModel(ifNamed: name) ?? VectorModel(key: -1, name: name)
            return try commands.summarySources(of: id, scope, by: user, model, in: store)
        }
        guard let intents else { throw Self.isNotConfigured }
        let items = try await items(of: found.sources, for: user, by: intents)
        return MessageSummary(
            kind: .extractive, reason: reason, engine: name, range: found.range, count: found.count, items: items)
    }

    /// What was said has no vectors: they are made for who asks.
    private func extracted(
        ofCall call: CallID, in id: ConversationID, by user: UserID, _ reason: MessageSummary.Reason?
    ) async throws -> MessageSummary {
        let commands = commands
        let (speech, messages) = try await read(for: user) { store in
            let speech = try CallSpeech(of: call, in: id, by: user, store)
            let summarised = try speech.summarised(in: id, by: user, commands, store)
            return (speech, (all: summarised.messages.count, allowed: try commands.embeddable(summarised, in: store)))
        }
        guard let intents, let calls else { throw Self.isNotConfigured }
        var vectors: [Int64: EmbeddingVector] = [:]
        let spoken = messages.allowed.suffix(CallSpeech.maxEmbedded)
        for (_, own) in Dictionary(grouping: spoken, by: \.author) {
            let texts = own.compactMap { message in
                message.translatableText?.passages(maxCount: 1).first.map { (message.number, $0) }
            }
            let made = try await calls.vectors(of: texts.map(\.1), as: .passage, for: .summaries, payer: user)
            for (text, vector) in zip(texts, made) { vectors[text.0] = vector }
        }
        let sources = spoken.compactMap { message in
            vectors[message.number].map { ExtractiveSummary.Source(message: message, vector: $0) }
        }
        let items = try await items(of: sources, for: user, by: intents)
        return speech.shown(
            MessageSummary(
                kind: .extractive, reason: reason, engine: intents.engine.model, range: nil, count: messages.all,
                items: items))
    }

    /// The unread messages that the user should see first, the most important first; with the profiles of their authors.
    package func priority<Shown: Sendable>(
        of user: UserID, limit: Int, shownToHostedModel hosted: Bool? = nil,
        show: @escaping @Sendable ([PriorityMessage], StoreTransaction) throws -> Shown
    ) async throws -> Shown {
        guard let intents else { throw Self.isNotConfigured }
        let (commands, name) = (commands, model)
        let classifier = try await intents.classifier()
        return try await read(for: user) { store in
            let model = try store.vectorModel(ifNamed: name) ?? VectorModel(key: -1, name: name)
            let unread = try commands.unreadSources(of: user, model, shownToHostedModel: hosted, in: store)
            let ranked = PriorityMessage.ranked(unread, for: user, classifier, limit: min(limit, Self.maxPriority))
            return try show(ranked, store)
        }
    }

    /// One read of a user after the other: who asks for many waits for themselves.
    private func read<Value: Sendable>(
        for user: UserID, _ job: @escaping @Sendable (StoreTransaction) throws -> Value
    ) async throws -> Value {
        try await turns.run(user) { [limiter, store] in try await limiter.withSlot { try await store.longRead(job) } }
    }

    private func items(
        of sources: [ExtractiveSummary.Source], for user: UserID, by intents: IntentSource
    ) async throws -> [MessageSummary.Item] {
        let extractive = ExtractiveSummary(try await intents.classifier())
        return try await turns.run(user) { [limiter] in try await limiter.run { extractive.items(of: sources) } }
    }

    private static let isNotConfigured = Problem(
        .providerNotConfigured, "This server has nothing that understands texts.")
}
