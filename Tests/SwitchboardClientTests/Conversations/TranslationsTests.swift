import Foundation
import GRDB
import Testing

@testable import SwitchboardClient

/// Translations and hints beside their messages: which are shown, and what becomes of them.
struct TranslationsTests {
    private static let reading = ConversationReading(language: "pt", mode: .automatic, hintMode: .onRequest)

    private func translation(
        _ number: Int, of version: Int, _ text: String? = "olá", touched: Int = 1, language: String = "pt",
        status: Translation.Status = .done
    ) -> TranslationsRow {
        .translation(
            Translation(
                number: number, of: version, language: language, status: status, text: text, touched: touched))
    }

    private func hints(
        _ number: Int, of version: Int, kind: Hints.Kind = .lexicon, touched: Int = 0, reason: Translation.Reason? = nil
    ) -> TranslationsRow {
        .hints(
            Hints(
                number: number, of: version, language: "pt", status: .done, reason: reason, items: [], kind: kind,
                touched: touched))
    }

    private func frame(_ rows: TranslationsRow..., upTo: Int, epoch: String = "e1") -> RowFrame<TranslationsRow> {
        RowFrame(rows: rows, epoch: epoch, after: 0, upTo: upTo)
    }

    /// A conversation of six messages, whose text versions are their numbers and one, and the stream at its beginning.
    private func begun() -> (ModelConversation, ConversationState, TranslationsState) {
        var server = ModelConversation()
        for number in 1...6 { server.send("m\(number)") }
        var state = ConversationState(id: server.id)
        let (snapshot, position) = server.snapshot(window: 10)
        state.apply(snapshot, at: position)
        _ = state.takeChanges()
        var translations = TranslationsState()
        translations.apply(
            TranslationsSnapshot(reading: Self.reading), at: StreamPosition(epoch: "e1", sequence: 5), beside: state)
        _ = translations.takeChanges()
        return (server, state, translations)
    }

    /// Applies what the server has, as its stream does.
    private func follow(
        _ server: ModelConversation, _ state: inout ConversationState, _ translations: inout TranslationsState
    ) {
        for frame in server.frames where frame.upTo > state.position.map({ Int($0.sequence) }) ?? 0 {
            #expect(state.apply(frame) == .applied)
        }
        translations.follow(state, state.takeChanges())
    }

    private func shown(_ number: Int, _ state: ConversationState, _ translations: TranslationsState) -> String? {
        state.messages[number].flatMap { translations.translation(of: $0)?.text }
    }

    @Test func aFrameAndASnapshotAreUnderstood() throws {
        let text = """
            {"stream":"translations:c1","epoch":"e1","after":0,"upTo":9,"rows":[{"translation":{"number":3,"of":7,\
            "language":"pt","tone":"formal","status":"unavailable","reason":"of_tomorrow","touched":9}},{"hints":{"number":3,\
            "of":7,"language":"pt","status":"done","items":[{"start":0,"length":2,"kind":"pun","meaning":"…",\
            "relevance":"high"}],"engine":"lexicon","kind":"lexicon","touched":0}},{"poem":{}}]}
            """
        guard case .rows("translations:c1", .translations(let frame)) = try ServerFrame(Array(text.utf8)) else {
            Issue.record("It is a frame of translations.")
            return
        }
        guard case .translation(let row) = frame.rows[0], case .hints(let hints) = frame.rows[1] else {
            Issue.record("\(frame.rows)")
            return
        }
        #expect(row.tone == .formal && row.reason == Translation.Reason(rawValue: "of_tomorrow"))
        #expect(hints.items[0].kind == Hint.Kind(rawValue: "pun") && frame.rows[2] == .unknown)
        // Without a language in the profile, and of a server without hints.
        let snapshot =
            #"{"stream":"translations:c1","snapshot":{"mode":"onRequest","translations":[]},"epoch":"e1","seq":4}"#
        guard case .snapshot(_, .translations(let found), let position) = try ServerFrame(Array(snapshot.utf8)) else {
            Issue.record("It is a snapshot of translations.")
            return
        }
        #expect(found.reading == ConversationReading(mode: .onRequest) && position.sequence == 4)
        #expect(StreamName.isKeyed("translations:c1") && StreamName.isDurable("translations:c1"))
    }

