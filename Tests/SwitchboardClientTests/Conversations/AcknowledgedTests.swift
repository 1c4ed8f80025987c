import Foundation
import GRDB
import Testing

@testable import SwitchboardClient

/// What a response has acknowledged is stored with the removal of its write, and is no range unless it follows the newest.
struct AcknowledgedTests {
    /// A store with a conversation of three messages, and the entry of a fourth.
    private struct Stored {
        let store: ConversationStore
        var server = ModelConversation()
        var queue = WriteQueue(seed: 1)

        init() throws {
            store = try ConversationStore(path: nil)
            for index in 0..<3 { server.send("m\(index)") }
            var state = ConversationState(id: server.id)
            let (snapshot, position) = server.snapshot(window: 10)
            state.apply(snapshot, at: position)
            try store.save(state, state.takeChanges())
            try queue.send("mine", replyTo: nil, in: "c1", as: "w1", at: 0)
            try store.save(queue, queue.takeChanges())
        }

        mutating func acknowledge(
            _ acknowledgements: [Acknowledgement], in id: ConversationID = "c1"
        ) throws {
            queue.removeEntry(1)
            try store.save(
                queue, queue.takeChanges(), with: AcknowledgedChanges(id: id, acknowledgements: acknowledgements))
        }

        /// The server's next message, after as many of others.
        mutating func next(after others: Int = 0) throws -> Message {
            for index in 0..<others { server.send("other \(index)") }
            server.send("mine", clientID: "w1")
            return try #require(server.seen(server.last...server.last).first)
        }

        func load(_ id: ConversationID = "c1") throws -> ConversationState {
            try #require(try store.conversation(id, limit: 10))
        }
    }

    @Test func theNextMessageExtendsTheNewestRange() throws {
        var stored = try Stored()
        try stored.acknowledge([.message(try stored.next())])
        let loaded = try stored.load()
        #expect(loaded.messages[4]?.text == "mine" && loaded.ranges.all.map(\.last) == [4])
        #expect(loaded.position?.sequence == Int64(stored.server.sequence - 1))
        #expect(try stored.store.entries().entries.isEmpty)
    }

    @Test func aLaterMessageIsShownAndIsNoRange() throws {
        var stored = try Stored()
        let before = try stored.load()
        try stored.acknowledge([.message(try stored.next(after: 2))])
        var loaded = try stored.load()
        #expect(loaded.messages.keys.sorted() == [1, 2, 3, 6] && loaded.ranges == before.ranges)
        #expect(loaded.resumption == before.resumption)
        // What is between comes with the stream.
        for frame in try #require(stored.server.resume(loaded.resumption, window: 10, part: 10)) {
            #expect(loaded.apply(frame) == .applied)
        }
        #expect(loaded.messages.keys.sorted() == Array(1...6) && loaded.ranges.all.map(\.last) == [6])
    }

    @Test func nothingHasToBeStoredBefore() throws {
        var stored = try Stored()
        var message = try stored.next()
        message.conversation = "c2"
        let own = OwnMessage(number: 4, starred: true, reacted: [], counter: 7)
        try stored.acknowledge([.own(own), .reaction("👍", isOn: true, to: message)], in: "c2")
        let loaded = try stored.load("c2")
        #expect(loaded.messages.keys.sorted() == [4] && loaded.ranges.all.isEmpty && loaded.position == nil)
        let note = try stored.store.marks(of: "c2").marks.own[4]
        #expect(note?.starred == true && note?.reacted == ["👍"] && note?.counter == 7)
    }

    @Test func aReactionThatTheStreamIsPastChangesNothing() throws {
        var stored = try Stored()
        let reacted = try #require(stored.server.seen(2...2).first)
        stored.server.edit(2, "edited")
        try stored.acknowledge([.message(try #require(stored.server.seen(2...2).first))])
        try stored.acknowledge([.reaction("👍", isOn: true, to: reacted)])
        #expect(try stored.load().messages[2]?.text == "edited")
        #expect(try stored.store.marks(of: "c1").marks.own.isEmpty)
    }

    @Test func anOlderCopyChangesNothing() throws {
        var stored = try Stored()
        let old = try #require(stored.server.seen(2...2).first)
        stored.server.edit(2, "edited")
        try stored.acknowledge([.message(try #require(stored.server.seen(2...2).first))])
        try stored.acknowledge([.message(old)])
        #expect(try stored.load().messages[2]?.text == "edited")
    }

    @Test func whatIsDeletedForOneselfIsGone() throws {
        var stored = try Stored()
        try stored.acknowledge([.hidden(2)])
        #expect(try stored.load().messages.keys.sorted() == [1, 3])
        try stored.acknowledge([.cleared(upTo: nil, isOffTheList: false)])
        let loaded = try stored.load()
        #expect(loaded.messages.isEmpty && loaded.start == 4 && loaded.ranges.all.isEmpty)
    }

    @Test func bothAreStoredOrNeither() throws {
        var stored = try Stored()
        try stored.store.database.write { try $0.execute(sql: "DROP TABLE messages") }
        let message = try stored.next()
        #expect(throws: DatabaseError.self) { try stored.acknowledge([.message(message)]) }
        #expect(try stored.store.entries().entries.map(\.clientID) == ["w1"])
    }

    @Test func theListShowsItUntilItsRowComes() {
        var inbox = InboxState()
        let conversation = Conversation(
            id: "c1", kind: .group, createdAt: Date(timeIntervalSince1970: 0), lastNumber: 3, members: 2, version: 1)
        let membership = Membership(
            role: .member, state: .member, joinedAt: Date(timeIntervalSince1970: 0), version: 1,
            spans: [.init(from: 0)])
        let row = InboxRow(
            id: "c1", conversation: conversation, membership: membership, unread: 2, mentions: 1, counter: 5)
        inbox.keep(row)
        var muted = membership
        (muted.muted, muted.version) = (Mute(mentions: true), 2)
        inbox.acknowledge(.membership(muted), in: "c1", by: "ann")
        inbox.acknowledge(.marks(ReadMarks(read: 3, delivered: 3)), in: "c1", by: "ann")
        #expect(inbox.shown.first?.membership?.muted == muted.muted && inbox.unread == 0)
        let people = ["ann", "ben"].map { User(id: $0, displayName: "", languages: []) }
        var direct = conversation
        (direct.id, direct.kind) = ("c2", .direct)
        inbox.acknowledge(
            .created(ConversationResult(conversation: direct, membership: membership, people: people)), in: "c2",
            by: "ann")
        #expect(inbox.rows["c2"]?.person?.id == "ben")
        inbox.acknowledge(.cleared(upTo: 3, isOffTheList: true), in: "c1", by: "ann")
        #expect(inbox.shown.map(\.id) == ["c2"])
        // The server's rows replace it all.
        var newer = row
        newer.counter = 6
        inbox.keep(newer)
        #expect(inbox.rows["c1"] == newer)
    }
}
