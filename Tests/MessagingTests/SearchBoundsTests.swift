import Model
import TestSupport
import Testing
import Wire

@testable import Messaging

@Suite("Bounds of the search", .timeLimit(.minutes(2)))
struct SearchBoundsTests {
    /// A chat whose conversations are indexed.
    private func chat(_ texts: [[String]]) throws -> (chat: Chat, ids: [ConversationID]) {
        let chat = Chat(people: 2)
        let ids = try texts.map { texts in
            let id = try chat.group([1])
            for text in texts {
                chat.store.now = chat.store.now.adding(milliseconds: 1)
                try chat.send(text, to: id, by: 0)
            }
            try index(id, in: chat.store)
            return id
        }
        return (chat, ids)
    }

    private func index(_ id: ConversationID, in store: InMemoryMessagingStore) throws {
        while let batch = try MessageIndexer().batch(of: id, in: store) {
            #expect(batch.postings.count <= MessageIndexer.maxPostings || batch.to == batch.from + 1)
            #expect(try MessageIndexer().write(batch, in: store))
        }
    }

    private func search(
        _ text: String, _ chat: Chat, order: SearchRequest.Order = .date, limit: Int = 20, cursor: SearchCursor? = nil,
        by person: Int = 1, _ change: (inout SearchLimits) -> Void = { _ in }
    ) throws -> SearchPage {
        var limits = SearchLimits()
        change(&limits)
        return try chat.commands.search(
            SearchRequest(query: SearchQuery(text), order: order, limit: limit, cursor: cursor), limits: limits,
            by: chat.people[person], in: chat.store)
    }

    private func numbers(_ page: SearchPage) -> [Int64] { page.results.map(\.message.number) }

    @Test("a search of many messages reads few of them, and one that is cut goes on where it was")
    func cutting() throws {
        let long = (1...2_100).map { "\($0 % 2 == 0 ? "common" : "other") a\($0)\($0 % 900 == 7 ? " rare" : "")" }
        let (chat, ids) = try chat([long, ["common rare"], ["nothing"]])
        #expect(chat.store.searchIndex(of: ids[0])?.indexedTo == 2_100)
        chat.store.rowsRead = 0
        let newest = try search("common", chat)
        #expect(newest.results.count == 20 && newest.next != nil && !newest.isPartial)
        // The half of the newest block, and the page.
        #expect(chat.store.rowsRead < 700)
        chat.store.rowsRead = 0
        #expect(try search("a", chat).results.count == 20)
        #expect(chat.store.rowsRead < 1_200)
        #expect(try numbers(search("rare", chat)) == [1, 1807, 907, 7])

        for text in ["other a", "common other", "common a"] {
            let whole = try all(text, chat) { $0.page = 5_000 }.results
            #expect(whole.count == (text == "common other" ? 0 : 1_050))
            let cut = try all(text, chat) { $0.cost = 900 }
            #expect(cut.results == whole && cut.partial > 0, "\(text)")
            #expect(cut.mostRead < 900 + 3_000, "\(text)")
        }
    }

    private func all(
        _ text: String, _ chat: Chat, _ change: (inout SearchLimits) -> Void
    ) throws -> (results: [SearchResult], partial: Int, mostRead: Int) {
        var (results, partial, mostRead): ([SearchResult], Int, Int) = ([], 0, 0)
        var cursor: SearchCursor?
        for _ in 0..<1_000 {
            chat.store.rowsRead = 0
            let page = try search(text, chat, limit: 5_000, cursor: cursor, change)
            mostRead = max(mostRead, chat.store.rowsRead)
            results += page.results
            if page.isPartial { partial += 1 }
            guard let next = page.next else { return (results, partial, mostRead) }
            cursor = next
        }
        Issue.record("it has no end")
        return (results, partial, mostRead)
    }

    @Test("a search that can do nothing ends, with what it has and as partial")
    func noProgress() throws {
        let (chat, _) = try chat((0..<30).map { _ in ["word one", "word two", "word three"] })
        let whole = try search("word", chat, limit: 100) { $0.page = 100 }.results
        #expect(whole.count == 90)
        for cost in [-1, 0, 1, 30, 100] {
            let cut = try all("word", chat) { $0.cost = cost }
            #expect(cut.partial > 0 && cut.results.allSatisfy(whole.contains), "cost \(cost)")
            #expect(Set(cut.results).count == cut.results.count)
            let ranked = try search("word", chat, order: .relevance) { $0.cost = cost }
            #expect(ranked.isPartial && ranked.results.allSatisfy(whole.contains))
        }
    }

