import Foundation
import GRDB
import Testing

@testable import SwitchboardClient

/// What a store gives back in another run: all of it, or after damage at least the queue.
struct ConversationStoreTests {
    private func path() -> String {
        FileManager.default.temporaryDirectory.appendingPathComponent("store-\(newUUID())/ann.sqlite").path
    }

    private func remove(_ path: String) {
        try? FileManager.default.removeItem(at: URL(fileURLWithPath: path).deletingLastPathComponent())
    }

    /// A store with a conversation of so many messages, an entry and a draft.
    private func fill(_ store: ConversationStore, messages: Int = 30) throws -> ConversationState {
        var server = ModelConversation()
        for index in 0..<messages { server.send("m\(index)") }
        var state = ConversationState(id: server.id)
        let (snapshot, position) = server.snapshot(window: messages)
        state.apply(snapshot, at: position)
        state.keep(User(id: "ann", displayName: "Ann", languages: []))
        try store.save(state, state.takeChanges())
        var queue = WriteQueue(seed: 1)
        try queue.send("waits", replyTo: nil, in: "c1", as: "w1", at: 5)
        try store.save(queue, queue.takeChanges())
        try store.save(draft: "half a sent", in: "c1")
        return state
    }

    @Test func givesBackWhatWasStored() throws {
        let path = path()
        defer { remove(path) }
        let store = try ConversationStore(path: path)
        let state = try fill(store)
        store.close()

        let again = try ConversationStore(path: path)
        var loaded = try #require(try again.conversation("c1", limit: 100))
        #expect(loaded.isResuming && loaded.position == state.position && loaded.ranges == state.ranges)
        loaded.resumed()
        loaded.completeSince = state.completeSince
        #expect(loaded == state)
        #expect(try again.entries().entries.map(\.text) == ["waits"] && again.draft(in: "c1") == "half a sent")
        // Ids go on, also after entries that are gone.
        #expect(try again.entries().last == 1)
    }

    @Test func removesTheTextsThatHaveDisappeared() throws {
        let store = try ConversationStore(path: nil)
        var state = try fill(store)
        let now = Date(timeIntervalSince1970: 1_800_000_000)
        for (number, seconds) in [(2, 0), (3, 60), (4, -5)] {
            state.messages[number]?.expiresAt = now.addingTimeInterval(Double(seconds))
            state.changes.messages.insert(number)
        }
        try store.save(state, state.takeChanges())
        #expect(try store.nextExpiry() == now.addingTimeInterval(-5))
        #expect(state.nextExpiry == now.addingTimeInterval(-5))
        try store.expire(at: now)
        #expect(try store.nextExpiry() == now.addingTimeInterval(60))
        let loaded = try #require(try store.conversation("c1", limit: 100))
        #expect([1, 2, 3, 4].map { loaded.messages[$0]?.text } == ["m0", nil, "m2", nil])
        #expect(loaded.messages[2]?.deletedAt == now && loaded.messages[2]?.version == state.messages[2]?.version)
        let stored = try store.database.read { try Data.fetchAll($0, sql: "SELECT json FROM messages") }
        #expect(!stored.contains { String(decoding: $0, as: UTF8.self).contains("\"m1\"") })

        state.expire(at: now)
        #expect(state.messages == loaded.messages && state.takeChanges().messages == [2, 4])
        #expect(ChatMessage(try #require(state.messages[2])).isDeleted)
        // The server's copy has the same or a higher version: the text does not come back.
        var late = try #require(state.messages[2])
        (late.text, late.deletedAt) = ("m1", nil)
        state.keep(late)
        #expect(state.messages[2]?.text == nil && state.nextExpiry == now.addingTimeInterval(60))
    }

    @Test func showsTheNewestAndLoadsEarlierOnes() throws {
        let store = try ConversationStore(path: nil)
        _ = try fill(store, messages: 30)
        var state = try #require(try store.conversation("c1", limit: 10))
        #expect(state.messages.keys.sorted() == Array(21...30) && state.ranges.all.map(\.first) == [21])
        #expect(try store.loadEarlier(than: 21, limit: 15, into: &state))
        #expect(state.messages.count == 25 && state.ranges.run(around: 0) == (first: 6, last: 30))
        // What was loaded so may be old: it is read again.
        #expect(state.ranges.all.map(\.asOf).first == 0)
        #expect(try store.loadEarlier(than: 6, limit: 15, into: &state) && state.messages.count == 30)
        #expect(try !store.loadEarlier(than: 1, limit: 15, into: &state))
    }

    @Test func aMessageOutsideOfTheNewestRangeIsFoundByItsIdentity() throws {
        let store = try ConversationStore(path: nil)
        let old = try #require(try fill(store, messages: 30).messages[5])
        #expect(try store.conversation("c1", limit: 10)?.messages[5] == nil)
        #expect(try store.message(old.id, in: "c1", among: 30) == old)
        #expect(try store.message(old.id, in: "c1", among: 25) == nil)
        #expect(try store.message(old.id, in: "c2", among: 30) == nil)
    }

    @Test func whatAResponseHasBroughtIsThereBeforeItsFrame() throws {
        let store = try ConversationStore(path: nil)
        var server = ModelConversation()
        for index in 0..<3 { server.send("m\(index)") }
        var state = ConversationState(id: server.id)
        let (snapshot, position) = server.snapshot(window: 10)
        state.apply(snapshot, at: position)
        var mine = try #require(state.messages[3])
        (mine.number, mine.version, mine.textVersion, mine.text) = (4, mine.version + 1, mine.version + 1, "mine")
        state.keep(mine)
        try store.save(state, state.takeChanges())
        let loaded = try #require(try store.conversation("c1", limit: 10))
        #expect(loaded.messages.keys.sorted() == [1, 2, 3, 4] && loaded.ranges == state.ranges)
        #expect(loaded.ranges.last?.last == 3 && loaded.position == state.position)
    }

