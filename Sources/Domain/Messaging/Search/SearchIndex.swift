package import Model

/// How far a conversation is indexed.
package struct SearchIndex: Hashable, Sendable {
    /// Numbers of a block. Postings are kept block by block, so that the newest messages are found without those before
    /// them, however many there are.
    package static let blockLength: Int64 = 1_024

    /// What postings name the conversation by: shorter than its id.
    package let key: Int64
    /// The last message whose terms are in the index. Later ones are read.
    package var indexedTo: Int64
    /// The `SearchTokenizer.version` of its terms.
    package var version: Int64

    var isOutdated: Bool { version != SearchTokenizer.version }

    package init(key: Int64, indexedTo: Int64 = 0, version: Int64 = SearchTokenizer.version) {
        self.key = key
        self.indexedTo = indexedTo
        self.version = version
    }
}

/// That a message has a term.
package struct SearchPosting: Hashable, Sendable {
    package var term: SearchTerm
    package var number: Int64

    package init(term: SearchTerm, number: Int64) {
        self.term = term
        self.number = number
    }

    package var block: Int64 { number / SearchIndex.blockLength }
}

/// The storage of the search index, inside one transaction.
package protocol SearchIndexStore {
    /// Nil if no message of the conversation is indexed.
    func searchIndex(of conversation: ConversationID) throws -> SearchIndex?
    /// An index without messages, with a key of its own.
    func insertSearchIndex(of conversation: ConversationID) throws -> SearchIndex
    func update(_ index: SearchIndex) throws
    /// Those that exist already stay as they are.
    func insert(_ postings: [SearchPosting], in index: SearchIndex) throws
    func remove(_ postings: [SearchPosting], from index: SearchIndex) throws
    /// Removes any, at most `limit`. Returns how many.
    func removePostings(from index: SearchIndex, limit: Int) throws -> Int
}

/// The terms by which a message is found.
enum MessageTerms {
    /// Distinct terms of a message with its former texts.
    static let maxTerms = SearchTokenizer.maxTerms + 1_024
    /// Of the former texts, in bytes, the last ones first: a text may have a hundred, of which no term is a new one.
    private static let maxFormerSize = 128 << 10

    /// What filters look up, beside the words of a text. None begins as a word does.
    static func author(_ user: UserID) -> SearchTerm { SearchTerm("@" + tail(of: user)) }
    static func mention(_ user: UserID?) -> SearchTerm { SearchTerm("!" + (user.map(tail) ?? "all")) }
    static func kind(_ kind: Message.Kind) -> SearchTerm { SearchTerm("." + kind.rawValue) }
    static let link = SearchTerm("/")

    /// Of the text and of the former ones, which who left still sees. None of a deleted message. Too many of former texts
    /// are left out, and of more than `maxFormerSize` bytes, the oldest first.
    static func terms(of message: Message, former edits: [MessageEdit]) -> Set<SearchTerm> {
        guard message.deletedAt == nil, message.text != nil || message.kind == .call || message.kind == .voice else {
            return []
        }
        var terms: Set<SearchTerm> = [author(message.author)]
        if message.kind != .text { terms.insert(kind(message.kind)) }
        if let text = message.text { insert(text, message.ranges, into: &terms) }
        if let words = message.voice?.words { insert(words, [], into: &terms) }
        var left = maxFormerSize
        for edit in edits.reversed() {
            left -= edit.text.utf8.count
            guard terms.count < maxTerms, left >= 0 else { break }
            insert(edit.text, RangeFinder.ranges(in: edit.text).ranges, into: &terms)
        }
        return terms
    }

    private static func insert(_ text: String, _ ranges: [TextRange], into terms: inout Set<SearchTerm>) {
        for range in ranges {
            switch range.kind {
            case .mention: terms.insert(mention(range.user))
            case .link: terms.insert(link)
            default: break
            }
        }
        for term in SearchTokenizer.terms(of: SearchTokenizer.units(in: text)) {
            guard terms.count < maxTerms else { return }
            terms.insert(term)
        }
    }

    /// The random part of an id. Others may have the same: rows decide.
    private static func tail(of user: UserID) -> String { String(user.text.suffix(12)) }
}

// What edits and deletions change in the index, in their own transactions.
extension SearchIndexStore {
    /// - Returns: what it cost: the postings that changed, and one for each 256 bytes of former texts that were read.
    @discardableResult
    func reindex(
        _ message: Message, former edits: [MessageEdit], as changed: Message, former changedEdits: [MessageEdit]
    ) throws -> Int {
        guard let index = try searchIndex(of: message.conversation), message.number <= index.indexedTo else { return 0 }
        let before = MessageTerms.terms(of: message, former: edits)
        let after = MessageTerms.terms(of: changed, former: changedEdits)
        let (removed, added) = (before.subtracting(after), after.subtracting(before))
        try remove(Self.postings(removed, of: message.number), from: index)
        try insert(Self.postings(added, of: message.number), in: index)
        let size = (edits + changedEdits).reduce(0) { $0 + $1.text.utf8.count }
        return removed.count + added.count + size / 256
    }

    /// In the order in which the index keeps them, so that neighbours are written together.
    private static func postings(_ terms: Set<SearchTerm>, of number: Int64) -> [SearchPosting] {
        terms.sorted { $0.precedes($1) }.map { SearchPosting(term: $0, number: number) }
    }
}
