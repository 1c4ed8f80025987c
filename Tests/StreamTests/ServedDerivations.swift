import Assistant
import Languages
import Messaging
import Model
import Storage

@testable import Services

/// What a user is served of what models wrote: of messages that they see, as they were read, and of which it may still be
/// made.
struct ServedDerivations {
    private let store: StoreTransaction
    private let commands: ConversationCommands
    private let user: UserID
    private var seen: [ConversationID: [Int64: Message]] = [:]
    /// How many blocks and sentences were served.
    private(set) var blocks = 0
    private(set) var sentences = 0
    /// How many messages were found by their meaning.
    private(set) var meant = 0

    init(_ store: StoreTransaction, _ commands: ConversationCommands, to user: UserID) {
        (self.store, self.commands, self.user) = (store, commands, user)
    }

    /// - Parameters:
    ///   - conversations: all that there are.
    ///   - candidates: of vectors, of former texts too.
    mutating func violations(
        in conversations: [ConversationID], _ candidates: [MeaningCandidate], by model: VectorModel
    ) throws -> [String] {
        try blockViolations() + sentenceViolations() + meaningViolations(in: conversations, candidates, by: model)
    }

    /// What the user sees, by number.
    private mutating func messages(of id: ConversationID) throws -> [Int64: Message] {
        if let known = seen[id] { return known }
        let page = try? commands.page(.newest, of: id, limit: .max, by: user, in: store)
        let messages = Dictionary(uniqueKeysWithValues: (page?.messages ?? []).map { ($0.number, $0.message) })
        seen[id] = messages
        return messages
    }

    private mutating func blockViolations() throws -> [String] {
        let stored = try store.sql.query("SELECT DISTINCT conversation_id FROM summary_blocks")
        var found: [String] = []
        for row in stored {
            let id: ConversationID = try row.id(0)
            for isHosted in [true, false] {
                let work = try? commands.summaryWork(
                    of: id, SummaryScope(), by: user, isHosted: isHosted,
                    engine: isHosted ? StreamHarness.hosted : StreamHarness.local, in: store)
                for part in work?.parts ?? [] where part.known != nil {
                    blocks += 1
                    found += try violations(of: part, in: id, isHosted: isHosted)
                }
            }
        }
        return found
    }

    private mutating func violations(
        of part: SummaryPart, in id: ConversationID, isHosted: Bool
    ) throws -> [String] {
        guard let block = part.block else { return ["a block of no numbers"] }
        let messages = try messages(of: id)
        let unseen = SummaryBlock.numbers(of: block).filter { messages[$0] == nil }
        var found = unseen.isEmpty ? [] : ["block \(block): without the right to see \(unseen)"]
        for item in part.known ?? [] {
            let references = TextReference.list(item.text) ?? []
            let isRight = try !references.isEmpty && references.allSatisfy { try isServed($0, isHosted: isHosted) }
            if !isRight { found.append("block \(block): \(item.text)") }
        }
        return found
    }

    private mutating func sentenceViolations() throws -> [String] {
        let rows = try store.sql.query("SELECT id FROM assistant_runs WHERE user_id = ?1", [.id(user)])
        var found: [String] = []
        let assistant = AssistantCommands(conversations: commands)
        for row in rows {
            let run = try assistant.run(row.id(0), of: user, in: store)
            for sentence in run.sentences where !sentence.isWithdrawn && !sentence.citations.isEmpty {
                sentences += 1
                let references = TextReference.list(sentence.text) ?? []
                let isRight =
                    try references.map(\.citation) == sentence.citations
                    && references.allSatisfy { try isServed($0, isHosted: run.isHosted) }
                if !isRight { found.append("sentence \(sentence)") }
            }
            found += run.sentences.filter { $0.isWithdrawn && !$0.text.isEmpty }.map { "withdrawn: \($0)" }
        }
        return found
    }

    /// Whatever vectors propose, those messages are found that the user sees, in the words that they see, and that the
    /// service may be given.
    private mutating func meaningViolations(
        in conversations: [ConversationID], _ candidates: [MeaningCandidate], by model: VectorModel
    ) throws -> [String] {
        guard !candidates.isEmpty else { return [] }
        var limits = SearchLimits()
        limits.page = .max
        let request = try SearchRequest(query: SearchQuery("meaning"), limit: .max)
        let found = try commands.searchByMeaning(
            request, candidates, withWords: false, limits: limits, by: user, in: store
        ).results.map(\.message.message)
        meant += found.count
        var expected: [Message] = []
        let scopes = try commands.meaningScopes(request.filters, by: user, model, in: store)
        var violations: [String] = []
        for id in conversations {
            guard let conversation = try store.conversation(id) else { continue }
            for message in try messages(of: id).values where message.deletedAt == nil {
                let ranges = scopes.first { $0.conversation == id }?.ranges ?? []
                if !ranges.contains(where: { $0.contains(message.number) }) {
                    violations.append("search does not look at \(message.number) in \(id)")
                }
                let candidate = MeaningCandidate(
                    conversation: id, number: message.number, of: message.textVersion, similarity: 1)
                if try candidates.contains(candidate) && ExpectedLevel.level(of: message, conversation, store) == .full
                {
                    expected.append(message)
                }
            }
        }
        guard found.count == expected.count, Set(found) == Set(expected) else {
            func names(_ messages: [Message]) -> [String] {
                messages.map { "\($0.conversation) \($0.number) \($0.textVersion)" }.sorted()
            }
            return violations + ["found by meaning: \(names(found)), expected \(names(expected))"]
        }
        return violations
    }

    private mutating func isServed(_ reference: TextReference, isHosted: Bool) throws -> Bool {
        guard let message = try messages(of: reference.conversation)[reference.number], message.deletedAt == nil,
            message.textVersion == reference.of, message.text == reference.words,
            let conversation = try store.conversation(reference.conversation)
        else { return false }
        return try ExpectedLevel.allowsModel(message, isHosted: isHosted, conversation, store)
    }
}