    @Test("a term that all messages of a block have often is not read to the end")
    func hostileBlock() throws {
        let words = (0..<60).map { "a\($0)" }.joined(separator: " ")
        let (chat, _) = try chat([(1...300).map { "\(words) \($0 == 5 ? "needle" : "")" }])
        chat.store.rowsRead = 0
        let page = try search("needle a", chat)
        #expect(numbers(page) == [5] && !page.isPartial)
        chat.store.rowsRead = 0
        #expect(try search("a", chat, limit: 10).results.count == 10)
        #expect(chat.store.rowsRead < SearchBudget.postings + 20)
    }

    @Test("long texts cost more, and who left is charged for the former ones that they see")
    func longTexts() throws {
        let long = String(repeating: "word ", count: 1_600)
        let chat = Chat(people: 2)
        let id = try chat.group([1])
        for _ in 0..<20 { try chat.send("short", to: id, by: 0) }
        try chat.commands.leave(id, by: chat.people[1], in: chat.store)
        for number in 1...20 {
            for text in [long, long + "x", long] {
                let version = try #require(chat.store.message(Int64(number), in: id)).textVersion
                _ = try chat.commands.edit(
                    Int64(number), in: id, text: MessageText(text), basedOn: version, by: chat.people[0],
                    store: chat.store)
            }
        }
        // Not indexed, so that all are compared.
        chat.store.rowsRead = 0
        let page = try search("missing", chat, by: 0) { $0.cost = 3_000 }
        #expect(page.isPartial && page.results.isEmpty && (2...7).contains(chat.store.rowsRead))
        #expect(try !search("missing", chat, by: 0).isPartial)
        #expect(try !search("missing", chat, by: 1) { $0.cost = 3_000 }.isPartial)
    }

    @Test("a page has as many bytes as are allowed, and one message at least")
    func pageBytes() throws {
        let (chat, _) = try chat([(1...7).map { _ in String(repeating: "long ", count: 100) }])
        for (bytes, count) in [(1, 1), (499, 1), (1_000, 2), (10_000, 7)] {
            let page = try search("long", chat) { $0.pageBytes = bytes }
            #expect(page.results.count == count && (page.next != nil) == (count < 7))
            let ranked = try search("long", chat, order: .relevance) { $0.pageBytes = bytes }
            #expect(ranked.results.count == count && (ranked.next != nil) == (count < 7))
        }
        #expect(try search("long", chat).results[0].matches.count == SearchMatch.maxRanges)
    }

    @Test("by relevance, the newest candidates are ordered")
    func candidates() throws {
        let (chat, _) = try chat([["word word word"] + (1...29).map { "word \($0) \($0 == 25 ? "word" : "")" }])
        let page = try search("word", chat, order: .relevance, limit: 5) { $0.candidates = 10 }
        #expect(numbers(page).first == 26, "the first message is not among the newest")
        var (found, next) = (numbers(page), page.next)
        // What is sent meanwhile does not move the pages.
        let sent = try chat.send(
            "word word word word", to: chat.store.rows.keys.first.map { $0 } ?? chat.newID(), by: 0)
        while let cursor = next {
            let page = try search("word", chat, order: .relevance, limit: 5, cursor: cursor) { $0.candidates = 10 }
            found += numbers(page)
            next = page.next
        }
        #expect(Set(found) == Set(21...30) && found.count == 10)
        #expect(try numbers(search("word", chat, order: .relevance)).first == sent.number)
    }

    @Test("who left cannot infer from a cursor that something was written since")
    func formerMembers() throws {
        let (chat, ids) = try chat([["early word"], ["word"]])
        let left = chat.store.now
        try chat.commands.leave(ids[0], by: chat.people[1], in: chat.store)
        chat.store.now = chat.store.now.adding(seconds: 60)
        try chat.send("late word", to: ids[0], by: 0)
        let page = try search("word", chat) { $0.cost = 0 }
        guard case .date(let position)? = page.next else {
            Issue.record("there is no cursor")
            return
        }
        #expect(position.sentAt <= left)
        #expect(try search("late", chat).results.isEmpty && search("late", chat, by: 0).results.count == 1)
    }

    @Test("what changes between reading and writing a batch is not indexed as it was")
    func races() throws {
        let chat = Chat(people: 2)
        let id = try chat.group([1])
        let sent = try chat.send("secret", to: id, by: 0)
        let batch = try #require(try MessageIndexer().batch(of: id, in: chat.store))
        _ = try chat.commands.edit(
            1, in: id, text: MessageText("public"), basedOn: sent.textVersion, by: chat.people[0], store: chat.store)
        #expect(try !MessageIndexer().write(batch, in: chat.store))
        let next = try #require(try MessageIndexer().batch(of: id, in: chat.store))
        _ = try chat.commands.delete(1, in: id, by: chat.people[0], store: chat.store)
        #expect(try !MessageIndexer().write(next, in: chat.store))
        try index(id, in: chat.store)
        let known = try #require(chat.store.searchIndexes[id])
        #expect(known.postings.isEmpty && known.index.indexedTo == 1)
        #expect(try MessageIndexer().batch(of: id, in: chat.store) == nil)
    }

