import Accounts
import Bus
import Calls
import Foundation
import Languages
import Logging
import Messaging
import Model
import Storage
import Synchronization
import TestSupport
import Testing

@testable import Services

/// Captions in the languages of those who listen. The engine is scripted: it says of each text what the test says.
@Suite("Translated captions", .timeLimit(.minutes(2))) struct CaptionTranslatorTests {
    private let store: Store
    private let ann = UserID.make(at: Timestamp.systemClock())
    private let ben = UserID.make(at: Timestamp.systemClock())
    private let call = CallID.make(at: Timestamp.systemClock())
    private let endpoints = (0..<3).map { _ in EndpointID.make(at: Timestamp.systemClock()) }
    private let commands = ConversationCommands(
        intelligence: IntelligenceRules(defaultLevel: .full, tone: .formal))
    private let readers = CaptionReaders()
    private let sent = SentEvents()
    private static let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }

    init() async throws {
        store = Store(database: try SQLiteDatabase(path: try ScratchDirectory().database), publish: { _ in })
        try await store.prepare()
        let users = [ann, ben]
        _ = try await store.write { store in
            for user in users {
                _ = try store.insert(UserRecord(id: user, displayName: "x", languages: ["en"], createdAt: store.now))
            }
        }
    }

    private func caption(_ text: String, _ language: String? = "en", start: Int64 = 0) -> Caption {
        Caption(
            user: ann, source: .microphone, startedAt: Timestamp(milliseconds: 1_800_000_000_000 + start),
            duration: 900,
            text: text, language: language)
    }

    private func with<Value>(
        _ engines: [any TranslationEngine], isListened: @escaping @Sendable (StreamName) -> Bool = { _ in true },
        _ body: () async throws -> Value
    ) async throws -> Value {
        let translator = CaptionTranslator(
            store: store, commands: commands,
            translator: TextTranslator(
                store: store, commands: commands, engines: TranslationEngines(engines), logger: Self.logger),
            readers: readers, bus: sent, isListened: isListened, logger: Self.logger)
        let task = Task { await translator.run() }
        defer { task.cancel() }
        return try await body()
    }

    @Test("each comes in order, to those who read that language and were there when it was said")
    func order() async throws {
        #expect(readers.listen(endpoints[0], of: ann, to: call, in: try LanguageTag("pt")) == nil)
        #expect(readers.listen(endpoints[1], of: ben, to: call, in: try LanguageTag("pt")) == nil)
        #expect(readers.listen(endpoints[2], of: ben, to: call, in: try LanguageTag("uk")) == nil)
        try await with([ScriptedCaptionEngine()]) {
            #expect(readers.add(caption("one"), of: call, to: Set(endpoints)) == 0)
            #expect(readers.add(caption("two", start: 1_000), of: call, to: [endpoints[1]]) == 0)
            try await eventually { sent.events.count == 3 }
            let portuguese = sent.events.filter { $0.stream == .captionTranslations(call, language: "pt") }
            #expect(portuguese.map(\.audience) == [[endpoints[0], endpoints[1]], [endpoints[1]]])
            let first = """
                {"user":"\(ann)","source":"microphone","startedAt":"\(caption("").startedAt)","language":"pt",\
                "from":"en","status":"done","text":"[pt formal] one","engine":"own","kind":"rules"}
                """
            #expect(portuguese.first?.data == first)
            #expect(portuguese.last?.data.contains("[pt formal] two") == true)
            #expect(sent.events.first { $0.audience == [endpoints[2]] }?.data.contains("[uk formal] one") == true)
        }
    }

    @Test("what is in the reader's language already is not sent again")
    func sameLanguage() async throws {
        _ = readers.listen(endpoints[0], of: ben, to: call, in: try LanguageTag("en-GB"))
        try await with([ScriptedCaptionEngine()]) {
            _ = readers.add(caption("one", "en-US"), of: call, to: [endpoints[0]])
            _ = readers.add(caption("dos", "es", start: 1_000), of: call, to: [endpoints[0]])
            try await eventually { !sent.events.isEmpty }
            #expect(sent.events.count == 1 && sent.events[0].data.contains("[en-GB formal] dos"))
        }
    }

    @Test("why there is none is said")
    func reasons() async throws {
        _ = readers.listen(endpoints[0], of: ben, to: call, in: try LanguageTag("pt"))
        let engine = ScriptedCaptionEngine { text in
            switch text {
            case "damaged": .failed(.damaged)
            case "empty": .text("  ")
            case "unknown": .failed(.unknownWords)
            case "link": .text("see https://evil.example")
            default: .failed(.unavailable("down"))
            }
        }
        try await with([engine]) {
            for (text, end) in [
                ("12", "\"unavailable\",\"reason\":\"no_text\""), ("damaged", "\"failed\",\"reason\":\"damaged\""),
                ("empty", "\"failed\",\"reason\":\"provider_failed\""),
                ("link", "\"failed\",\"reason\":\"provider_failed\""),
                ("unknown", "\"unavailable\",\"reason\":\"unknown_words\""),
                ("down", "\"failed\",\"reason\":\"provider_failed\""),
            ] {
                let count = sent.events.count
                _ = readers.add(caption(text), of: call, to: [endpoints[0]])
                try await eventually { sent.events.count > count }
                #expect(sent.events.last?.data.hasSuffix("\"status\":\(end)}") == true, "\(text)")
            }
            _ = readers.add(caption("nobody knows", nil), of: call, to: [endpoints[0]])
            try await eventually { sent.events.last?.data.contains("language_unknown") == true }
        }
    }

    @Test("in a call without a conversation hosted services are given nothing, whoever allows it")
    func hosted() async throws {
        _ = readers.listen(endpoints[0], of: ben, to: call, in: try LanguageTag("pt"))
        let engine = ScriptedCaptionEngine(isHosted: true)
        try await with([engine]) {
            _ = readers.add(caption("one"), of: call, to: [endpoints[0]])
            try await eventually { !sent.events.isEmpty }
            #expect(sent.events[0].data.contains("\"unavailable\",\"reason\":\"consent_required\""))
            #expect(engine.texts.isEmpty)
        }
    }

    @Test("nothing is translated for who does not listen any more")
    func unlistened() async throws {
        _ = readers.listen(endpoints[0], of: ben, to: call, in: try LanguageTag("pt"))
        _ = readers.listen(endpoints[1], of: ben, to: call, in: try LanguageTag("uk"))
        let engine = ScriptedCaptionEngine()
        let call = call
        try await with([engine], isListened: { $0 == .captionTranslations(call, language: "uk") }) {
            _ = readers.add(caption("one"), of: call, to: Set(endpoints))
            try await eventually { sent.events.count == 1 && readers.remove(call).map(\.string) == ["uk"] }
            #expect(engine.texts == ["one"])
        }
    }

    @Test("of what waits the newest stay")
    func waiting() throws {
        let (pt, uk) = (try LanguageTag("pt"), try LanguageTag("uk"))
        _ = readers.listen(endpoints[0], of: ben, to: call, in: pt)
        let dropped = (0..<7).map { readers.add(caption("\($0)"), of: call, to: [endpoints[0]]) }
        #expect(dropped == [0, 0, 0, 0, 1, 1, 1])
        let line = CaptionReaders.Line(call: call, language: pt)
        let kept = (0..<5).compactMap { _ in readers.next(in: line)?.caption.text }
        #expect(kept == ["3", "4", "5", "6"])
        // An endpoint reads one language.
        #expect(readers.listen(endpoints[0], of: ben, to: call, in: pt) == nil)
        #expect(readers.listen(endpoints[0], of: ben, to: call, in: uk) == pt)
        #expect(readers.remove(endpoints[1], from: call) == nil)
        #expect(readers.remove(ben, from: call) == [uk])
        #expect(readers.remove(call).isEmpty)
        #expect(readers.add(caption("nobody"), of: call, to: Set(endpoints)) == 0)
        #expect(readers.next(in: line) == nil)
    }
}

