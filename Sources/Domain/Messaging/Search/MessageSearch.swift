internal import Languages
package import Model

/// A search, within one transaction.
///
/// The reader's conversations are walked from the newest message to the oldest, always the one on which may be the
/// newest match: so a page costs what it takes to find it, however many conversations and messages there are.
struct MessageSearch<Store: SearchStore> {
    let request: SearchRequest
    let reader: UserID
    let store: Store
    let limits: SearchLimits
    let conditions: [[SearchLookup]]
    private let levels: LevelsOfConversations<Store>

    var query: SearchQuery? { request.query }
    var filters: SearchFilters { request.filters }

    /// How a walk over the matches ended.
    enum End {
        /// There are no more.
        case complete
        /// `visit` has asked for no more.
        case stopped
        /// The search has reached its limit. All that is newer than this was found; nil if it got nowhere.
        case partial(SearchPosition?)
    }

    init(
        _ request: SearchRequest, by reader: UserID, in store: Store, limits: SearchLimits, rules: IntelligenceRules
    ) {
        levels = LevelsOfConversations(rules: rules, store: store)
        self.request = request
        self.reader = reader
        self.store = store
        self.limits = limits
        conditions = request.conditions(of: reader)
    }

    func page(of conversations: [SearchedConversation]) throws -> SearchPage {
        switch request.cursor {
        case .date(let start): try pageByDate(of: conversations, before: start)
        case .relevance(let top, let relevance, let position):
            try pageByRelevance(of: conversations, before: top, after: (relevance, position))
        case nil where request.order == .date: try pageByDate(of: conversations, before: nil)
        case nil: try pageByRelevance(of: conversations, before: nil, after: nil)
        }
    }

    /// Whether a message that matches passes the filter of levels.
    func mayBeShown(_ message: Message, in conversation: Conversation) throws -> Bool {
        guard let isHosted = filters.shownToHostedModel else { return true }
        return try levels.level(of: message, in: conversation).allowsModel(isHosted: isHosted)
    }

    /// Visits the matches older than `start`, the newest first, until `visit` returns false.
    ///
    /// - Returns: how it ended, and the matches that were found on the way and not visited, in any order.
    func visit(
        _ conversations: [SearchedConversation], before start: SearchPosition?,
        _ visit: (SearchWalk<Store>.Found) -> Bool
    ) throws -> (end: End, unvisited: [SearchWalk<Store>.Found]) {
        var budget = SearchBudget(limits.cost, conditions: conditions.count)
        var heap = SearchHeap()
        var walks: [SearchWalk<Store>] = []
        for conversation in conversations {
            let walk = SearchWalk(conversation, self)
            guard let bound = try walk.bound(before: start, &budget) else { continue }
            heap.insert(SearchHeap.Entry(bound: bound, walk: walks.count))
            walks.append(walk)
        }
        while let top = heap.top {
            let found = walks[top.walk].found
            if let found, !visit(found) { return (.stopped, []) }
            guard !budget.isSpent else {
                // The rest does not contain the one that was visited last.
                let position = found == nil ? top.bound.next : top.bound
                let isFurther = start.map { position < $0 } ?? true
                let unvisited = heap.entries.dropFirst(found == nil ? 0 : 1).compactMap { walks[$0.walk].found }
                return (.partial(isFurther ? position : nil), unvisited)
            }
            _ = heap.popTop()
            guard let bound = try walks[top.walk].advance(before: start, &budget) else { continue }
            heap.insert(SearchHeap.Entry(bound: min(bound, top.bound), walk: top.walk))
        }
        return (.complete, [])
    }

    private func pageByDate(
        of conversations: [SearchedConversation], before start: SearchPosition?
    ) throws -> SearchPage {
        var page = PageBuilder<Store>(request.limit, limits)
        let (end, unvisited) = try visit(conversations, before: start) { page.add($0) }
        var next: SearchPosition?
        switch end {
        case .complete: break
        case .stopped: next = page.last
        case .partial(let position?): next = position
        case .partial(nil):
            for found in unvisited.sorted(by: { $1.position < $0.position }) where !page.add(found) { break }
        }
        return SearchPage(
            results: try page.results, next: next.map { .date(before: $0) }, isPartial: end.isPartial)
    }

