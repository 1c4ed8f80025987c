import Foundation
import GRDB
import Testing

@testable import SwitchboardClient

/// What the store keeps of the assistant's threads, and what becomes of answers with the messages that they rest on.
struct StoredAnswersTests {
    private typealias Fixture = StoredAnswersFixture

    /// What the store may learn of message 5, or of message 40, which is not stored.
    enum Change: String, CaseIterable, Sendable {
        case edited, deleted, unseen, expired, noted, outOfItsSpan
        case editedInTheInbox, editedHere, hiddenHere, clearedUpTo, expiredUnstored
        case removedBefore, left, leftInTheInbox, offTheList, clearedAll, closed

        var number: Int {
            switch self {
            case .edited, .deleted, .unseen, .expired, .noted, .outOfItsSpan: 5
            default: 40
            }
        }

        /// It concerns the whole conversation.
        var isOfAll: Bool {
            switch self {
            case .left, .leftInTheInbox, .offTheList, .clearedAll, .closed: true
            // The others are of numbers before it.
            case .removedBefore, .clearedUpTo: true
            default: false
            }
        }

        func apply(to fixture: inout StoredAnswersFixture) throws {
            let store = fixture.store
            func acknowledge(_ one: Acknowledgement) throws {
                try store.save(AcknowledgedChanges(id: "c1", acknowledgements: [one]))
            }
            /// Message 40, which is not stored.
            func other(_ body: (inout Message) -> Void) throws -> Message {
                var message = try fixture.message(40)
                body(&message)
                return message
            }
            func edit(_ message: inout Message) {
                (message.version, message.textVersion) = (90, 90)
                (message.text, message.editedAt) = ("edited", StoredAnswersFixture.now)
            }
            func row(_ membership: Membership? = nil, _ message: Message? = nil, gone: Bool? = nil) -> InboxRow {
                InboxRow(id: "c1", membership: membership, lastMessage: message, counter: 1, gone: gone)
            }
            switch self {
            case .edited: try fixture.change(5, edit)
            case .deleted: try fixture.change(5) { ($0.text, $0.deletedAt) = (nil, StoredAnswersFixture.now) }
            case .unseen:
                fixture.state.hide([5])
                try store.save(fixture.state, fixture.state.takeChanges())
            case .expired:
                try fixture.change(5) { $0.expiresAt = StoredAnswersFixture.now.addingTimeInterval(-1) }
                try store.expire(at: StoredAnswersFixture.now)
            case .noted:
                var marks = MarksState()
                marks.keep(OwnMessage(number: 5, starred: false, hidden: true, reacted: [], counter: 1))
                try store.save(marks, marks.takeChanges(), of: "c1")
            case .outOfItsSpan:
                fixture.state.keep(fixture.membership { $0.spans = [.init(from: 0, until: 4), .init(from: 5)] })
                try store.save(fixture.state, fixture.state.takeChanges())
            case .editedInTheInbox: try fixture.keep(row(nil, try other(edit)))
            case .editedHere: try acknowledge(.message(try other(edit)))
            case .hiddenHere: try acknowledge(.hidden(40))
            case .clearedUpTo: try acknowledge(.cleared(upTo: 40, isOffTheList: false))
            case .expiredUnstored:
                let expired = try other { $0.expiresAt = StoredAnswersFixture.now.addingTimeInterval(-1) }
                try fixture.keep(row(nil, expired))
                try store.expire(at: StoredAnswersFixture.now)
            case .removedBefore: try store.remove(before: 41, of: "c1")
            case .left:
                fixture.state.keep(fixture.membership { $0.state = .left })
                try store.save(fixture.state, fixture.state.takeChanges())
            case .leftInTheInbox: try fixture.keep(row(fixture.membership { $0.state = .left }))
            case .offTheList: try fixture.keep(row(gone: true))
            case .clearedAll: try acknowledge(.cleared(upTo: nil, isOffTheList: true))
            case .closed: try store.withdrawAll(in: "c1")
            }
        }
    }