private final class ScriptedCaptionEngine: TranslationEngine {
    let name = "own"
    let kind = TranslationKind.rules
    let isHosted: Bool
    private let script: (@Sendable (String) -> TranslationResult)?
    private let asked = Mutex<[String]>([])

    var texts: [String] { asked.withLock { $0 } }

    init(isHosted: Bool = false, _ script: (@Sendable (String) -> TranslationResult)? = nil) {
        self.isHosted = isHosted
        self.script = script
    }

    func translates(from source: LanguageTag, into target: LanguageTag) -> Bool { true }

    func translate(
        _ request: TranslationRequest, deadline: ContinuousClock.Instant
    ) async throws(TranslationFailure) -> [TranslationResult] {
        let texts = request.texts.map(\.original)
        asked.withLock { $0 += texts }
        let target = TranslationTarget(request.target, tone: request.tone)
        return texts.map { script?($0) ?? .text("[\(target.text)] \($0)") }
    }
}

/// What is published.
private final class SentEvents: EventBus {
    private let sent = Mutex<[EphemeralEvent]>([])

    var events: [EphemeralEvent] { sent.withLock { $0 } }

    func publish(_ changes: [Change]) {}
    func publish(_ updates: [ConversationUpdate]) {}
    func publish(_ event: EphemeralEvent) { sent.withLock { $0.append(event) } }
    func subscribe(_ handler: @escaping @Sendable (BusMessage) -> Void) {}
}
