package import Model

/// How much a search may do and return.
package struct SearchLimits: Hashable, Sendable {
    /// Messages on a page.
    package var page = 50
    /// The texts of a page, in bytes; a page has at least one message.
    package var pageBytes = 262_144
    /// The newest matches, which are ordered by relevance.
    package var candidates = 1_000
    /// What one search may cost: see `SearchBudget`.
    package var cost = 200_000

    package init() {}
}

/// Which messages are searched.
package struct SearchFilters: Hashable, Sendable {
    package var conversation: ConversationID?
    package var author: UserID?
    package var kind: Message.Kind?
    /// Sent at this time or later.
    package var from: Timestamp?
    /// Sent before this time.
    package var to: Timestamp?
    package var hasLink = false
    /// That mention the reader, or everybody.
    package var mentionsReader = false
    /// That the reader has starred.
    package var isStarred = false
    /// That a language model may be shown for the reader, in conversations that they are in: whether it is a hosted
    /// one. Nil for all.
    package var shownToHostedModel: Bool?

    package init() {}

    /// What of them says where is searched, and not for what: a conversation, and times.
    package var scope: SearchFilters {
        var scope = SearchFilters()
        (scope.conversation, scope.from, scope.to) = (conversation, from, to)
        return scope
    }

    /// Whether they are enough to search for without words.
    package var isSelective: Bool { author != nil || kind != nil || hasLink || mentionsReader || isStarred }

    /// Whether a message passes them, without stars.
    func include(_ message: Message, readBy reader: UserID) -> Bool {
        if let author, message.author != author { return false }
        if let kind, message.kind != kind { return false }
        if let from, message.sentAt < from { return false }
        if let to, message.sentAt >= to { return false }
        if hasLink, !message.ranges.contains(where: { $0.kind == .link }) { return false }
        guard mentionsReader else { return true }
        return message.ranges.contains { $0.kind == .mention && ($0.user == nil || $0.user == reader) }
    }
}

/// A search over all that its reader may see.
package struct SearchRequest: Hashable, Sendable {
    package enum Order: String, Hashable, Sendable, CaseIterable {
        /// The newest first.
        case date
        /// The best of the newest matches first: see `SearchRelevance`.
        case relevance
    }

    /// Nil if there are only filters.
    package var query: SearchQuery?
    package var filters: SearchFilters
    package var order: Order
    package var limit: Int
    package var cursor: SearchCursor?

    /// - Throws: `invalid_request` of a request that has nothing to search for, or a cursor of another order.
    package init(
        query: SearchQuery?, filters: SearchFilters = SearchFilters(), order: Order = .date, limit: Int = 20,
        cursor: SearchCursor? = nil
    ) throws(Problem) {
        guard query != nil || filters.isSelective else {
            throw .invalid(
                "query", "Give a query, or one of author, kind, link, mentions and starred, by which to search.")
        }
        guard cursor == nil || cursor?.order == order else { throw SearchCursor.isForeign }
        self.query = query
        self.filters = filters
        self.order = order
        self.limit = limit
        self.cursor = cursor
    }

    /// What the index has of a match: one of each.
    func conditions(of reader: UserID) -> [[SearchLookup]] {
        var conditions: [[SearchLookup]] = []
        if let author = filters.author { conditions.append([.term(MessageTerms.author(author))]) }
        if let kind = filters.kind, kind != .text { conditions.append([.term(MessageTerms.kind(kind))]) }
        if filters.hasLink { conditions.append([.term(MessageTerms.link)]) }
        if filters.mentionsReader {
            conditions.append([.term(MessageTerms.mention(reader)), .term(MessageTerms.mention(nil))])
        }
        var lookups: Set<SearchLookup> = []
        for lookup in query?.phrases.flatMap(\.lookups) ?? [] where lookups.insert(lookup).inserted {
            conditions.append([lookup])
        }
        // Long terms are rarer, and those of which the beginning is known are the most frequent.
        return conditions.sorted { Self.frequency($0) < Self.frequency($1) }
    }

    private static func frequency(_ condition: [SearchLookup]) -> (Int, Int) {
        switch condition.first {
        case .prefix(let term): (1, -term.text.utf8.count)
        case .term(let term): (0, -term.text.utf8.count)
        case nil: (0, 0)
        }
    }
}

/// A message that was found.
package struct SearchResult: Hashable, Sendable {
    package var message: SeenMessage
    /// Where its text matches; none if only filters were given.
    package var matches: [SearchMatch.Range]
}

package struct SearchPage: Hashable, Sendable {
    package var results: [SearchResult]
    /// Where the search goes on; nil if there is no more.
    package var next: SearchCursor?
    /// Whether the search reached its limit before it had looked at everything. With `next` it goes on there, by date.
    /// Without, some messages were not looked at, and narrower words or filters find them.
    package var isPartial: Bool
}

/// The position of a message in the order of dates, the newest first.
package struct SearchPosition: Hashable, Sendable, Comparable {
    package var sentAt: Timestamp
    package var conversation: ConversationID
    package var number: Int64

    package init(_ sentAt: Timestamp, _ conversation: ConversationID, _ number: Int64) {
        self.sentAt = sentAt
        self.conversation = conversation
        self.number = number
    }

    /// Whether it is older: messages of the same time are in the order of their conversations' ids and their numbers.
    package static func < (left: Self, right: Self) -> Bool {
        guard left.sentAt == right.sentAt else { return left.sentAt < right.sentAt }
        guard left.conversation == right.conversation else { return left.conversation.text < right.conversation.text }
        return left.number < right.number
    }

    /// Messages that are just newer than this.
    var next: Self { Self(sentAt, conversation, number == .max ? number : number + 1) }
}
