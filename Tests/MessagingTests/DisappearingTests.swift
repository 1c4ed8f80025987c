import Accounts
import Model
import Storage
import Synchronization
import TestSupport
import Testing
import Wire

@testable import Messaging

@Suite("Messages that disappear", .timeLimit(.minutes(5)))
struct DisappearingTests {
    @Test("the time is fixed when a message is sent, and neither edits nor a later setting change it")
    func fixed() throws {
        let chat = Chat(people: 2)
        let id = try chat.group([1])
        let stays = try chat.send("stays", to: id, by: 0)
        try chat.disappear(after: 60, id, by: 0)
        let sent = try chat.send("goes", to: id, by: 1)
        #expect(stays.expiresAt == nil && sent.expiresAt == sent.sentAt.adding(seconds: 60))
        let edited = try chat.commands.edit(
            2, in: id, text: MessageText("goes too"), basedOn: sent.textVersion, by: chat.people[1], store: chat.store)
        #expect(edited.expiresAt == sent.expiresAt)
        try chat.disappear(after: nil, id, by: 0)
        #expect(try chat.send("stays", to: id, by: 0).expiresAt == nil)
        #expect(try chat.page(of: id, by: 0).messages[1].expiresAt == sent.expiresAt)
        chat.store.now = chat.store.now.adding(seconds: 60)
        #expect(try chat.texts(id, by: 0) == ["stays", "", "stays"])
    }

