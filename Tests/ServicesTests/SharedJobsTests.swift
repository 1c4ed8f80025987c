import Accounts
import Languages
import Logging
import Messaging
import Model
import Storage
import Synchronization
import TestSupport
import Testing
import Tokens

@testable import Services

/// Jobs of one database that two processes share: each has a connection, a store and an engine of its own. A server locks
/// its directory, so the two are in this process; what one leaves that is killed or paused is left as it would be.
@Suite("Shared jobs", .timeLimit(.minutes(2))) struct SharedJobsTests {
    /// What a claim lasts.
    private static let lease: Int64 = 60

    /// One of the processes.
    private struct Node {
        let store: Store
        let engine = ScriptedTranslationEngine()
        /// How often listeners were sent that a translation is there, by the number of its message.
        let published: Published

        init(_ path: String, _ clock: ManualClock<Timestamp>) throws {
            let published = Published()
            self.published = published
            store = Store(
                database: try SQLiteDatabase(path: path), clock: { clock.now }, publishUpdates: { published.add($0) },
                publish: { _ in })
        }
    }

    private let clock = ManualClock(Timestamp.systemClock())
    private let ann: UserID
    private let ben: UserID
    private let commands: ConversationCommands
    private let (one, other): (Node, Node)
    private let id: ConversationID

    init() async throws {
        var limits = ConversationLimits()
        limits.notices = 0
        commands = ConversationCommands(limits: limits, analyzer: TextAnalyzer(engine: ScriptedIdentification()))
        let path = try ScratchDirectory().database
        one = try Node(path, clock)
        try await one.store.prepare()
        other = try Node(path, clock)
        try await other.store.prepare()
        let (commands, ann, ben) = (commands, UserID.make(at: clock.now), UserID.make(at: clock.now))
        (self.ann, self.ben) = (ann, ben)
        id = try await one.store.write { store in
            for (user, languages) in [(ann, ["en"]), (ben, ["uk"])] {
                _ = try store.insert(
                    UserRecord(id: user, displayName: "x", languages: languages, createdAt: store.now))
            }
            let made = try commands.createGroup(
                name: nil, members: [ben], id: .make(at: store.now), by: ann, in: store
            ).conversation.id
            _ = try commands.accept(made, by: ben, in: store)
            return made
        }.value
    }

    /// Sends so many messages, and asks for their translations.
    private func demand(_ count: Int) async throws {
        let (commands, ann, id) = (commands, ann, id)
        for number in 1...count {
            _ = try await one.store.write { store in
                let text = try MessageText("text \(number)")
                let outgoing = OutgoingMessage(clientID: .make(at: store.now), text: text, digest: [])
                _ = try commands.send(outgoing, to: id, by: ann, in: store)
            }
        }
        let service = TranslationService(
            store: one.store, commands: commands, engines: TranslationEngines([one.engine]),
            isListened: { _ in true }, logger: Self.logger)
        for first in stride(from: 1, through: count, by: 50) {
            let some = (first...min(count, first + 49)).map(Int64.init)
            _ = try await service.request(some, into: nil, in: id, by: ben)
        }
    }

    private static let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }

    /// Runs a worker of a node, which looks for jobs at once, until something holds and what it is at has ended.
    /// - Parameter running: requests at a time; with one it looks for no other job before that has ended.
    private func working(
        _ node: Node, running: Int? = nil, until condition: () async throws -> Bool
    ) async throws {
        var limits = TranslationWorker.Limits()
        if let running { limits.running = running }
        let worker = TranslationWorker(
            store: node.store, commands: commands,
            translator: TextTranslator(
                store: node.store, commands: commands, engines: TranslationEngines([node.engine]),
                firstDelay: .seconds(0), logger: Self.logger),
            limits: limits, logger: Self.logger)
        let task = Task { await worker.run() }
        do { try await eventually(condition) } catch {
            task.cancel()
            throw error
        }
        task.cancel()
        await task.value
        // What it has written is published before what this write has.
        _ = try await node.store.write { _ in }
    }

    private func rows() async throws -> [MessageTranslation] {
        let id = id
        return try await other.store.read { store in
            try store.translations(
                in: id, into: TranslationTarget(LanguageTag("uk")), touchedAfter: 0, limit: 1_000
            ).sorted { $0.number < $1.number }
        }
    }

    private func done() async throws -> Int { try await rows().count { $0.status == .done } }

    private func areDone(_ count: Int) async throws -> Bool { try await done() == count }

    @Test("both work, and make each once")
    func both() async throws {
        try await demand(200)
        try await working(one) {
            try await working(other) { try await areDone(200) }
            return true
        }
        #expect((one.engine.texts + other.engine.texts).sorted() == (1...200).map { "text \($0)" }.sorted())
        #expect(try await rows().map(\.text) == (1...200).map { "[uk] text \($0)" })
        #expect(try await one.store.read { try $0.nextJobDue() } == nil)
        let counts = [one, other].map(\.published.counts).reduce(into: [:]) { $0.merge($1, uniquingKeysWith: +) }
        #expect(counts.count == 200 && Set(counts.values) == [1])
    }

    @Test("what one that was killed had claimed, the other makes after its lease")
    func killed() async throws {
        try await demand(40)
        let until = clock.now.adding(seconds: Self.lease)
        let claims = try await one.store.write { try $0.claimJobs(limit: 16, until: until) }.value
        #expect(claims.count == 16)
        try await working(other) { try await areDone(24) }
        #expect(other.engine.texts.count == 24)
        #expect(try await other.store.read { try $0.nextJobDue() } == until)
        clock.advance(seconds: Self.lease)
        try await working(other) { try await areDone(40) }
        #expect(other.engine.texts.count == 40)
        #expect(try await other.store.read { try $0.nextJobDue() } == nil)
        #expect(other.published.counts.count == 40 && Set(other.published.counts.values) == [1])
    }

    @Test("what one that was paused returns after its lease is not stored over what the other has made")
    func paused() async throws {
        try await demand(8)
        let (held, release) = AsyncStream.makeStream(of: Void.self)
        let begun = Mutex(false)
        one.engine.script { .text("late \($0)") }
        one.engine.before = {
            begun.withLock { $0 = true }
            for await _ in held {}
        }
        // With a second request it might claim its own jobs again once the lease has ended, before the other does.
        try await working(one, running: 1) {
            try await eventually { begun.withLock { $0 } }
            clock.advance(seconds: Self.lease)
            try await working(other) { try await areDone(8) }
            release.finish()
            try await eventually { one.engine.texts.count == 8 }
            // What it still writes is before this write.
            _ = try await one.store.write { _ in }
            return true
        }
        #expect(try await rows().map(\.text) == (1...8).map { "[uk] text \($0)" })
        #expect(other.published.counts.count == 8 && one.published.counts.isEmpty)
        #expect(try await one.store.read { try $0.nextJobDue() } == nil)
    }

    @Test("after ten minutes without a provider nothing is lost or made twice")
    func outage() async throws {
        try await demand(30)
        for node in [one, other] { node.engine.script { _ in .failed(.unavailable("away")) } }
        let begin = clock.now
        var attempts = 0
        while clock.now < begin.adding(seconds: 600) {
            let before = one.engine.texts.count + other.engine.texts.count
            let node = attempts.isMultiple(of: 2) ? one : other
            // Whoever comes first tries all that is due, and puts it off.
            try await working(node) {
                let isPutOff = try await node.store.read { store in
                    try store.nextJobDue().map { $0 > store.now } ?? false
                }
                return isPutOff && one.engine.texts.count + other.engine.texts.count > before
            }
            attempts += 1
            let due = try #require(try await one.store.read { try $0.nextJobDue() })
            clock.advance(seconds: (due.milliseconds - clock.now.milliseconds + 999) / 1_000)
        }
        #expect(attempts > 3)
        #expect(try await rows().map(\.status) == Array(repeating: .queued, count: 30))
        let tried = one.engine.texts.count
        for node in [one, other] { node.engine.script(nil) }
        clock.advance(seconds: 600)
        try await working(one) { try await areDone(30) }
        #expect(one.engine.texts.count == tried + 30)
        #expect(one.published.counts.count == 30 && Set(one.published.counts.values) == [1])
        #expect(try await other.store.read { try $0.nextJobDue() } == nil)
    }
}

/// How often listeners were sent a translation that is done.
private final class Published: Sendable {
    private let sent = Mutex<[Int64: Int]>([:])

    var counts: [Int64: Int] { sent.withLock { $0 } }

    func add(_ updates: [ConversationUpdate]) {
        let rows = updates.flatMap { $0.translations?.rows ?? [] }
        sent.withLock { sent in
            for row in rows where row.json.contains(#""status":"done""#) {
                if case .readers(let number, _, _, _, _) = row.audience { sent[number, default: 0] += 1 }
            }
        }
    }
}
