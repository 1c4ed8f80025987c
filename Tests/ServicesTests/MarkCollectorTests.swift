import Accounts
import Messaging
import Model
import Storage
import Synchronization
import TestSupport
import Testing

@testable import Services

/// Marks that are collected, written once for each member and interval, and answered after their commit.
@Suite("Collected marks", .timeLimit(.minutes(2))) struct MarkCollectorTests {
    private let store: Store
    private let ann = UserID.make(at: Timestamp.systemClock())
    private let ben = UserID.make(at: Timestamp.systemClock())
    private let commands = ConversationCommands()
    private let intervals = Intervals()

    init() async throws {
        store = Store(database: try SQLiteDatabase(path: try ScratchDirectory().database), publish: { _ in })
        try await store.prepare()
        let users = [ann, ben]
        _ = try await store.write { store in
            for user in users {
                _ = try store.insert(UserRecord(id: user, displayName: "x", reach: .everybody, createdAt: store.now))
            }
        }
    }

    private func collector(_ limits: MarkCollector.Limits = .init()) -> MarkCollector {
        MarkCollector(store: store, commands: commands, limits: limits) { [intervals] in await intervals.wait($0) }
    }

    /// The notes of a user, with so many messages.
    private func notes(of user: UserID, messages: Int = 50) async throws -> ConversationID {
        let commands = commands
        return try await store.write { store in
            let id = try commands.createNotes(id: .make(at: store.now), by: user, in: store).found.conversation.id
            for number in 0..<messages {
                let outgoing = OutgoingMessage(
                    clientID: .make(at: store.now), text: try MessageText("\(number)"), digest: [])
                _ = try commands.send(outgoing, to: id, by: user, in: store)
            }
            return id
        }.value
    }

    /// Ends intervals until nothing waits.
    private func endIntervals(of marks: MarkCollector) async throws {
        try await eventually {
            intervals.end()
            return marks.counts.waiting == 0
        }
    }

    /// Rises with each write of a mark.
    private func counter() async throws -> Int64 {
        try await store.read { try $0.sql.query("SELECT own_counter FROM log")[0].integer(0) }
    }

    private func stored(_ user: UserID, _ id: ConversationID) async throws -> Int64 {
        try await store.read { try $0.marks(of: user, in: id)?.marks.read ?? 0 }
    }

    @Test("the first is written at once, and what comes within the interval in one write, the highest of each")
    func collecting() async throws {
        let marks = collector()
        let id = try await notes(of: ann)
        let ann = ann
        #expect(try await marks.mark(read: 5, delivered: nil, in: id, by: ann).marks.read == 5)
        let before = try await counter()
        let answers = try await withThrowingTaskGroup(of: MemberMarks.self) { group in
            for number in [9, 30, 12, 7] as [Int64] {
                group.addTask { try await marks.mark(read: number, delivered: nil, in: id, by: ann) }
            }
            group.addTask { try await marks.mark(read: nil, delivered: 40, in: id, by: ann) }
            try await eventually { marks.counts.waiting == 5 }
            #expect(try await stored(ann, id) == 5, "nothing is written before the interval ends")
            try await endIntervals(of: marks)
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(answers.count == 5 && answers.allSatisfy { $0.marks.read == 30 && $0.marks.delivered == 40 })
        #expect(try await counter() == before + 1, "one write")
        #expect(try await stored(ann, id) == 30)
        // Once nothing has come in an interval, the next one is written at once.
        try await eventually {
            intervals.end()
            return marks.counts.members == 0
        }
        #expect(try await marks.mark(read: 31, delivered: nil, in: id, by: ann).marks.read == 31)
    }

    @Test("members do not wait for each other, and a refusal is that of its member alone")
    func members() async throws {
        let marks = collector()
        let (of, other) = (try await notes(of: ann), try await notes(of: ben))
        _ = try await marks.mark(read: 1, delivered: nil, in: of, by: ann)
        _ = try await marks.mark(read: 2, delivered: nil, in: other, by: ben)
        await #expect(throws: Problem.self) { try await marks.mark(read: 1, delivered: nil, in: of, by: ben) }
        let collected = Task { [ann] in try await marks.mark(read: 3, delivered: nil, in: of, by: ann) }
        let refused = Task { [ben] in try await marks.mark(read: 3, delivered: nil, in: of, by: ben) }
        try await eventually { marks.counts.waiting == 2 }
        try await endIntervals(of: marks)
        #expect(try await collected.value.marks.read == 3)
        await #expect(throws: Problem.self) { try await refused.value }
    }

    @Test("what is collected is written at the end, and what comes later at once")
    func flushing() async throws {
        let marks = collector()
        let id = try await notes(of: ann)
        let ann = ann
        _ = try await marks.mark(read: 1, delivered: nil, in: id, by: ann)
        let collected = Task { try await marks.mark(read: 20, delivered: nil, in: id, by: ann) }
        try await eventually { marks.counts.waiting == 1 }
        await marks.flush()
        #expect(try await stored(ann, id) == 20)
        #expect(try await collected.value.marks.read == 20)
        #expect(marks.counts == (0, 0))
        #expect(try await marks.mark(read: 21, delivered: nil, in: id, by: ann).marks.read == 21)
        #expect(marks.counts == (0, 0))
    }

    @Test("no more is held than may be: the rest is written as it comes")
    func bounds() async throws {
        let marks = collector(.init(members: 1, waiting: 2))
        let (of, other) = (try await notes(of: ann), try await notes(of: ben))
        let (ann, ben) = (ann, ben)
        _ = try await marks.mark(read: 1, delivered: nil, in: of, by: ann)
        for number in 1...3 as ClosedRange<Int64> {
            #expect(try await marks.mark(read: number, delivered: nil, in: other, by: ben).marks.read == number)
        }
        #expect(marks.counts.members == 1)
        let collected = [2, 3].map { number in
            Task { try await marks.mark(read: number, delivered: nil, in: of, by: ann) }
        }
        try await eventually { marks.counts.waiting == 2 }
        #expect(try await marks.mark(read: 9, delivered: nil, in: of, by: ann).marks.read == 9)
        #expect(marks.counts.waiting == 2)
        try await endIntervals(of: marks)
        for task in collected { #expect(try await task.value.marks.read == 9) }
    }

    /// Marks from many devices at once, while intervals end at any time: each answer is at least what it asked for, and the
    /// highest stays.
    @Test("the highest wins in any order", arguments: 0..<10)
    func anyOrder(seed: Int) async throws {
        let marks = collector()
        let id = try await notes(of: ann, messages: 200)
        let ann = ann
        let isDone = Mutex(false)
        let ticking = Task { [intervals] in
            while !isDone.withLock({ $0 }) {
                intervals.end()
                await Task.yield()
            }
        }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in (1...200 as ClosedRange<Int64>).shuffled() {
                group.addTask {
                    let read = try await marks.mark(read: number, delivered: nil, in: id, by: ann).marks.read
                    let stored = try await stored(ann, id)
                    #expect(read >= number && stored >= number, "a reader's own later read has the mark")
                }
            }
            try await group.waitForAll()
        }
        isDone.withLock { $0 = true }
        await ticking.value
        #expect(try await stored(ann, id) == 200)
    }
}

/// Intervals that end when the test says so.
private final class Intervals: Sendable {
    private let waiting = Mutex<[CheckedContinuation<Void, Never>]>([])

    func wait(_ interval: Duration) async {
        #expect(interval == .milliseconds(200))
        await withCheckedContinuation { continuation in waiting.withLock { $0.append(continuation) } }
    }

    /// Ends those that run.
    func end() {
        let ended = waiting.withLock { waiting in
            defer { waiting = [] }
            return waiting
        }
        for one in ended { one.resume() }
    }
}
