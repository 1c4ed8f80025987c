import LanguageEngines
import Languages
import Model
import Testing

@testable import Messaging

@Suite("Hints on messages")
struct HintMessageTests {
    private var chat: Chat
    private let id: ConversationID
    private let store: InMemoryMessagingStore
    /// Ann and Cem write English, Ben reads Ukrainian.
    private let (ann, ben, cem): (UserID, UserID, UserID)
    private static let slang = "brb, I have to call the doctor about the appointment tomorrow"
    private static let plain = "I left the keys on the kitchen table this morning"

    init() throws {
        var chat = Chat(people: 3)
        chat.commands = .quiet(analyzer: TextAnalyzer(engine: CLD2Engine()))
        self.chat = chat
        store = chat.store
        (ann, ben, cem) = (chat.people[0], chat.people[1], chat.people[2])
        id = try chat.group([1, 2])
        store.languages[ben] = [try LanguageTag("uk")]
        store.languages[ann] = [try LanguageTag("en")]
    }

    private func hints(
        _ number: Int64, by person: Int = 1, isModelHosted: Bool? = nil, isAutomatic: Bool = false,
        writes: Bool = true
    ) throws -> MessageHints? {
        try chat.commands.hints(
            on: number, in: id, by: chat.people[person],
            support: HintSupport(lexicon: HintLexicon(), isModelHosted: isModelHosted), isAutomatic: isAutomatic,
            writes: writes, store: store)
    }

    private func claim() throws -> ClaimedJob {
        try #require(store.claimJobs(limit: 20, until: store.now.adding(seconds: 60)).first)
    }

    private func allow(_ level: IntelligenceLevel, but person: Int? = nil) throws {
        var settings = ConversationSettings()
        settings.intelligence = level
        _ = try chat.commands.change(id, settings: settings, by: ann, in: store)
        for (index, user) in chat.people.enumerated() {
            store.translations.choices[user] = LanguageChoices(intelligence: index == person ? .local : level)
        }
    }

    @Test("lexicons explain at once, and nothing is stored")
    func lexicons() throws {
        let sent = try chat.send(Self.slang, to: id, by: 0)
        let found = try #require(try hints(1, writes: false))
        #expect(found.status == .done && found.kind == .lexicon && found.of == sent.textVersion)
        #expect(found.items.map(\.start) == [0] && found.language.string == "uk" && found.touched == 0)
        #expect(store.translations.hints.isEmpty)
        try chat.send(Self.plain, to: id, by: 0)
        #expect(try hints(2, writes: false)?.items.isEmpty == true)
    }

    @Test("unasked, what is found is stored, and nothing where nothing is")
    func automatic() throws {
        store.translations.choices[ben] = LanguageChoices(hints: .automatic)
        try chat.send(Self.slang, to: id, by: 0)
        try chat.send(Self.plain, to: id, by: 0)
        try chat.send(Self.slang, to: id, by: 1)
        #expect(try chat.commands.unexplained(in: id, for: ben, store: store) == [2, 1])
        #expect(try hints(2, isAutomatic: true, writes: false)?.items.isEmpty == true)
        #expect(try hints(1, isAutomatic: true, writes: false) == nil)
        let stored = try #require(try hints(1, isAutomatic: true))
        #expect(stored.touched > 0 && store.translations.hints.count == 1)
        #expect(try chat.commands.unexplained(in: id, for: ben, store: store) == [2])
        // Who reads English best, or wants none.
        store.translations.choices[ann] = LanguageChoices(hints: .automatic)
        store.languages[cem] = [try LanguageTag("uk")]
        #expect(try chat.commands.unexplained(in: id, for: ann, store: store).isEmpty)
        #expect(try chat.commands.unexplained(in: id, for: cem, store: store).isEmpty)
    }