    @Test("comparing costs more with more phrases, and with more of each")
    func phrases() throws {
        let words = ["one", "two", "three", "four", "five", "six", "seven", "eight"]
        let text = (0..<5_000).map { words[$0 % 8] }.joined(separator: " ")
        let (chat, _) = try chat([Array(repeating: text, count: 12)])
        for order in SearchRequest.Order.allCases {
            #expect(try search("one", chat, order: order) { $0.cost = 100_000 }.isPartial == false)
            #expect(try search(words.joined(separator: " "), chat, order: order) { $0.cost = 100_000 }.isPartial)
        }
        var (few, many) = (0, 0)
        _ = SearchMatch(try SearchQuery("\"one two\" \"one two\" \"one two\""), in: text, counting: &few)
        _ = SearchMatch(try SearchQuery(words.joined(separator: " ")), in: text, counting: &many)
        // Nothing is nearer to itself, and each step of the others compares all.
        #expect(few == 5_000 && many > 8 * 5_000 + 8 * 256)
    }

    @Test("an edit is read until it is indexed, in parts, and an edit meanwhile is not written as it was")
    func edits() throws {
        let (chat, indexer) = (Chat(people: 2), MessageIndexer())
        let id = try chat.group([1])
        var sent = try chat.send("secret", to: id, by: 0)
        try index(id, in: chat.store)
        func edit(_ text: String) throws {
            sent = try chat.commands.edit(
                1, in: id, text: MessageText(text), basedOn: sent.textVersion, by: chat.people[0], store: chat.store)
        }
        func found(_ query: String) throws -> [Int64] { try numbers(search(query, chat)) }
        try edit((0..<2_000).map { "word\($0)" }.joined(separator: " "))
        #expect(chat.store.searchIndexes[id]?.postings.contains { $0.term.text == "word7" } == false)
        #expect(try found("word7") == [1] && found("secret") == [])
        let outdated = try #require(try indexer.changes(of: id, in: chat.store).first)
        try edit((0..<2_000).map { "term\($0)" }.joined(separator: " "))
        #expect(try !indexer.write(outdated, in: chat.store))
        var parts = 0
        while let change = try indexer.changes(of: id, in: chat.store).first {
            #expect(change.cost <= MessageIndexer.maxPostings)
            _ = try indexer.write(change, in: chat.store)
            // Nothing is written twice.
            #expect(try !indexer.write(change, in: chat.store))
            #expect(try found("term7") == [1] && found("word7") == [] && found("secret") == [])
            parts += 1
        }
        #expect(parts == 3 && chat.store.searchIndexes[id]?.changed.isEmpty == true)
        // The author is a term too.
        #expect(chat.store.searchIndexes[id]?.postings.count == 2_001)
        #expect(chat.store.searchIndexes[id]?.terms[1]?.count == 2_001)
        try chat.commands.leave(id, by: chat.people[1], in: chat.store)
        try edit("public")
        try index(id, in: chat.store)
        for change in try indexer.changes(of: id, in: chat.store) { _ = try indexer.write(change, in: chat.store) }
        #expect(try numbers(search("term7", chat, by: 1)) == [1] && numbers(search("public", chat, by: 1)) == [])
        #expect(try numbers(search("term7", chat, by: 0)) == [] && numbers(search("public", chat, by: 0)) == [1])
    }

    @Test("an index that another version made is cleared and made anew, and messages are found meanwhile")
    func upgrade() throws {
        let (chat, ids) = try chat([(1...600).map { "one two three four five \($0)" }])
        let index = try #require(chat.store.searchIndexes[ids[0]]?.index)
        chat.store.update(SearchIndex(key: index.key, indexedTo: index.indexedTo, version: index.version - 1))
        chat.store.searchIndexes[ids[0]]?.postings.insert(SearchPosting(term: SearchTerm("old"), number: 5))
        #expect(chat.store.conversationsToIndex(after: nil, limit: 10).due == ids)
        #expect(try MessageIndexer().batch(of: ids[0], in: chat.store) == nil)
        var parts = 0
        repeat {
            #expect(try numbers(search("77 five", chat)) == [77])
            parts += 1
        } while try MessageIndexer().clear(ids[0], in: chat.store)
        #expect(parts > 1 && chat.store.searchIndexes[ids[0]]?.postings.isEmpty == true)
        #expect(try !MessageIndexer().clear(ids[0], in: chat.store))
        try self.index(ids[0], in: chat.store)
        #expect(try numbers(search("77 five", chat)) == [77] && search("old", chat).results.isEmpty)
        #expect(chat.store.conversationsToIndex(after: nil, limit: 10).due.isEmpty)
    }
}
