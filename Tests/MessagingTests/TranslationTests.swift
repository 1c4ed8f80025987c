import LanguageEngines
import Languages
import Model
import Testing
import Voice

@testable import Messaging

@Suite("Translations")
struct TranslationTests {
    private var chat: Chat
    private let id: ConversationID
    private let store: InMemoryMessagingStore
    /// Ann and Cem write English, Ben reads Ukrainian and Russian.
    private let (ann, ben, cem): (UserID, UserID, UserID)
    private static let english = "Can you call me when you get home tonight?"
    private static let russian = "Позвони мне, когда придёшь домой"

    init() throws {
        var chat = Chat(people: 3)
        chat.commands = .quiet(analyzer: TextAnalyzer(engine: CLD2Engine()))
        self.chat = chat
        store = chat.store
        (ann, ben, cem) = (chat.people[0], chat.people[1], chat.people[2])
        id = try chat.group([1, 2])
        store.languages[ben] = [try LanguageTag("uk"), try LanguageTag("ru")]
        store.languages[ann] = [try LanguageTag("en")]
    }

    private static let everything = TranslationSupport { _, _, _ in .supported(isHosted: false) }
    private static let hostedOnly = TranslationSupport { _, _, allowsHosted in
        allowsHosted ? .supported(isHosted: true) : .hostedOnly
    }

    @discardableResult
    private func request(
        _ numbers: [Int64], by person: Int = 1, into language: String? = nil, support: TranslationSupport = everything
    ) throws -> [MessageTranslation] {
        try chat.commands.requestTranslations(
            of: numbers, into: language.map { try LanguageTag($0) }, in: id, by: chat.people[person],
            support: support, store: store)
    }

    private func claims() -> [ClaimedJob] {
        store.claimJobs(limit: 20, until: store.now.adding(seconds: 60))
    }

    private func done(_ claim: ClaimedJob, _ text: String, isHosted: Bool = false) throws -> Bool {
        try chat.commands.complete(
            claim, .translated(text, engine: "test", kind: .rules, isHosted: isHosted), in: store)
    }

    private func allow(_ level: IntelligenceLevel) throws {
        var settings = ConversationSettings()
        settings.intelligence = level
        _ = try chat.commands.change(id, settings: settings, by: ann, in: store)
        for person in chat.people { store.translations.choices[person] = LanguageChoices(intelligence: level) }
    }

    @Test("one is made once for all who ask, and is the same afterwards")
    func once() throws {
        let sent = try chat.send(Self.english, to: id, by: 0)
        let first = try request([1])
        #expect(first.map(\.status) == [.queued] && first[0].of == sent.textVersion && first[0].language.string == "uk")
        #expect(try request([1], by: 2, into: "uk") == first)
        #expect(store.translations.jobs.count == 1)
        let claim = try #require(claims().first)
        #expect(claims().isEmpty)
        #expect(try chat.commands.work(for: [claim], in: store).map(\.text.original) == [Self.english])
        #expect(try done(claim, "Подзвони мені"))
        let after = try request([1])
        #expect(after[0].text == "Подзвони мені" && after[0].touched > first[0].touched && after[0].kind == .rules)
        #expect(store.translations.jobs.isEmpty)
    }

    @Test("a language that is corrected while an engine works at it begins it anew")
    func correctedMeanwhile() throws {
        try chat.send(Self.english, to: id, by: 0)
        try request([1])
        let first = try #require(claims().first)
        _ = try chat.commands.setLanguage(LanguageTag("fr"), of: 1, in: id, by: ann, store: store)
        #expect(try !done(first, "from English"))
        let second = try #require(claims().first)
        #expect(second.job.source.string == "fr")
        #expect(try done(second, "from French"))
        #expect(try request([1])[0].text == "from French")
    }

