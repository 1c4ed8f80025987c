import Accounts
import Friends
import Model
import Storage
import TestSupport
import Testing
import Wire

@testable import Messaging

/// The database and the store in memory say the same of anything.
@Suite("Stored conversations", .timeLimit(.minutes(2)))
struct StoredConversationTests {
    /// What is done in both stores, and what is said of it.
    struct Both {
        let commands: ConversationCommands
        let memory: InMemoryMessagingStore
        let database: StoreTransaction
        let seed: UInt64

        func same<Value: Equatable>(_ what: String, _ body: (any MessagingStore) throws -> Value) {
            let (one, other) = (Self.result { try body(memory) }, Self.result { try body(database) })
            #expect(one == other, "\(what), seed \(seed)")
        }

        /// The value, or why there is none.
        private static func result<Value>(_ body: () throws -> Value) -> Result<Value, Problem> {
            do {
                return .success(try body())
            } catch let problem as Problem {
                return .failure(problem)
            } catch {
                return .failure(Problem(.internalError, "\(error)"))
            }
        }
    }

    /// Both stores get the same ids.
    private static let commands = ConversationCommands(noticeID: { id, number, now in
        let digits = String(number, radix: 16)
        return ClientID(id.text.dropLast(12) + String(repeating: "0", count: 12 - digits.count) + digits)
            ?? .make(at: now)
    })

    private func scratch() async throws -> Store {
        let store = Store(
            database: try SQLiteDatabase(path: try ScratchDirectory().database),
            clock: { Timestamp(milliseconds: 1_800_000_000_000) }, publish: { _ in })
        try await store.prepare()
        return store
    }

    @Test("whatever is done, both give the same results, problems and pages")
    func differential() async throws {
        let seed = freshSeed()
        let store = try await scratch()
        _ = try await store.write { transaction in
            var random = SeededRandom(seed: seed)
            let both = Both(
                commands: Self.commands, memory: InMemoryMessagingStore(), database: transaction, seed: seed)
            both.memory.now = transaction.now
            let people = try Self.makePeople(5, in: both, &random)
            var ids: [ConversationID] = []
            for _ in 0..<600 {
                try Self.step(both, people, &ids, &random)
                try StoredParts.step(both, people, ids, &random)
            }
        }
    }

    private static func makePeople(_ count: Int, in both: Both, _ random: inout SeededRandom) throws -> [UserID] {
        let people = (0..<count).map { _ in UserID.make(at: both.memory.now, using: &random) }
        for (index, user) in people.enumerated() {
            _ = try both.database.insert(
                UserRecord(id: user, displayName: "Person \(index)", reach: .everybody, createdAt: both.memory.now))
        }
        // Some are friends, and one has blocked another.
        for (one, other) in [(0, 1), (0, 2), (1, 2), (2, 3)] {
            both.memory.friends.insert([people[one], people[other]])
            for (owner, user) in [(one, other), (other, one)] {
                try both.database.save(
                    FriendRecord(
                        owner: people[owner], user: people[user], state: .friend, at: both.memory.now, expiresAt: nil))
            }
        }
        both.memory.blocks.insert([people[0], people[3]])
        _ = try both.database.block(people[0], by: people[3])
        return people
    }

