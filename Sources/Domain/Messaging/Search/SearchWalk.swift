import Model

/// Walks the matches of one conversation from the newest to the oldest.
///
/// The index proposes candidates block by block; the messages themselves, as the reader sees them, decide.
struct SearchWalk<Store: SearchStore> {
    struct Found {
        fileprivate var stored: Message
        fileprivate var reader: PageReader<Store>
        /// Nil if only filters were given.
        var match: SearchMatch?
        /// Of the text, in bytes.
        var bytes: Int

        var position: SearchPosition { SearchPosition(stored.sentAt, stored.conversation, stored.number) }

        func result() throws -> SearchResult? {
            try reader.seen(stored).map { SearchResult(message: $0, matches: match?.ranges ?? []) }
        }
    }

    let conversation: SearchedConversation
    private let reader: PageReader<Store>
    private let store: Store
    private let search: MessageSearch<Store>
    private var state = State.closed

    private enum State {
        /// Nothing is known but when the last message was sent.
        case closed
        /// The numbers up to this one have not been looked at.
        case numbers(Int64)
        /// These have to be compared, then the numbers up to `rest`.
        case candidates(NumberSet, rest: Int64)
        case found(Found, NumberSet, rest: Int64)
    }

    init(_ conversation: SearchedConversation, _ search: MessageSearch<Store>) {
        self.conversation = conversation
        self.search = search
        store = search.store
        reader = PageReader(found: conversation.found, user: search.reader, store: search.store)
    }

    private var id: ConversationID { conversation.found.conversation.id }

    var found: Found? {
        if case .found(let found, _, _) = state { found } else { nil }
    }

    /// What no match is newer than; nil if there cannot be any.
    func bound(before start: SearchPosition?, _ budget: inout SearchBudget) throws -> SearchPosition? {
        budget.spend(conversation.found.access.spans.isOpen ? 1 : SearchBudget.lookup)
        let (last, access) = (conversation.found.conversation, conversation.found.access)
        guard last.lastNumber > 0, let newest = access.visible(in: 1...last.lastNumber).last?.upperBound else {
            return nil
        }
        // A user who left must not even be able to infer when something was written since then.
        var time = access.spans.isOpen ? last.lastSentAt : try store.sentAt(newest, in: id) ?? last.createdAt
        if let from = search.filters.from, time < from { return nil }
        if let to = search.filters.to { time = min(time, to.adding(milliseconds: -1)) }
        let bound = SearchPosition(time, id, .max)
        guard let start else { return bound }
        return min(bound, SearchPosition(start.sentAt, id, id == start.conversation ? start.number : .max))
    }

    /// Goes on to the next match, or as far as one step goes.
    ///
    /// - Parameter start: matches are older than this.
    /// - Returns: what no match that is left is newer than; nil if there is none.
    mutating func advance(before start: SearchPosition?, _ budget: inout SearchBudget) throws -> SearchPosition? {
        switch state {
        case .closed:
            guard let number = try firstNumber(before: start, &budget) else { return nil }
            return try pause(at: number, &budget)
        case .numbers(let number):
            let block = number / SearchIndex.blockLength
            let rest = block * SearchIndex.blockLength - 1
            return try compare(try candidates(in: block, upTo: number, &budget), rest: rest, &budget)
        case .candidates(let candidates, let rest), .found(_, let candidates, let rest):
            return try compare(candidates, rest: rest, &budget)
        }
    }

    /// The message, if it matches.
    func read(_ number: Int64) throws -> Found? {
        var steps = 0
        return try reader.stored(number).flatMap { try found($0, as: try reader.withSeenText($0), counting: &steps) }
    }

    /// Compares messages until one matches or one is known to be older than the last.
    private mutating func compare(
        _ candidates: NumberSet, rest: Int64, _ budget: inout SearchBudget
    ) throws -> SearchPosition? {
        var candidates = candidates
        while let number = candidates.popMax() {
            guard let message = try reader.stored(number) else {
                budget.spend(SearchBudget.message)
                continue
            }
            let seen = try reader.withSeenText(message)
            budget.spend(onComparing: seen)
            // A former text was looked for.
            if seen.textVersion != message.textVersion { budget.spend(SearchBudget.message) }
            if let from = search.filters.from, message.sentAt < from { return nil }
            let position = SearchPosition(message.sentAt, id, number)
            var steps = 0
            let found = try found(message, as: seen, counting: &steps)
            budget.spend(onMatching: steps)
            if let found {
                state = .found(found, candidates, rest: rest)
            } else {
                state = .candidates(candidates, rest: rest)
            }
            return position
        }
        return try pause(at: rest, &budget)
    }

    private func found(_ stored: Message, as message: Message, counting steps: inout Int) throws -> Found? {
        // A call has no words, nor has a voice message without a transcript: they are found by filters alone.
        let wordless = [.call, .voice].contains(message.kind) && search.query == nil ? "" : nil
        guard message.deletedAt == nil, let text = message.text ?? message.voice?.words ?? wordless,
            search.filters.include(message, readBy: search.reader)
        else { return nil }
        let match = search.query.map { SearchMatch($0, in: text, counting: &steps) }
        if case .some(nil) = match { return nil }
        guard try search.mayBeShown(stored, in: conversation.found.conversation) else { return nil }
        return Found(stored: stored, reader: reader, match: match ?? nil, bytes: text.utf8.count)
    }

