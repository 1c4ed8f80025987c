package import Model

/// The terms of some messages of a conversation that follow each other, made from one snapshot to be written in another
/// transaction.
package struct IndexBatch: Sendable {
    package let conversation: ConversationID
    /// The messages after `from` up to `to`.
    package let from: Int64
    package let to: Int64
    /// Of each message.
    let textVersions: [Int64]
    package let postings: [SearchPosting]
    /// By the numbers of the messages.
    let terms: [Int64: [SearchTerm]]
    /// When the first message after it was sent. Nil if there was none.
    package let nextSentAt: Timestamp?
}

/// What changes in the index with a text: all, or a part of it if it has many terms.
package struct IndexChange: Sendable {
    package let conversation: ConversationID
    let number: Int64
    let textVersion: Int64
    /// The terms that the index has of it before and after.
    let before: [SearchTerm]
    let after: [SearchTerm]
    let removed: [SearchPosting]
    let added: [SearchPosting]
    let isComplete: Bool

    package var cost: Int { removed.count + added.count }
}

/// Follows the messages with the index, in steps that may be repeated.
package struct MessageIndexer: Sendable {
    /// Postings after which a batch ends: some milliseconds of the writer's time.
    package static let maxPostings = 1_000
    /// Bytes of texts after which a batch ends: those of few words have few postings.
    private static let maxSize = 1 << 20
    /// Messages of a batch.
    private static let maxMessages = 256

    package init() {}

    /// Reads the next messages that are not indexed. Nil if there are none, or the index has to be cleared first.
    package func batch(of id: ConversationID, in store: some IndexedMessageStore) throws -> IndexBatch? {
        let index = try store.searchIndex(of: id)
        guard index?.isOutdated != true else { return nil }
        let from = index?.indexedTo ?? 0
        let messages = try store.messages(toIndexIn: id, after: from, limit: Self.maxMessages + 1)
        var postings: [SearchPosting] = []
        var versions: [Int64] = []
        var termsByNumber: [Int64: [SearchTerm]] = [:]
        var size = 0
        for message in messages.prefix(Self.maxMessages) {
            guard versions.isEmpty || postings.count < Self.maxPostings && size < Self.maxSize else { break }
            size += message.text?.utf8.count ?? 0
            let terms = try store.terms(of: message)
            // A long text is a batch of its own.
            guard versions.isEmpty || postings.count + terms.count <= Self.maxPostings else { break }
            postings += terms.map { SearchPosting(term: $0, number: message.number) }
            termsByNumber[message.number] = Array(terms)
            versions.append(message.textVersion)
        }
        guard let to = versions.indices.last.map({ messages[$0].number }) else { return nil }
        postings.sort { $0.precedes($1) }
        return IndexBatch(
            conversation: id, from: from, to: to, textVersions: versions, postings: postings,
            terms: termsByNumber, nextSentAt: messages.dropFirst(versions.count).first?.sentAt)
    }

    /// Writes a batch, unless one of its texts has changed meanwhile, or somebody else has written it.
    ///
    /// - Returns: whether it was written.
    package func write(_ batch: IndexBatch, in store: some IndexedMessageStore) throws -> Bool {
        var index: SearchIndex
        if let known = try store.searchIndex(of: batch.conversation) {
            index = known
        } else if batch.from == 0 {
            index = try store.insertSearchIndex(of: batch.conversation)
        } else {
            return false
        }
        guard !index.isOutdated, index.indexedTo == batch.from, batch.from < batch.to,
            try store.textVersions(of: (batch.from + 1)...batch.to, in: batch.conversation) == batch.textVersions
        else { return false }
        try store.insert(batch.postings, in: index)
        try store.setIndexedTerms(batch.terms, in: index)
        index.indexedTo = batch.to
        try store.update(index)
        return true
    }

    /// Whether the index has to be cleared first.
    package func isOutdated(_ id: ConversationID, in store: some IndexedMessageStore) throws -> Bool {
        try store.searchIndex(of: id)?.isOutdated ?? false
    }

    /// Clears the index that another version of the tokenizer has made, a part at a time. Its messages are read
    /// meanwhile.
    ///
    /// - Returns: whether there is more to clear.
    package func clear(_ id: ConversationID, in store: some IndexedMessageStore) throws -> Bool {
        guard var index = try store.searchIndex(of: id), index.isOutdated else { return false }
        if index.indexedTo > 0 {
            index.indexedTo = 0
            try store.update(index)
        }
        let removed = try store.removeRows(of: index, limit: Self.maxPostings)
        guard removed < Self.maxPostings else { return true }
        index.version = SearchTokenizer.version
        try store.update(index)
        return false
    }
}

