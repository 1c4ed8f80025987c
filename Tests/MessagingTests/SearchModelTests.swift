import Accounts
import Friends
import Model
import Storage
import TestSupport
import Testing
import Wire

@testable import Messaging

/// Searches against a naive search over everything that the pages of messages show.
@Suite("Search", .timeLimit(.minutes(3)))
struct SearchModelTests {
    @Test("in memory, whatever happens, a search finds what is to be seen and nothing else")
    func memory() throws {
        let seed = freshSeed()
        for round in 0..<UInt64(12) { try check(InMemoryMessagingStore(), seed: seed &+ round, InMemorySetUp.self) }
    }

    @Test("in the database too, and its index has the terms of its messages alone")
    func database() async throws {
        let seed = freshSeed()
        for round in 0..<UInt64(4) {
            let store = Store(
                database: try SQLiteDatabase(path: try ScratchDirectory().database),
                clock: { Timestamp(milliseconds: 1_800_000_000_000) }, publish: { _ in })
            try await store.prepare()
            _ = try await store.write { try check($0, seed: seed &+ round, DatabaseSetUp.self) }
            await store.database.close()
        }
    }

    private func check<Store: SearchStore & IndexedMessageStore, SetUp: SearchSetUp>(
        _ store: Store, seed: UInt64, _: SetUp.Type
    ) throws where SetUp.Store == Store {
        var harness = SearchHarness<SetUp>(store, seed: seed)
        try harness.makePeople(4)
        for step in 0..<160 {
            try harness.step()
            if step % 4 == 0 { try harness.search() }
        }
        try harness.checkIndex()
    }
}

/// What a test does to a store beside its protocols.
protocol SearchSetUp {
    associatedtype Store: SearchStore & IndexedMessageStore
    static func add(_ user: UserID, to store: Store) throws
    static func befriend(_ one: UserID, _ other: UserID, in store: Store) throws
    static func setBlock(_ isBlocked: Bool, of user: UserID, by blocker: UserID, in store: Store) throws
    static func postings(of index: SearchIndex, in store: Store) throws -> Set<SearchPosting>
    /// Sets the clock forward, where it can be.
    static func advance(_ store: Store, milliseconds: Int64)
}

enum InMemorySetUp: SearchSetUp {
    static func add(_ user: UserID, to store: InMemoryMessagingStore) {}
    static func befriend(_ one: UserID, _ other: UserID, in store: InMemoryMessagingStore) {
        store.friends.insert([one, other])
    }
    static func setBlock(_ isBlocked: Bool, of user: UserID, by blocker: UserID, in store: InMemoryMessagingStore) {
        if isBlocked { store.blocks.insert([user, blocker]) } else { store.blocks.remove([user, blocker]) }
    }
    static func postings(of index: SearchIndex, in store: InMemoryMessagingStore) -> Set<SearchPosting> {
        store.searchIndexes.values.first { $0.index.key == index.key }?.postings ?? []
    }
    static func advance(_ store: InMemoryMessagingStore, milliseconds: Int64) {
        store.now = store.now.adding(milliseconds: milliseconds)
    }
}

enum DatabaseSetUp: SearchSetUp {
    static func add(_ user: UserID, to store: StoreTransaction) throws {
        _ = try store.insert(
            UserRecord(id: user, displayName: "Somebody", reach: .everybody, createdAt: store.now))
    }
    static func befriend(_ one: UserID, _ other: UserID, in store: StoreTransaction) throws {
        for (owner, user) in [(one, other), (other, one)] {
            try store.save(FriendRecord(owner: owner, user: user, state: .friend, at: store.now, expiresAt: nil))
        }
    }
    static func setBlock(_ isBlocked: Bool, of user: UserID, by blocker: UserID, in store: StoreTransaction) throws {
        _ = if isBlocked { try store.block(user, by: blocker) } else { try store.unblock(user, by: blocker) }
    }
    static func postings(of index: SearchIndex, in store: StoreTransaction) throws -> Set<SearchPosting> {
        Set(
            try store.sql.query(
                "SELECT term, number, block FROM postings WHERE index_key = ?1", [.integer(index.key)]
            ).map { row in
                let posting = SearchPosting(term: SearchTerm(try row.text(0)), number: try row.integer(1))
                #expect(try row.integer(2) == posting.block)
                return posting
            })
    }
    static func advance(_ store: StoreTransaction, milliseconds: Int64) {}
}

/// Some people who do anything.
struct SearchHarness<SetUp: SearchSetUp> {
    typealias Store = SetUp.Store

    let store: Store
    let seed: UInt64
    var commands = ConversationCommands.quiet()
    var random: SeededRandom
    var people: [UserID] = []
    var conversations: [ConversationID] = []
    var blocks: [[Int]: Bool] = [:]

    init(_ store: Store, seed: UInt64) {
        self.store = store
        self.seed = seed
        random = SeededRandom(seed: seed)
        commands = ConversationCommands.quiet()
    }

    mutating func id<Entity>() -> Identifier<Entity> { .make(at: store.now, using: &random) }
    mutating func person() -> UserID { people.randomElement(using: &random) ?? people[0] }

