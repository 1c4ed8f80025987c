public import Foundation

/// What ``Conversations/search(_:)`` looks for. Without ``text``, ``author``, ``kind``, ``hasLink``, ``mentionsMe`` or
/// ``isStarred`` has to say what.
public struct MessageSearch: Hashable, Sendable {
    /// The order of the results. Newer servers may have more.
    public struct Order: RawRepresentable, Hashable, Sendable, Codable {
        /// The order as it is written in JSON.
        public let rawValue: String
        /// Takes any order.
        public init(rawValue: String) { self.rawValue = rawValue }

        /// The newest first: all of them.
        public static let date = Self(rawValue: "date")
        /// The most relevant first, of the newest 1,000.
        public static let relevance = Self(rawValue: "relevance")
    }

    /// What is compared. Newer servers may have more.
    public struct Mode: RawRepresentable, Hashable, Sendable, Codable {
        /// The mode as it is written in JSON.
        public let rawValue: String
        /// Takes any mode.
        public init(rawValue: String) { self.rawValue = rawValue }

        /// The words.
        public static let words = Self(rawValue: "words")
        /// The meaning, across languages: one page of the best, where the server ``ServerDescription/findsMeaning``.
        public static let meaning = Self(rawValue: "meaning")
        /// Words and meaning, ranked as one.
        public static let both = Self(rawValue: "both")
    }

    /// Words that a message has to have, all of them; of the last one the beginning is enough. Words between quotation
    /// marks follow each other. Case and accents make no difference. At most 256 characters.
    public var text: String?
    /// Only in this conversation.
    public var conversation: ConversationID?
    /// Only by this user.
    public var author: UserID?
    /// Only of this kind.
    public var kind: Message.Kind?
    /// Only those that were sent at this time or later.
    public var from: Date?
    /// Only those that were sent before this time.
    public var to: Date?
    /// Only with a link.
    public var hasLink = false
    /// Only those that mention the user, or everybody.
    public var mentionsMe = false
    /// Only those that the user has starred.
    public var isStarred = false
    /// The order of the results, of a search for words alone.
    public var order = Order.date
    /// What is compared.
    public var mode = Mode.words
    /// How many at most, 1 to 50; nil is 20.
    public var limit: Int?
    /// ``MessageSearchPage/nextCursor`` of the previous page, with the same values.
    public var cursor: String?

    /// A search for words.
    public init(_ text: String? = nil) { self.text = text }
}

/// A message that was found.
public struct MessageSearchResult: Codable, Hashable, Sendable {
    /// Where a word is in the text.
    public struct Match: Codable, Hashable, Sendable {
        /// Where it begins, in UTF-16 code units.
        public var start: Int
        /// How long it is, in UTF-16 code units.
        public var length: Int
    }

    /// The message.
    public var message: Message
    /// Where its text has the words, at most 100.
    public var matches: [Match]
}

/// A page of messages that were found.
public struct MessageSearchPage: Codable, Hashable, Sendable {
    /// The messages.
    public var results: [MessageSearchResult]
    /// The profiles of their authors.
    public var people: [User]
    /// The cursor of the next page; nil on the last page.
    public var nextCursor: String?
    /// Whether the search cost too much to look at everything: ``nextCursor`` goes on where it stopped; without one,
    /// search for more specific words.
    public var isPartial: Bool
    /// Of a search by meaning: the part of the messages that the user may see whose meaning is known, from 0 to 1.
    public var coverage: Double?
    /// Why a search for both has compared the words alone, such as ``Problem/Kind/providerFailed``; else nil.
    public var withoutMeaning: Problem.Kind?
}

extension Conversations {
    private struct Searching: Encodable, Sendable {
        var query: String?
        var conversation: ConversationID?
        var author: UserID?
        var kind: Message.Kind?
        var from: Date?
        var to: Date?
        var link: Bool?
        var mentions: Bool?
        var starred: Bool?
        var order: MessageSearch.Order?
        var mode: MessageSearch.Mode?
        var limit: Int?
        var cursor: String?
    }
    private struct Listing: Encodable, Sendable { var archived = true; var limit: Int?; var cursor: String? }

    /// Searches all messages that the user may see, page by page. It needs a connection.
    ///
    /// - Throws: ``Problem/Kind/invalidRequest`` for a search without anything to look for;
    ///   ``Problem/Kind/providerNotConfigured`` for one by meaning where nothing understands texts.
    public func search(_ search: MessageSearch) async throws -> MessageSearchPage {
        try await realtime.request(
            "messages.search",
            Searching(
                query: search.text, conversation: search.conversation, author: search.author, kind: search.kind,
                from: search.from, to: search.to, link: search.hasLink ? true : nil,
                mentions: search.mentionsMe ? true : nil, starred: search.isStarred ? true : nil,
                order: search.mode == .words ? search.order : nil, mode: search.mode == .words ? nil : search.mode,
                limit: search.limit, cursor: search.cursor))
    }

    /// The archived conversations, page by page: those that are pinned and then the most recently active first. It
    /// needs a connection.
    ///
    /// - Parameters:
    ///   - limit: How many rows at most, 1 to 100; nil is 50.
    ///   - cursor: The `nextCursor` of the previous page.
    public func archive(
        limit: Int? = nil, after cursor: String? = nil
    ) async throws -> (rows: [InboxRow], nextCursor: String?) {
        let page: InboxPage = try await realtime.request("inbox.list", Listing(limit: limit, cursor: cursor))
        return (page.conversations, page.nextCursor)
    }
}