    @Test(arguments: Change.allCases)
    func aSentenceGoesWithWhatItRestsOn(change: Change) throws {
        var fixture = try Fixture()
        try fixture.receive(fixture.message(40))
        // It rests on what stays, too.
        var goes = Fixture.sentence("goes", 7, in: "c2")
        goes.citations += Fixture.sentence("", change.number).citations
        try fixture.store.save(
            Fixture.thread("t1", runs: 2),
            [
                Fixture.run("r1", goes, Fixture.sentence("other", 6), Fixture.sentence("alone")),
                Fixture.run("r2", Fixture.sentence("else", 5, in: "c2"), Fixture.sentence("too")),
            ])
        try fixture.makeRoom(for: 40)
        // What names no message rests on what nobody can look up.
        #expect(try fixture.texts() == ["goes", "other", nil] && !fixture.hasStored("alone"))
        try change.apply(to: &fixture)
        #expect(try fixture.texts() == [nil, change.isOfAll ? nil : "other", nil])
        #expect(try !fixture.hasStored("goes"))
        // What it rested on is still named, as the server does.
        let cited = try fixture.store.thread("t1", at: Fixture.now)?.runs.first?.sentences.first?.citations
        #expect(cited == goes.citations)
        #expect(try fixture.texts("r2") == ["else", nil])
    }

    @Test func aSentenceStaysWithWhatItRestsOn() throws {
        var fixture = try Fixture()
        try fixture.receive(fixture.message(40))
        let run = Fixture.run("r1", Fixture.sentence("stays", 5, 40))
        try fixture.store.save(Fixture.thread("t1"), [run])
        try fixture.makeRoom(for: 40)
        // A reaction, a newer number, and a message that comes later as it was read.
        try fixture.change(5) { _ in }
        var message = try fixture.message(40)
        message.version = 99
        try fixture.receive(message)
        let row = InboxRow(
            id: "c1", membership: fixture.membership(), lastMessage: message, counter: 1)
        try fixture.keep(row)
        try fixture.store.remove(before: 5, of: "c1")
        #expect(try fixture.texts() == ["stays"])
        #expect(try fixture.store.thread("t1", at: Fixture.now)?.runs == [run])
    }

    @Test func textsAreNotShownAfterTheyHaveDisappearedWhateverTheTimerDoes() throws {
        var fixture = try Fixture()
        try fixture.store.save(
            Fixture.run("r1", Fixture.sentence("goes", 5), Fixture.sentence("stays", 6)))
        let expiry = Fixture.now.addingTimeInterval(60)
        try fixture.change(5) { $0.expiresAt = expiry }
        #expect(try fixture.texts(at: expiry.addingTimeInterval(-1)) == ["goes", "stays"])
        #expect(try fixture.texts(at: expiry) == [nil, "stays"])
        #expect(try fixture.store.nextExpiry() == expiry)
    }

    /// Of messages that the store only has no room for, it still knows when they disappear.
    @Test func whatIsNotStoredAnyMoreStillDisappears() throws {
        var fixture = try Fixture(limits: .init(messages: 10, shrunk: 3))
        let expiry = Fixture.now.addingTimeInterval(60)
        try fixture.change(5) { $0.expiresAt = expiry }
        let run = Fixture.run("r1", Fixture.sentence("goes", 5), Fixture.sentence("stays", 6))
        try fixture.store.save(run)
        try fixture.store.shrink(except: [])
        #expect(try fixture.store.conversation("c1", limit: 100)?.messages.keys.sorted() == [28, 29, 30])
        #expect(try fixture.texts() == ["goes", "stays"])
        #expect(try fixture.store.nextExpiry() == expiry)
        // Also when it is read again.
        try fixture.store.save(Fixture.thread("t1", at: 9), [run], replacing: ["r1"])
        #expect(try fixture.texts() == ["goes", "stays"])
        #expect(try fixture.store.nextExpiry() == expiry)
        try fixture.store.expire(at: expiry)
        #expect(try fixture.texts() == [nil, "stays"] && !fixture.hasStored("goes"))
    }

