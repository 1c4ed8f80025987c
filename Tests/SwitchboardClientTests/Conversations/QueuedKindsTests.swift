import Foundation
import GRDB
import Testing

@testable import SwitchboardClient

/// Writes that are no texts, in the queue and in what is shown.
struct QueuedKindsTests {
    private let refusal = Problem(kind: .forbidden, title: "", status: 403, detail: "no")

    @Test("what is undone before it was sent is not sent")
    func opposites() throws {
        var queue = WriteQueue(seed: 1)
        try queue.write(.react, .number(1), emoji: "👍", in: "c1", at: 0)
        try queue.write(.react, .number(1), emoji: "🎉", in: "c1", at: 0)
        try queue.write(.removeReaction, .number(1), emoji: "👍", in: "c1", at: 0)
        try queue.write(.star, .number(1), in: "c1", at: 0)
        try queue.write(.star, .number(1), in: "c1", at: 0)
        try queue.write(.pin, .number(2), in: "c1", at: 0)
        try queue.write(.unpin, .number(2), in: "c1", at: 0)
        #expect(queue.entries.map(\.kind) == [.react, .removeReaction, .star, .unpin])
        #expect(queue.entries.prefix(2).map(\.emoji) == ["🎉", "👍"])
        // What is on its way stays, and the later one follows it.
        let sent = queue.next(at: 0, wallClock: 0)
        try queue.write(.removeReaction, .number(1), emoji: "🎉", in: "c1", at: 0)
        #expect(sent.map(\.kind) == [.react] && queue.entries.count == 5)
        queue.complete(sent[0].id, .finished, at: 0)
        #expect(queue.entries.count == 4 && queue.entries.last?.kind == .removeReaction)
    }

    @Test("what is written in a conversation waits for its creation, and is sent to the one that was made")
    func creation() throws {
        var queue = WriteQueue(seed: 1)
        let id = try queue.create(.group(name: "Tea", members: ["ben"]), at: 0)
        #expect(id.isProvisional)
        try queue.send("hello", replyTo: nil, in: id, as: "m1", at: 0)
        try queue.send("again", replyTo: .waiting("m1"), in: id, as: "m2", at: 0)
        let first = queue.next(at: 0, wallClock: 0)
        let none = queue.next(at: 0, wallClock: 0)
        #expect(first.map(\.kind) == [.create] && none.isEmpty)
        queue.complete(first[0].id, .created("c9"), at: 0)
        let changes = queue.takeChanges()
        #expect(queue.resolve(id) == "c9" && changes.created)
        #expect(queue.entries.map(\.conversation) == ["c9", "c9"])
        let second = queue.next(at: 0, wallClock: 0)
        #expect(second.map(\.clientID) == ["m1", "m2"])
    }

    @Test("what is written in a conversation fails with its creation, and is sent when that is tried again")
    func failedCreation() throws {
        var queue = WriteQueue(seed: 1)
        let id = try queue.create(.direct("ben"), at: 0)
        let same = try queue.create(.direct("ben"), at: 0)
        #expect(same == id)
        try queue.send("hello", replyTo: nil, in: id, as: "m1", at: 0)
        let first = try ready(&queue)
        queue.complete(first.id, .refused(refusal), at: 0)
        #expect(queue.entries.map { $0.failure?.kind } == [.forbidden, .predecessorMissing])
        // What is written now is not sent either.
        try queue.send("later", replyTo: nil, in: id, as: "m2", at: 0)
        let none = queue.next(at: 0, wallClock: 0)
        let isRetried = queue.retry(first.clientID, at: 0)
        #expect(none.isEmpty && isRetried)
        #expect(queue.entries.allSatisfy { $0.failure == nil })
        let again = try ready(&queue)
        queue.complete(again.id, .created("c1"), at: 0)
        #expect(queue.entries.map(\.clientID) == ["m1", "m2"])
    }

    @Test("who gives a creation up gives up what was written there")
    func discarded() throws {
        var queue = WriteQueue(seed: 1)
        let id = try queue.create(.notes, at: 0)
        try queue.send("hello", replyTo: nil, in: id, as: "m1", at: 0)
        let creation = try #require(queue.creation(of: id))
        let isGone = queue.discard(creation.clientID)
        #expect(isGone && queue.entries.isEmpty)
    }

    @Test("after 30 days a creation fails, with what waits for it")
    func expiry() throws {
        var queue = WriteQueue(seed: 1)
        let id = try queue.create(.notes, at: 0)
        try queue.send("hello", replyTo: nil, in: id, as: "m1", at: 5)
        let none = queue.next(at: 0, wallClock: queue.limits.lifetime + 10)
        #expect(none.isEmpty)
        #expect(queue.entries.map { $0.failure?.kind } == [.expired, .predecessorMissing])
    }

