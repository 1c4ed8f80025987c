internal import Languages
package import Model

/// Where a search by meaning looks: the numbers of a conversation that its reader may see.
package struct MeaningScope: Hashable, Sendable {
    package let conversation: ConversationID
    /// In order, without overlaps.
    package let ranges: [ClosedRange<Int64>]
    /// How many messages there are up to the last of them.
    package let count: Int64
    /// How many of those were embedded, as far as they could be.
    package let embedded: Int64
}

/// A message whose vector is similar to the query's. It only proposes: the message itself decides.
package struct MeaningCandidate: Hashable, Sendable {
    package var conversation: ConversationID
    package var number: Int64
    /// The `textVersion` that the vector was made from.
    package var of: Int64
    package var similarity: Float

    package init(conversation: ConversationID, number: Int64, of: Int64, similarity: Float) {
        self.conversation = conversation
        self.number = number
        self.of = of
        self.similarity = similarity
    }
}

/// A page of a search by meaning.
package struct MeaningPage: Hashable, Sendable {
    package var results: [SearchResult]
    /// Whether the words were not compared with all messages.
    package var isPartial: Bool
}

extension ConversationCommands {
    /// The conversations that a search by meaning looks into.
    package func meaningScopes(
        _ filters: SearchFilters, by user: UserID, _ model: VectorModel, in store: some SearchStore & VectorStore
    ) throws -> [MeaningScope] {
        try searched(filters, by: user, in: store).compactMap { searched in
            let (conversation, access) = (searched.found.conversation, searched.found.access)
            guard conversation.lastNumber > 0 else { return nil }
            let first = try filters.from.map { try number(after: $0, in: conversation, store) } ?? 1
            let end =
                try filters.to.map { try number(after: $0, in: conversation, store) - 1 } ?? conversation.lastNumber
            guard first <= end else { return nil }
            let ranges = access.visible(in: first...end)
            guard let last = ranges.last?.upperBound else { return nil }
            let progress = try store.vectorProgress(of: conversation.id, by: model, limit: 0)
            return MeaningScope(
                conversation: conversation.id, ranges: ranges, count: last, embedded: min(last, progress.embeddedTo))
        }
    }

    /// The first number that was sent at this time or later: the order of the numbers is that of the times.
    private func number(
        after time: Timestamp, in conversation: Conversation, _ store: some SearchStore
    ) throws -> Int64 {
        var (low, high) = (Int64(1), conversation.lastNumber + 1)
        while low < high {
            let middle = low + (high - low) / 2
            if let sentAt = try store.sentAt(middle, in: conversation.id), sentAt >= time {
                high = middle
            } else {
                low = middle + 1
            }
        }
        return low
    }

    /// The messages that mean what the query says, and those that have its words if `withWords`, the best first.
    ///
    /// - Parameter candidates: the most similar first.
    package func searchByMeaning(
        _ request: SearchRequest, _ candidates: [MeaningCandidate], withWords: Bool,
        limits: SearchLimits = SearchLimits(),
        by user: UserID, in store: some SearchStore & VectorStore
    ) throws -> MeaningPage {
        let conversations = Dictionary(
            try searched(request.filters, by: user, in: store).map { ($0.found.conversation.id, $0.found) },
            uniquingKeysWith: { first, _ in first })
        var found: [FoundMessage: SearchResult] = [:]
        var ranks = ReciprocalRanks<FoundMessage>()
        var isPartial = false
        if withWords {
            var words = request
            (words.order, words.limit, words.cursor) = (.relevance, limits.page, nil)
            let page = try search(words, limits: limits, by: user, in: store)
            isPartial = page.isPartial
            for (rank, result) in page.results.enumerated() {
                let message = FoundMessage(result.message)
                found[message] = result
                ranks.add(message, rank: rank)
            }
        }
        var rank = 0
        for candidate in candidates {
            guard rank < limits.page else { break }
            guard let conversation = conversations[candidate.conversation],
                let message = try meant(candidate, request.filters, in: conversation, by: user, store)
            else { continue }
            let key = FoundMessage(message)
            if found[key] == nil { found[key] = SearchResult(message: message, matches: []) }
            ranks.add(key, rank: rank)
            rank += 1
        }
        var (results, bytes): ([SearchResult], Int) = ([], 0)
        for key in ranks.ordered.prefix(request.limit) {
            guard let result = found[key] else { continue }
            bytes += result.message.words?.utf8.count ?? 0
            guard results.isEmpty || bytes <= limits.pageBytes else { break }
            results.append(result)
        }
        return MeaningPage(results: results, isPartial: isPartial)
    }

    /// The message as the user sees it, if its vector is of that text.
    private func meant<Store: SearchStore>(
        _ candidate: MeaningCandidate, _ filters: SearchFilters, in found: MemberConversation, by user: UserID,
        _ store: Store
    ) throws -> SeenMessage? {
        let reader = PageReader(found: found, user: user, store: store)
        guard let stored = try reader.stored(candidate.number), stored.deletedAt == nil,
            let seen = try reader.seen(stored),
            seen.textVersion == candidate.of, filters.include(seen.message, readBy: user)
        else { return nil }
        if filters.isStarred {
            let rows = try store.ownRows(of: user, in: found.conversation.id, candidate.number...candidate.number)
            guard rows.contains(where: { $0.starredAt != nil }) else { return nil }
        }
        // If the author forbids it, the message is no longer found, even before its vector is erased.
        var levels = MessageLevels(found.conversation, rules: intelligence, in: store)
        let level = try levels.level(of: stored)
        if let isHosted = filters.shownToHostedModel, !level.allowsModel(isHosted: isHosted) { return nil }
        return level.allowsEmbedding(byHosted: intelligence.isEmbedderHosted) ? seen : nil
    }
}

/// By which one message is told from another.
private struct FoundMessage: Hashable, Comparable {
    let conversation: ConversationID
    let number: Int64

    init(_ message: SeenMessage) {
        conversation = message.conversation
        number = message.number
    }

    static func < (left: Self, right: Self) -> Bool {
        left.conversation == right.conversation
            ? left.number > right.number : left.conversation.text < right.conversation.text
    }
}

/// Several rankings as one: each is worth the reciprocal of 60 and its rank (Cormack, Clarke and Büttcher 2009).
struct ReciprocalRanks<Key: Hashable & Comparable> {
    private static var offset: Double { 60 }
    private var scores: [Key: Double] = [:]

    /// - Parameter rank: 0 for the best of a ranking.
    mutating func add(_ key: Key, rank: Int) { scores[key, default: 0] += 1 / (Self.offset + Double(rank + 1)) }

    /// The best first.
    var ordered: [Key] { scores.sorted { ($1.value, $0.key) < ($0.value, $1.key) }.map(\.key) }
}
