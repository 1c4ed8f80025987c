import Messaging
import Model

/// The index of one conversation.
struct InMemorySearchIndex {
    var index: SearchIndex
    var postings: Set<SearchPosting> = []
    var terms: [Int64: [SearchTerm]] = [:]
    /// The messages whose text has changed since.
    var changed: Set<Int64> = []
}

extension InMemoryMessagingStore: SearchStore, IndexedMessageStore {
    func searchIndex(of conversation: ConversationID) -> SearchIndex? { searchIndexes[conversation]?.index }

    func insertSearchIndex(of conversation: ConversationID) -> SearchIndex {
        let index = SearchIndex(key: (searchIndexes.values.map(\.index.key).max() ?? 0) + 1)
        searchIndexes[conversation] = InMemorySearchIndex(index: index)
        return index
    }

    func update(_ index: SearchIndex) { change(index) { $0.index = index } }
    func insert(_ postings: [SearchPosting], in index: SearchIndex) {
        change(index) { $0.postings.formUnion(postings) }
    }
    func remove(_ postings: [SearchPosting], from index: SearchIndex) {
        change(index) { $0.postings.subtract(postings) }
    }

    func removeRows(of index: SearchIndex, limit: Int) -> Int {
        var count = 0
        change(index) { changed in
            let removed = changed.postings.prefix(limit)
            changed.postings.subtract(removed)
            let numbers = changed.terms.keys.prefix(limit - removed.count)
            count = removed.count + numbers.count
            for number in numbers { changed.terms[number] = nil }
        }
        return count
    }

    func indexedTerms(of number: Int64, in index: SearchIndex) -> [SearchTerm] {
        searchIndexes.values.first { $0.index.key == index.key }?.terms[number] ?? []
    }

    func setIndexedTerms(_ terms: [Int64: [SearchTerm]], in index: SearchIndex) {
        change(index) { changed in
            for (number, terms) in terms { changed.terms[number] = terms.isEmpty ? nil : terms }
        }
    }

    func noteChangedText(of number: Int64, in conversation: ConversationID) {
        guard let known = searchIndexes[conversation], number <= known.index.indexedTo else { return }
        change(known.index) { $0.changed.insert(number) }
    }

    func removeChangedText(of number: Int64, in conversation: ConversationID) {
        searchIndexes[conversation]?.changed.remove(number)
    }

    func changedTexts(of numbers: ClosedRange<Int64>, in conversation: ConversationID, limit: Int) -> [Int64] {
        Array((searchIndexes[conversation]?.changed ?? []).filter { numbers.contains($0) }.sorted().prefix(limit))
    }

    func deletedTexts(limit: Int) -> [(conversation: ConversationID, number: Int64)] {
        let all = searchIndexes.flatMap { id, index in index.changed.sorted().map { (id, $0) } }
        return Array(all.filter { rows[$0]?.messages[$1]?.message.deletedAt != nil }.prefix(limit))
    }

    func editedMessages(of numbers: ClosedRange<Int64>, in conversation: ConversationID, limit: Int) -> [Int64] {
        Array((rows[conversation]?.edits.keys.filter { numbers.contains($0) } ?? []).sorted().prefix(limit))
    }

    private func change(_ index: SearchIndex, _ change: (inout InMemorySearchIndex) -> Void) {
        for (id, known) in searchIndexes where known.index.key == index.key {
            var changed = known
            change(&changed)
            searchIndexes[id] = changed
        }
    }

    func searchedConversations(of user: UserID) -> [SearchedConversation] {
        rows.values.compactMap { row in
            guard let member = row.members[user] else { return nil }
            return SearchedConversation(
                row.conversation, member, row.spans[user] ?? MembershipSpans(),
                index: searchIndex(of: row.conversation.id))
        }
    }

    func sentAt(_ number: Int64, in conversation: ConversationID) -> Timestamp? {
        // Numbers are dense.
        rows[conversation].flatMap { $0.messages[min(number, $0.conversation.lastNumber)]?.message.sentAt }
    }

    func visitPostings(
        _ lookup: SearchLookup, in index: SearchIndex, _ numbers: ClosedRange<Int64>, _ body: (Int64) throws -> Bool
    ) throws {
        let known = searchIndexes.values.first { $0.index.key == index.key }?.postings ?? []
        for posting in known where lookup.matches(posting.term) && numbers.contains(posting.number) {
            rowsRead += 1
            guard try body(posting.number) else { return }
        }
    }

    func conversationsToIndex(after id: ConversationID?, limit: Int) -> (due: [ConversationID], next: ConversationID?) {
        let all = rows.values.map(\.conversation).filter { $0.id.text > id?.text ?? "" }.sorted {
            $0.id.text < $1.id.text
        }
        let due = all.prefix(limit).filter { conversation in
            let index = searchIndex(of: conversation.id)
            return conversation.lastNumber > index?.indexedTo ?? 0
                || index.map { $0.version != SearchTokenizer.version } ?? false
                || searchIndexes[conversation.id]?.changed.isEmpty == false
        }
        return (due.map(\.id), all.count < limit ? nil : all[limit - 1].id)
    }

    func messages(toIndexIn conversation: ConversationID, after number: Int64, limit: Int) -> [Message] {
        let later = (rows[conversation]?.messages.values.map(\.message) ?? []).filter { $0.number > number }
        return Array(later.sorted { $0.number < $1.number }.prefix(limit))
    }

    func textVersions(of numbers: ClosedRange<Int64>, in conversation: ConversationID) -> [Int64] {
        let all = (rows[conversation]?.messages.values.map(\.message) ?? []).filter { numbers.contains($0.number) }
        return all.sorted { $0.number < $1.number }.map(\.textVersion)
    }
}