    private func pageByRelevance(
        of conversations: [SearchedConversation], before top: SearchPosition?,
        after cursor: (relevance: Double, position: SearchPosition)?
    ) throws -> SearchPage {
        var candidates: [(relevance: Double, position: SearchPosition)] = []
        let (end, unvisited) = try visit(conversations, before: top) { found in
            candidates.append((found.match?.relevance ?? 0, found.position))
            return candidates.count < limits.candidates
        }
        candidates += unvisited.map { ($0.match?.relevance ?? 0, $0.position) }
        guard let newest = candidates.map(\.position).max() else {
            return SearchPage(results: [], isPartial: end.isPartial)
        }
        candidates.sort { ($1.relevance, $1.position) < ($0.relevance, $0.position) }
        if let cursor { candidates.removeAll { (cursor.relevance, cursor.position) <= ($0.relevance, $0.position) } }

        var page = PageBuilder<Store>(request.limit, limits)
        var last: (relevance: Double, position: SearchPosition)?
        var isFull = false
        let walks = Dictionary(
            conversations.map { ($0.found.conversation.id, SearchWalk($0, self)) },
            uniquingKeysWith: { first, _ in first })
        for candidate in candidates {
            guard let found = try walks[candidate.position.conversation]?.read(candidate.position.number) else {
                continue
            }
            guard page.add(found) else {
                isFull = true
                break
            }
            last = candidate
        }
        return SearchPage(
            results: try page.results,
            next: isFull
                ? last.map { .relevance(top: top ?? newest.next, after: $0.relevance, $0.position) } : nil,
            isPartial: end.isPartial)
    }
}

/// What authors and conversations allow, which is looked up once for a search.
private final class LevelsOfConversations<Store: SearchStore> {
    private let rules: IntelligenceRules
    private let store: Store
    private var known: [ConversationID: MessageLevels<Store>] = [:]

    init(rules: IntelligenceRules, store: Store) {
        self.rules = rules
        self.store = store
    }

    func level(of message: Message, in conversation: Conversation) throws -> IntelligenceLevel {
        var levels = known[conversation.id] ?? MessageLevels(conversation, rules: rules, in: store)
        defer { known[conversation.id] = levels }
        return try levels.level(of: message)
    }
}

extension MessageSearch.End {
    var isPartial: Bool {
        if case .partial = self { true } else { false }
    }
}

/// A page that is bounded in messages and bytes.
private struct PageBuilder<Store: SearchStore> {
    private var found: [SearchWalk<Store>.Found] = []
    private var bytes = 0
    private let limit: Int
    private let maxBytes: Int

    init(_ limit: Int, _ limits: SearchLimits) {
        self.limit = min(limits.page, max(1, limit))
        maxBytes = limits.pageBytes
    }

    var last: SearchPosition? { found.last?.position }
    var results: [SearchResult] { get throws { try found.compactMap { try $0.result() } } }

    /// Returns whether there was room for it.
    mutating func add(_ next: SearchWalk<Store>.Found) -> Bool {
        bytes += next.bytes
        guard found.count < limit, found.isEmpty || bytes <= maxBytes else { return false }
        found.append(next)
        return true
    }
}

extension ConversationCommands {
    /// Searches what the user may see: as the pages of messages do, and no other.
    package func search(
        _ request: SearchRequest, limits: SearchLimits = SearchLimits(), by user: UserID, in store: some SearchStore
    ) throws -> SearchPage {
        try MessageSearch(request, by: user, in: store, limits: limits, rules: intelligence)
            .page(of: try searched(request.filters, by: user, in: store))
    }

    /// The conversations that are looked into.
    func searched(
        _ filters: SearchFilters, by user: UserID, in store: some SearchStore
    ) throws -> [SearchedConversation] {
        guard let id = filters.conversation else {
            let all = try store.searchedConversations(of: user)
            return filters.shownToHostedModel == nil ? all : all.filter { $0.found.member.state == .member }
        }
        return [SearchedConversation(try get(id, by: user, in: store), index: try store.searchIndex(of: id))]
    }
}