    /// A response may be older than what a stream has brought meanwhile.
    @Test func whatIsLateIsComparedWithTheMessages() throws {
        var fixture = try Fixture()
        try fixture.change(5) { ($0.text, $0.textVersion) = ("edited", $0.version) }
        try fixture.change(6) { ($0.text, $0.deletedAt) = (nil, Fixture.now) }
        // One that is hidden, which may have been read on another device.
        var marks = MarksState()
        marks.keep(OwnMessage(number: 8, starred: false, hidden: true, reacted: [], counter: 1))
        try fixture.store.save(marks, marks.takeChanges(), of: "c1")
        let sentences = [5, 6, 7, 8].map { Fixture.sentence("on \($0)", $0) }
        var run = Fixture.run("r1")
        run.sentences = sentences
        try fixture.store.save(run)
        #expect(try fixture.texts() == [nil, nil, "on 7", nil] && !fixture.hasStored("on 5"))
        // Of a conversation that the user has left.
        try fixture.keep(InboxRow(id: "c1", membership: fixture.membership { $0.state = .left }, counter: 1))
        try fixture.store.save(run)
        #expect(try fixture.texts() == [nil, nil, nil, nil])
        // They have come back: the newer of two memberships counts.
        try fixture.keep(
            InboxRow(
                id: "c1",
                membership: fixture.membership { membership in
                    membership.version = 9
                    membership.spans = [.init(from: 0, until: 6), .init(from: 20)]
                }, counter: 2))
        try fixture.store.save(Fixture.run("r2", Fixture.sentence("unseen", 7), Fixture.sentence("seen", 21)))
        #expect(try fixture.texts("r2") == [nil, "seen"])
    }