    @Test("who returned is sent translations of what they see of former times, and none of later texts")
    func returned() throws {
        for _ in 1...2 { try chat.send(Self.english, to: id, by: 0) }
        try chat.commands.leave(id, by: ben, in: store)
        let version = try #require(store.message(2, in: id)?.textVersion)
        _ = try chat.commands.edit(
            2, in: id, text: try MessageText("Please do not call me at all"), basedOn: version, by: ann, store: store)
        try chat.send(Self.english, to: id, by: 0)
        _ = try chat.commands.add([ben], to: id, by: ann, in: store)
        _ = try? chat.commands.accept(id, by: ben, in: store)
        let rows = try request([1, 2])
        #expect(rows.map(\.status) == [.queued, .unavailable] && rows[1].reason == .edited)
        #expect(store.translations.jobs.count == 1)
        var view = try chat.commands.view(of: try chat.commands.listen(id, by: ben, in: store), in: store)
        view.language = "uk"
        func row(_ number: Int64, of version: Int64) -> ConversationRow {
            ConversationRow(json: "{}", audience: .readers(number, of: version, language: "uk"))
        }
        #expect(view.includes(row(1, of: rows[0].of)) && view.includes(row(2, of: version)))
        #expect(try !view.includes(row(2, of: #require(store.message(2, in: id)?.textVersion))))
    }

    @Test("nobody is given what a deleted user wrote, before it is erased")
    func deletedAuthor() throws {
        try allow(.full)
        try chat.send(Self.english, to: id, by: 0)
        try request([1])
        store.inactive.insert(ann)
        #expect(try chat.commands.work(for: claims(), in: store).map(\.level) == [.off])
    }