    private static func step(
        _ both: Both, _ people: [UserID], _ ids: inout [ConversationID], _ random: inout SeededRandom
    ) throws {
        let user = people.randomElement(using: &random) ?? people[0]
        let other = people.randomElement(using: &random) ?? people[0]
        let commands = both.commands
        let fresh = ConversationID.make(at: both.memory.now, using: &random)
        let id = ids.randomElement(using: &random) ?? fresh
        let number = Int64.random(in: 0...12, using: &random)
        let clientID = ClientID.make(at: both.memory.now, using: &random)
        let text = try MessageText(["*hi*", "plain", "<@all> https://a.b", "👍"].randomElement(using: &random) ?? "x")
        switch Int.random(in: 0..<25, using: &random) {
        case 16...21: try stepLinks(both, user, other, id, &random)
        case 0:
            both.same("group") { store in
                try commands.createGroup(
                    name: "Group", members: [other, people[2]], id: fresh, by: user, in: store
                ).conversation
            }
            ids.append(fresh)
        case 1:
            both.same("direct") { try commands.createDirect(with: other, id: fresh, by: user, in: $0).found }
            if both.memory.conversation(fresh) != nil { ids.append(fresh) }
        case 2:
            both.same("notes") { try commands.createNotes(id: fresh, by: user, in: $0).found }
            if both.memory.conversation(fresh) != nil { ids.append(fresh) }
        case 3: both.same("add") { try commands.add([other], to: id, by: user, in: $0) }
        case 4: both.same("accept") { try commands.accept(id, by: user, in: $0) }
        case 5:
            both.same("leave") {
                try commands.leave(id, by: user, in: $0); return 0
            }
        case 6:
            both.same("remove") {
                try commands.remove(other, from: id, by: user, in: $0); return 0
            }
        case 7: both.same("role") { try commands.change(role: .admin, of: other, in: id, by: user, store: $0) }
        case 8: both.same("hand over") { try commands.handOver(id, to: other, by: user, in: $0) }
        case 9:
            let version = both.memory.message(number, in: id)?.textVersion ?? 0
            both.same("edit") { try commands.edit(number, in: id, text: text, basedOn: version, by: user, store: $0) }
        case 10: both.same("delete") { try commands.delete(number, in: id, by: user, store: $0) }
        case 11: both.same("rename") { try commands.rename(id, to: "Named", by: user, in: $0) }
        case 12:
            let seconds: Int64? = [nil, 9, 10, 60].randomElement(using: &random) ?? nil
            both.same("disappear") { try commands.change(id, disappearAfter: seconds, by: user, in: $0) }
        case 13:
            let outgoing = OutgoingMessage(clientID: clientID, text: text, digest: [3])
            let time = both.memory.now.adding(seconds: [9, 60, 120].randomElement(using: &random) ?? 60)
            for _ in 0..<2 {
                both.same("schedule") { try commands.schedule(outgoing, at: time, to: id, by: user, in: $0) }
            }
            both.same("scheduled") { try commands.scheduled(in: id, by: user, store: $0) }
        case 14:
            let waiting = both.memory.scheduled.randomElement(using: &random)
            let (known, here) = (waiting?.clientID ?? clientID, waiting?.conversation ?? id)
            let changes = [
                ScheduledChange(text: text), ScheduledChange(sendAt: both.memory.now.adding(seconds: 90)),
                ScheduledChange(sendAt: .some(nil)),
            ]
            let change = changes.randomElement(using: &random) ?? ScheduledChange()
            for who in [user, waiting?.author ?? user] {
                if number < 9 {
                    both.same("reschedule") {
                        try commands.change(scheduled: known, in: here, change, by: who, store: $0)
                    }
                } else {
                    both.same("unschedule") {
                        try commands.unschedule(known, in: here, by: who, store: $0); return 0
                    }
                }
            }
        default:
            let outgoing = OutgoingMessage(
                clientID: clientID, text: text, replyTo: number % 4 == 0 ? number : nil, digest: [1, 2])
            for _ in 0..<2 { both.same("send") { try commands.send(outgoing, to: id, by: user, in: $0).message } }
        }
        for reader in people {
            let anchor: PageAnchor =
                [
                    .newest, .before(number), .after(number), .around(number),
                    .from(both.memory.now.adding(milliseconds: number % 2)),
                ]
                .randomElement(using: &random) ?? .newest
            both.same("page") { try commands.page(anchor, of: id, limit: 5, by: reader, in: $0) }
            both.same("edits") { try commands.edits(of: number, in: id, by: reader, store: $0) }
            both.same("members") { try commands.members(of: id, after: nil, limit: 3, by: reader, in: $0).members }
        }
    }

    private static func stepLinks(
        _ both: Both, _ user: UserID, _ other: UserID, _ id: ConversationID, _ random: inout SeededRandom
    ) throws {
        let commands = both.commands
        let hash = [UInt8.random(in: 0...7, using: &random)]
        let linkID = GroupLinkID.make(at: both.memory.now, using: &random)
        switch Int.random(in: 0..<6, using: &random) {
        case 0 where both.memory.groupLink(hash: hash) == nil:
            let maxUses = Int.random(in: 0...3, using: &random)
            both.same("make link") {
                try commands.makeLink(
                    to: id, linkID: linkID, hash: hash, expiresAt: nil, maxUses: maxUses == 3 ? nil : maxUses,
                    by: user, in: $0)
            }
        case 1:
            let known = both.memory.groupLinks(of: id).randomElement(using: &random)?.id ?? linkID
            both.same("remove link") {
                try commands.removeLink(known, of: id, by: user, in: $0); return 0
            }
        case 2:
            both.same("decline") {
                try commands.decline(id, by: user, in: $0); return 0
            }
        case 3:
            let settings = ConversationSettings(add: Bool.random(using: &random) ? .admins : .members)
            both.same("settings") { try commands.change(id, settings: settings, by: user, in: $0) }
        default: both.same("join") { try commands.join(byLink: hash, by: user, in: $0).found }
        }
        both.same("links") { try commands.links(of: id, by: other, in: $0) }
        both.same("linked") { try commands.linked(hash: hash, by: other, in: $0)?.link }
    }

