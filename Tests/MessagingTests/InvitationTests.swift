import Accounts
import Friends
import Model
import Storage
import TestSupport
import Testing

@testable import Messaging

/// What others make for a user, who has not accepted it.
@Suite("Invitations that wait", .timeLimit(.minutes(2))) struct InvitationTests {

    private let store: Store
    private let commands: ConversationCommands
    private let user: UserID

    init() async throws {
        var limits = ConversationLimits()
        (limits.conversations, limits.invitations) = (3, 2)
        commands = .quiet(limits)
        store = Store(database: try SQLiteDatabase(path: try ScratchDirectory().database), publish: { _ in })
        try await store.prepare()
        user = try await Self.person(in: store)
    }

    private static func person(in store: Store) async throws -> UserID {
        try await store.write { store in
            let user = UserID.make(at: store.now)
            _ = try store.insert(UserRecord(id: user, displayName: "Ann", reach: .everybody, createdAt: store.now))
            return user
        }.value
    }

    /// A group of a stranger, who invites the user.
    private func invitation() async throws -> (id: ConversationID, owner: UserID) {
        let (commands, user, owner) = (commands, user, try await Self.person(in: store))
        return try await store.write { store in
            let group = try commands.createGroup(
                name: nil, members: [user], id: .make(at: store.now), by: owner, in: store)
            return (group.conversation.id, owner)
        }.value
    }

    private func request() async throws -> (id: ConversationID, owner: UserID) {
        let (commands, user, asker) = (commands, user, try await Self.person(in: store))
        return try await store.write { store in
            (
                try commands.createDirect(with: user, id: .make(at: store.now), by: asker, in: store).found.conversation
                    .id, asker
            )
        }.value
    }

    private func group() async throws -> ConversationID {
        let (commands, user) = (commands, user)
        return try await store.write { store in
            try commands.createGroup(name: nil, members: [], id: .make(at: store.now), by: user, in: store)
                .conversation.id
        }.value
    }

    private func run(
        _ body: @escaping @Sendable (ConversationCommands, UserID, StoreTransaction) throws -> Void
    ) async throws {
        let (commands, user) = (commands, user)
        _ = try await store.write { try body(commands, user, $0) }
    }

    private func state(in id: ConversationID) async throws -> MemberState? {
        let user = user
        return try await store.read { try $0.member(user, of: id)?.state }
    }

    @Test("what others have made counts nothing, and what one has left until it is deleted")
    func counting() async throws {
        for _ in 0..<3 {
            let declined = [try await request().id, try await invitation().id]
            try await run { commands, user, store in
                for id in declined { try commands.decline(id, by: user, in: store) }
            }
        }
        let (waiting, friends) = (try await invitation(), try await invitation())
        let groups = [try await group(), try await group(), try await group()]
        let most = try await #require(throws: Problem.self) { _ = try await group() }
        #expect(most.kind == .conflict)
        await #expect(throws: most) {
            try await run { _ = try $0.accept(waiting.id, by: $1, in: $2) }
        }
        // A friend's group is one more: the user is invited.
        try await run { commands, user, store in
            for (owner, other) in [(friends.owner, user), (user, friends.owner)] {
                try store.save(FriendRecord(owner: owner, user: other, state: .friend, at: store.now, expiresAt: nil))
            }
            let made = try commands.createGroup(
                name: nil, members: [user], id: .make(at: store.now), by: friends.owner, in: store)
            #expect(made.conversation.memberCount == 1)
            #expect(try store.member(user, of: made.conversation.id)?.state == .invited)
        }
        try await run { commands, user, store in
            _ = try commands.send(
                OutgoingMessage(clientID: .make(at: store.now), text: MessageText("hello"), digest: []), to: groups[0],
                by: user, in: store)
            try commands.leave(groups[0], by: user, in: store)
        }
        await #expect(throws: most) { _ = try await group() }
        try await run { try $0.deleteForOneself(groups[0], by: $1, in: $2) }
        let empty = try await group()
        await #expect(throws: most) { _ = try await group() }
        // Nothing is left of one in which there was nothing.
        try await run { try $0.leave(empty, by: $1, in: $2) }
        _ = try await group()
    }

    @Test("the oldest give way to new ones, which nobody else sees")
    func oldest() async throws {
        let (first, second) = (try await request(), try await invitation())
        try await run { commands, _, store in
            for text in ["hello", "are you there"] {
                _ = try commands.send(
                    OutgoingMessage(clientID: .make(at: store.now), text: MessageText(text), digest: []), to: first.id,
                    by: first.owner, in: store)
            }
        }
        let user = user
        let counter = try await store.read { try $0.inboxPosition().sequence }
        #expect(try await store.read { try $0.inboxEntries(of: user) }.map(\.conversation).count == 2)
        let third = try await invitation()
        #expect(try await state(in: first.id) == .left)
        #expect(try await [state(in: second.id), state(in: third.id)] == [.invited, .invited])
        // Who was away learns that it is gone.
        let moved = try await store.read { try $0.inboxEntries(of: user, after: counter) }
        #expect(Set(moved.map(\.conversation)) == [first.id, third.id])
        let fourth = try await request()
        #expect(try await [state(in: second.id), state(in: fourth.id)] == [.left, .invited])
        let listed = try await store.read { try $0.inboxEntries(of: user) }.map(\.conversation)
        #expect(Set(listed) == [third.id, fourth.id])
        #expect(
            try await Set(store.read { try $0.searchedConversations(of: user) }.map(\.found.conversation.id))
                == Set(listed))
        try await run { commands, user, store in
            let seen = try commands.members(of: second.id, after: nil, limit: 9, by: second.owner, in: store).members
            #expect(seen.first { $0.user == user }?.state == .invited)
            #expect(throws: Problem.self) { try commands.accept(second.id, by: user, in: store) }
            // The one who asked writes as before.
            _ = try commands.send(
                OutgoingMessage(clientID: .make(at: store.now), text: MessageText("hello?"), digest: []), to: first.id,
                by: first.owner, in: store)
        }
    }

    @Test("what is somebody's is found by an index")
    func indexes() async throws {
        let plan = try await store.read { store in
            try [
                "SELECT COUNT(*) FROM members m WHERE user_id = 'a' AND state <> 'invited' AND \(StoreTransaction.isListed)",
                "SELECT 1 FROM members m WHERE user_id = 'a' AND m.state = 'left' AND m.at_leaving IS NULL AND m.counter > 5",
                """
                SELECT conversation_id FROM members WHERE user_id = 'a' AND state = 'invited'
                ORDER BY joined_at DESC LIMIT 100 OFFSET 5
                """,
            ].map { try store.sql.query("EXPLAIN QUERY PLAN \($0)").map { try $0.text(3) }.joined() }
        }
        #expect(plan[0].contains("members_listed") && plan[1].contains("members_gone"))
        #expect(plan[2].contains("members_waiting") && !plan[2].contains("TEMP B-TREE"))
    }
}
