import Languages
import Logging
internal import Messaging
internal import Model
internal import Storage

/// Summaries that a language model writes, part by part: what it has written of 64 numbers is stored and served to all who
/// see them, so that the next summary costs what is new. The asker pays.
struct WrittenSummaries: Sendable {
    enum Outcome {
        case summary(MessageSummary)
        /// - Parameter problem: for those who have nothing else that summarises.
        case none(MessageSummary.Reason, Problem)
    }

    private struct Key: Hashable {
        var conversation: ConversationID
        var block: Int64
        var language: String
    }

    private let store: Store
    private let commands: ConversationCommands
    private let models: ModelCalls
    private let model: any LanguageModel
    /// In which messages are read.
    private let turns: KeyedSerialQueue<UserID>
    /// So that a model is asked once for all who wait.
    private let blocks = KeyedSerialQueue<Key>()

    init(
        store: Store, commands: ConversationCommands, models: ModelCalls, model: any LanguageModel,
        turns: KeyedSerialQueue<UserID>
    ) {
        self.turns = turns
        self.store = store
        self.commands = commands
        self.models = models
        self.model = model
    }

    func summary(of id: ConversationID, _ scope: SummaryScope, by user: UserID) async throws -> Outcome {
        let (commands, name, isHosted) = (commands, model.name, model.isHosted)
        let (work, speech) = try await turns.run(user) { [store] in
            try await store.longRead { store in
                guard let call = scope.call else {
                    let work = try commands.summaryWork(
                        of: id, scope, by: user, isHosted: isHosted, engine: name, in: store)
                    return (work, CallSpeech?.none)
                }
                let speech = try CallSpeech(of: call, in: id, by: user, store)
                let work = try commands.summaryWork(
                    of: try speech.summarised(in: id, by: user, commands, store), by: user, isHosted: isHosted,
                    engine: name, in: store)
                return (work, speech)
            }
        }
        var summary = MessageSummary(
            kind: .model, engine: name, range: work.range, count: work.count, items: [])
        guard work.count > 0 else { return .summary(speech?.shown(summary) ?? summary) }
        guard !work.parts.isEmpty else { return .none(.consentRequired, ModelCalls.consentProblem(model)) }
        do {
            let items = try await items(of: work, for: user)
            summary.items = work.shown(speech == nil ? try await current(items, of: work, for: user) : items)
            return .summary(speech?.shown(summary) ?? summary)
        } catch let failure as ModelCalls.Failure {
            let reason: MessageSummary.Reason = failure == .budgetExhausted ? .budgetExhausted : .providerFailed
            return .none(reason, failure.problem(model))
        }
    }

    /// Those of which all messages are still as they were read.
    private func current(
        _ items: [MessageSummary.Item], of work: SummaryWork, for user: UserID
    ) async throws -> [MessageSummary.Item] {
        let versions = Dictionary(
            work.parts.flatMap(\.messages).map { ($0.number, $0.textVersion) }, uniquingKeysWith: { first, _ in first })
        let (commands, id, isHosted) = (commands, work.conversation, model.isHosted)
        return try await store.longRead { store in
            var known: [Int64: Bool] = [:]
            return try items.filter { item in
                try item.messages.allSatisfy { number in
                    if let isCurrent = known[number] { return isCurrent }
                    let isCurrent = try versions[number].map { version in
                        try commands.isReadable(
                            number, of: version, in: id, isHosted: isHosted, by: user, in: store)
                    }
                    known[number] = isCurrent ?? false
                    return isCurrent ?? false
                }
            }
        }
    }

    private func items(of work: SummaryWork, for user: UserID) async throws -> [MessageSummary.Item] {
        let parts = work.parts
        let made = try await withThrowingTaskGroup(of: (Int, [MessageSummary.Item]).self) { group in
            for (index, part) in parts.enumerated() {
                group.addTask { (index, try await self.items(of: part, work, for: user)) }
            }
            return try await group.reduce(into: [Int: [MessageSummary.Item]]()) { $0[$1.0] = $1.1 }
        }
        let all = parts.indices.flatMap { made[$0] ?? [] }
        guard parts.count > 1, all.count > 1 else { return all }
        let (request, read) = work.prompt(joining: all)
        return try await models.ask(request, by: model, for: .summaries, payer: user, read)
    }

    private func items(
        of part: SummaryPart, _ work: SummaryWork, for user: UserID
    ) async throws -> [MessageSummary.Item] {
        if let known = part.known { return known }
        let (request, read) = work.prompt(of: part)
        guard let block = part.block else {
            return try await models.ask(request, by: model, for: .summaries, payer: user, read)
        }
        let key = Key(conversation: work.conversation, block: block, language: work.language.string)
        return try await blocks.run(key) {
            let (commands, name, isHosted) = (commands, model.name, model.isHosted)
            // Who waited for the same has it now.
            let stored = try await store.read { store in
                try store.summary(of: block, in: work.language, in: work.conversation)
            }
            if let stored, stored.fingerprint == part.fingerprint, stored.engine == name { return stored.items }
            let items = try await models.ask(request, by: model, for: .summaries, payer: user, read)
            _ = try await store.write { store in
                try commands.save(items, of: part, work, engine: name, isHosted: isHosted, in: store)
            }
            return items
        }
    }
}