    @Test("a waiting write is shown as done, and one that was refused is not")
    func shown() throws {
        var queue = WriteQueue(seed: 1)
        try queue.write(.react, .number(1), emoji: "👍", in: "c1", at: 0)
        try queue.write(.star, .number(1), in: "c1", at: 0)
        try queue.write(.pin, .number(2), in: "c1", at: 0)
        try queue.write(.hide, .number(3), in: "c1", at: 0)
        var state = chat()
        state.apply(queue.entries, of: "ann")
        #expect(state.messages.compactMap(\.number) == [1, 2])
        #expect(state.messages[0].message?.reactions?["👍"] == ReactionSummary(count: 2, users: ["ben", "ann"]))
        #expect(state.marks.own[1]?.reacted == ["👍"] && state.marks.own[1]?.starred == true)
        #expect(state.conversation?.pins == [2, 1] && state.writes.map(\.number) == [1, 1, 2, 3])

        for _ in 0..<4 {
            let next = try ready(&queue)
            queue.complete(next.id, .refused(refusal), at: 0)
        }
        var reverted = chat()
        reverted.apply(queue.entries, of: "ann")
        #expect(reverted.messages == chat().messages && reverted.marks == chat().marks)
        #expect(reverted.conversation == chat().conversation)
        #expect(reverted.writes.map { $0.problem?.kind } == [.forbidden, .forbidden, .forbidden, .forbidden])
        // With the reaction already there, nothing is counted twice.
        var reacted = chat()
        reacted.marks.own[1] = OwnMessage(number: 1, starred: false, reacted: ["👍"], counter: 1)
        var again = WriteQueue(seed: 1)
        try again.write(.react, .number(1), emoji: "👍", in: "c1", at: 0)
        reacted.apply(again.entries, of: "ann")
        #expect(reacted.messages[0].message?.reactions?["👍"]?.count == 1)
    }

    @Test("what was there is cleared, and what came later stays")
    func cleared() throws {
        var queue = WriteQueue(seed: 1)
        try queue.clear(.clear, upTo: 1, in: "c1", at: 0)
        try queue.clear(.clear, upTo: 2, in: "c1", at: 0)
        #expect(queue.entries.map(\.upTo) == [2])
        var state = chat()
        state.apply(queue.entries, of: "ann")
        #expect(state.messages.compactMap(\.number) == [3])
    }

    @Test("a new conversation is in the list until it fails")
    func list() throws {
        var queue = WriteQueue(seed: 1)
        let id = try queue.create(.group(name: "Tea", members: ["ben"]), at: 0)
        let empty = Conversations.State(rows: [], unread: 0, unsent: [:], hasMore: false, isCurrent: false)
        var state = empty
        state.apply(queue.entries)
        #expect(state.rows.map(\.id) == [id] && state.rows.first?.conversation?.name == "Tea" && state.failed.isEmpty)
        let first = try ready(&queue)
        queue.complete(first.id, .refused(refusal), at: 0)
        state = empty
        state.apply(queue.entries)
        #expect(state.rows.isEmpty && state.failed[id]?.kind == .forbidden)
    }

    @Test("rows of the versions before are read, and new ones survive a restart")
    func stored() throws {
        let path = FileManager.default.temporaryDirectory.appendingPathComponent("q-\(UUID().uuidString).sqlite").path
        defer { try? FileManager.default.removeItem(atPath: path) }
        let store = try ConversationStore(path: path)
        // As version 0.8 of this library wrote it, in a file of an earlier schema.
        let row = """
            {"id":3,"kind":"edit","conversation":"c1","clientID":"e1","text":"t","target":{"number":{"_0":4}},\
            "textVersion":5,"createdAt":6,"wasSent":true}
            """
        try store.database.write { database in
            try database.execute(sql: "INSERT INTO entries VALUES (3, ?)", arguments: [Data(row.utf8)])
            try database.execute(sql: "PRAGMA user_version = 2")
        }
        store.close()
        let again = try ConversationStore(path: path)
        let (entries, last, created) = try again.entries()
        #expect(entries.map(\.kind) == [.edit] && entries.first?.target == .number(4) && last == 3 && created.isEmpty)
        var queue = WriteQueue(entries, after: last, seed: 1)
        let id = try queue.create(.group(name: nil, members: ["ben"]), at: 0)
        try queue.write(.react, .waiting("m1"), emoji: "👍", in: id, at: 0)
        try queue.forward(.init(conversation: "c1", number: 2), text: "x", to: id, as: "f1", at: 0)
        let kept = queue.entries
        try again.save(queue, queue.takeChanges())
        again.close()
        let third = try ConversationStore(path: path)
        #expect(try third.entries().entries == kept)
        var restored = WriteQueue(kept, after: 9, seed: 1)
        let ready = restored.next(at: 0, wallClock: 0)
        let creation = try #require(ready.first { $0.kind == .create })
        restored.complete(creation.id, .created("c7"), at: 0)
        try third.save(restored, restored.takeChanges())
        #expect(try third.entries().created == [id: "c7"])
        third.close()
    }

    private func ready(_ queue: inout WriteQueue) throws -> WriteEntry {
        let entries = queue.next(at: 0, wallClock: 0)
        return try #require(entries.first)
    }

    private func chat() -> Messages.State {
        let messages = (1...3).map { number in
            var message = Message(
                conversation: "c1", number: number, version: number, clientID: MessageClientID("m\(number)"),
                author: "ben", sentAt: Date(timeIntervalSince1970: 0), kind: .text, text: "t", textVersion: number)
            if number == 1 { message.reactions = ["👍": ReactionSummary(count: 1, users: ["ben"])] }
            return ChatMessage(message)
        }
        return Messages.State(
            conversation: Conversation(
                id: "c1", kind: .group, createdAt: Date(timeIntervalSince1970: 0), lastNumber: 3, members: 2, pins: [1],
                version: 1),
            members: [], people: [:], messages: messages, hasEarlier: false, hasLater: false, hasMoreMembers: false,
            marks: ConversationMarks(), isCurrent: true)
    }
}
