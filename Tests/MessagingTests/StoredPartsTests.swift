import Accounts
import Model
import Storage
import TestSupport
import Testing
import Wire

@testable import Messaging

@Suite("Stored parts of messages and members", .timeLimit(.minutes(2)))
struct StoredPartsTests {
    private func scratch() async throws -> Store {
        let store = Store(
            database: try SQLiteDatabase(path: try ScratchDirectory().database),
            clock: { Timestamp(milliseconds: 1_800_000_000_000) }, publish: { _ in })
        try await store.prepare()
        return store
    }

    private static func makeUsers(_ count: Int, in store: StoreTransaction) throws -> [UserID] {
        var random = SeededRandom(seed: 7)
        return try (0..<count).map { index in
            let user = UserID.make(at: store.now, using: &random)
            _ = try store.insert(UserRecord(id: user, displayName: "Person \(index)", createdAt: store.now))
            return user
        }
    }

    private static func send(
        _ text: String, to id: ConversationID, by user: UserID, thread: Int64? = nil, in store: StoreTransaction
    ) throws -> SeenMessage {
        var outgoing = OutgoingMessage(clientID: .make(at: store.now), text: try MessageText(text), digest: [1])
        outgoing.thread = thread
        return try ConversationCommands.quiet().send(outgoing, to: id, by: user, in: store).message
    }

    @Test("nothing of a deleted user is left in rows, or named in messages")
    func erasure() async throws {
        let store = try await scratch()
        _ = try await store.write { transaction in
            let users = try Self.makeUsers(3, in: transaction)
            let (gone, other) = (users[0], users[1])
            let commands = ConversationCommands.quiet()
            let id = try commands.createGroup(
                name: nil, members: [], id: .make(at: transaction.now), by: other, in: transaction
            ).conversation.id
            for user in [gone, users[2]] {
                _ = try commands.add([user], to: id, by: other, in: transaction)
                _ = try commands.accept(id, by: user, in: transaction)
            }
            _ = try Self.send("root <@\(gone)>", to: id, by: other, in: transaction)
            for _ in 0..<30 { _ = try Self.send("secret <@all>", to: id, by: gone, thread: 1, in: transaction) }
            for number: Int64 in 1...31 {
                for (emoji, user) in [("👍", gone), ("🎉", gone), ("👍", other)] {
                    _ = try commands.react(
                        with: ReactionEmoji(emoji), to: number, in: id, by: user, store: transaction)
                }
                _ = try commands.star(number, in: id, isStarred: true, by: gone, store: transaction)
            }
            _ = try commands.mark(read: 9, delivered: 31, in: id, by: gone, store: transaction)
            _ = try commands.change(
                id, membership: MembershipChange(draft: Draft(text: "secret", revision: 1)), by: gone, in: transaction)
            let before = try #require(try transaction.message(1, in: id))
            #expect(before.replies == 30 && before.reactions.count == 2)

            var cursor: ClientID?
            while let next = try commands.eraseMessages(of: gone, after: cursor, limit: 7, in: transaction) {
                cursor = next
            }
            while try commands.eraseReactions(of: gone, limit: 7, in: transaction) > 0 {}
            _ = try commands.leaveGroups(of: gone, after: nil, limit: 7, in: transaction)
            for rule in ErasurePlan.rowsToRemove {
                while try transaction.eraseRows(rule, of: gone, limit: 7) > 0 {}
            }
            for table in ["reactions", "own", "memberships", "marks", "mark_rises", "mentions", "spans"] {
                let left = try transaction.sql.query("SELECT 1 FROM \(table) WHERE user_id = ?1", [.id(gone)])
                #expect(left.isEmpty, "\(table)")
            }
            let after = try #require(try transaction.message(1, in: id))
            #expect(after.replies == 0 && after.version > before.version)
            #expect(after.reactions == [MessageReaction(emoji: "👍", count: 1, users: [other])])
            let named = try transaction.sql.query(
                "SELECT 1 FROM messages WHERE reactions LIKE '%' || ?1 || '%' OR text LIKE 'secret%'", [.id(gone)])
            #expect(named.isEmpty)
            #expect(try transaction.sql.query("SELECT 1 FROM mentions").isEmpty)
        }
    }