    @Test("each of two people may set it, in a group an administrator, and nobody outside of the bounds")
    func access() throws {
        let chat = Chat(people: 3, areFriends: false)
        let pair = try chat.direct(0, 1)
        for person in 0...1 {
            #expect(problem { try chat.disappear(after: 20, pair, by: person) } == .forbidden, "a request")
        }
        _ = try chat.commands.accept(pair, by: chat.people[1], in: chat.store)
        try chat.disappear(after: 31_536_000, pair, by: 1)
        let before = try #require(chat.store.conversation(pair))
        try chat.disappear(after: 31_536_000, pair, by: 0)
        #expect(chat.store.conversation(pair) == before, "setting it twice changes nothing")
        for seconds in [Int64.min, -1, 0, 9, 31_536_001, .max] {
            #expect(problem { try chat.disappear(after: seconds, pair, by: 0) } == .invalidRequest)
        }
        #expect(problem { try chat.disappear(after: 60, pair, by: 2) } == .notFound)

        let friends = Chat(people: 2)
        let group = try friends.group([1])
        #expect(problem { try friends.disappear(after: 60, group, by: 1) } == .forbidden)
        try friends.disappear(after: 60, group, by: 0)
        try friends.send("hello", to: group, by: 0)
        try friends.commands.leave(group, by: friends.people[1], in: friends.store)
        try friends.disappear(after: nil, group, by: 0)
        let former = try friends.commands.get(group, by: friends.people[1], in: friends.store)
        #expect(former.conversation.disappearAfter == 60, "as it was when they left")

        let made = try friends.commands.createNotes(
            id: friends.newID(), disappearAfter: 60, by: friends.people[0], in: friends.store)
        #expect(made.found.conversation.disappearAfter == 60)
        #expect(
            problem {
                _ = try friends.commands.createGroup(
                    name: nil, members: [], id: friends.newID(), disappearAfter: 1, by: friends.people[0],
                    in: friends.store)
            } == .invalidRequest)
    }

    @Test("who is blocked sets it for their own messages, and cannot tell that from any other time")
    func blocked() throws {
        let chat = Chat(people: 2)
        let pair = try chat.direct(0, 1)
        let (ann, ben) = (chat.people[0], chat.people[1])
        func seen(_ user: UserID) throws -> Int64? {
            try chat.commands.get(pair, by: user, in: chat.store).conversation.disappearAfter(for: user)
        }
        try chat.disappear(after: 60, pair, by: 0)
        chat.store.blocks.insert([ann, ben])
        try chat.disappear(after: 10, pair, by: 0)
        #expect(try seen(ann) == 10 && seen(ben) == 60)
        let withheld = try chat.send("goes", to: pair, by: 0)
        #expect(withheld.isWithheld && withheld.expiresAt == withheld.sentAt.adding(seconds: 10))
        let shown = try chat.send("stays longer", to: pair, by: 1)
        #expect(shown.expiresAt == shown.sentAt.adding(seconds: 60))
        // Setting it twice changes nothing, and back to what it was leaves nothing.
        let before = try #require(chat.store.conversation(pair))
        try chat.disappear(after: 10, pair, by: 0)
        #expect(chat.store.conversation(pair) == before && before.withheldTimers.count == 1)
        try chat.disappear(after: nil, pair, by: 0)
        #expect(try seen(ann) == nil && seen(ben) == 60)
        #expect(try chat.send("stays", to: pair, by: 0).expiresAt == nil)
        try chat.disappear(after: 60, pair, by: 0)
        #expect(chat.store.conversation(pair)?.withheldTimers == [])

        // What the other one sets is for both; unblocked, they set it for both too.
        try chat.disappear(after: 20, pair, by: 0)
        try chat.disappear(after: 30, pair, by: 1)
        #expect(try seen(ann) == 30 && seen(ben) == 30)
        try chat.disappear(after: 20, pair, by: 0)
        chat.store.blocks.remove([ann, ben])
        #expect(try seen(ann) == 20 && seen(ben) == 30)
        try chat.disappear(after: 40, pair, by: 0)
        #expect(try seen(ann) == 40 && seen(ben) == 40)
    }

    @Test("what is due is hidden from every read before it is removed")
    func hidden() throws {
        let chat = Chat(people: 3)
        let id = try chat.group([1, 2])
        let target = try chat.group([1])
        try chat.disappear(after: 60, id, by: 0)
        let (ann, ben) = (chat.people[0], chat.people[1])
        let root = try chat.send("secret <@all>", to: id, by: 0)
        _ = try chat.commands.edit(
            1, in: id, text: MessageText("secret two <@all>"), basedOn: root.textVersion, by: ann, store: chat.store)
        _ = try chat.react("👍", to: 1, in: id, by: 1)
        _ = try chat.commands.star(1, in: id, isStarred: true, by: ben, store: chat.store)
        _ = try chat.commands.pin(1, in: id, by: ann, store: chat.store)
        try chat.send("secret reply", to: id, by: 1, thread: 1)
        _ = try chat.mark(read: 2, id, by: 2)
        _ = try chat.commands.forward(1, of: id, to: target, by: chat.people[1], chat)
        try chat.commands.leave(id, by: chat.people[2], in: chat.store)
        #expect(try chat.search("secret", by: 1).count == 3)
        #expect(try chat.unread(id, by: 1) == UnreadCount(messages: 1, mentions: 1))

        chat.store.now = chat.store.now.adding(milliseconds: 59_999)
        #expect(try chat.texts(id, by: 1) == ["secret two <@all>", "secret reply"])
        chat.store.now = chat.store.now.adding(milliseconds: 1)
        for person in 0..<3 {
            for anchor in [PageAnchor.newest, .before(2), .after(0), .around(1)] {
                for message in try chat.page(anchor, of: id, by: person).messages {
                    #expect(message.text == nil && message.ranges.isEmpty && message.reactions.isEmpty)
                    #expect(message.deletedAt == message.expiresAt && message.expiresAt != nil)
                }
            }
            let user = chat.people[person]
            #expect(try chat.commands.message(1, in: id, by: user, store: chat.store).text == nil)
            #expect(try chat.commands.edits(of: 1, in: id, by: user, store: chat.store).isEmpty)
        }
        #expect(try chat.thread(1, id, by: 1) == [])
        #expect(try chat.commands.window(of: id, by: ben, in: chat.store).messages.allSatisfy { $0.text == nil })
        let found = try chat.commands.listen(id, by: ben, in: chat.store)
        let changes = try chat.commands.changes(of: found, after: 1, holding: nil, in: chat.store)
        for case .message(let message) in try #require(changes).rows { #expect(message.text == nil) }
        #expect(
            try chat.commands.receipts(of: 1, in: id, after: nil, limit: 9, by: ann, store: chat.store).receipts.isEmpty
        )
        #expect(
            try chat.commands.reactions(
                to: 1, in: id, emoji: nil, after: 0, limit: 9, by: ann, store: chat.store
            ).reactions.isEmpty)
        #expect(try chat.commands.starred(by: ben, after: nil, limit: 9, in: chat.store).messages.isEmpty)
        // The forwarded copy lives by the rule of where it is.
        #expect(try chat.search("secret", by: 1).map(\.conversation) == [target])
        #expect(try chat.unread(id, by: 1) == UnreadCount())
        #expect(chat.store.unreadConversations(of: ben, isArchive: false) == UnreadCount())

        let stored = try #require(chat.store.message(1, in: id))
        let version = stored.textVersion
        #expect(
            problem {
                _ = try chat.commands.edit(
                    1, in: id, text: MessageText("more"), basedOn: version, by: ann, store: chat.store)
            } == .conflict)
        #expect(problem { _ = try chat.react("🎉", to: 1, in: id, by: 1) } == .conflict)
        #expect(problem { _ = try chat.commands.pin(2, in: id, by: ann, store: chat.store) } == .conflict)
        #expect(problem { _ = try chat.commands.forward(1, of: id, to: target, by: ben, chat) } == .conflict)
        _ = try chat.commands.removeReaction(
            ReactionEmoji("👍"), to: 1, in: id, by: ben, store: chat.store)
        _ = try chat.commands.delete(1, in: id, by: ann, store: chat.store)
        #expect(chat.store.message(1, in: id) == stored, "a tombstone that was only shown is not stored")
    }

    @Test("the clock's step removes what is due with everything that was made of it, and no more")
    func removed() throws {
        let chat = Chat(people: 2)
        let id = try chat.group([1])
        try chat.disappear(after: 60, id, by: 0)
        let first = try chat.send("first <@all>", to: id, by: 0)
        _ = try chat.commands.edit(
            1, in: id, text: MessageText("edited <@all>"), basedOn: first.textVersion, by: chat.people[0],
            store: chat.store)
        _ = try chat.react("👍", to: 1, in: id, by: 1)
        _ = try chat.commands.pin(1, in: id, by: chat.people[0], store: chat.store)
        let outgoing = OutgoingMessage(clientID: chat.newID(), text: try MessageText("once"), digest: [1])
        _ = try chat.commands.send(outgoing, to: id, by: chat.people[1], in: chat.store)
        chat.store.now = chat.store.now.adding(seconds: 30)
        try chat.send("later", to: id, by: 0, thread: 1)
        #expect(chat.store.nextExpiry() == first.expiresAt)
        chat.store.now = chat.store.now.adding(seconds: 29)
        #expect(try chat.commands.expireMessages(limit: 10, in: chat.store) == 0)
        chat.store.now = chat.store.now.adding(seconds: 1)
        let sequence = try #require(chat.store.conversation(id)?.sequence)
        #expect(try chat.commands.expireMessages(limit: 1, in: chat.store) == 1)
        #expect(try chat.commands.expireMessages(limit: 10, in: chat.store) == 1)
        #expect(try chat.commands.expireMessages(limit: 10, in: chat.store) == 0)
        let expired = try #require(chat.store.message(1, in: id))
        #expect(expired.text == nil && expired.deletedAt == first.expiresAt && expired.version > sequence)
        #expect(chat.store.edits(of: 1, in: id).isEmpty && chat.store.parts.reactions.isEmpty)
        #expect(chat.store.parts.mentions.isEmpty && chat.store.conversation(id)?.pins == [])
        #expect(chat.store.rows[id]?.messages[1]?.digest == [], "it would confirm a text that is guessed")
        #expect(try chat.texts(id, by: 1) == ["", "", "later"])
        // The clock of the machine is set back: what is gone is gone, and a repetition is one.
        chat.store.now = chat.store.now.adding(seconds: -3600)
        #expect(try chat.texts(id, by: 1) == ["", "", "later"])
        let again = try chat.commands.send(outgoing, to: id, by: chat.people[1], in: chat.store)
        #expect(again.isDuplicate && again.message.text == nil)
        chat.store.now = chat.store.now.adding(seconds: 3630)
        #expect(try chat.commands.expireMessages(limit: 10, in: chat.store) == 1)
        #expect(chat.store.message(1, in: id)?.replies == 0 && chat.store.nextExpiry() == nil)
    }

    @Test("a message that a block withholds disappears too")
    func withheld() throws {
        let chat = Chat(people: 2)
        let id = try chat.direct(0, 1)
        try chat.disappear(after: 10, id, by: 0)
        chat.store.blocks.insert([chat.people[0], chat.people[1]])
        try chat.send("unseen", to: id, by: 0)
        chat.store.now = chat.store.now.adding(seconds: 10)
        #expect(try chat.texts(id, by: 0) == [""])
        #expect(try chat.commands.expireMessages(limit: 10, in: chat.store) == 1)
        #expect(try chat.texts(id, by: 0) == [""] && chat.texts(id, by: 1) == [])
    }

    @Test("in the database: hidden before it is removed, then in no row, and the clock is told when to wake")
    func stored() async throws {
        let time = Mutex(Timestamp(milliseconds: 1_800_000_000_000))
        let due = Mutex<[Timestamp]>([])
        let updates = Mutex<[ConversationUpdate]>([])
        let store = Store(
            database: try SQLiteDatabase(path: try ScratchDirectory().database), clock: { time.withLock { $0 } },
            publishUpdates: { new in updates.withLock { $0 += new } }, publish: { _ in })
        try await store.prepare()
        store.observeDue { at in due.withLock { $0.append(at) } }
        let (commands, indexer) = (ConversationCommands.quiet(), MessageIndexer())
        let people = (0..<2).map { UserID.make(at: Timestamp(milliseconds: Int64($0))) }
        let (ann, ben) = (people[0], people[1])
        let id = try await store.write { store in
            for user in people {
                _ = try store.insert(
                    UserRecord(id: user, displayName: "Somebody", reach: .everybody, createdAt: store.now))
            }
            return try commands.createServerDirect(of: ann, and: ben, id: .make(at: store.now), in: store)
                .conversation.id
        }.value
        func outgoing(_ text: String) throws -> OutgoingMessage {
            OutgoingMessage(clientID: .make(at: time.withLock { $0 }), text: try MessageText(text), digest: [7])
        }
        let message = try outgoing("secretword <@\(ben)>")
        _ = try await store.write { store in
            _ = try commands.change(id, disappearAfter: 10, by: ann, in: store)
            let sent = try commands.send(message, to: id, by: ann, in: store).message
            _ = try commands.edit(
                1, in: id, text: MessageText("secretword again <@\(ben)>"), basedOn: sent.textVersion, by: ann,
                store: store)
            _ = try commands.react(with: ReactionEmoji("👍"), to: 1, in: id, by: ben, store: store)
        }
        let start = time.withLock { $0 }
        #expect(due.withLock { $0 } == [start.adding(seconds: 10)])
        _ = try await store.write { store in
            let batch = try #require(try indexer.batch(of: id, in: store))
            #expect(try indexer.write(batch, in: store))
        }
        let request = try SearchRequest(query: SearchQuery("secretword"))
        func unread() async throws -> UnreadCount? {
            try await store.read { try commands.unread(of: ben, in: [id], store: $0)[id] }
        }
        #expect(try await store.read { try commands.search(request, by: ben, in: $0).results.count } == 1)
        #expect(try await unread() == UnreadCount(messages: 1, mentions: 1))

        time.withLock { $0 = $0.adding(seconds: 10) }
        let seen = try await store.read { try commands.page(.newest, of: id, limit: 9, by: ben, in: $0).messages }
        #expect(seen.map(\.text) == [nil] && seen.map(\.deletedAt) == [start.adding(seconds: 10)])
        #expect(try await store.read { try commands.search(request, by: ben, in: $0).results.isEmpty })
        #expect(try await unread() == UnreadCount())
        #expect(try await store.read { try $0.exportedMessages(in: id, after: 0, limit: 9).map(\.text) } == [nil])
        // A reply is told to listeners with its root, which is due.
        updates.withLock { $0 = [] }
        var reply = try outgoing("reply")
        reply.thread = 1
        _ = try await store.write { [reply] in try commands.send(reply, to: id, by: ben, in: $0) }
        #expect(!updates.withLock { "\($0)" }.contains("secretword"))

        #expect(try await store.read { try $0.nextExpiry() } == start.adding(seconds: 10))
        updates.withLock { $0 = [] }
        #expect(try await store.write { try commands.expireMessages(limit: 9, in: $0) }.value == 1)
        #expect(updates.withLock { $0.first?.rows.count } == 2, "one for each of two people")
        #expect(try await !store.write { try indexer.forgetDeleted(in: $0) }.value)
        let left = try await store.read { store in
            let columns = "SELECT text, ranges, reactions, length(digest) FROM messages WHERE number = 1"
            let row = try #require(try store.sql.first(columns))
            #expect(try row.textIfPresent(0) == nil && row.textIfPresent(1) == nil && row.textIfPresent(2) == nil)
            #expect(try row.integer(3) == 0)
            return try ["edits", "reactions", "mentions"].map {
                try store.sql.first("SELECT COUNT(*) FROM \($0)")?.int(0) ?? -1
            } + [try store.sql.first("SELECT COUNT(*) FROM postings WHERE number = 1")?.int(0) ?? -1]
        }
        #expect(left == [0, 0, 0, 0])
        #expect(try await store.read { try $0.nextExpiry() } == start.adding(seconds: 20), "the reply")
        let plan = try await store.read { store in
            try store.sql.query(
                """
                EXPLAIN QUERY PLAN SELECT 1 FROM messages m WHERE m.conversation_id = 'a' AND m.number > 1
                AND m.author <> 'b' AND m.withheld = 0 AND m.deleted_at IS NULL AND m.kind <> 'notice'
                AND (m.expires_at IS NULL OR m.expires_at > 5)
                """
            ).map { try $0.text(3) }.joined()
        }
        #expect(plan.contains("COVERING INDEX messages_counted"), "\(plan)")
    }
}

extension Chat {
    func disappear(after seconds: Int64?, _ id: ConversationID, by person: Int) throws {
        _ = try commands.change(id, disappearAfter: seconds, by: people[person], in: store)
    }

    func search(_ text: String, by person: Int) throws -> [SeenMessage] {
        try commands.search(SearchRequest(query: SearchQuery(text)), by: people[person], in: store).results
            .map(\.message)
    }
}

extension ConversationCommands {
    fileprivate func forward(
        _ number: Int64, of id: ConversationID, to target: ConversationID, by user: UserID, _ chat: Chat
    ) throws -> SeenMessage {
        let source = MessageReference(id, number)
        return try send(
            OutgoingMessage(clientID: chat.newID(), forward: source, digest: [1]), to: target, by: user, in: chat.store
        ).message
    }
}
