import Testing

@testable import switchboard_load

/// The check of translations has to fail when something is wrong: every test but the first breaks a history that is right.
@Suite("The check of the translations of a run of chat")
struct ChatTranslationTests {
    private static let authors = [UUIDBits(high: 1, low: 1), UUIDBits(high: 2, low: 2), UUIDBits(high: 3, low: 3)]
    private static let languages = Dictionary(
        uniqueKeysWithValues: zip(authors, [ChatLanguage.spanish, .portuguese, .portuguese]))

    /// The first author writes what has an odd number, in Spanish, the second the rest, in Portuguese.
    private static func message(_ number: Int64) -> SeenMessage {
        var message = SeenMessage()
        (message.number, message.version, message.textVersion) = (number, number, number)
        (message.clientID, message.author) = (UUIDBits(high: 0, low: UInt64(number)), authors[number % 2 == 1 ? 0 : 1])
        (message.language, message.isLanguageSure) = (number % 2 == 1 ? "es" : "pt", true)
        return message
    }

    private static func row(
        _ number: Int64, of version: Int64? = nil, _ language: String, status: String = "done", reason: String? = nil,
        touched: Int64? = nil
    ) -> SeenTranslation {
        SeenTranslation(
            number: number, of: version ?? number, language: language, status: status, reason: reason,
            touched: touched ?? 100 + number)
    }

    private static func held(_ user: Int, _ rows: [SeenTranslation]) -> ChatHistory.Reader {
        let language = languages[authors[user]] ?? .spanish
        var held = HeldTranslations(for: ChatTranslationReader(author: authors[user], language: language))
        _ = held.take(snapshot: [], epoch: "e", sequence: 0)
        for row in rows { _ = held.take(rows: [row], epoch: "e", upTo: row.touched) }
        return ChatHistory.Reader(user: user, held: held)
    }

    /// Six messages of two of three members, all of whom listen.
    private static func right() -> ChatHistory.Conversation {
        var conversation = ChatHistory.Conversation(name: "C")
        conversation.pages = [ChatHistory.Pages(user: 0, author: authors[0], messages: (1...6).map { message($0) })]
        let (spanish, portuguese) = ([2, 4, 6].map { row($0, "es") }, [1, 3, 5].map { row($0, "pt") })
        conversation.readers = [held(0, spanish), held(1, portuguese), held(2, portuguese)]
        return conversation
    }

    private static func check(
        _ change: (inout ChatHistory.Conversation) -> Void = { _ in }
    ) -> (counts: TranslationCounts, kinds: [ChatViolation.Kind]) {
        var conversation = right()
        change(&conversation)
        let check = TranslationChecker(checking: conversation, languages: languages)
        return (check.counts, check.violations.map(\.kind))
    }

    @Test("nothing is wrong with a history that is right")
    func nothing() {
        let (counts, kinds) = Self.check()
        #expect(kinds == [])
        #expect((counts.expected, counts.seen, counts.made) == (9, 9, 6))
        #expect((counts.askedFor, counts.misidentified) == (0, 0) && counts.failures == [:])
    }

    @Test("what nobody has demanded, waits or has failed is told")
    func untranslated() {
        let lost = Self.check { $0.readers[1] = Self.held(1, [Self.row(1, "pt"), Self.row(3, "pt")]) }
        #expect(lost.kinds == [.untranslated] && lost.counts.failures == ["never demanded": 1])
        #expect(lost.counts.seen == 8)
        let failed = Self.check {
            let rows = [
                Self.row(1, "pt"), Self.row(3, "pt", status: "queued"),
                Self.row(5, "pt", status: "failed", reason: "provider_failed"),
            ]
            $0.readers[2] = Self.held(2, rows)
        }
        #expect(failed.kinds == [.untranslated, .untranslated])
        #expect(failed.counts.failures == ["queued": 1, "failed: provider_failed": 1])
    }

    @Test("an edited text has another translation")
    func edited() {
        let edited = Self.check { conversation in
            conversation.pages[0].messages[2].textVersion = 9
            conversation.readers[1] = Self.held(
                1, [Self.row(1, "pt"), Self.row(3, "pt"), Self.row(5, "pt"), Self.row(3, of: 9, "pt", touched: 120)])
        }
        // The other listener has that of the former text alone.
        #expect(edited.kinds == [.untranslated] && edited.counts.seen == 8 && edited.counts.made == 7)
        // A deleted one needs none.
        #expect(Self.check { $0.pages[0].messages[2].isDeleted = true }.counts.expected == 7)
    }

    @Test("a text that is translated twice")
    func twice() {
        let rows = [Self.row(1, "pt"), Self.row(3, "pt"), Self.row(5, "pt", touched: 130)]
        #expect(Self.check { $0.readers[1] = Self.held(1, rows) }.kinds == [.translatedTwice])
        let again = Self.check {
            $0.readers[0] = Self.held(0, [2, 4, 6].map { Self.row($0, "es") } + [Self.row(6, "es", touched: 140)])
        }
        #expect(again.kinds == [.protocolViolation])
    }