    @Test("a user's setting of receipts is stored")
    func receipts() async throws {
        let store = try await scratch()
        _ = try await store.write { transaction in
            let user = try Self.makeUsers(1, in: transaction)[0]
            #expect(try transaction.sendsReceipts(user))
            var record = try #require(try transaction.user(user))
            record.receipts = false
            try transaction.update(record)
            #expect(try !transaction.sendsReceipts(user))
            #expect(try transaction.user(user)?.ownProfile.receipts == false)
        }
    }

    @Test("times of receipts are removed when they are no longer kept")
    func oldRises() async throws {
        let store = try await scratch()
        _ = try await store.write { transaction in
            let user = try Self.makeUsers(1, in: transaction)[0]
            let id = ConversationID.make(at: transaction.now)
            let seconds = ConversationLimits().receiptSeconds
            for (number, age) in [(1, seconds + 1), (2, seconds + 1), (3, seconds - 1)] {
                let rise = MarkRise(
                    user: user, kind: .read, from: Int64(number - 1), to: Int64(number),
                    at: transaction.now.adding(seconds: -age))
                try transaction.insert(rise, in: id)
            }
            #expect(try transaction.removeOldRises(limit: 1) == 1 && transaction.removeOldRises(limit: 9) == 1)
            #expect(try transaction.rise(.read, of: user, over: 1, in: id) == nil)
            #expect(try transaction.rise(.read, of: user, over: 3, in: id)?.to == 3)
        }
    }

    @Test("unread messages of a window of conversations are counted by the index")
    func unreadWindow() async throws {
        let store = try await scratch()
        let (user, ids) = try await store.write { transaction in
            let users = try Self.makeUsers(2, in: transaction)
            var ids: [ConversationID] = []
            for _ in 0..<50 {
                var random = SeededRandom(seed: UInt64(ids.count))
                let id = ConversationID.make(at: transaction.now, using: &random)
                _ = try ConversationCommands.quiet().createGroup(
                    name: nil, members: [users[1]], id: id, by: users[0], in: transaction)
                _ = try ConversationCommands.quiet().accept(id, by: users[1], in: transaction)
                ids.append(id)
                try transaction.sql.execute(
                    """
                    WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1100)
                    INSERT INTO messages (conversation_id, number, client_id, author, sent_at, kind, text, version,
                        text_version, withheld, text_withheld, digest)
                    SELECT ?1, i, ?1 || i, ?2, 0, 'text', 'A text of some words, as people write them.', i, i, 0, 0, ''
                    FROM n
                    """, [.id(id), .id(users[0])])
            }
            let plan = try transaction.sql.query(
                """
                EXPLAIN QUERY PLAN SELECT 1 FROM messages m WHERE m.conversation_id = ?1 AND m.number > ?2
                    AND m.author <> ?3 AND m.deleted_at IS NULL AND m.withheld = 0 AND m.kind <> 'notice' LIMIT 999
                """, [.id(ids[0]), 0, .id(users[1])]
            ).map { try $0.text(3) }
            #expect(plan.contains { $0.contains("COVERING INDEX messages_counted") }, "\(plan)")
            return (users[1], ids)
        }.value
        let counts = try await store.read { try ConversationCommands.quiet().unread(of: user, in: ids, store: $0) }
        #expect(counts.count == 50 && counts.values.allSatisfy { $0 == UnreadCount(messages: 999) })
        let start = ContinuousClock.now
        _ = try await store.read { try ConversationCommands.quiet().unread(of: user, in: ids, store: $0) }
        print("50 conversations of 999 unread messages: \(ContinuousClock.now - start)")
    }
}