    mutating func makePeople(_ count: Int) throws {
        for _ in 0..<count { people.append(id()) }
        for user in people { try SetUp.add(user, to: store) }
        // The last one is nobody's friend: invited to groups, and a stranger to the others.
        for one in 0..<count - 1 { for other in 0..<one { try SetUp.befriend(people[one], people[other], in: store) } }
    }

    mutating func step() throws {
        let (user, other) = (person(), person())
        let fresh: ConversationID = id()
        let conversation = conversations.randomElement(using: &random) ?? fresh
        let last = try store.conversation(conversation)?.lastNumber ?? 0
        let number = Int64.random(in: 0...max(1, last), using: &random)
        let text = try MessageText(SearchWords.text(&random, people))
        switch Int.random(in: 0..<32, using: &random) {
        case 0 where conversations.count < 6:
            guard
                try attempt({
                    try commands.createGroup(
                        name: nil, members: [other, people[3]], id: fresh, by: user, in: store)
                })
            else { return }
            conversations.append(fresh)
        case 1 where conversations.count < 6:
            guard try attempt({ try commands.createDirect(with: other, id: fresh, by: user, in: store) }),
                try store.conversation(fresh) != nil
            else { return }
            conversations.append(fresh)
        case 2: _ = try attempt { try commands.add([other], to: conversation, by: user, in: store) }
        case 3: _ = try attempt { try commands.accept(conversation, by: user, in: store) }
        case 4: _ = try attempt { try commands.leave(conversation, by: user, in: store) }
        case 5: _ = try attempt { try commands.remove(other, from: conversation, by: user, in: store) }
        case 6...9:
            guard let message = try store.message(number, in: conversation) else { return }
            _ = try attempt {
                try commands.edit(
                    number, in: conversation, text: text, basedOn: message.textVersion, by: message.author, store: store
                )
            }
        case 10: _ = try attempt { try commands.delete(number, in: conversation, by: user, store: store) }
        case 11 where user != other:
            let isBlocked = !(blocks[[people.firstIndex(of: user) ?? 0, people.firstIndex(of: other) ?? 0]] ?? false)
            blocks[[people.firstIndex(of: user) ?? 0, people.firstIndex(of: other) ?? 0]] = isBlocked
            try SetUp.setBlock(isBlocked, of: user, by: other, in: store)
        case 12...14: try index(conversation)
        case 18: _ = try attempt { try commands.hide(number, in: conversation, by: user, store: store) }
        case 19...20:
            let isStarred = Int.random(in: 0..<4, using: &random) > 0
            _ = try attempt {
                try commands.star(number, in: conversation, isStarred: isStarred, by: user, store: store)
            }
        case 21 where Int.random(in: 0..<4, using: &random) == 0:
            _ = try attempt { try commands.clear(conversation, by: user, in: store) }
        case 15...17: SetUp.advance(store, milliseconds: Int64.random(in: 0...3, using: &random))
        default:
            let outgoing = OutgoingMessage(clientID: id(), text: text, digest: [])
            _ = try attempt { try commands.send(outgoing, to: conversation, by: user, in: store) }
        }
    }

    /// Whether it was allowed.
    private func attempt<Value>(_ body: () throws -> Value) throws -> Bool {
        do {
            _ = try body()
            return true
        } catch is Problem {
            return false
        }
    }

    private func index(_ conversation: ConversationID) throws {
        let indexer = MessageIndexer()
        for change in try indexer.changes(of: conversation, in: store) {
            #expect(try indexer.write(change, in: store), "seed \(seed)")
        }
        guard let batch = try indexer.batch(of: conversation, in: store) else { return }
        #expect(try indexer.write(batch, in: store), "seed \(seed)")
        // Nothing is written twice.
        #expect(try !indexer.write(batch, in: store), "seed \(seed)")
    }

    // MARK: Searches

    mutating func search() throws {
        let reader = person()
        var query = SearchWords.query(&random)
        var filters = SearchFilters()
        if Int.random(in: 0..<4, using: &random) == 0 { filters.author = person() }
        if Int.random(in: 0..<4, using: &random) == 0 { filters.hasLink = true }
        if Int.random(in: 0..<4, using: &random) == 0 { filters.mentionsReader = true }
        if Int.random(in: 0..<8, using: &random) == 0 { filters.kind = .text }
        if Int.random(in: 0..<4, using: &random) == 0 { filters.isStarred = true }
        if Int.random(in: 0..<6, using: &random) == 0 {
            filters.conversation = conversations.randomElement(using: &random)
        }
        let start = Timestamp(milliseconds: 1_800_000_000_000)
        if Int.random(in: 0..<4, using: &random) == 0 {
            filters.from = start.adding(milliseconds: Int64.random(in: 0...20, using: &random))
        }
        if Int.random(in: 0..<4, using: &random) == 0 {
            filters.to = start.adding(milliseconds: Int64.random(in: 0...40, using: &random))
        }
        if filters.isSelective, Bool.random(using: &random) { query = nil }
        let limit = Int.random(in: 1...6, using: &random)

        let wanted: [SearchResult]
        do {
            wanted = try naive(query, filters, reader)
        } catch let problem as Problem {
            #expect(filters.conversation != nil && problem.kind == .notFound, "seed \(seed)")
            let request = try SearchRequest(query: query?.parsed, filters: filters)
            #expect(throws: problem) { try commands.search(request, by: reader, in: store) }
            return
        }
        var what: Comment { "\(query?.text ?? "-") \(filters), seed \(seed)" }
        #expect(try pages(query, filters, .date, limit, reader) == wanted, what)
        let ranked = try pages(query, filters, .relevance, limit, reader)
        #expect(Set(ranked) == Set(wanted) && ranked.count == wanted.count, what)
        guard let parsed = try query?.parsed else { return }
        let relevances = ranked.compactMap { SearchMatch(parsed, in: $0.message.text ?? "")?.relevance }
        #expect(relevances == relevances.sorted(by: >), what)
    }

