import Accounts
import Dispatch
import Foundation
import Friends
import Model
import Synchronization
import TestSupport
import Testing
import Wire

@testable import Messaging
@testable import Storage

/// Sends that are stored together have the outcomes, and leave the rows, that they would have one after the other.
@Suite("Sends that are stored together", .timeLimit(.minutes(3)))
struct SendBatchTests {
    private static let now = Timestamp(milliseconds: 1_800_000_000_000)

    /// A database in which people, friends, blocks and conversations of all kinds are, the same for the same seed.
    private final class Harness: Sendable {
        let store: Store
        let people: [UserID]
        let conversations: [ConversationID]
        private let notified: Notified

        private final class Notified: Sendable { let updates = Mutex<[ConversationUpdate]>([]) }

        init(seed: UInt64) async throws {
            let notified = Notified()
            self.notified = notified
            store = Store(
                database: try SQLiteDatabase(path: try ScratchDirectory().database), clock: { SendBatchTests.now },
                publishUpdates: { new in notified.updates.withLock { $0 += new } }, publish: { _ in })
            try await store.prepare()
            (people, conversations) = try await store.write { try Self.make(in: $0, seed: seed) }.value
            notified.updates.withLock { $0 = [] }
        }

        var published: [ConversationUpdate] { notified.updates.withLock { $0 } }

        private static func make(
            in store: StoreTransaction, seed: UInt64
        ) throws -> (people: [UserID], conversations: [ConversationID]) {
            var random = SeededRandom(seed: seed)
            let commands = ConversationCommands.quiet()
            let people = (0..<6).map { _ in UserID.make(at: now, using: &random) }
            for user in people {
                _ = try store.insert(UserRecord(id: user, displayName: "x", reach: .everybody, createdAt: now))
            }
            func befriend(_ one: Int, _ other: Int) throws {
                for (owner, user) in [(one, other), (other, one)] {
                    try store.save(
                        FriendRecord(
                            owner: people[owner], user: people[user], state: .friend, at: now, expiresAt: nil))
                }
            }
            for (one, other) in [(0, 1), (0, 2), (1, 2), (2, 3)] { try befriend(one, other) }
            func id() -> ConversationID { .make(at: now, using: &random) }
            var conversations: [ConversationID] = []
            // Friends, a request, one who is blocked, and a request of people who have become friends since.
            for (one, other) in [(0, 1), (0, 4), (2, 3), (1, 5)] {
                conversations.append(
                    try commands.createDirect(with: people[other], id: id(), by: people[one], in: store).found
                        .conversation.id)
            }
            _ = try store.block(people[2], by: people[3])
            try befriend(1, 5)
            let group = try commands.createGroup(
                name: "Group", members: [people[1], people[2]], id: id(), disappearAfter: 60, by: people[0], in: store)
            conversations.append(group.conversation.id)
            let quiet = try commands.createGroup(
                name: "Quiet", members: [people[1]], id: id(), by: people[0], in: store)
            var settings = quiet.conversation.settings
            settings.write = .admins
            _ = try commands.change(quiet.conversation.id, settings: settings, by: people[0], in: store)
            conversations.append(quiet.conversation.id)
            conversations.append(try commands.createNotes(id: id(), by: people[0], in: store).found.conversation.id)
            return (people, conversations)
        }

        private static func text(_ value: SQLValue) throws -> String {
            guard case .text(let text) = value, text.hasPrefix("[") || text.hasPrefix("{") else { return "\(value)" }
            return try sortedJSON(text)
        }

        /// All rows of all tables; epochs are random.
        func rows() async throws -> [String: [String]] {
            try await store.read { store in
                let tables = try store.sql.query("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name")
                return try Dictionary(
                    uniqueKeysWithValues: tables.map { table in
                        let name = try table.text(0)
                        let columns = try store.sql.query("SELECT name FROM pragma_table_info(?1)", [.text(name)])
                            .map { try $0.text(0) }.filter { $0 != "epoch" }
                        let rows = try store.sql.query("SELECT \(columns.joined(separator: ", ")) FROM \(name)")
                        return (name, try rows.map { try $0.values.map(Self.text).joined(separator: ", ") }.sorted())
                    })
            }
        }
    }

    /// JSON has its members in any order.
    private static func sortedJSON(_ text: String) throws -> String {
        let json = try JSONSerialization.jsonObject(with: Data(text.utf8))
        return String(decoding: try JSONSerialization.data(withJSONObject: json, options: .sortedKeys), as: UTF8.self)
    }

