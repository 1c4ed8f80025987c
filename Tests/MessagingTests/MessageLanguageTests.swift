import LanguageEngines
import Languages
import Model
import TestSupport
import Testing

@testable import Messaging

@Suite("Languages of messages")
struct MessageLanguageTests {
    private let chat: Chat
    private let id: ConversationID

    init() throws {
        var chat = Chat(people: 3)
        chat.commands = .quiet(analyzer: TextAnalyzer(engine: CLD2Engine()))
        self.chat = chat
        id = try chat.group([1, 2])
    }

    private func language(_ text: String) throws -> String? {
        try chat.send(text, to: id, by: 0).language.map { "\($0.code.string) \($0.confidence)" }
    }

    @Test("a text has the language of its words, whatever links, mentions, code and emoji are in it")
    func sending() throws {
        #expect(try language("Позвони мне, когда придёшь домой, хорошо?") == "ru high")
        #expect(
            try language(
                "https://example.org/where/are/you `let it = be` <@all> ¿Puedes llamarme cuando llegues a casa? 😀")
                == "es high")
        for text in ["ok", "😀😀", "https://example.org/only/a/link", "`code only here`", "<@all>", "12:30!"] {
            #expect(try language(text) == nil, "\(text)")
        }
    }

    @Test("without an engine there are none")
    func withoutEngine() throws {
        let chat = Chat(people: 1)
        let id = try chat.group([])
        #expect(try chat.send("Can you call me when you get home?", to: id, by: 0).language == nil)
    }

    @Test("an edit has a language of its own, and former texts keep theirs")
    func editing() throws {
        let sent = try chat.send("Can you call me when you get home tonight?", to: id, by: 1)
        let edited = try chat.commands.edit(
            1, in: id, text: MessageText("Kannst du mich anrufen, wenn du zu Hause bist?"), basedOn: sent.textVersion,
            by: chat.people[1], store: chat.store)
        #expect(sent.language?.code.string == "en" && edited.language?.code.string == "de")
        let former = try chat.commands.edits(of: 1, in: id, by: chat.people[0], store: chat.store)
        #expect(former.map(\.language?.code.string) == ["en"])
    }

    @Test("who left before an edit sees the language of the text that they see")
    func leaving() throws {
        let sent = try chat.send("Can you call me when you get home tonight?", to: id, by: 0)
        try chat.commands.leave(id, by: chat.people[2], in: chat.store)
        _ = try chat.commands.edit(
            1, in: id, text: MessageText("Позвони мне, когда придёшь домой"), basedOn: sent.textVersion,
            by: chat.people[0], store: chat.store)
        #expect(try chat.page(of: id, by: 2).messages[0].language?.code.string == "en")
        #expect(try chat.page(of: id, by: 1).messages[0].language?.code.string == "ru")
    }

    @Test("its author corrects it, until the next edit; others see it, and the text is as new as before")
    func correcting() throws {
        let sent = try chat.send("Can you call me when you get home tonight?", to: id, by: 1)
        func correct(_ tag: String, by person: Int = 1) throws -> SeenMessage {
            try chat.commands.setLanguage(
                LanguageTag(tag), of: 1, in: id, by: chat.people[person], store: chat.store)
        }
        let corrected = try correct("IW")
        #expect(try corrected.language == MessageLanguage(code: LanguageTag("he"), confidence: .high))
        #expect(corrected.version > sent.version && corrected.textVersion == sent.textVersion)
        #expect(corrected.editedAt == nil)
        #expect(try correct("he") == corrected, "a repetition")
        #expect(try chat.page(of: id, by: 0).messages[0].language == corrected.language)
        #expect(problem { _ = try correct("en", by: 0) } == .forbidden)
        let edited = try chat.commands.edit(
            1, in: id, text: MessageText("Can you call me when you get home, please?"), basedOn: sent.textVersion,
            by: chat.people[1], store: chat.store)
        #expect(edited.language?.code.string == "en")
        _ = try chat.commands.delete(1, in: id, by: chat.people[1], store: chat.store)
        #expect(problem { _ = try correct("en") } == .conflict)
        #expect(try chat.store.message(1, in: id)?.language == nil)
    }

    @Test("a forwarded text keeps the language of the original")
    func forwarding() throws {
        try chat.send("Can you call me when you get home tonight?", to: id, by: 1)
        _ = try chat.commands.setLanguage(LanguageTag("sco"), of: 1, in: id, by: chat.people[1], store: chat.store)
        let outgoing = OutgoingMessage(clientID: chat.newID(), forward: MessageReference(id, 1), digest: [])
        let forwarded = try chat.commands.send(outgoing, to: id, by: chat.people[0], in: chat.store).message
        #expect(forwarded.language?.code.string == "sco")
    }

    @Test("what was analyzed before the transaction is the same")
    func analyzedBefore() throws {
        let text = "**Peux-tu** m’appeler quand tu rentres à la maison ?"
        let analyzed = chat.commands.analyzer.analyzed(try MessageText(text))
        let outgoing = OutgoingMessage(clientID: chat.newID(), text: analyzed, digest: [])
        let sent = try chat.commands.send(outgoing, to: id, by: chat.people[0], in: chat.store).message
        let other = try chat.send(text, to: id, by: 0)
        #expect(sent.language == other.language && sent.ranges == other.ranges && sent.language?.code.string == "fr")
    }
}