    private func pages(
        _ query: SearchWords.Query?, _ filters: SearchFilters, _ order: SearchRequest.Order, _ limit: Int,
        _ reader: UserID
    ) throws -> [SearchResult] {
        var results: [SearchResult] = []
        var cursor: SearchCursor?
        for _ in 0..<200 {
            let request = try SearchRequest(
                query: query?.parsed, filters: filters, order: order, limit: limit, cursor: cursor)
            let page = try commands.search(request, by: reader, in: store)
            #expect(!page.isPartial && page.results.count <= limit, "seed \(seed)")
            results += page.results
            guard let next = page.next else { return results }
            #expect(page.results.count == limit, "seed \(seed)")
            cursor = try SearchCursor(text: next.text)
        }
        return results
    }

    /// What the pages of all conversations show, compared one by one.
    private func naive(
        _ query: SearchWords.Query?, _ filters: SearchFilters, _ reader: UserID
    ) throws -> [SearchResult] {
        var results: [SearchResult] = []
        for conversation in conversations where filters.conversation.map({ $0 == conversation }) ?? true {
            var anchor = PageAnchor.newest
            while true {
                let page: MessagePage
                do {
                    page = try commands.page(anchor, of: conversation, limit: 50, by: reader, in: store)
                } catch let problem as Problem where filters.conversation == nil {
                    #expect(problem.kind == .notFound, "seed \(seed)")
                    break
                }
                for message in page.messages.reversed() where message.deletedAt == nil {
                    let ranges = message.ranges
                    let mentions = ranges.filter { $0.kind == .mention }.map(\.user)
                    let own = try store.ownRows(of: reader, in: conversation, message.number...message.number)
                    guard !filters.isStarred || own.contains(where: { $0.starredAt != nil }),
                        filters.author.map({ $0 == message.author }) ?? true,
                        filters.from.map({ $0 <= message.sentAt }) ?? true,
                        filters.to.map({ message.sentAt < $0 }) ?? true,
                        !filters.hasLink || (message.text ?? "").contains("https://"),
                        !filters.mentionsReader || mentions.contains(nil) || mentions.contains(reader)
                    else { continue }
                    if let query {
                        guard let matches = query.matches(in: message.text ?? "") else { continue }
                        results.append(SearchResult(message: message, matches: matches))
                    } else {
                        results.append(SearchResult(message: message, matches: []))
                    }
                }
                guard page.hasEarlier, let first = page.messages.first else { break }
                anchor = .before(first.number)
            }
        }
        func key(_ message: SeenMessage) -> (Int64, String, Int64) {
            (message.sentAt.milliseconds, message.conversation.text, message.number)
        }
        return results.sorted { key($1.message) < key($0.message) }
    }

    /// When the index has followed, it has the terms of the texts that there are, and of those that others see while one is
    /// withheld, and nothing else.
    func checkIndex() throws {
        let indexer = MessageIndexer()
        #expect(try !indexer.forgetDeleted(in: store), "seed \(seed)")
        #expect(try store.deletedTexts(limit: 1).isEmpty, "seed \(seed)")
        for conversation in conversations {
            guard let index = try store.searchIndex(of: conversation) else { continue }
            for change in try indexer.changes(of: conversation, in: store) {
                #expect(try indexer.write(change, in: store), "seed \(seed)")
            }
            var wanted: Set<SearchPosting> = []
            for message in try store.messages(toIndexIn: conversation, after: 0, limit: .max)
            where message.number <= index.indexedTo && message.deletedAt == nil {
                let edits = try store.edits(of: message.number, in: conversation)
                let shown = message.isTextWithheld ? edits.last { !$0.isWithheld }?.text : nil
                for text in [message.text, shown].compactMap(\.self) {
                    for term in SearchTokenizer.terms(in: text) {
                        wanted.insert(SearchPosting(term: term, number: message.number))
                    }
                }
            }
            let words = try SetUp.postings(of: index, in: store).filter { !"@!./".contains($0.term.text.prefix(1)) }
            #expect(words == wanted, "seed \(seed)")
            #expect(try store.changedTexts(of: 1...Int64.max, in: conversation, limit: 1).isEmpty, "seed \(seed)")
        }
    }
}