    /// When a message disappears that was never stored, nobody here knows: whether the conversation is known, or not.
    @Test func whatRestsOnMessagesThatWereNeverStoredIsNotKept() throws {
        let fixture = try Fixture()
        try fixture.store.save(
            Fixture.run(
                "r1", Fixture.sentence("stored", 5), Fixture.sentence("not stored", 5, 40),
                Fixture.sentence("elsewhere", 40, in: "c2"), Fixture.sentence("unknown", 5, in: "c3")))
        #expect(try fixture.texts() == ["stored", nil, nil, nil])
        for text in ["not stored", "elsewhere", "unknown"] { #expect(try !fixture.hasStored(text)) }
    }

    @Test func afterARestoreOfTheServerNothingIsLeft() throws {
        let fixture = try Fixture()
        try fixture.keep(InboxRow(id: "c1", counter: 1))
        try fixture.store.save(Fixture.run("r1", Fixture.sentence("else", 5, in: "c2")))
        try fixture.keep(InboxRow(id: "c1", counter: 2))
        #expect(try fixture.texts() == ["else"])
        try fixture.keep(InboxRow(id: "c1", counter: 1), epoch: "e2")
        #expect(try fixture.store.threads().isEmpty && !fixture.hasStored("else"))
    }

    /// A conversation may tell it before the list does.
    @Test func afterARestoreNothingIsLeftWhicheverStreamTellsIt() throws {
        var fixture = try Fixture()
        try fixture.keep(InboxRow(id: "c1", counter: 1))
        let elsewhere = Fixture.run("r1", Fixture.sentence("else", 5, in: "c2"))
        try fixture.store.save(elsewhere)
        var server = ModelConversation()
        server.restore()
        let (snapshot, position) = server.snapshot(window: 10)
        fixture.state.apply(snapshot, at: position)
        try fixture.store.save(fixture.state, fixture.state.takeChanges())
        #expect(try fixture.store.threads().isEmpty && !fixture.hasStored("else"))
        // What was read since stays when the list follows.
        try fixture.store.save(elsewhere)
        try fixture.keep(InboxRow(id: "c1", counter: 1), epoch: position.epoch)
        #expect(try fixture.texts() == ["else"])
        // Messages of another conversation may still be those of before.
        try fixture.keep(InboxRow(id: "c1", counter: 1), epoch: "e9")
        try fixture.store.save(Fixture.run("r1", Fixture.sentence("old", 5), Fixture.sentence("else", 5, in: "c2")))
        #expect(try fixture.texts() == [nil, "else"])
    }

    // MARK: Threads and runs

    @Test func givesBackWhatWasRead() throws {
        let path = FileManager.default.temporaryDirectory.appendingPathComponent("answers-\(newUUID())/ann.sqlite").path
        defer { try? FileManager.default.removeItem(at: URL(fileURLWithPath: path).deletingLastPathComponent()) }
        let runs = [
            Fixture.run("r2", at: 1, Fixture.sentence("one", 1), Fixture.sentence("two", 4)),
            Fixture.run("r1", at: 1, Fixture.sentence("three", 2, 3)), Fixture.run("r0", at: 2, status: .failed),
        ]
        var first = try Fixture(ConversationStore(path: path))
        try first.store.save(Fixture.thread("t1", at: 2, runs: 4), runs + [Fixture.run("r9", at: 3, status: .running)])
        try first.store.save(AssistantThreadPage(threads: [Fixture.thread("t2", at: 9, runs: 3)]))
        first.store.close()

        let store = try ConversationStore(path: path)
        #expect(try store.threads() == [Fixture.thread("t2", at: 9, runs: 3), Fixture.thread("t1", at: 2, runs: 4)])
        #expect(try store.thread("t1", at: Fixture.now)?.runs == runs, "one that is written is not kept")
        #expect(try store.thread("t2", at: Fixture.now)?.runs == [])
        #expect(try store.thread("t3", at: Fixture.now) == nil)
        // Also after the restart a text goes with its message.
        first = try Fixture(store)
        try first.change(1) { ($0.text, $0.textVersion) = ("edited", $0.version) }
        #expect(try first.texts("r2") == [nil, "two"] && first.texts("r1") == ["three"])
        store.erase()
        #expect(!FileManager.default.fileExists(atPath: path))
    }

    @Test func aRunOfANewThreadMakesItKnown() throws {
        let store = try Fixture().store
        try store.save(Fixture.run("r1", at: 5, status: .running))
        #expect(try store.threads().isEmpty)
        try store.save(Fixture.run("r1", at: 5, Fixture.sentence("one", 1)))
        let made = try #require(try store.threads().first)
        #expect(made.id == "t1" && made.title == "What about r1?" && made.runs == 1)
        #expect(made.updatedAt == Fixture.now.addingTimeInterval(5) && made.createdAt == made.updatedAt)
        // The same again, and the next.
        try store.save(Fixture.run("r1", at: 5, Fixture.sentence("one", 1)))
        try store.save(Fixture.run("r2", at: 7))
        let (thread, runs) = try #require(try store.thread("t1", at: Fixture.now))
        #expect(runs.map(\.id) == ["r1", "r2"] && thread.runs == 2 && thread.title == made.title)
        #expect(thread.updatedAt == Fixture.now.addingTimeInterval(7))
        // What the server says counts, unless it is older.
        try store.save(AssistantThreadPage(threads: [Fixture.thread("t1", at: 6, runs: 9)]))
        #expect(try store.threads().first?.runs == 2)
        try store.save(AssistantThreadPage(threads: [Fixture.thread("t1", at: 7, runs: 9)]))
        #expect(try store.threads().first?.runs == 9)
    }

    @Test func whatIsErasedIsGone() throws {
        let fixture = try Fixture()
        let store = fixture.store
        try store.save(
            Fixture.thread("t1", runs: 2),
            [Fixture.run("r1", Fixture.sentence("first", 1)), Fixture.run("r2", Fixture.sentence("second", 2))])
        try store.save(Fixture.run("r3", in: "t2", Fixture.sentence("third", 3)))
        try store.remove(AssistantRunID("r1"))
        #expect(try store.thread("t1", at: Fixture.now)?.runs.map(\.id) == ["r2"])
        #expect(try store.threads().first { $0.id == "t1" }?.runs == 1 && !fixture.hasStored("first"))
        // A thread goes with its last run, and a run with its thread.
        try store.remove(AssistantRunID("r2"))
        #expect(try store.threads().map(\.id) == ["t2"] && !fixture.hasStored("second"))
        try store.remove(AssistantThreadID("t2"))
        #expect(try store.threads().isEmpty && !fixture.hasStored("third"))
        let rows = try store.database.read {
            try Int.fetchOne($0, sql: "SELECT (SELECT count(*) FROM citations) + (SELECT count(*) FROM runs)")
        }
        #expect(rows == 0)
    }

    /// The title of a thread is its first question.
    @Test func aRunThatIsNotStoredGoesWithItsThread() throws {
        let store = try Fixture().store
        try store.save(
            AssistantThreadPage(threads: [Fixture.thread("t1", at: 1), Fixture.thread("t2", at: 2, runs: 2)]))
        try store.save(Fixture.run("r3", in: "t3", at: 3))
        try store.remove(AssistantRunID("r1"))
        #expect(try store.threads().map(\.id) == ["t3", "t2"])
    }

    @Test func whatTheServerDoesNotHaveIsGone() throws {
        let store = try Fixture().store
        func page(_ ids: (AssistantThreadID, Double)..., more: Bool) -> AssistantThreadPage {
            AssistantThreadPage(
                threads: ids.map { Fixture.thread($0.0, at: $0.1) }, nextCursor: more ? "more" : nil)
        }
        for (id, seconds) in [("t1", 1), ("t2", 2), ("t3", 3), ("t4", 4)] {
            try store.save(
                Fixture.run(.init("r-\(id)"), in: .init(id), at: Double(seconds), Fixture.sentence("of \(id)", 1)))
        }
        let known = Set(try store.threads().map(\.id))
        // What was asked since the page was asked for is not on it, and what was used before its last thread neither.
        try store.save(Fixture.run("r5", in: "t5", at: 5))
        try store.save(page(("t4", 4), ("t2", 2), more: true), replacing: known)
        #expect(try store.threads().map(\.id) == ["t5", "t4", "t2", "t1"])
        try store.save(page(("t4", 4), more: true))
        #expect(try store.threads().map(\.id) == ["t5", "t4", "t2", "t1"], "no page from the beginning")
        try store.save(page(("t4", 4), more: false), replacing: known)
        #expect(try store.threads().map(\.id) == ["t5", "t4"])
        // Of a thread, a run that was erased on another device.
        try store.save(Fixture.run("r6", in: "t4", at: 6))
        try store.save(Fixture.thread("t4", at: 6), [Fixture.run("r7", in: "t4", at: 6)], replacing: ["r-t4"])
        #expect(Set(try #require(try store.thread("t4", at: Fixture.now)).runs.map(\.id)) == ["r6", "r7"])
    }

    @Test func threadsAreBounded() throws {
        let fixture = try Fixture(limits: .init(threads: 3))
        for index in 1...5 {
            let run = Fixture.run(
                .init("r\(index)"), in: .init("t\(index)"), at: Double(index), Fixture.sentence("of \(index)", 1))
            try fixture.store.save(run)
        }
        #expect(try fixture.store.threads().map(\.id) == ["t5", "t4", "t3"] && !fixture.hasStored("of 2"))
        // One that is used again is the newest.
        try fixture.store.save(Fixture.run("r6", in: "t3", at: 6))
        try fixture.store.save(Fixture.run("r7", in: "t7", at: 7))
        #expect(try fixture.store.threads().map(\.id) == ["t7", "t3", "t5"])
    }

    @Test func theirSizeIsBounded() throws {
        let fixture = try Fixture(limits: .init(answerBytes: 6_000))
        let text = String(repeating: "x", count: 1_500)
        for index in 1...4 {
            let thread: AssistantThreadID = index < 3 ? "t1" : "t2"
            try fixture.store.save(
                Fixture.run(.init("r\(index)"), in: thread, at: Double(index), Fixture.sentence("\(index)\(text)", 1)))
        }
        let stored = try ["t1", "t2"].map { try fixture.store.thread(.init($0), at: Fixture.now)?.runs.map(\.id) }
        #expect(stored == [["r2"], ["r3", "r4"]])
        let bytes = try fixture.store.database.read { database in
            try ["runs", "derivations"].reduce(0) { sum, table in
                try sum + (Int.fetchOne(database, sql: "SELECT sum(length(json)) FROM \(table)") ?? 0)
            }
        }
        #expect(bytes <= 6_000 && bytes > 4_000)
    }

    /// As a version wrote it that did not keep answers.
    @Test func aFileOfBeforeKeepsItsQueue() throws {
        let path = FileManager.default.temporaryDirectory.appendingPathComponent("answers-\(newUUID())/ann.sqlite").path
        defer { try? FileManager.default.removeItem(at: URL(fileURLWithPath: path).deletingLastPathComponent()) }
        let old = try ConversationStore(path: path)
        var queue = WriteQueue(seed: 1)
        try queue.send("waits", replyTo: nil, in: "c1", as: "w1", at: 5)
        try old.save(queue, queue.takeChanges())
        try old.save(draft: "half a sent", in: "c1")
        try old.database.write { database in
            for table in ["threads", "runs", "summaries", "derivations", "citations"] {
                try database.execute(sql: "DROP TABLE \(table)")
            }
            for trigger in ["citedRemoved", "citedStored"] {
                try database.execute(sql: "DROP TRIGGER \(trigger)")
            }
            try database.execute(sql: "PRAGMA user_version = 4")
        }
        old.close()
        let fixture = try Fixture(ConversationStore(path: path))
        #expect(try fixture.store.entries().entries.map(\.text) == ["waits"])
        #expect(try fixture.store.draft(in: "c1") == "half a sent")
        try fixture.store.save(Fixture.run("r1", Fixture.sentence("one", 1)))
        #expect(try fixture.texts() == ["one"])
    }
}
