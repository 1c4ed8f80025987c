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

/// Jobs that are claimed, made once, retried and given up; and who reads automatically. The engine is scripted: it says of
/// each text what the test says.
@Suite("Translation work", .timeLimit(.minutes(2))) struct TranslationWorkerTests {
    private let store: Store
    private let ann = UserID.make(at: Timestamp.systemClock())
    private let ben = UserID.make(at: Timestamp.systemClock())
    private let commands: ConversationCommands
    private let engine = ScriptedTranslationEngine()
    private let listened = Listened()
    private let phrases = PhraseMemory(key: .ephemeral())
    private static let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }

    init() async throws {
        // Without notices, so that the first message has the number 1.
        var limits = ConversationLimits()
        limits.notices = 0
        commands = ConversationCommands(limits: limits, analyzer: TextAnalyzer(engine: ScriptedIdentification()))
        let listened = listened
        store = Store(
            database: try SQLiteDatabase(path: try ScratchDirectory().database), publishUpdates: { listened.add($0) },
            publish: { _ in })
        try await store.prepare()
        let users = [(ann, ["en"]), (ben, ["uk"])]
        _ = try await store.write { store in
            for (user, languages) in users {
                _ = try store.insert(
                    UserRecord(id: user, displayName: "x", languages: languages, createdAt: store.now))
            }
        }
    }

    private func group(by user: UserID? = nil) async throws -> ConversationID {
        let (commands, ann, ben) = (commands, user ?? ann, ben)
        return try await store.write { store in
            let made = try commands.createGroup(
                name: nil, members: [ben], id: .make(at: store.now), by: ann, in: store
            ).conversation.id
            _ = try commands.accept(made, by: ben, in: store)
            return made
        }.value
    }

    @discardableResult
    private func send(_ text: String, to id: ConversationID, by user: UserID? = nil) async throws -> SeenMessage {
        let (commands, user) = (commands, user ?? ann)
        return try await store.write { store in
            let outgoing = OutgoingMessage(clientID: .make(at: store.now), text: try MessageText(text), digest: [])
            return try commands.send(outgoing, to: id, by: user, in: store).message
        }.value
    }

    private func service() -> TranslationService {
        TranslationService(
            store: store, commands: commands, engines: TranslationEngines([engine]), isListened: { _ in true },
            logger: Self.logger)
    }

    private func worker(_ limits: TranslationWorker.Limits = .init()) -> TranslationWorker {
        TranslationWorker(
            store: store, commands: commands,
            translator: TextTranslator(
                store: store, commands: commands, engines: TranslationEngines([engine]),
                firstDelay: .seconds(limits.firstDelay), logger: Self.logger),
            phrases: phrases, limits: limits, logger: Self.logger)
    }

    /// Those of the messages, as they are stored.
    private func rows(_ id: ConversationID) async throws -> [MessageTranslation] {
        try await store.read { store in
            try store.translations(
                in: id, into: TranslationTarget(LanguageTag("uk")), touchedAfter: 0, limit: 100
            ).sorted { $0.number < $1.number }
        }
    }

    private func with<Value>(
        _ workers: [TranslationWorker], _ body: () async throws -> Value
    ) async throws -> Value {
        let tasks = workers.map { worker in Task { await worker.run() } }
        defer { for task in tasks { task.cancel() } }
        return try await body()
    }

    @Test("two workers on one store make each once")
    func once() async throws {
        let id = try await group()
        for number in 1...30 { try await send("text \(number) @x", to: id) }
        let asked = try await service().request(Array(1...30), into: nil, in: id, by: ben)
        #expect(Set(asked.map(\.status)) == [.queued])
        try await with([worker(), worker()]) {
            try await eventually { try await rows(id).allSatisfy { $0.status == .done } }
        }
        #expect(try await rows(id).map(\.text) == (1...30).map { "[uk] text \($0) @x" })
        #expect(engine.texts.sorted() == (1...30).map { "text \($0) @x" }.sorted())
        #expect(engine.largest <= TranslationRequest.maxTexts)
        // What listeners were sent is what is stored. It can be read before it is published, which is before this write is.
        _ = try await store.write { _ in }
        #expect(listened.rows.count == 60)
        #expect(try await service().request([7], into: nil, in: id, by: ben)[0].text == "[uk] text 7 @x")
    }

    @Test("a phrase that three people wrote is not given to a model again, unless it has a term of the conversation")
    func phrasesOfOthers() async throws {
        engine.kind = .model
        let commands = commands
        let authors = (0..<5).map { _ in UserID.make(at: Timestamp.systemClock()) }
        _ = try await store.write { store in
            for author in authors {
                _ = try store.insert(
                    UserRecord(id: author, displayName: "x", languages: ["en"], createdAt: store.now))
            }
        }
        var counts: [Int] = []
        for (index, author) in authors.enumerated() {
            let id = try await group(by: author)
            if index == 4 {
                let entry = try GlossaryEntry(source: "later", target: "потім", language: LanguageTag("uk"))
                _ = try await store.write { try commands.setGlossary([entry], of: id, by: author, in: $0) }
            }
            try await send("see you later", to: id, by: author)
            _ = try await service().request([1], into: nil, in: id, by: ben)
            try await with([worker()]) {
                try await eventually { try await rows(id).map(\.text) == ["[uk] see you later"] }
            }
            counts.append(engine.texts.count)
        }
        #expect(counts == [1, 2, 3, 3, 4])
    }

    @Test("while the engine is away nothing is lost, and afterwards each is made once")
    func outage() async throws {
        let id = try await group()
        engine.script { _ in .failed(.unavailable("away")) }
        for number in 1...3 { try await send("text \(number)", to: id) }
        _ = try await service().request([1, 2, 3], into: nil, in: id, by: ben)
        var limits = TranslationWorker.Limits()
        (limits.firstDelay, limits.lastDelay) = (0, 0)
        try await with([worker(limits)]) {
            try await eventually { engine.texts.count > 9 }
            #expect(try await Set(rows(id).map(\.status)) == [.queued])
            engine.script(nil)
            try await eventually { try await rows(id).allSatisfy { $0.status == .done } }
        }
        #expect(try await store.read { try $0.nextJobDue() } == nil)
    }

    @Test("what is damaged is tried alone once more, then the original stays")
    func damaged() async throws {
        let id = try await group()
        for number in 1...3 { try await send("text \(number)", to: id) }
        let engine = engine
        engine.script { text in
            text.hasSuffix("3") || text.hasSuffix("2") && engine.lastCount > 1 ? .failed(.damaged) : nil
        }
        _ = try await service().request([1, 2, 3], into: nil, in: id, by: ben)
        try await with([worker()]) {
            try await eventually { try await rows(id).allSatisfy { $0.status != .queued } }
        }
        let made = try await rows(id)
        #expect(made.map(\.status) == [.done, .done, .failed])
        #expect(made.last?.reason == .damaged && made.last?.text == nil)
        // Asked for again, it is tried again.
        engine.script(nil)
        _ = try await service().request([3], into: nil, in: id, by: ben)
        try await with([worker()]) { try await eventually { try await rows(id).last?.status == .done } }
    }

    @Test("a result of a text that was edited meanwhile is not stored")
    func edited() async throws {
        let id = try await group()
        let sent = try await send("the first text", to: id)
        let (commands, ann, ben, store) = (commands, ann, ben, store)
        engine.before = {
            _ = try? await store.write { store in
                try commands.edit(
                    1, in: id, text: MessageText("the second text"), basedOn: sent.textVersion, by: ann, store: store)
            }
        }
        _ = try await service().request([1], into: nil, in: id, by: ben)
        try await with([worker()]) {
            try await eventually { try await store.read { try $0.nextJobDue() } == nil }
            #expect(try await rows(id).isEmpty)
            engine.before = nil
            _ = try await service().request([1], into: nil, in: id, by: ben)
            try await eventually { try await rows(id).map(\.text) == ["[uk] the second text"] }
        }
    }

    @Test("implausible results are failures")
    func implausible() async throws {
        let id = try await group()
        for number in 1...2 { try await send("text \(number)", to: id) }
        engine.script { $0.hasSuffix("1") ? .text(" \n") : .text(String(repeating: "x", count: 1_000)) }
        _ = try await service().request([1, 2], into: nil, in: id, by: ben)
        try await with([worker()]) {
            try await eventually { try await rows(id).allSatisfy { $0.status == .failed } }
        }
        #expect(try await Set(rows(id).map(\.reason)) == [.providerFailed])
    }

    @Test("who listens and reads automatically has the newest messages, and those that come, demanded")
    func automatic() async throws {
        let id = try await group()
        try await send("an old text", to: id)
        let service = service()
        try await service.listens(ben, to: id)
        #expect(try await rows(id).isEmpty)
        let (commands, ben) = (commands, ben)
        _ = try await store.write { store in
            var change = MembershipChange()
            change.translation = .some(TranslationSettings(mode: .automatic))
            return try commands.change(id, membership: change, by: ben, in: store)
        }
        let following = Task { await service.run() }
        defer { following.cancel() }
        try await service.listens(ben, to: id)
        #expect(try await rows(id).map(\.number) == [1])
        try await send("a new text", to: id)
        try await send("one of their own", to: id, by: ben)
        try await send("another new text", to: id)
        try await eventually { try await rows(id).map(\.number) == [1, 2, 4] }
        // Another text of one that was read is new, too.
        let ann = ann
        let edited = try await store.write { store in
            try commands.edit(2, in: id, text: MessageText("another"), basedOn: nil, by: ann, store: store)
        }.value
        try await eventually { try await rows(id).contains { $0.of == edited.textVersion } }
    }
}

/// The rows of translations that listeners are sent.
private final class Listened: Sendable {
    private let sent = Mutex<[ConversationRow]>([])

    var rows: [ConversationRow] { sent.withLock { $0 } }

    func add(_ updates: [ConversationUpdate]) {
        sent.withLock { $0 += updates.flatMap { $0.translations?.rows ?? [] } }
    }
}
