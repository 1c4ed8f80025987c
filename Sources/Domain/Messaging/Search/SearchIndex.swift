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
    /// The terms of which a message has postings, in any order.
    func indexedTerms(of number: Int64, in index: SearchIndex) throws -> [SearchTerm]
    /// Sets of which terms messages have postings, by their numbers.
    func setIndexedTerms(_ terms: [Int64: [SearchTerm]], in index: SearchIndex) throws
    /// Removes some rows of any messages, at most `limit`. Returns how many.
    func removeRows(of index: SearchIndex, limit: Int) throws -> Int
    /// Notes that the text of a message has changed or is gone. A message that is not indexed yet needs no note.
    func noteChangedText(of number: Int64, in conversation: ConversationID) throws
    func removeChangedText(of number: Int64, in conversation: ConversationID) throws
    /// The messages of which the index still has the terms of another text, the oldest first.
    func changedTexts(
        of numbers: ClosedRange<Int64>, in conversation: ConversationID, limit: Int
    ) throws -> [Int64]
    /// Those of them that are deleted, in all conversations.
    func deletedTexts(limit: Int) throws -> [(conversation: ConversationID, number: Int64)]
}

/// The terms by which a message is found.
enum MessageTerms {
    /// Distinct terms of a text with its mentions.
    static let maxTerms = SearchTokenizer.maxTerms + 512

    /// What filters look up, beside the words of a text. None begins as a word does.
    static func author(_ user: UserID) -> SearchTerm { SearchTerm("@" + tail(of: user)) }
    static func mention(_ user: UserID?) -> SearchTerm { SearchTerm("!" + (user.map(tail) ?? "all")) }
    static func kind(_ kind: Message.Kind) -> SearchTerm { SearchTerm("." + kind.rawValue) }
    static let link = SearchTerm("/")

    /// The terms of the text, and of the text that others see while it is withheld from them. A deleted message has
    /// none.
    ///
    /// A user who left may see an earlier text: such a message is read (``SearchWalk``).
    static func terms(of message: Message, shown edit: MessageEdit?) -> Set<SearchTerm> {
        guard message.deletedAt == nil, message.text != nil || message.kind == .call || message.kind == .voice else {
            return []
        }
        var terms: Set<SearchTerm> = [author(message.author)]
        if message.kind != .text { terms.insert(kind(message.kind)) }
        if let text = message.text { insert(text, message.ranges, into: &terms, limit: maxTerms) }
        if let words = message.voice?.words { insert(words, [], into: &terms, limit: maxTerms) }
        if let edit { insert(edit.text, edit.ranges, into: &terms, limit: 2 * maxTerms) }
        return terms
    }

    private static func insert(
        _ text: String, _ ranges: [TextRange], into terms: inout Set<SearchTerm>, limit: Int
    ) {
        for range in ranges {
            switch range.kind {
            case .mention: terms.insert(mention(range.user))
            case .link: terms.insert(link)
            default: break
            }
        }
        for term in SearchTokenizer.terms(of: SearchTokenizer.units(in: text)) {
            guard terms.count < limit else { return }
            terms.insert(term)
        }
    }

    /// The random part of an id. Others may have the same: rows decide.
    private static func tail(of user: UserID) -> String { String(user.text.suffix(12)) }
}

extension MessagingStore {
    /// The terms by which a message is found now.
    func terms(of message: Message) throws -> Set<SearchTerm> {
        let shown =
            message.isTextWithheld
            ? try edit(
                of: message.number, in: message.conversation, upTo: message.textVersion, includingWithheld: false)
            : nil
        return MessageTerms.terms(of: message, shown: shown?.edit)
    }
}