    /// Goes on later at the newest number up to this one that may be seen.
    private mutating func pause(at number: Int64, _ budget: inout SearchBudget) throws -> SearchPosition? {
        budget.spend(SearchBudget.lookup)
        guard number > 0, let number = conversation.found.access.visible(in: 1...number).last?.upperBound,
            let time = try sentAt(number), search.filters.from.map({ time >= $0 }) ?? true
        else { return nil }
        state = .numbers(number)
        return SearchPosition(time, id, number)
    }
}

// What the index says.
extension SearchWalk {
    /// Those of the block that may match, and be seen.
    private func candidates(
        in block: Int64, upTo number: Int64, _ budget: inout SearchBudget
    ) throws -> NumberSet {
        let numbers = max(1, block * SearchIndex.blockLength)...number
        var visible = NumberSet(block: block)
        for range in conversation.found.access.visible(in: numbers) { visible.insert(range) }
        budget.spend(SearchBudget.lookup)
        if search.filters.isStarred {
            let rows = try store.ownRows(of: search.reader, in: id, numbers)
            budget.spend(rows.count)
            var starred = NumberSet(block: block)
            for row in rows where row.starredAt != nil { starred.insert(row.number) }
            visible.formIntersection(starred)
        }
        guard let index = conversation.index, !index.isOutdated, index.indexedTo >= numbers.lowerBound else {
            return visible
        }
        let indexed = numbers.lowerBound...min(number, index.indexedTo)
        var candidates = try having(indexed, block, visible, index, &budget)
        if index.indexedTo < number { candidates.formUnion(NumberSet(block: block, (index.indexedTo + 1)...number)) }
        for number in try readBeside(index, indexed, &budget) { candidates.insert(number) }
        candidates.formIntersection(visible)
        return candidates
    }

    /// Messages of which the index does not have the text that the reader sees: it has changed since it was indexed, or
    /// since the reader left.
    private func readBeside(
        _ index: SearchIndex, _ numbers: ClosedRange<Int64>, _ budget: inout SearchBudget
    ) throws -> [Int64] {
        let limit = Int(SearchIndex.blockLength)
        var found = try store.changedTexts(of: numbers, in: id, limit: limit)
        for span in conversation.found.access.spans.spans {
            guard let until = span.until, span.from < numbers.upperBound, until >= numbers.lowerBound else { continue }
            let closed = max(span.from + 1, numbers.lowerBound)...min(until, numbers.upperBound)
            let edited = try store.editedMessages(of: closed, in: id, limit: limit)
            budget.spend((edited.count + 1) * SearchBudget.lookup)
            found += edited
        }
        return found
    }

    /// Those of which the index says that they may match.
    private func having(
        _ numbers: ClosedRange<Int64>, _ block: Int64, _ visible: NumberSet, _ index: SearchIndex,
        _ budget: inout SearchBudget
    ) throws -> NumberSet {
        var left = NumberSet(block: block, numbers)
        left.formIntersection(visible)
        for position in budget.order {
            // To read a few is cheaper than to look more terms up.
            guard left.count > 2, let first = left.min, let last = left.max else { break }
            var having = NumberSet(block: block)
            var (visited, isUseful) = (0, true)
            for lookup in search.conditions[position] where isUseful {
                let end = visited + SearchBudget.postings
                try store.visitPostings(lookup, in: index, first...last) { number in
                    having.insert(number)
                    visited += 1
                    return visited < end
                }
                isUseful = visited < end
            }
            budget.spend(onLookups: search.conditions[position].count, visited: visited, of: position)
            if isUseful { left.formIntersection(having) }
        }
        return left
    }
}

// Where the search begins.
extension SearchWalk {
    /// The newest visible number that is older than `start` and the filter's end.
    private func firstNumber(before start: SearchPosition?, _ budget: inout SearchBudget) throws -> Int64? {
        var last = conversation.found.conversation.lastNumber
        if let start, start.conversation == id { last = min(last, start.number - 1) }
        guard last > 0, let newest = conversation.found.access.visible(in: 1...last).last?.upperBound else {
            return nil
        }
        guard try !isOlder(newest, than: start) else { return newest }
        // The order of the numbers is that of the times.
        var (low, high) = (Int64(0), newest)
        while low + 1 < high {
            let middle = low + (high - low) / 2
            budget.spend(SearchBudget.lookup)
            if try isOlder(middle, than: start) { low = middle } else { high = middle }
        }
        return low > 0 ? conversation.found.access.visible(in: 1...low).last?.upperBound : nil
    }

    /// The last message's time is known without reading it.
    private func sentAt(_ number: Int64) throws -> Timestamp? {
        let last = conversation.found.conversation
        return number == last.lastNumber ? last.lastSentAt : try store.sentAt(number, in: id)
    }

    private func isOlder(_ number: Int64, than start: SearchPosition?) throws -> Bool {
        guard let time = try sentAt(number) else { return true }
        if let to = search.filters.to, time >= to { return false }
        return start.map { SearchPosition(time, id, number) < $0 } ?? true
    }
}