    @Test("a change of role moves a row of the inbox, and does not bring it up")
    func roles() async throws {
        let store = try await scratch()
        let commands = Self.commands
        let (ann, ben) = (UserID.make(at: Timestamp(milliseconds: 1)), UserID.make(at: Timestamp(milliseconds: 2)))
        let id = try await store.write { store in
            for user in [ann, ben] {
                _ = try store.insert(UserRecord(id: user, displayName: "Somebody", createdAt: store.now))
            }
            let made = try commands.createServerGroup(
                name: nil, members: [ann, ben], id: .make(at: store.now), in: store)
            let outgoing = OutgoingMessage(clientID: .make(at: store.now), text: try MessageText("hello"), digest: [1])
            _ = try commands.send(outgoing, to: made.id, by: ann, in: store)
            return made.id
        }.value
        func entry() async throws -> InboxEntry? { try await store.read { try $0.inboxEntry(of: ben, for: id) } }
        let before = try #require(try await entry())
        _ = try await store.write { try commands.change(role: .admin, of: ben, in: id, by: ann, store: $0) }
        let changed = try #require(try await entry())
        #expect(changed.activity == before.activity && changed.counter > before.counter)
        _ = try await store.write { try commands.handOver(id, to: ben, by: ann, in: $0) }
        _ = try await store.write { try commands.leave(id, by: ben, in: $0) }
        let left = try #require(try await entry())
        #expect(left.state == .left && left.activity > before.activity)
    }

    @Test("a deleted user's texts are in no row, and the groups have owners")
    func erasure() async throws {
        let store = try await scratch()
        _ = try await store.write { transaction in
            var random = SeededRandom(seed: 1)
            let both = Both(
                commands: Self.commands, memory: InMemoryMessagingStore(), database: transaction, seed: 1)
            let people = try Self.makePeople(4, in: both, &random)
            let commands = both.commands
            let id = try commands.createGroup(
                name: nil, members: [people[1], people[2]], id: .make(at: transaction.now), by: people[0],
                in: transaction
            ).conversation.id
            for number in 1...120 {
                let outgoing = OutgoingMessage(
                    clientID: .make(at: transaction.now, using: &random), text: try MessageText("secret \(number)"),
                    digest: Array("secret".utf8))
                _ = try commands.send(outgoing, to: id, by: people[number % 2], in: transaction)
            }
            let sent = try #require(try transaction.message(2, in: id))
            _ = try commands.edit(
                2, in: id, text: MessageText("secret too"), basedOn: sent.textVersion, by: people[0],
                store: transaction)
            var cursor: ClientID?
            while let next = try commands.eraseMessages(of: people[0], after: cursor, limit: 7, in: transaction) {
                cursor = next
            }
            var left: ConversationID?
            while let next = try commands.leaveGroups(of: people[0], after: left, limit: 7, in: transaction) {
                left = next
            }
            let mine = try transaction.sql.query(
                "SELECT text, ranges, digest FROM messages WHERE author = ?1", [.id(people[0])])
            #expect(mine.count == 60)
            for row in mine {
                #expect(try row.textIfPresent(0) == nil && row.textIfPresent(1) == nil && row.blob(2).isEmpty)
            }
            #expect(try transaction.sql.query("SELECT 1 FROM edits").isEmpty)
            #expect(try transaction.sql.query("SELECT 1 FROM messages WHERE text LIKE 'secret%'").count == 60)
            let owners = try people.filter { try transaction.member($0, of: id)?.role == .owner }
            #expect(owners.count == 1 && owners != [people[0]])
            #expect(try transaction.member(people[0], of: id)?.state == .left)
        }
    }
}