    @Test func aReplacedConversationHasNothingOfBefore() throws {
        let store = try ConversationStore(path: nil)
        var state = try fill(store)
        var other = ModelConversation()
        other.restore()
        for index in 0..<3 { other.send("n\(index)") }
        let (snapshot, position) = other.snapshot(window: 10)
        state.apply(snapshot, at: position)
        try store.save(state, state.takeChanges())
        let loaded = try #require(try store.conversation("c1", limit: 100))
        #expect(loaded.messages.values.compactMap(\.text).sorted() == ["n0", "n1", "n2"])
        #expect(loaded.position?.epoch == other.epoch)
    }

    @Test(arguments: ["newer", "damaged", "no database"])
    func keepsTheQueueOfAFileThatItCannotUse(how: String) throws {
        let path = path()
        defer { remove(path) }
        let store = try ConversationStore(path: path)
        _ = try fill(store)
        if how == "newer" {
            try store.database.write { try $0.execute(sql: "PRAGMA user_version = 999; DROP TABLE messages") }
        }
        try store.database.writeWithoutTransaction { try $0.execute(sql: "PRAGMA wal_checkpoint(TRUNCATE)") }
        store.close()
        var bytes = try Data(contentsOf: URL(fileURLWithPath: path))
        if how == "damaged" {
            // Whatever has the texts of messages, but not the queue.
            while let text = bytes.range(of: Data("\"m17\"".utf8)) {
                bytes.replaceSubrange(text.lowerBound - 200..<text.upperBound, with: Data(count: 205))
            }
        } else if how == "no database" {
            bytes = Data("no database at all".utf8)
        }
        if how != "newer" { try bytes.write(to: URL(fileURLWithPath: path)) }

        let again = try ConversationStore(path: path)
        if how != "damaged" { #expect(try again.conversation("c1", limit: 10) == nil) }
        guard how != "no database" else { return }
        #expect(try again.entries().entries.map(\.clientID) == ["w1"] && again.draft(in: "c1") == "half a sent")
    }

    @Test func anEntryOfALaterVersionStays() throws {
        let store = try ConversationStore(path: nil)
        try store.database.write {
            try $0.execute(sql: #"INSERT INTO entries VALUES (7, '{"id":7,"kind":"poll"}')"#)
        }
        let (entries, last, _) = try store.entries()
        #expect(entries.isEmpty && last == 7)
        var queue = WriteQueue(entries, after: last, seed: 1)
        try queue.send("new", replyTo: nil, in: "c1", as: "w1", at: 0)
        try store.save(queue, queue.takeChanges())
        #expect(try store.entries().last == 8)
    }

    @Test func shrinksWhatWasUnopenedForLongest() throws {
        let store = try ConversationStore(path: nil, limits: .init(messages: 40, shrunk: 5))
        _ = try fill(store, messages: 30)
        try store.shrink(except: [])
        #expect(try store.conversation("c1", limit: 100)?.messages.count == 30)
        try store.database.write {
            try $0.execute(
                sql: """
                    INSERT INTO messages SELECT 'c2', number, json, expires, textVersion FROM messages;
                    INSERT INTO conversations SELECT 'c2', 9, json FROM conversations
                    """)
        }
        try store.shrink(except: [])
        let (first, second) = (try store.conversation("c1", limit: 100), try store.conversation("c2", limit: 100))
        #expect(first?.messages.count == 5 && first?.ranges.all.map(\.first) == [26])
        #expect(second?.messages.count == 30)
        var shrunk = try #require(first)
        #expect(try !store.loadEarlier(than: 26, limit: 10, into: &shrunk))
    }

    @Test func queuedWritesAreOnTheDisk() throws {
        let path = path()
        defer { remove(path) }
        let store = try ConversationStore(path: path)
        _ = try fill(store)
        // As they are at this moment, without closing: what a process leaves that is killed.
        let copy = path + ".copy"
        for suffix in ["", "-wal"] { try FileManager.default.copyItem(atPath: path + suffix, toPath: copy + suffix) }
        #expect(try ConversationStore(path: copy).entries().entries.map(\.clientID) == ["w1"])
        store.erase()
        #expect(!FileManager.default.fileExists(atPath: path) && !FileManager.default.fileExists(atPath: path + "-wal"))
    }

    @Test func knowsWhoseTokenItIs() throws {
        let claims = Data(#"{"iss":"https://a.example","sub":"7"}"#.utf8).base64EncodedString()
            .replacingOccurrences(of: "=", with: "")
        let subject = try #require(TokenSubject(of: "e30.\(claims).c2ln"))
        #expect(TokenSubject(of: "nothing") == nil && TokenSubject(of: "a.b.c") == nil)
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("users-\(newUUID())").path
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let directory = StoreDirectory(folder)
        #expect(directory.user(of: subject) == nil)
        directory.remember("u1", of: subject)
        #expect(directory.user(of: subject) == "u1")
        #expect(directory.path(of: "../x/y") == folder + "/conversations-xy.sqlite")
        directory.forget("u1")
        #expect(directory.user(of: subject) == nil)
    }
}