    /// Like marks: resumed by `listen` from where the state is, on each connection.
    @Test func theStreamIsResumedFromWhereItIs() {
        var machine = EndpointMachine(endpoint: "e1", secret: "secret", seed: 1)
        var actions: [EndpointMachine.Action] = []
        func greet(at now: Int64) -> [ClientFrame] {
            actions = []
            machine.opened(token: "t", lifetime: nil, at: now, into: &actions)
            guard case .send(.hello(let id, _, _, _, let resume))? = actions.first else { return [] }
            #expect(resume.isEmpty)
            let greeting = Greeting(session: "s", user: "u1", endpoint: "e1", heartbeat: 20, resumed: nil)
            machine.receive(.result(id: id, ResultFrame(greeting: greeting, frame: [])), at: now, into: &actions)
            return actions.compactMap { if case .send(let frame) = $0 { frame } else { nil } }
        }
        machine.start(at: 0, into: &actions)
        _ = greet(at: 0)
        let stored = StreamPosition(epoch: "e1", sequence: 7)
        machine.listen("translations:c1", holding: stored, into: &actions)
        guard case .send(let listen)? = actions.last else { Issue.record("nothing is sent"); return }
        #expect(listen == .listen(id: 3, stream: "translations:c1", after: stored))
        machine.receive(.result(id: 3, ResultFrame(frame: [])), at: 1, into: &actions)
        // Rows do not move it: the state says where it is.
        let rows = frame(translation(1, of: 2), upTo: 9)
        machine.receive(.rows(stream: "translations:c1", .translations(rows)), at: 2, into: &actions)
        guard case .deliver(_, .rows(.translations(rows)))? = actions.last else {
            Issue.record("\(actions)")
            return
        }
        let position = StreamPosition(epoch: "e1", sequence: 9)
        machine.hold(position, of: "translations:c1")
        machine.lost(at: 3, into: &actions)
        machine.advance(to: 60_000, into: &actions)
        #expect(
            greet(at: 60_000).contains { if case .listen(_, "translations:c1", position) = $0 { true } else { false } })
    }

    @Test func aTranslationIsShownBesideItsTextAlone() {
        var (server, state, translations) = begun()
        translations.apply(
            frame(translation(2, of: 3), translation(3, of: 4), hints(2, of: 3), upTo: 7), beside: state)
        #expect(shown(2, state, translations) == "olá" && shown(3, state, translations) == "olá")
        #expect(state.messages[2].flatMap { translations.hints(on: $0) } != nil)
        #expect(translations.position?.sequence == 7 && translations.takeChanges().translations == [2, 3])
        // An edit drops what is of the text before.
        server.edit(2, "other")
        follow(server, &state, &translations)
        #expect(translations.translations[2] == nil && translations.hints[2] == nil)
        let changes = translations.takeChanges()
        #expect(changes.translations == [2] && changes.hints == [2])
        // What comes late of it is dropped too.
        translations.apply(frame(translation(2, of: 3, touched: 9), upTo: 9), beside: state)
        #expect(translations.translations[2] == nil && translations.position?.sequence == 9)
        #expect(shown(3, state, translations) == "olá")
        // A deletion.
        server.delete(3)
        follow(server, &state, &translations)
        #expect(translations.translations[3] == nil)
    }

    @Test func oneThatComesBeforeItsMessageWaits() {
        var (server, state, translations) = begun()
        translations.apply(frame(translation(7, of: 8, "novo"), upTo: 8), beside: state)
        translations.apply(frame(translation(4, of: 9, "editado"), upTo: 9), beside: state)
        #expect(translations.translations.keys.sorted() == [4, 7] && shown(4, state, translations) == nil)
        server.send("m7")
        server.edit(4, "edited")
        follow(server, &state, &translations)
        #expect(shown(7, state, translations) == "novo" && shown(4, state, translations) == "editado")
        // What has no message, and will not get one.
        translations.apply(frame(translation(8, of: 10), upTo: 10), beside: state)
        server.send("m8", isSeen: false)
        server.send("m9")
        follow(server, &state, &translations)
        #expect(shown(8, state, translations) == nil && shown(9, state, translations) == nil)
    }

    @Test func ofTwoCopiesTheHigherCounts() throws {
        var (_, state, translations) = begun()
        let (queued, done) = (
            translation(1, of: 2, nil, touched: 6, status: .queued), translation(1, of: 2, "olá", touched: 7)
        )
        translations.apply(frame(done, queued, upTo: 7), beside: state)
        #expect(shown(1, state, translations) == "olá")
        // One that is not stored says why there is none now: it counts unless there is one.
        translations.keep(translation(1, of: 2, nil, touched: 0, status: .unavailable), beside: state)
        #expect(shown(1, state, translations) == "olá")
        translations.keep(translation(2, of: 3, nil, touched: 6, status: .queued), beside: state)
        translations.keep(translation(2, of: 3, nil, touched: 0, status: .unavailable), beside: state)
        #expect(translations.translations[2]?.status == .unavailable)
        // Of hints, those of a model.
        translations.keep(hints(1, of: 2, kind: .model, touched: 8), beside: state)
        translations.keep(hints(1, of: 2), beside: state)
        #expect(translations.hints[1]?.kind == .model)
        translations.keep(hints(1, of: 2, reason: .consentRequired), beside: state)
        #expect(translations.hints[1]?.kind == .lexicon)
        // Nobody else's language.
        translations.keep(translation(3, of: 4, language: "ca"), beside: state)
        #expect(translations.translations[3] == nil)
    }

    @Test func anotherLanguageBeginsAnew() {
        var (_, state, translations) = begun()
        translations.apply(frame(translation(1, of: 2), hints(2, of: 3), upTo: 7), beside: state)
        _ = translations.takeChanges()
        let reading = ConversationReading(language: "ca", mode: .automatic, hintMode: .off)
        let snapshot = TranslationsSnapshot(reading: reading)
        // A late one of before.
        translations.apply(snapshot, at: StreamPosition(epoch: "e1", sequence: 6), beside: state)
        #expect(translations.reading == Self.reading)
        translations.apply(snapshot, at: StreamPosition(epoch: "e1", sequence: 8), beside: state)
        #expect(translations.reading == reading && translations.translations.isEmpty && translations.hints.isEmpty)
        #expect(translations.takeChanges().isReplaced)
        translations.keep(translation(1, of: 2, touched: 9), beside: state)
        #expect(translations.translations.isEmpty)
        // Who wants none is shown none.
        translations.keep(
            .hints(Hints(number: 1, of: 2, language: "ca", status: .done, items: [], touched: 3)), beside: state)
        #expect(state.messages[1].map { translations.hints(on: $0) } == .some(nil))
        // A frame of another epoch is followed by a snapshot, which replaces everything.
        translations.apply(frame(upTo: 3, epoch: "e2"), beside: state)
        #expect(translations.position == StreamPosition(epoch: "e1", sequence: 8))
        translations.apply(snapshot, at: StreamPosition(epoch: "e2", sequence: 3), beside: state)
        #expect(translations.position == StreamPosition(epoch: "e2", sequence: 3))
    }

    @Test func theyGoWithTheirMessages() {
        var (_, state, translations) = begun()
        translations.apply(
            frame(translation(1, of: 2), translation(3, of: 4), translation(6, of: 7), upTo: 7), beside: state)
        state.hide([3])
        translations.follow(state, state.takeChanges())
        #expect(translations.translations.keys.sorted() == [1, 6])
        state.remove(before: 3)
        translations.follow(state, state.takeChanges())
        #expect(translations.translations.keys.sorted() == [6])
        state.messages[6]?.expiresAt = Date(timeIntervalSince1970: 10)
        state.expire(at: Date(timeIntervalSince1970: 11))
        translations.follow(state, state.takeChanges())
        #expect(translations.translations.isEmpty)
        // After everything was cleared, what comes late has nothing to stand beside.
        state.remove(before: 7)
        translations.follow(state, state.takeChanges())
        translations.keep(translation(5, of: 6), beside: state)
        #expect(translations.translations.isEmpty)
        translations.removeAll()
        #expect(translations.reading == nil && translations.takeChanges().isReplaced)
    }

    @Test func theyAreBounded() {
        var (_, state, translations) = begun()
        for number in 10..<(10 + TranslationsState.maxRows + 5) {
            translations.keep(translation(number, of: number), beside: state)
            translations.keep(hints(number, of: number), beside: state)
        }
        #expect(translations.translations.count == TranslationsState.maxRows)
        #expect(translations.hints.count == TranslationsState.maxRows && translations.hints[10] == nil)
        #expect(!translations.takeChanges().isEmpty)
    }

    /// What is shown of a message whose edit waits is the waiting text, of which there is no translation.
    @Test func anEditThatWaitsHasNone() throws {
        var (_, state, translations) = begun()
        translations.keep(translation(1, of: 2), beside: state)
        var shown = ChatMessage(try #require(state.messages[1]), translations)
        #expect(shown.translation?.text == "olá")
        var queue = WriteQueue(seed: 1)
        try queue.edit(.number(1), to: "waits", textVersion: 2, in: "c1", at: 0)
        shown.apply(try #require(queue.entries(in: "c1").first))
        #expect(shown.text == "waits" && shown.translation == nil)
    }
}

/// What the store gives back of them in another run.
struct StoredTranslationsTests {
    private func row(_ number: Int, of version: Int, _ text: String? = "olá", touched: Int = 1) -> TranslationsRow {
        .translation(
            Translation(
                number: number, of: version, language: "pt", status: text == nil ? .unavailable : .done, text: text,
                touched: touched))
    }

    /// A store with a conversation of 30 messages, and translations of some of them.
    private func filled() throws -> (ConversationStore, ConversationState, TranslationsState) {
        let store = try ConversationStore(path: nil)
        var server = ModelConversation()
        for number in 1...30 { server.send("m\(number)") }
        var state = ConversationState(id: server.id)
        let (snapshot, position) = server.snapshot(window: 30)
        state.apply(snapshot, at: position)
        try store.save(state, state.takeChanges())
        var translations = TranslationsState()
        translations.apply(
            TranslationsSnapshot(
                reading: ConversationReading(language: "pt", mode: .automatic, hintMode: .onRequest),
                hints: [Hints(number: 30, of: 31, language: "pt", status: .done, items: [], kind: .lexicon, touched: 4)]
            ),
            at: StreamPosition(epoch: "e1", sequence: 9), beside: state)
        for number in [2, 10, 20, 30, 31] { translations.keep(row(number, of: number + 1), beside: state) }
        // A reason of the moment is not kept.
        translations.keep(row(25, of: 26, nil, touched: 0), beside: state)
        try store.save(translations, translations.takeChanges(), of: "c1")
        return (store, state, translations)
    }

    private func numbers(_ store: ConversationStore) throws -> [Int] {
        try store.database.read {
            try Int.fetchAll($0, sql: "SELECT DISTINCT number FROM translations ORDER BY number")
        }
    }

    @Test func givesBackWhatIsOfTheMessagesThatItLoads() throws {
        let (store, _, translations) = try filled()
        var state = try #require(try store.conversation("c1", limit: 15))
        var loaded = try store.translations(beside: state)
        #expect(loaded.reading == translations.reading && loaded.position == translations.position)
        #expect(loaded.translations.keys.sorted() == [20, 30, 31] && loaded.hints.keys.sorted() == [30])
        #expect(loaded.translations[20] == translations.translations[20] && loaded.takeChanges().isEmpty)
        #expect(try store.loadEarlier(than: 16, limit: 10, into: &state))
        try store.loadTranslations(of: 6...15, into: &loaded, beside: state)
        #expect(loaded.translations.keys.sorted() == [10, 20, 30, 31])
        // A newer copy of one that is not held replaces the stored one.
        loaded.keep(row(2, of: 3, "tchau", touched: 12), beside: state)
        loaded.keep(row(3, of: 4, "novo", touched: 12), beside: state)
        try store.save(loaded, loaded.takeChanges(), of: "c1")
        #expect(try store.loadEarlier(than: 6, limit: 10, into: &state))
        try store.loadTranslations(of: 1...5, into: &loaded, beside: state)
        #expect(loaded.translations[2]?.text == "tchau" && loaded.translations[3]?.text == "novo")
    }

    @Test func theyGoWithTheirMessages() throws {
        let (store, _, _) = try filled()
        var state = try #require(try store.conversation("c1", limit: 100))
        #expect(try numbers(store) == [2, 10, 20, 30, 31])
        // An edit and a deletion.
        state.messages[10]?.textVersion = 40
        state.messages[20]?.deletedAt = Date(timeIntervalSince1970: 5)
        state.changes.messages = [10, 20]
        try store.save(state, state.takeChanges())
        #expect(try numbers(store) == [2, 30, 31])
        // A change without another text, such as a reaction.
        state.messages[30]?.version = 41
        state.changes.messages = [30]
        try store.save(state, state.takeChanges())
        #expect(try numbers(store) == [2, 30, 31])
        // Expiry.
        state.messages[2]?.expiresAt = Date(timeIntervalSince1970: 100)
        state.changes.messages = [2]
        try store.save(state, state.takeChanges())
        try store.expire(at: Date(timeIntervalSince1970: 101))
        #expect(try numbers(store) == [30, 31])
        // One that waits, whose message comes with a newer text.
        var message = try #require(state.messages[30])
        (message.number, message.textVersion, message.version) = (31, 50, 50)
        state.keep(message)
        try store.save(state, state.takeChanges())
        #expect(try numbers(store) == [30])
        try store.remove(before: .max, of: "c1")
        #expect(try numbers(store) == [])
    }

    @Test func takesWhatWasAskedForWhileNobodyReads() throws {
        let (store, state, _) = try filled()
        let hints = TranslationsRow.hints(
            Hints(number: 3, of: 4, language: "pt", status: .done, items: [], kind: .lexicon, touched: 0))
        try store.keep(
            [
                row(1, of: 2), hints, row(2, of: 2, "old"), row(20, of: 21, "older", touched: 0), row(99, of: 100),
                row(10, of: 11, "tchau", touched: 12),
            ], of: "c1")
        let loaded = try store.translations(beside: state)
        #expect([1, 2, 10, 20].map { loaded.translations[$0]?.text } == ["olá", "olá", "tchau", "olá"])
        #expect(loaded.hints.keys.sorted() == [3, 30] && loaded.translations[99] == nil)
        try store.keep([row(1, of: 2)], of: "c2")
        #expect(try numbers(store) == [1, 2, 3, 10, 20, 30, 31])
    }

    @Test func hidingAndAnotherEpochRemoveThem() throws {
        var (store, state, translations) = try filled()
        try store.save(AcknowledgedChanges(id: "c1", acknowledgements: [.hidden(2)]))
        #expect(try numbers(store) == [10, 20, 30, 31])
        // After a restore the server's streams have another epoch.
        var server = ModelConversation()
        server.restore()
        server.send("n1")
        let (snapshot, position) = server.snapshot(window: 10)
        state.apply(snapshot, at: position)
        let changes = state.takeChanges()
        translations.follow(state, changes)
        try store.save(state, changes)
        try store.save(translations, translations.takeChanges(), of: "c1")
        #expect(try numbers(store) == [] && translations.position == nil)
        #expect(try store.translations(beside: state).reading == nil)
    }

    /// The stream of translations may be of the new epoch before the conversation's.
    @Test func ofTheSameEpochTheyStay() throws {
        var (store, state, translations) = try filled()
        var server = ModelConversation()
        server.restore()
        server.send("n1")
        translations.apply(
            TranslationsSnapshot(reading: try #require(translations.reading)),
            at: StreamPosition(epoch: server.epoch, sequence: 1), beside: ConversationState(id: "c1"))
        translations.keep(row(1, of: 2), beside: ConversationState(id: "c1"))
        try store.save(translations, translations.takeChanges(), of: "c1")
        let (snapshot, position) = server.snapshot(window: 10)
        state.apply(snapshot, at: position)
        let changes = state.takeChanges()
        translations.follow(state, changes)
        try store.save(state, changes)
        try store.save(translations, translations.takeChanges(), of: "c1")
        #expect(try numbers(store) == [1])
    }

    @Test func aConversationThatShrinksKeepsThoseOfItsNewest() throws {
        let (full, _, _) = try filled()
        let store = try ConversationStore(path: nil, limits: .init(messages: 5, shrunk: 3))
        // The rows of the other store.
        for table in ["conversations", "messages", "translations", "readings"] {
            let rows = try full.database.read { try Row.fetchAll($0, sql: "SELECT * FROM \(table)") }
            try store.database.write { database in
                for row in rows {
                    let marks = Array(repeating: "?", count: row.count).joined(separator: ", ")
                    try database.execute(
                        sql: "INSERT INTO \(table) VALUES (\(marks))", arguments: StatementArguments(row.databaseValues)
                    )
                }
            }
        }
        try store.shrink(except: [])
        #expect(try store.conversation("c1", limit: 100)?.messages.keys.sorted() == [28, 29, 30])
        #expect(try numbers(store) == [30, 31])
    }
}