    @Test("one for who knows the language, into another one, or of a text that there is not")
    func needless() {
        let known = Self.check { $0.readers[0] = Self.held(0, [1, 2, 4, 6].map { Self.row($0, "es") }) }
        #expect(known.kinds == [.needlessTranslation])
        let other = Self.check {
            $0.readers[0] = Self.held(0, [Self.row(2, "pt"), Self.row(4, "es"), Self.row(6, "es")])
        }
        #expect(other.kinds == [.protocolViolation])
        let rows = [2, 4, 6, 8].map { Self.row($0, "es") } + [Self.row(6, of: 7, "es")]
        #expect(Self.check { $0.readers[0] = Self.held(0, rows) }.kinds == [.unexpected, .unexpected])
    }

    @Test("what the server takes for another language is counted, and left where it is not sure")
    func misidentified() {
        let unsure = Self.check { conversation in
            conversation.pages[0].messages[0].isLanguageSure = false
            for user in 1...2 { conversation.readers[user] = Self.held(user, [Self.row(3, "pt"), Self.row(5, "pt")]) }
        }
        #expect(unsure.kinds == [] && unsure.counts.misidentified == 1 && unsure.counts.expected == 7)
    }

    @Test("what came at once, or while somebody was away, is asked for")
    func askedFor() {
        var messages = (1...60).map { Self.message($0) }
        var held = HeldTranslations(for: ChatTranslationReader(author: Self.authors[1], language: .portuguese))
        _ = held.take(snapshot: [], epoch: "e", sequence: 0)
        _ = held.take(rows: [Self.row(3, "pt", status: "queued"), Self.row(7, "pt")], epoch: "e", upTo: 107)
        // The newest fifty follow by themselves, and so does what is queued.
        #expect(held.unasked(of: messages) == [1, 5, 9] && held.missing(of: messages) == 29)
        held.take(response: [Self.row(1, "pt", status: "queued"), Self.row(5, "pt")])
        #expect(held.missing(of: messages) == 28)
        // Nobody tells what became of it meanwhile.
        _ = held.take(snapshot: [], epoch: "e", sequence: 120)
        #expect(held.unasked(of: messages) == [1, 3, 9] && held.position == #"["e",120]"#)
        messages[8].isDeleted = true
        #expect(held.unasked(of: messages) == [1, 3])
        #expect(held.asked == [1, 3, 5, 9] && Self.check { $0.readers[1].held = held }.counts.askedFor == 4)
    }

    @Test("both have arrived when the later of the two has")
    func arrivals() {
        var held = HeldTranslations(for: ChatTranslationReader(author: Self.authors[1], language: .portuguese))
        _ = held.take(snapshot: [], epoch: "e", sequence: 0)
        let (first, other, own) = (Self.message(1), Self.message(3), Self.message(2))
        #expect(!held.receive(first) && !held.receive(own))
        #expect(held.take(rows: [Self.row(1, "pt", status: "queued", touched: 50)], epoch: "e", upTo: 50) == [])
        #expect(held.take(rows: [Self.row(1, "pt"), Self.row(3, "pt")], epoch: "e", upTo: 103) == [first.clientID])
        #expect(held.receive(other) && held.violations == [])
        _ = held.take(rows: [], epoch: "f", upTo: 104)
        #expect(held.violations.count == 1)
    }

    private static func frame(_ text: String) throws -> ChatFrame {
        let bytes = Array(text.utf8)
        let frame = ChatFrame(bytes.span)
        return try #require(frame)
    }

    @Test("frames of the stream, and the language of a message")
    func frames() throws {
        let row =
            #"{"number":3,"of":7,"language":"pt","status":"unavailable","reason":"unknown_words","touched":12}"#
        let rows = try Self.frame(
            #"{"stream":"translations:c","rows":[{"translation":\#(row)},{"hints":{"number":3}}],"epoch":"e","after":0,"#
                + #""upTo":12}"#)
        let expected = Self.row(3, of: 7, "pt", status: "unavailable", reason: "unknown_words", touched: 12)
        #expect(rows.translations == [expected] && rows.messages == [] && rows.upTo == 12)
        let snapshot = try Self.frame(
            #"{"stream":"translations:c","snapshot":{"language":"pt","mode":"automatic","translations":[\#(row)],"#
                + #""hints":[]},"epoch":"e","seq":9}"#)
        #expect(snapshot.translations == [expected] && snapshot.sequence == 9)
        let sent = try Self.frame(
            #"{"id":1,"result":{"message":{"number":1,"language":{"code":"es","confidence":"high"},"version":1}}}"#)
        #expect(sent.messages.first?.language == "es" && sent.messages.first?.isLanguageSure == true)
    }

    @Test("texts differ, are of their size, and of two languages in turn", arguments: ChatLanguage.allCases)
    func texts(_ language: ChatLanguage) {
        #expect(Set((0..<50).map { language.text($0, bytes: 100) }).count == 50)
        #expect(language.text(3, bytes: 500).utf8.count >= 500 && language.text(3, bytes: 1).utf8.count < 100)
        #expect(language.text(9, bytes: 100).allSatisfy { $0 != "\"" && $0 != "\\" })
        #expect(language.other.other == language && ChatLanguage(of: 0) != ChatLanguage(of: 1))
    }
}