    @Test("a model is asked once for all who ask, and what it says stays")
    func model() throws {
        try allow(.full)
        try chat.send(Self.plain, to: id, by: 0)
        #expect(try hints(1, isModelHosted: true, writes: false) == nil)
        let first = try #require(try hints(1, isModelHosted: true))
        #expect(first.status == .queued && first.items.isEmpty)
        #expect(try hints(1, isModelHosted: true)?.touched == first.touched)
        #expect(store.translations.jobs.map(\.claim.job.purpose) == [.hints])
        let claim = try claim()
        let work = try #require(try chat.commands.hintWork(for: claim, isHosted: true, in: store))
        #expect(work.text.original == Self.plain && work.level == .full && work.language?.string == "en")
        let hint = Hint(start: 2, length: 4, kind: .reference, meaning: "x")
        #expect(
            try chat.commands.completeHints(claim, .explained([hint], engine: "m", isHosted: true), in: store))
        let after = try #require(try hints(1, isModelHosted: true, writes: false))
        #expect(after.items == [hint] && after.kind == .model && after.status == .done)
        // A lower level hides it at once, and erases it.
        try allow(.translate)
        #expect(try hints(1, isModelHosted: true)?.kind == .lexicon)
        #expect(try chat.commands.enforceLevels(in: id, after: 0, limit: 10, store: store) == nil)
        #expect(store.translations.hints.allSatisfy { $0.items.isEmpty && $0.reason == .consentRequired })
    }

    @Test("a hosted model needs the level full, and says so beside what lexicons know")
    func consent() throws {
        try allow(.translate)
        try chat.send(Self.slang, to: id, by: 0)
        let hosted = try #require(try hints(1, isModelHosted: true))
        #expect(hosted.status == .done && hosted.reason == .consentRequired && hosted.items.count == 1)
        #expect(try hints(1, isModelHosted: false)?.status == .queued)
        try allow(.off)
        #expect(try hints(1)?.reason == .consentRequired)
    }

    @Test("what lexicons say of a text at which a model failed is hidden as well")
    func failed() throws {
        try chat.send(Self.slang, to: id, by: 0)
        _ = try hints(1, isModelHosted: false)
        try chat.commands.completeHints(try claim(), .failed(.providerFailed), in: store)
        func items() throws -> [Hint]? {
            try chat.commands.newestHints(
                of: try chat.commands.get(id, by: ben, in: store),
                try chat.commands.translationReader(ben, in: id, store), in: store
            ).first?.items
        }
        #expect(try items()?.count == 1)
        try allow(.off)
        #expect(try items() == [])
    }

    @Test("what is explained goes with its text")
    func edited() throws {
        try allow(.full)
        let sent = try chat.send(Self.slang, to: id, by: 0)
        _ = try hints(1, isModelHosted: false)
        let claim = try claim()
        _ = try chat.commands.edit(
            1, in: id, text: try MessageText(Self.plain), basedOn: sent.textVersion, by: ann, store: store)
        #expect(store.translations.hints.isEmpty && store.translations.jobs.isEmpty)
        #expect(try chat.commands.hintWork(for: claim, isHosted: false, in: store) == nil)
        #expect(
            try !chat.commands.completeHints(claim, .explained([], engine: "m", isHosted: false), in: store))
    }

    @Test("a model is given what was written before, as far as all may see it and its authors allow that")
    func earlier() throws {
        try allow(.full, but: 2)
        for number in 1...25 { try chat.send("This is sentence \(number)", to: id, by: number % 3) }
        try chat.send(Self.plain, to: id, by: 0)
        _ = try hints(26, isModelHosted: true)
        let work = try #require(try chat.commands.hintWork(for: try claim(), isHosted: true, in: store))
        // Of the last 20, those of Ann and Ben alone: Cem allows less.
        #expect(work.earlier.map(\.text) == (6...25).filter { $0 % 3 != 2 }.map { "This is sentence \($0)" })
        #expect(Set(work.earlier.map(\.author)) == ["A", "B"])
        // Who came later has not seen them.
        let late = store.latestStart(before: 26, in: id)
        #expect(late == 0)
        var spans = store.spans(of: cem, in: id)
        spans = MembershipSpans([MembershipSpans.Span(from: 20)])
        store.save(spans, of: cem, in: id)
        #expect(try store.latestStart(before: 26, in: id) == 20)
    }

    @Test("what a model says goes with the earlier messages that it was given")
    func resting() throws {
        try allow(.full)
        store.translations.choices[ben] = LanguageChoices(intelligence: .full, hints: .automatic)
        let first = try chat.send(Self.plain, to: id, by: 2)
        try chat.send("I will be there", to: id, by: 0)
        let hint = Hint(start: 10, length: 5, kind: .reference, meaning: "the kitchen table")
        func work() throws -> HintWork {
            _ = try hints(2, isModelHosted: true)
            return try #require(try chat.commands.hintWork(for: try claim(), isHosted: true, in: store))
        }
        func complete(_ work: HintWork) throws {
            try chat.commands.completeHints(
                work.claim, .explained([hint], engine: "m", isHosted: true, sources: work.sources), in: store)
        }
        func shown() throws -> [Hint] {
            try chat.commands.newestHints(
                of: try chat.commands.get(id, by: ben, in: store),
                try chat.commands.translationReader(ben, in: id, store), in: store
            ).flatMap(\.items)
        }
        func stored() -> [Hint] { store.translations.hints.flatMap(\.items) }
        let made = try work()
        #expect(made.sources == [HintSource(number: 1, of: first.textVersion)])
        try complete(made)
        #expect(try shown() == [hint] && hints(2, isModelHosted: true, writes: false)?.items == [hint])
        // Its author allows less: it is hidden at once, and then erased, and asked for again by who reads automatically.
        store.translations.choices[cem] = LanguageChoices(intelligence: .translate)
        #expect(try shown() == [] && hints(2, isModelHosted: true, writes: false) == nil && stored() == [hint])
        #expect(try chat.commands.enforceLevels(in: id, after: 0, limit: 10, store: store) == nil)
        #expect(stored() == [])
        #expect(try chat.commands.unexplained(in: id, for: ben, store: store).contains(2))
        // What is made without it stays.
        let without = try work()
        #expect(without.sources.isEmpty)
        try complete(without)
        #expect(try shown() == [hint])
        store.translations.choices[cem] = LanguageChoices(intelligence: .full)
        _ = try chat.commands.edit(
            1, in: id, text: try MessageText("Never mind"), basedOn: first.textVersion, by: cem, store: store)
        #expect(try shown() == [hint])
        // One that comes late is not stored.
        try chat.send("Are you there?", to: id, by: 0)
        _ = try hints(3, isModelHosted: true)
        let late = try #require(try chat.commands.hintWork(for: try claim(), isHosted: true, in: store))
        #expect(late.sources.map(\.number) == [1, 2])
        _ = try chat.commands.delete(1, in: id, by: cem, store: store)
        try complete(late)
        #expect(store.translations.hints.last { $0.number == 3 }?.items == [])
        #expect(store.translations.hints.last { $0.number == 3 }?.status == .failed)
    }

    @Test("nobody is explained what they do not see")
    func hidden() throws {
        try chat.send(Self.slang, to: id, by: 0)
        #expect(throws: Problem.self) { try hints(2) }
        let outsider = UserID.make(at: store.now)
        #expect(throws: Problem.self) {
            try chat.commands.hints(
                on: 1, in: id, by: outsider, support: HintSupport(lexicon: HintLexicon(), isModelHosted: nil),
                writes: true, store: store)
        }
    }

    @Test("a draft is checked against how the others write, which they have to allow")
    func drafts() throws {
        for _ in 0..<3 { try chat.send("¿Cómo está usted? Le escribo por la reunión de mañana", to: id, by: 0) }
        func context(isHosted: Bool?) throws -> WritingContext {
            try chat.commands.context(
                ofDraft: "Tú vienes mañana a la reunión con todos nosotros", in: id, by: ben,
                language: try LanguageTag("es"), isHosted: isHosted, store: store)
        }
        #expect(try context(isHosted: nil).register == .formal)
        #expect(try context(isHosted: true).earlier.isEmpty)
        #expect(try context(isHosted: false).earlier.count == 3)
        #expect(try context(isHosted: nil).knowsAbbreviations == false)
        try allow(.off)
        #expect(try context(isHosted: false).register == nil)
        #expect(try context(isHosted: false).earlier.isEmpty)
        #expect(try context(isHosted: false).level == .off)
    }
}
