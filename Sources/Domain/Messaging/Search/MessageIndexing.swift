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
    /// Whether there are more messages after it.
    package let hasMore: Bool
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
        let messages = try store.messages(toIndexIn: id, after: from, limit: Self.maxMessages)
        var postings: [SearchPosting] = []
        var versions: [Int64] = []
        var size = 0
        for message in messages {
            guard versions.isEmpty || postings.count < Self.maxPostings && size < Self.maxSize else { break }
            let edits = message.editedAt == nil ? [] : try store.edits(of: message.number, in: id)
            size += edits.reduce(message.text?.utf8.count ?? 0) { $0 + $1.text.utf8.count }
            let terms = MessageTerms.terms(of: message, former: edits)
            // A long text is a batch of its own.
            guard versions.isEmpty || postings.count + terms.count <= Self.maxPostings else { break }
            postings += terms.map { SearchPosting(term: $0, number: message.number) }
            versions.append(message.textVersion)
        }
        guard let to = versions.indices.last.map({ messages[$0].number }) else { return nil }
        postings.sort { $0.precedes($1) }
        return IndexBatch(
            conversation: id, from: from, to: to, textVersions: versions, postings: postings,
            hasMore: versions.count < messages.count || messages.count == Self.maxMessages)
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
        index.indexedTo = batch.to
        try store.update(index)
        return true
    }

    /// Whether the index has to be cleared first.
    package func isOutdated(_ id: ConversationID, in store: some IndexedMessageStore) throws -> Bool {
        try store.searchIndex(of: id)?.isOutdated ?? false
    }

    /// Clears the index that another version of the tokenizer has made, a part at a time. Its messages are read meanwhile.
    ///
    /// - Returns: whether there is more to clear.
    package func clear(_ id: ConversationID, in store: some IndexedMessageStore) throws -> Bool {
        guard var index = try store.searchIndex(of: id), index.isOutdated else { return false }
        if index.indexedTo > 0 {
            index.indexedTo = 0
            try store.update(index)
        }
        let removed = try store.removePostings(from: index, limit: Self.maxPostings)
        guard removed < Self.maxPostings else { return true }
        index.version = SearchTokenizer.version
        try store.update(index)
        return false
    }
}

extension SearchPosting {
    /// The order in which the index keeps them, so that neighbours are written together.
    func precedes(_ other: SearchPosting) -> Bool {
        guard block == other.block else { return block < other.block }
        return term == other.term ? number < other.number : term.precedes(other.term)
    }
}