    /// A random send: valid, repeated, refused, in any conversation, with anything that a send may have.
    private static func send(
        _ harness: Harness, _ sent: inout [(user: UserID, message: OutgoingMessage)], _ random: inout SeededRandom
    ) throws -> WaitingSend {
        func oneOf<Value>(_ values: [Value], _ other: Value) -> Value { values.randomElement(using: &random) ?? other }
        var user = oneOf(harness.people, harness.people[0])
        let id = oneOf(harness.conversations, harness.conversations[0])
        var outgoing = OutgoingMessage(
            clientID: .make(at: now, using: &random),
            text: try MessageText(oneOf(["a", "<@\(harness.people[1])> b", "<@all> *c*", "https://x.y"], "d")),
            digest: [UInt8.random(in: 0...3, using: &random)])
        let number = Int64.random(in: 1...12, using: &random)
        switch Int.random(in: 0..<24, using: &random) {
        case 0..<3: outgoing.replyTo = number
        case 3: outgoing.thread = number
        case 4: outgoing.draft = number
        case 5: outgoing.readUpTo = number
        case 6: outgoing.forward = MessageReference(oneOf(harness.conversations, id), number)
        case 7: (outgoing.forward, outgoing.text) = (MessageReference(oneOf(harness.conversations, id), number), nil)
        case 8..<11: if let known = sent.randomElement(using: &random) { (user, outgoing) = known }
        case 11:
            if let known = sent.randomElement(using: &random) { outgoing.clientID = known.message.clientID }
        case 12..<15: outgoing.afterClientID = sent.randomElement(using: &random)?.message.clientID
        default: break
        }
        sent.append((user, outgoing))
        let message = outgoing
        return WaitingSend(to: id, by: user, commands: ConversationCommands.quiet()) { _, _ in message }
    }

    private struct Outcome: Equatable, CustomStringConvertible {
        var sent: SentMessage?
        var problem: Problem?

        init(_ result: Result<SentMessage, any Error>) {
            switch result {
            case .success(let sent): self.sent = sent
            case .failure(let error): problem = error as? Problem ?? Problem(.internalError, "\(error)")
            }
        }

        var description: String { "\(sent.map { "\($0)" } ?? problem.map { "\($0)" } ?? "")" }
    }

    @Test("outcomes, rows and what is published are the same", arguments: 0..<12)
    func equivalence(_: Int) async throws {
        let seed = freshSeed()
        let (alone, together) = (try await Harness(seed: seed), try await Harness(seed: seed))
        var random = SeededRandom(seed: seed &+ 1)
        var sent: [(user: UserID, message: OutgoingMessage)] = []
        var sizes: [Int] = []
        for _ in 0..<6 {
            let sends = try (0..<Int.random(in: 1...200, using: &random)).map { _ in
                try Self.send(alone, &sent, &random)
            }
            var expected: [Outcome] = []
            for send in sends {
                let result = await Result {
                    try await alone.store.write { store in
                        let sent = try send.commands.send(
                            send.message(store, send.commands), to: send.conversation, by: send.user, in: store)
                        return SentMessage(message: sent.message, isDuplicate: sent.isDuplicate)
                    }.value
                }
                expected.append(Outcome(result))
            }
            let store = together.store
            let outcome = try await store.database.submit { try store.runSends(sends, $0) }
            for committed in outcome.committed { committed() }
            sizes.append(outcome.committed.count)
            let actual = outcome.results.map { Outcome($0) }
            for (index, (one, other)) in zip(expected, actual).enumerated() where one != other {
                Issue.record("seed \(seed), send \(index): \(one) alone, \(other) together")
            }
            #expect(expected.count == actual.count)
        }
        let (one, other) = (try await alone.rows(), try await together.rows())
        for (table, rows) in one {
            let difference = Set(rows).symmetricDifference(other[table] ?? [])
            #expect(difference.isEmpty && rows.count == other[table]?.count, "seed \(seed): \(table)")
        }
        #expect(!(one["messages"]?.isEmpty ?? true) && one.keys == other.keys)
        try Self.compare(alone.published, together.published, seed)
        #expect(sent.count > sizes.reduce(0, +), "some were stored together")
    }

    /// Counters rise, no sequence is left out or published twice, and the last state of every row is the same.
    private static func compare(
        _ alone: [ConversationUpdate], _ together: [ConversationUpdate], _ seed: UInt64
    ) throws {
        func state(_ updates: [ConversationUpdate]) throws -> [ConversationID: [String]] {
            var rows: [ConversationID: [String]] = [:]
            var reached: [ConversationID: Int64] = [:]
            var counter: Int64 = 0
            for update in updates {
                #expect(update.counter > counter, "seed \(seed): a counter fell")
                counter = update.counter
                let before = reached[update.conversation] ?? update.after
                #expect(update.after == before, "seed \(seed): a hole")
                reached[update.conversation] = update.upTo
                // Of a message that is published twice the later one counts.
                rows[update.conversation, default: []] += try (update.rows + update.marks).map {
                    try sortedJSON($0.json)
                }
                rows[update.conversation]?.append("counter \(update.counter) \(update.movesEverybody)")
            }
            return rows.mapValues { rows in
                let last = rows.last { $0.hasPrefix("counter") } ?? ""
                return rows.filter { !$0.hasPrefix("counter") }.sorted() + [last]
            }
        }
        let (one, other) = (try state(alone), try state(together))
        #expect(one.keys == other.keys, "seed \(seed)")
        for (id, rows) in one {
            let difference = Set(rows).symmetricDifference(other[id] ?? [])
            #expect(difference.isEmpty && rows.count == other[id]?.count, "seed \(seed): \(difference.first ?? "")")
        }
    }

