import Accounts
import Dispatch
import Logging
import Messaging
import Model
import Storage
import Synchronization
import TestSupport
import Testing

@testable import Services

/// The index that follows messages, and the limits of searches.
@Suite("Search of messages", .timeLimit(.minutes(2))) struct SearchServiceTests {
    private let store: Store
    private let user = UserID.make(at: Timestamp.systemClock())
    private let commands = ConversationCommands()

    init() async throws {
        store = Store(database: try SQLiteDatabase(path: try ScratchDirectory().database), publish: { _ in })
        try await store.prepare()
        let user = user
        _ = try await store.write {
            try $0.insert(UserRecord(id: user, displayName: "Ann", reach: .everybody, createdAt: $0.now))
        }
    }

    private func notes() async throws -> ConversationID {
        let (commands, user) = (commands, user)
        return try await store.write { store in
            try commands.createNotes(id: .make(at: store.now), by: user, in: store).found.conversation.id
        }.value
    }

    private func send(_ text: String, to id: ConversationID) async throws {
        let (commands, user) = (commands, user)
        _ = try await store.write { store in
            let outgoing = OutgoingMessage(clientID: .make(at: store.now), text: try MessageText(text), digest: [])
            return try commands.send(outgoing, to: id, by: user, in: store).message.number
        }
    }

    private func indexedTo(_ id: ConversationID) async throws -> Int64 {
        try await store.read { try $0.searchIndex(of: id)?.indexedTo ?? 0 }
    }

    private func indexer() -> (indexer: SearchIndexer, task: Task<Void, Never>) {
        let indexer = SearchIndexer(store: store, logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
        return (indexer, Task { await indexer.run() })
    }

    @Test("messages are indexed as they come, and after a restart from where it was")
    func following() async throws {
        let id = try await notes()
        try await send("before", to: id)
        var (_, task) = indexer()
        try await eventually { try await indexedTo(id) == 1 }
        for number in 2...40 { try await send("word \(number)", to: id) }
        try await eventually { try await indexedTo(id) == 40 }
        task.cancel()
        await task.value

        for number in 41...700 { try await send("a b c d e f \(number)", to: id) }
        #expect(try await indexedTo(id) == 40)
        (_, task) = indexer()
        try await eventually { try await indexedTo(id) == 700 }
        task.cancel()
        await task.value
        let terms = try await store.read {
            try $0.sql.query("SELECT COUNT(*), COUNT(DISTINCT number) FROM postings")[0]
        }
        // The author is a term too.
        #expect(try terms.integer(0) == 2 + 39 * 3 + 660 * 8 && terms.integer(1) == 700)
    }

    @Test("how far the index is behind is known, and nothing when it has all")
    func lag() async throws {
        let id = try await notes()
        try await send("one", to: id)
        let indexer = SearchIndexer(store: store, logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
        // Until it has looked, it may lack anything.
        #expect(indexer.lag.conversations == 0 && indexer.lag.seconds > 0)
        try await send("two", to: id)
        let before = indexer.lag
        #expect(before.conversations == 1 && before.seconds > 0)
        let task = Task { await indexer.run() }
        try await eventually { indexer.lag.seconds == 0 }
        #expect(try await indexedTo(id) == 2 && indexer.lag.conversations == 0)
        try await send("three", to: id)
        try await eventually { try await indexedTo(id) == 3 && indexer.lag.seconds == 0 }
        task.cancel()
        await task.value
    }

    @Test("many in which more is written all the time keep no other from the index")
    func turns() async throws {
        let (commands, user) = (commands, user)
        let text = try MessageText((0..<60).map { "word\($0)" }.joined(separator: " "))
        let busy = try await store.write { store in
            try (0..<100).map { _ in
                try commands.createGroup(name: nil, members: [], id: .make(at: store.now), by: user, in: store)
                    .conversation.id
            }
        }.value
        let quiet = try await notes()
        func writeMore() async throws {
            _ = try await store.write { store in
                for id in busy {
                    let outgoing = OutgoingMessage(clientID: .make(at: store.now), text: text, digest: [])
                    _ = try commands.send(outgoing, to: id, by: user, in: store)
                }
            }
        }
        // Of each more than one turn indexes.
        for _ in 0..<20 { try await writeMore() }
        let (indexer, task) = indexer()
        try await eventually { try await indexedTo(busy[0]) > 0 }
        try await send("quiet", to: quiet)
        while try await indexedTo(quiet) == 0 { try await writeMore() }
        let before = indexer.lag
        #expect(before.conversations > 0 && before.seconds > 0)
        try await eventually { indexer.lag.seconds == 0 }
        for id in busy { #expect(try await indexedTo(id) > 20) }
        task.cancel()
        await task.value
    }

    @Test("who waits is known with the first commit that it waits for, and is there once")
    func order() {
        let ids = (0..<4).map { _ in ConversationID.make(at: Timestamp.systemClock()) }
        let start = ContinuousClock.now
        func entry(_ number: Int, _ seconds: Int) -> WaitingConversations.Entry {
            .init(id: ids[number], since: start + .seconds(seconds))
        }
        var waiting = WaitingConversations()
        for number in 0..<3 { waiting.append(entry(number, number)) }
        waiting.append(entry(1, 5))
        #expect(waiting.count == 3 && waiting.oldest == start)
        let taken = waiting.take(2)
        #expect(taken.map(\.id) == [ids[0], ids[1]] && taken.map(\.since) == [start, start + .seconds(1)])
        #expect(waiting.first?.id == ids[2] && waiting.oldest == start + .seconds(2))
        // Meanwhile one changes again, and so does another.
        waiting.append(entry(1, 6))
        waiting.append(entry(3, 7))
        waiting.putBack(taken)
        #expect(waiting.count == 4 && waiting.oldest == start)
        #expect(waiting.take(9).map(\.id) == [ids[0], ids[1], ids[2], ids[3]])
        #expect(waiting.isEmpty && waiting.first == nil && waiting.oldest == nil && waiting.take(1).isEmpty)
    }

    @Test("all texts that have changed at once are indexed")
    func changing() async throws {
        let id = try await notes()
        for number in 1...300 { try await send("before \(number)", to: id) }
        let (_, task) = indexer()
        try await eventually { try await indexedTo(id) == 300 }
        let (commands, user) = (commands, user)
        _ = try await store.write { store in
            for number: Int64 in 1...300 {
                _ = try commands.edit(
                    number, in: id, text: MessageText("after \(number)"), basedOn: nil, by: user, store: store)
            }
        }
        try await eventually {
            try await store.read { try $0.sql.query("SELECT 1 FROM postings WHERE term = 'after'").count } == 300
        }
        #expect(try await store.read { try $0.changedTexts(of: 1...Int64.max, in: id, limit: 1) } == [])
        #expect(try await store.read { try $0.sql.query("SELECT 1 FROM postings WHERE term = 'before'") }.isEmpty)
        task.cancel()
        await task.value
    }

    @Test("an index of another version is made anew, and a damaged row keeps no other conversation from it")
    func upgrading() async throws {
        let id = try await notes()
        for number in 1...300 { try await send("one two three four five six seven \(number)", to: id) }
        var (_, task) = indexer()
        try await eventually { try await indexedTo(id) == 300 }
        task.cancel()
        await task.value
        let user = user
        let damaged = try await store.write { store in
            try store.sql.execute("UPDATE search_indexes SET terms_version = 0")
            try store.sql.execute("UPDATE postings SET term = 'old' WHERE term = 'one'")
            let group = try ConversationCommands().createGroup(
                name: nil, members: [], id: .make(at: store.now), by: user, in: store)
            let outgoing = OutgoingMessage(clientID: .make(at: store.now), text: try MessageText("x"), digest: [])
            _ = try ConversationCommands().send(outgoing, to: group.conversation.id, by: user, in: store)
            try store.sql.execute(
                "UPDATE messages SET kind = 'unknown' WHERE conversation_id = ?1", [.id(group.conversation.id)])
            return group.conversation.id
        }.value
        (_, task) = indexer()
        try await eventually {
            try await store.read { try $0.sql.query("SELECT 1 FROM search_indexes WHERE terms_version = 0").isEmpty }
        }
        try await eventually { try await indexedTo(id) == 300 }
        task.cancel()
        await task.value
        #expect(try await store.read { try $0.sql.query("SELECT 1 FROM postings WHERE term = 'old'").isEmpty })
        #expect(try await indexedTo(damaged) == 0)
    }

    private final class Blocker: Sendable {
        let count = Mutex(0)
        let release = DispatchSemaphore(value: 0)
    }

    @Test("the search of one user waits for itself alone, and too many are refused")
    func limits() async throws {
        let id = try await notes()
        try await send("word", to: id)
        let service = MessageSearchService(store: store, commands: commands)
        let request = try SearchRequest(query: SearchQuery("word"))
        // All connections are busy, so that searches wait.
        let blocker = Blocker()
        let readers = (0..<4).map { _ in
            Task {
                try await store.read { _ in
                    blocker.count.withLock { $0 += 1 }
                    blocker.release.wait()
                }
            }
        }
        try await eventually { blocker.count.withLock { $0 } == 4 }
        let searches = (0..<MessageSearchService.maxPerUser).map { _ in
            Task { try await service.search(request, by: user) { page, _ in page.results.count } }
        }
        try await eventually { service.count(of: user) == MessageSearchService.maxPerUser }
        let refused = await #expect(throws: Problem.self) {
            try await service.search(request, by: user) { page, _ in page.results.count }
        }
        #expect(refused?.kind == .rateLimited && refused?.retryAfter != nil)
        let other = UserID.make(at: Timestamp.systemClock())
        let others = Task { try await service.search(request, by: other) { page, _ in page.results.count } }
        for _ in 0..<4 { blocker.release.signal() }
        for search in searches { #expect(try await search.value == 1) }
        #expect(try await others.value == 0)
        for reader in readers { try await reader.value }
        #expect(service.count(of: user) == 0)
        #expect(try await service.search(request, by: user) { page, _ in page.results.count } == 1)
    }

    @Test("those whose last search was slow share a slot, and others search beside them")
    func sharing() async throws {
        let id = try await notes()
        try await send("word", to: id)
        let clock = Mutex(ContinuousClock.now)
        let service = MessageSearchService(store: store, commands: commands) {
            clock.withLock { $0 }
        } sleep: { pause in
            clock.withLock { $0 += pause }
        }
        let request = try SearchRequest(query: SearchQuery("word"))
        let slow = (0..<3).map { _ in UserID.make(at: Timestamp.systemClock()) }
        for user in slow {
            try await service.search(request, by: user) { _, _ in clock.withLock { $0 += .milliseconds(300) } }
        }
        let blocker = Blocker()
        let searches = slow.map { user in
            Task {
                try await service.search(request, by: user) { _, _ in
                    blocker.count.withLock { $0 += 1 }
                    blocker.release.wait()
                }
            }
        }
        try await eventually { blocker.count.withLock { $0 } == 1 }
        #expect(try await service.search(request, by: user) { page, _ in page.results.count } == 1)
        #expect(blocker.count.withLock { $0 } == 1)
        for _ in slow { blocker.release.signal() }
        for search in searches { try await search.value }
        #expect(blocker.count.withLock { $0 } == 3)
    }

    @Test("after a search its user pauses for as long as it took, and nobody else does")
    func pausing() async throws {
        let id = try await notes()
        try await send("word", to: id)
        let clock = Mutex(ContinuousClock.now)
        let pauses = Mutex<[Duration]>([])
        let service = MessageSearchService(store: store, commands: commands) {
            clock.withLock { $0 }
        } sleep: { pause in
            pauses.withLock { $0.append(pause) }
            clock.withLock { $0 += pause }
        }
        let request = try SearchRequest(query: SearchQuery("word"))
        func search(taking milliseconds: Int, by user: UserID) async throws {
            _ = try await service.search(request, by: user) { page, _ in
                clock.withLock { $0 += .milliseconds(milliseconds) }
                return page.results.count
            }
        }
        let other = UserID.make(at: Timestamp.systemClock())
        try await search(taking: 300, by: user)
        try await search(taking: 5, by: other)
        #expect(pauses.withLock { $0 } == [])
        try await search(taking: 5_000, by: user)
        #expect(pauses.withLock { $0 } == [.milliseconds(295)], "what has passed meanwhile counts")
        try await search(taking: 9, by: user)
        try await search(taking: 200, by: user)
        #expect(pauses.withLock { $0 } == [.milliseconds(295), .seconds(1)])
        clock.withLock { $0 += .seconds(1) }
        try await search(taking: 1, by: user)
        #expect(pauses.withLock { $0.count } == 2)
    }
}