    @Test("who sets a glossary, and what its terms are")
    func glossary() throws {
        let spanish = try LanguageTag("es")
        let term = GlossaryEntry(source: "home", target: "hogar", language: spanish)
        #expect(throws: Problem.self) { try chat.commands.setGlossary([term], of: id, by: ben, in: store) }
        #expect(try chat.commands.setGlossary([term], of: id, by: ann, in: store) == [term])
        #expect(try chat.commands.glossary(of: id, by: ben, in: store) == [term])
        for wrong in [
            "", " home", "a\nb", "⟦1⟧", "https://example.org/a", "<@all>", String(repeating: "a", count: 101),
        ] {
            for entry in [
                GlossaryEntry(source: wrong, target: "x", language: spanish),
                GlossaryEntry(source: "x", target: wrong, language: spanish),
            ] {
                let error = #expect(throws: Problem.self) {
                    try chat.commands.setGlossary([term, entry], of: id, by: ann, in: store)
                }
                #expect(error?.field == (entry.target == wrong ? "terms[1].target" : "terms[1].source"))
            }
        }
        let many = (0...200).map { GlossaryEntry(source: "word \($0)", target: "x", language: spanish) }
        let error = #expect(throws: Problem.self) {
            try chat.commands.setGlossary(many, of: id, by: ann, in: store)
        }
        #expect(error?.field == "terms")
        #expect(try chat.commands.glossary(of: id, by: ben, in: store) == [term])
    }

    @Test("another glossary makes it anew for who asks again, if one of its terms is in the text")
    func newTerms() throws {
        try chat.send(Self.english, to: id, by: 0)
        try request([1], into: "es")
        let claim = try #require(claims().first)
        #expect(try chat.commands.work(for: [claim], in: store)[0].terms.isEmpty)
        #expect(try done(claim, "uno"))
        let spanish = try LanguageTag("es")
        func set(_ terms: [(String, String)]) throws {
            let entries = terms.map { GlossaryEntry(source: $0.0, target: $0.1, language: spanish) }
            _ = try chat.commands.setGlossary(entries, of: id, by: ann, in: store)
        }
        try set([("house", "casa")])
        #expect(try request([1], into: "es")[0].text == "uno")
        try set([("home", "hogar")])
        #expect(try request([1], into: "es")[0].status == .queued)
        let work = try chat.commands.work(for: claims(), in: store)[0]
        #expect(work.terms == [GlossaryTerm(source: "home", target: "hogar")])
        try chat.commands.complete(
            work.claim, .translated("dos", engine: "test", kind: .rules, isHosted: false), with: work.terms, in: store)
        #expect(try request([1], into: "es")[0].text == "dos")
    }

    @Test("what cannot be translated says why")
    func unavailable() throws {
        try chat.send(Self.russian, to: id, by: 0)
        try chat.send("https://example.org/a", to: id, by: 0)
        try chat.send("ok 👍", to: id, by: 0)
        _ = try chat.commands.delete(3, in: id, by: ann, store: store)
        let none = TranslationSupport { _, _, _ in .pairNotSupported }
        #expect(try request([1], into: "ru").map(\.reason) == [.sameLanguage])
        #expect(try request([1], into: "en", support: none).map(\.reason) == [.pairNotSupported])
        #expect(try request([2, 3], into: "en").map(\.reason) == [.noText, .noText])
        #expect(try request([1], into: "en", support: Self.hostedOnly).map(\.reason) == [.consentRequired])
        #expect(store.translations.jobs.isEmpty && store.translations.rows.isEmpty)
        #expect(throws: Problem.self) { try request([]) }
        #expect(throws: Problem.self) { try request(Array(1...51)) }
        #expect(throws: Problem.self) { try request([9]) }
        #expect(throws: Problem.self) { try request([1], by: 2) }
    }

    @Test("what an engine cannot do is not asked of it again, and what failed is")
    func again() throws {
        for number in 1...2 {
            try chat.send(Self.english, to: id, by: 0)
            try request([Int64(number)])
        }
        let claimed = claims()
        try chat.commands.complete(claimed[0], .unavailable(.unknownWords), in: store)
        try chat.commands.complete(claimed[1], .failed(.providerFailed), in: store)
        let numbers = claimed.map(\.job.number)
        #expect(try request(numbers).map(\.status) == [.unavailable, .queued])
        #expect(store.translations.jobs.map(\.claim.job.number) == [numbers[1]])
    }

    @Test("who is not in it, and who has left, demands nothing")
    func access() throws {
        try chat.send(Self.english, to: id, by: 0)
        let unknownUser = UserID.make(at: store.now)
        #expect(
            problem {
                _ = try chat.commands.requestTranslations(
                    of: [1], into: LanguageTag("uk"), in: id, by: unknownUser, support: Self.everything, store: store)
            } == .notFound)
        try chat.commands.leave(id, by: ben, in: store)
        #expect(problem { try request([1]) } == .forbidden)
    }

    @Test("an edit and a deletion end what was made, and what is being made")
    func invalidation() throws {
        let sent = try chat.send(Self.english, to: id, by: 0)
        try request([1])
        let claim = try #require(claims().first)
        let edited = try chat.commands.edit(
            1, in: id, text: MessageText("Will you come to the party on Sunday?"), basedOn: sent.textVersion, by: ann,
            store: store)
        #expect(try chat.commands.work(for: [claim], in: store).isEmpty)
        #expect(try !done(claim, "late"))
        #expect(store.translations.rows.isEmpty)
        #expect(try request([1])[0].of == edited.textVersion)
        #expect(try done(try #require(claims().first), "Ти прийдеш?"))
        _ = try chat.commands.delete(1, in: id, by: ann, store: store)
        #expect(store.translations.rows.isEmpty && store.translations.jobs.isEmpty)
        #expect(try request([1]).map(\.reason) == [.noText])
    }

    @Test("a claim that somebody else has taken over stores nothing")
    func fences() throws {
        try chat.send(Self.english, to: id, by: 0)
        try request([1])
        let slow = try #require(claims().first)
        store.now = store.now.adding(seconds: 120)
        let fast = try #require(claims().first)
        #expect(try !done(slow, "slow"))
        #expect(try done(fast, "fast"))
        #expect(try request([1])[0].text == "fast")
    }

    @Test("the newest demand is first, and a batch has one author, source and language")
    func order() throws {
        for (index, text) in [Self.english, Self.russian, Self.english, Self.english].enumerated() {
            try chat.send(text, to: id, by: index == 3 ? 2 : 0)
        }
        try request([1, 2, 3, 4], into: "es")
        store.now = store.now.adding(seconds: 1)
        try request([1], into: "es")
        #expect(claims().map(\.job.number).sorted() == [1, 3])
        #expect(claims().map(\.job.number) == [4])
        #expect(claims().map(\.job.number) == [2])
    }

    @Test("hosted engines need the consent of server, conversation and author, and get nothing once it is gone")
    func consent() throws {
        try chat.send(Self.english, to: id, by: 0)
        try allow(.translate)
        #expect(try request([1], support: Self.hostedOnly).map(\.status) == [.queued])
        let claim = try #require(claims().first)
        #expect(try chat.commands.work(for: [claim], in: store).map(\.level) == [.translate])
        // Withdrawn while the engine works.
        store.translations.choices[ann] = LanguageChoices(intelligence: .local)
        #expect(try done(claim, "secret", isHosted: true))
        let row = try #require(store.translations.rows.first)
        #expect(row.status == .unavailable && row.reason == .consentRequired && row.text == nil)
        // Withdrawn afterwards.
        store.translations.choices[ann] = LanguageChoices(intelligence: .full)
        try request([1])
        #expect(try done(try #require(claims().first), "made", isHosted: true))
        #expect(try request([1])[0].text == "made")
        try allow(.local)
        #expect(try request([1], support: Self.hostedOnly)[0].text == nil)
        try allow(.off)
        #expect(try request([1])[0].reason == .consentRequired)
        // Who wrote a forwarded text first has a say.
        try allow(.full)
        store.translations.choices[cem] = LanguageChoices(intelligence: .off)
        try chat.send(Self.english, to: id, by: 2)
        let forward = OutgoingMessage(
            clientID: chat.newID(), forward: MessageReference(id, 2), digest: [1])
        _ = try chat.commands.send(forward, to: id, by: ann, in: store)
        #expect(try request([3])[0].reason == .consentRequired)
    }

    @Test("what may be there no more is erased, and who listens is told")
    func enforced() throws {
        try allow(.translate)
        for number in 1...5 {
            try chat.send(Self.english, to: id, by: number == 3 ? 2 : 0)
            try request([Int64(number)])
            let claim = try #require(claims().first)
            #expect(try done(claim, "made", isHosted: number > 1))
        }
        try allow(.local)
        #expect(store.translations.levelChecks.contains(id))
        store.translations.notified = []
        var after: Int64? = 0
        while let number = after {
            after = try chat.commands.enforceLevels(in: id, after: number, limit: 2, store: store)
        }
        let texts = store.translations.rows.sorted { $0.number < $1.number }.map(\.text)
        #expect(texts == ["made", nil, nil, nil, nil])
        #expect(store.translations.notified.map(\.row.number).sorted() == [2, 3, 4, 5])
        #expect(Set(store.translations.notified.map(\.row.reason)) == [.consentRequired])
    }

    @Test("of two people the lower level holds")
    func direct() throws {
        let direct = try chat.commands.createDirect(with: ben, id: chat.newID(), by: ann, in: store).found.conversation
        let message = try chat.send(Self.english, to: direct.id, by: 0).message
        store.translations.choices[ann] = LanguageChoices(intelligence: .full)
        var levels = MessageLevels(direct, rules: IntelligenceRules(), in: store)
        #expect(try levels.level(of: message) == .local)
        var change = MembershipChange()
        change.intelligence = .some(.translate)
        _ = try chat.commands.change(direct.id, membership: change, by: ben, in: store)
        levels = MessageLevels(direct, rules: IntelligenceRules(), in: store)
        #expect(try levels.level(of: message) == .translate)
        levels = MessageLevels(direct, rules: IntelligenceRules(ceiling: .off), in: store)
        #expect(try levels.level(of: message) == .off)
    }

    @Test("automatically are translated the messages of others in languages that one does not know")
    func automatic() throws {
        try chat.send(Self.english, to: id, by: 0)
        try chat.send(Self.russian, to: id, by: 0)
        try chat.send(Self.english, to: id, by: 1)
        try chat.send("See you at the station tomorrow morning", to: id, by: 2)
        func untranslated(after number: Int64 = 0) throws -> [Int64] {
            try chat.commands.untranslated(
                after: number, in: id, for: ben, support: Self.everything, store: store)
        }
        #expect(try untranslated() == [])
        var change = MembershipChange()
        change.translation = .some(TranslationSettings(mode: .automatic))
        _ = try chat.commands.change(id, membership: change, by: ben, in: store)
        #expect(try untranslated() == [4, 1])
        #expect(try untranslated(after: 1) == [4])
        try request([1])
        #expect(try untranslated() == [4])
    }

    @Test("a voice message is translated by its transcript, and by another transcript anew")
    func voice() throws {
        let audio = VoiceAudio(
            durationMs: 2_000, byteCount: 9_000, contentType: "audio/ogg", waveform: [1, 100], level: -20)
        let file = VoiceFile(id: .make(at: store.now), author: ann, createdAt: store.now, audio: audio)
        store.insert(file)
        var outgoing = OutgoingMessage(clientID: .make(at: store.now), forward: nil, digest: [1])
        outgoing.voice = OutgoingVoice(file: file.id, isTranscribed: true)
        _ = try chat.commands.send(outgoing, to: id, by: ann, in: store)
        #expect(try request([1]).map(\.reason) == [.noText])
        let language = try LanguageTag("de")
        #expect(throws: Problem.self) {
            try chat.commands.setLanguage(language, of: 1, in: id, by: ann, store: store)
        }

        func transcribe(_ text: String, in language: String?) throws -> MessageLanguage? {
            try chat.commands.transcribed(file.id, .complete(language: language, text: text, segments: []), in: store)
            return store.message(1, in: id)?.language
        }
        // What the transcriber says, else what the words look like.
        let english = MessageLanguage(code: try LanguageTag("en"), confidence: .high)
        #expect(try transcribe("Um, call https://a.b/c", in: "en-US")?.code.string == "en-US")
        #expect(try transcribe("What was spoken is no language", in: "x-none") == english)
        #expect(try transcribe(Self.english, in: nil) == english)
        #expect(try request([1]).map(\.status) == [.queued])
        let claim = try #require(claims().first)
        #expect(try chat.commands.work(for: [claim], in: store).map(\.text.original) == [Self.english])
        #expect(try done(claim, "Подзвони мені"))
        #expect(try request([1]).map(\.text) == ["Подзвони мені"])

        _ = try transcribe("Call me at home tonight please", in: nil)
        #expect(store.translations.rows.isEmpty)
        var change = MembershipChange()
        change.translation = .some(TranslationSettings(mode: .automatic))
        _ = try chat.commands.change(id, membership: change, by: ben, in: store)
        func untranslated() throws -> [Int64] {
            try chat.commands.untranslated(of: [1, 7], in: id, for: ben, support: Self.everything, store: store)
        }
        #expect(try untranslated() == [1])
        _ = try chat.commands.setLanguage(LanguageTag("ru"), of: 1, in: id, by: ann, store: store)
        #expect(try untranslated() == [])
        try chat.commands.transcribed(
            file.id, .failed(.init(type: "x", detail: "y", mayRetry: true)), in: store)
        #expect(store.message(1, in: id)?.language == nil)
        #expect(try request([1]).map(\.reason) == [.noText])
    }

    @Test("a corrected language is translated anew, from that one")
    func corrected() throws {
        try chat.send(Self.english, to: id, by: 0)
        try request([1])
        #expect(try done(try #require(claims().first), "перший"))
        _ = try chat.commands.setLanguage(LanguageTag("es"), of: 1, in: id, by: ann, store: store)
        #expect(try request([1]).map(\.status) == [.queued])
        #expect(claims().map(\.job.source.string) == ["es"])
        _ = try chat.commands.setLanguage(LanguageTag("uk"), of: 1, in: id, by: ann, store: store)
        #expect(store.translations.rows.map(\.reason) == [.sameLanguage])
    }

    @Test("an author who is blocked does not learn whether anybody reads a translation")
    func blocked() throws {
        let direct = try chat.commands.createDirect(with: ben, id: chat.newID(), by: ann, in: store).found.conversation
            .id
        let sent = try chat.send(Self.english, to: direct, by: 0)
        store.blocks.insert([ann, ben])
        _ = try chat.commands.edit(
            1, in: direct, text: MessageText("Will you come to the party on Sunday?"), basedOn: sent.textVersion,
            by: ann, store: store)
        func ask(_ user: UserID) throws -> MessageTranslation {
            try chat.commands.requestTranslations(
                of: [1], into: LanguageTag("uk"), in: direct, by: user, support: Self.everything, store: store)[0]
        }
        let (ofBen, ofAnn) = (try ask(ben), try ask(ann))
        #expect(ofBen.of == sent.textVersion && ofAnn.of > ofBen.of)
        #expect(store.translations.notified.map(\.audience) == [.others(than: ann), .author(ann)])
        let claimed = claims()
        let works = try chat.commands.work(for: claimed, in: store)
        #expect(Set(works.map(\.text.original)) == [Self.english, "Will you come to the party on Sunday?"])
        for work in works { #expect(try done(work.claim, "made")) }
        #expect(store.translations.notified.suffix(2).map(\.audience).contains(.others(than: ann)))
        #expect(try ask(ben).text == "made" && ask(ann).text == "made")
        // And whole messages of theirs are theirs alone.
        try chat.send(Self.english, to: direct, by: 0)
        _ = try chat.commands.requestTranslations(
            of: [2], into: LanguageTag("uk"), in: direct, by: ann, support: Self.everything, store: store)
        #expect(store.translations.notified.last?.audience == .author(ann))
    }

    @Test(
        "a message of before languages were found, or that was imported, is translated from the language that it is in")
    func older() throws {
        var message = try chat.send(Self.english, to: id, by: 0).message
        message.language = nil
        store.update(message)
        #expect(try request([1]).map(\.status) == [.queued])
        #expect(claims().map(\.job.source.string) == ["en"])
    }

    @Test("hosted services are given no more than the asker's day, and the server's month, has left")
    func budgets() throws {
        let length = Int64(Self.english.count)
        let commands = ConversationCommands(
            limits: chat.commands.limits, analyzer: chat.commands.analyzer,
            intelligence: IntelligenceRules(
                budget: ProviderBudget(dailyCharacters: 2 * length, monthlyCharacters: 3 * length)))
        try allow(.translate)
        try chat.send(Self.english, to: id, by: 0)
        func call(_ payer: UserID) throws -> ProviderCall? {
            try commands.reserve(
                ProviderCall(
                    at: store.now, payer: payer, purpose: "translation", engine: "x", texts: 1, characters: length),
                in: store)
        }
        func ask() throws -> MessageTranslation {
            try commands.requestTranslations(
                of: [1], into: nil, in: id, by: ben, support: Self.hostedOnly, store: store)[0]
        }
        let first = try #require(try call(ben))
        #expect(try ask().status == .queued)
        let second = try #require(try call(ben))
        #expect(try call(ben) == nil)
        #expect(try ask().reason == .budgetExhausted)
        // What was refused is given back.
        try commands.settle(second, .refused, in: store)
        #expect(try ask().status == .queued)
        try commands.settle(first, .unusable, in: store)
        #expect(store.translations.calls.map(\.given.characters) == [length, 0])
        #expect(try call(ann) != nil)
        #expect(try call(cem) != nil)
        #expect(try call(ann) == nil)
        // Another day has another budget; the month is the same.
        store.now = store.now.adding(seconds: 86_400)
        #expect(try call(cem) == nil)
    }

    @Test(
        "of what somebody says no more is transcribed than the day and the month have left, and what it costs is known")
    func speech() throws {
        let commands = ConversationCommands(
            limits: chat.commands.limits, analyzer: chat.commands.analyzer,
            intelligence: IntelligenceRules(
                budget: ProviderBudget(
                    dailyCharacters: 0, monthlyCharacters: 0, dailySpeechSeconds: 60, monthlySpeechSeconds: 90),
                minutePrice: 0.006))
        func call(_ payer: UserID, seconds: Int64) throws -> ProviderCall? {
            try commands.reserve(
                ProviderCall(
                    at: store.now, payer: payer, purpose: "captions", engine: "x", milliseconds: 1_000 * seconds),
                in: store)
        }
        // Texts have a budget of their own, of which nothing is left.
        #expect(try !commands.isWithinBudget(ann, 1, in: store))
        let first = try #require(try call(ann, seconds: 40))
        #expect(first.microDollars == 4_000)
        #expect(try call(ann, seconds: 21) == nil)
        let second = try #require(try call(ann, seconds: 20))
        #expect(try call(ben, seconds: 31) == nil)
        #expect(try commands.settle(first, .done, in: store).microDollars == 4_000)
        let refused = try commands.settle(second, .refused, in: store)
        #expect(refused.microDollars == 0 && refused.given == ProviderUsage())
        #expect(try call(ann, seconds: 1) != nil)
        #expect(try call(ben, seconds: 49) != nil)
        #expect(try call(cem, seconds: 1) == nil)
        store.now = store.now.adding(seconds: 86_400)
        #expect(try call(ann, seconds: 1) == nil)
    }

    @Test("too many jobs are given up, the oldest first")
    func tooMany() throws {
        for _ in 1...3 {
            let sent = try chat.send(Self.english, to: id, by: 0)
            try request([sent.number])
            store.now = store.now.adding(seconds: 1)
        }
        #expect(try chat.commands.dropOldJobs(beyond: 1, limit: 10, in: store) == 2)
        #expect(store.translations.rows.filter { $0.reason == .queueFull }.map(\.number).sorted() == [1, 2])
        // Asked for again, it is tried again.
        #expect(try request([1]).map(\.status) == [.queued])
        #expect(store.translations.jobs.count == 2)
    }
}