// Texts that have changed since they were indexed. Edits and deletions only note that: what the index has of a message
// is known from its own rows, and changed in parts, while searches read the message itself.
extension MessageIndexer {
    /// What changes in the index of a conversation next, made from one snapshot to be written in another transaction.
    package func changes(of id: ConversationID, in store: some IndexedMessageStore) throws -> [IndexChange] {
        guard let index = try store.searchIndex(of: id), !index.isOutdated else { return [] }
        var changes: [IndexChange] = []
        var (left, size) = (Self.maxPostings, 0)
        for number in try store.changedTexts(of: 1...Int64.max, in: id, limit: Self.maxMessages) {
            guard left > 0, size < Self.maxSize else { break }
            guard let message = try store.message(number, in: id) else { continue }
            size += message.text?.utf8.count ?? 0
            // A message that is indexed later is indexed as it is then.
            let isIndexed = number <= index.indexedTo
            let before = isIndexed ? try store.indexedTerms(of: number, in: index) : []
            let (old, new) = (Set(before), isIndexed ? try store.terms(of: message) : [])
            let change = IndexChange(
                of: message, before, removing: old.subtracting(new), adding: new.subtracting(old), limit: left)
            left -= max(1, change.cost)
            changes.append(change)
        }
        return changes
    }

    /// Writes a change, unless the text has changed again meanwhile, or somebody else has written it.
    ///
    /// - Returns: whether nothing of it is left to be done.
    package func write(_ change: IndexChange, in store: some IndexedMessageStore) throws -> Bool {
        let (number, id) = (change.number, change.conversation)
        guard let index = try store.searchIndex(of: id), !index.isOutdated,
            try store.textVersions(of: number...number, in: id) == [change.textVersion],
            try store.indexedTerms(of: number, in: index) == change.before
        else { return false }
        try store.remove(change.removed, from: index)
        try store.insert(change.added, in: index)
        try store.setIndexedTerms([number: change.after], in: index)
        if change.isComplete { try store.removeChangedText(of: number, in: id) }
        return change.isComplete
    }

    /// Removes a part of what the index has of deleted messages, in all conversations.
    ///
    /// - Returns: whether there is more.
    package func forgetDeleted(in store: some IndexedMessageStore) throws -> Bool {
        let deleted = try store.deletedTexts(limit: Self.maxMessages)
        var left = Self.maxPostings
        for (id, number) in deleted {
            guard left > 0 else { return true }
            // An index that another version has made is cleared as a whole.
            if let index = try store.searchIndex(of: id) {
                let terms = try store.indexedTerms(of: number, in: index)
                let removed = terms.prefix(left)
                try store.remove(removed.map { SearchPosting(term: $0, number: number) }, from: index)
                try store.setIndexedTerms([number: Array(terms.dropFirst(removed.count))], in: index)
                left -= max(1, removed.count)
                guard removed.count == terms.count else { return true }
            }
            try store.removeChangedText(of: number, in: id)
        }
        return deleted.count == Self.maxMessages
    }
}

extension IndexChange {
    /// - Parameter limit: of postings; what does not fit is left for another change.
    fileprivate init(
        of message: Message, _ before: [SearchTerm], removing: Set<SearchTerm>, adding: Set<SearchTerm>, limit: Int
    ) {
        let number = message.number
        let removed = removing.sorted { $0.precedes($1) }.prefix(limit)
        let added = adding.sorted { $0.precedes($1) }.prefix(limit - removed.count)
        let gone = Set(removed)
        self.init(
            conversation: message.conversation, number: number, textVersion: message.textVersion, before: before,
            after: before.filter { !gone.contains($0) } + added,
            removed: removed.map { SearchPosting(term: $0, number: number) },
            added: added.map { SearchPosting(term: $0, number: number) },
            isComplete: removed.count == removing.count && added.count == adding.count)
    }
}

extension SearchPosting {
    /// The order in which the index keeps them, so that neighbours are written together.
    func precedes(_ other: SearchPosting) -> Bool {
        guard block == other.block else { return block < other.block }
        return term == other.term ? number < other.number : term.precedes(other.term)
    }
}