    @Test("jobs between sends keep their places, and sends their order")
    func order() async throws {
        let harness = try await Harness(seed: 7)
        let store = harness.store
        let (user, notes) = (harness.people[0], harness.conversations[6])
        // While the writer is held, all of it waits.
        let state = Order()
        let held = Task { try await store.write { _ in while !state.isFree.withLock({ $0 }) {} } }
        let clientIDs = (0..<40).map { _ in ClientID.make(at: Self.now) }
        // One executor runs the tasks in the order in which they are made, up to the writer's queue.
        let executor = InOrder()
        let tasks = try (0..<40).map { index in
            var outgoing = OutgoingMessage(clientID: clientIDs[index], text: try MessageText("\(index)"), digest: [])
            if index % 10 != 0 { outgoing.afterClientID = clientIDs[index - 1] }
            let message = outgoing
            return Task(executorPreference: executor) {
                guard index % 10 == 9 else {
                    let send = WaitingSend(to: notes, by: user, commands: ConversationCommands.quiet()) { _, _ in
                        message
                    }
                    _ = try await store.send(send)
                    return
                }
                _ = try await store.write { transaction in
                    let last = try transaction.conversation(notes)?.lastNumber ?? 0
                    state.lasts.withLock { $0.append(last) }
                }
            }
        }
        executor.run()
        state.isFree.withLock { $0 = true }
        for task in tasks { try await task.value }
        _ = try await held.value
        #expect(state.lasts.withLock { $0 } == [9, 18, 27, 36])
        let texts = try await store.read {
            try $0.messages(in: notes, 1...100, visibleTo: user, isNewestFirst: false, limit: 100).map(\.text)
        }
        #expect(texts == (0..<40).filter { $0 % 10 != 9 }.map { "\($0)" })
        #expect(harness.published.count < 36, "one after the other there would be 36 updates")
    }

    @Test("what fails while it is written is undone alone")
    func failing() async throws {
        let harness = try await Harness(seed: 9)
        let store = harness.store
        let (user, notes) = (harness.people[0], harness.conversations[6])
        // As a damaged row would: the third message cannot be stored.
        _ = try await store.write {
            try $0.sql.execute(
                """
                CREATE TRIGGER refused BEFORE INSERT ON messages WHEN NEW.text = 'bad'
                BEGIN SELECT RAISE(ABORT, 'refused'); END
                """)
        }
        let sends = try ["a", "b", "bad", "c"].map { text in
            let message = OutgoingMessage(clientID: .make(at: Self.now), text: try MessageText(text), digest: [])
            return WaitingSend(to: notes, by: user, commands: ConversationCommands.quiet()) { _, _ in message }
        }
        let outcome = try await store.database.submit { try store.runSends(sends, $0) }
        let numbers = outcome.results.map { try? $0.get().message.number }
        #expect(numbers == [1, 2, nil, 3])
        let stored = try await store.read {
            try $0.messages(in: notes, 1...10, visibleTo: user, isNewestFirst: false, limit: 10).map(\.text)
        }
        #expect(stored == ["a", "b", "c"])
    }
}

/// Whether the writer may go on, and the last numbers that jobs have seen.
private final class Order: Sendable {
    let isFree = Mutex(false)
    let lasts = Mutex<[Int64]>([])
}

/// Runs jobs one after the other, in the order in which they came: those that are there when `run` is called on its thread,
/// and later ones on another.
private final class InOrder: TaskExecutor {
    private let jobs = Mutex<[UnownedJob]?>([])
    private let queue = DispatchQueue(label: "in order")

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        let isKept = jobs.withLock { jobs in
            jobs?.append(job)
            return jobs != nil
        }
        if !isKept { queue.async { job.runSynchronously(on: self.asUnownedTaskExecutor()) } }
    }

    func run() {
        let kept = jobs.withLock { jobs in
            defer { jobs = nil }
            return jobs ?? []
        }
        for job in kept { job.runSynchronously(on: asUnownedTaskExecutor()) }
    }
}

extension Result where Success: Sendable, Failure == any Error {
    fileprivate init(_ body: () async throws -> Success) async {
        do { self = .success(try await body()) } catch { self = .failure(error) }
    }
}
