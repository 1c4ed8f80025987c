import LanguageEngines
import Languages
import Model
import Testing

@testable import Messaging

@Suite("What a model summarises")
struct SummaryWorkTests {
    private var chat: Chat
    private let id: ConversationID
    private let store: InMemoryMessagingStore
    private let (ann, ben, cem): (UserID, UserID, UserID)

    init() throws {
        var chat = Chat(people: 4)
        chat.commands = .quiet(analyzer: TextAnalyzer(engine: CLD2Engine()))
        self.chat = chat
        store = chat.store
        (ann, ben, cem) = (chat.people[0], chat.people[1], chat.people[2])
        id = try chat.group([1, 2])
    }

    private func work(by user: UserID, _ scope: SummaryScope = SummaryScope()) throws -> SummaryWork {
        try chat.commands.summaryWork(of: id, scope, by: user, isHosted: false, engine: "m", in: store)
    }

    private func say(_ count: Int) throws {
        for index in 1...count {
            try chat.send("The \(index)th thing that we have to talk about today", to: id, by: index % 2)
        }
    }

    private func save(_ part: SummaryPart, _ work: SummaryWork) throws -> Bool {
        let item = MessageSummary.Item(kind: .point, text: "Things", owner: ben, messages: [1])
        return try chat.commands.save([item], of: part, work, engine: "m", isHosted: false, in: store)
    }

    private var first: SummaryPart? { get throws { try work(by: ann).parts.first } }

    @Test("whole blocks are stored and served to who sees all of them, until one of their texts changes")
    func blocks() throws {
        try say(70)
        let made = try work(by: ann)
        #expect(made.parts.map(\.block) == [0, nil] && made.parts.map(\.messages.count) == [64, 6])
        #expect(made.members == [ann, ben] && made.count == 70 && made.range == 1...70)
        #expect(try save(made.parts[0], made))
        #expect(try work(by: cem).parts.first?.known?.map(\.text) == ["Things"])
        // Part of it, a thread, another language and another model have their own.
        var part = SummaryScope()
        part.from = 2
        #expect(try work(by: cem, part).parts.map(\.block) == [nil])
        store.languages[cem] = [try LanguageTag("es")]
        #expect(try work(by: cem).parts.first?.known == nil)
        store.languages[cem] = []
        #expect(
            try chat.commands.summaryWork(of: id, SummaryScope(), by: cem, isHosted: false, engine: "n", in: store)
                .parts.first?.known == nil)
        // What one has hidden is not in it.
        _ = try chat.commands.hide(3, in: id, by: cem, store: store)
        #expect(try work(by: cem).parts.map(\.block) == [nil])
        #expect(try work(by: ann).parts.first?.known != nil)
        _ = try chat.commands.delete(5, in: id, by: chat.people[1], store: store)
        #expect(store.translations.summaries.isEmpty)
        #expect(try work(by: ann).parts.first?.messages.count == 63)
    }

    @Test("a late result of a text that has changed is not stored")
    func late() throws {
        try say(64)
        let made = try work(by: ann)
        _ = try chat.commands.delete(5, in: id, by: chat.people[1], store: store)
        #expect(try !save(made.parts[0], made))
        #expect(store.translations.summaries.isEmpty)
    }

    @Test("who joined later has no block of before, nor who lowers a level an old one")
    func rights() throws {
        try say(64)
        let made = try work(by: ann)
        #expect(try save(made.parts[0], made))
        _ = try chat.commands.add([chat.people[3]], to: id, by: ann, in: store)
        #expect(try work(by: chat.people[3]).parts.isEmpty)
        // Hidden at once, erased when levels are enforced.
        store.translations.choices[ben] = LanguageChoices(intelligence: .off)
        let after = try #require(try first)
        #expect(after.known == nil && after.messages.count == 32)
        #expect(try chat.commands.enforceLevels(in: id, after: 0, limit: 100, store: store) == nil)
        #expect(store.translations.summaries.isEmpty)
        // Where nothing has changed it stays.
        let again = try work(by: ann)
        #expect(try save(again.parts[0], again))
        #expect(try chat.commands.enforceLevels(in: id, after: 0, limit: 100, store: store) == nil)
        #expect(store.translations.summaries.count == 1)
    }

    @Test("a model gets handles for people, and no links; what it says is of those who are members")
    func prompts() throws {
        try chat.send("<@\(cem.text)> can you pay? https://example.org/secret", to: id, by: 0)
        let made = try work(by: ann)
        let (request, read) = made.prompt(of: made.parts[0])
        #expect(request.data.contains("@p2 can you pay? …") && !request.data.contains("example.org"))
        #expect(!request.data.contains(cem.text) && !request.data.contains(ann.text))
        let json = #"{"items": [{"kind": "action", "text": "Pay", "owner": "p2", "due": null, "messages": ["m1"]}]}"#
        let items = try read(Array(json.utf8))
        #expect(items.first?.owner == cem && items.first?.messages == [1])
        #expect(made.shown(items).first?.owner == cem)
        try chat.commands.remove(cem, from: id, by: ann, in: store)
        #expect(try work(by: ann).shown(items).first?.owner == nil)
    }

    @Test("items of parts become fewer, and rest on what those rested on")
    func joined() throws {
        try say(70)
        let made = try work(by: ann)
        let parts = [
            MessageSummary.Item(kind: .decision, text: "One", messages: [1, 3]),
            MessageSummary.Item(kind: .action, text: "Two", owner: ben, messages: [66]),
        ]
        let (request, read) = made.prompt(joining: parts)
        #expect(request.data.contains("notes") && request.data.contains("p1"))
        let json =
            #"{"items": [{"kind": "action", "text": "Both", "owner": "p1", "due": null, "messages": ["n1", "n2"]}]}"#
        let items = try read(Array(json.utf8))
        #expect(items.first?.messages == [1, 3, 66] && items.first?.owner == ben)
    }
}
