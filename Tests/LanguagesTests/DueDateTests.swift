import Languages
import Model
import Testing

/// The 27th of November 2026 is a Friday.
@Suite("By when something is to be done")
struct DueDateTests {
    private static let sentAt = Timestamp("2026-11-27T15:30:00Z")

    @Test(arguments: [
        ("en", "Please send it by 2026-12-24", "2026-12-24"), ("en", "Could you call her tomorrow?", "2026-11-28"),
        ("en", "The day after tomorrow is fine", "2026-11-29"), ("en", "by Monday please", "2026-11-30"),
        ("en", "Finish it by Friday", "2026-12-04"), ("en", "I'll pay by 5 pm", "2026-11-27T17:00"),
        ("en", "Tomorrow at 9:30am, please", "2026-11-28T09:30"), ("en", "until 17:45 tomorrow", "2026-11-28T17:45"),
        ("en", "12 am is fine", "2026-11-27T00:00"), ("en", "in 3 days", "2026-11-30"),
        ("en", "due on December 1st", "2026-12-01"), ("en", "on the 3rd. January 4 it is", "2027-01-04"),
        ("en", "1 December", "2026-12-01"), ("en", "24.12.2026 at the latest", "2026-12-24"),
        ("es", "¿Puedes enviarlo mañana?", "2026-11-28"), ("es", "hazlo pasado mañana", "2026-11-29"),
        ("es", "antes del miércoles a las 10:00", "2026-12-02T10:00"), ("es", "el 24 de diciembre", "2026-12-24"),
        ("es", "dentro de 5 días", "2026-12-02"), ("pt", "me manda amanhã", "2026-11-28"),
        ("pt", "até segunda-feira", "2026-11-30"), ("pt", "na quinta às 17h30", "2026-12-03T17:30"),
        ("pt", "depois de amanhã às 9h", "2026-11-29T09:00"), ("ru", "Пришли отчёт до завтра", "2026-11-28"),
        ("ru", "сделаю к пятнице", "2026-12-04"), ("ru", "через 2 дня", "2026-11-29"),
        ("ru", "к 1 декабря в 18:00", "2026-12-01T18:00"), ("hi", "कल तक भेज दो", "2026-11-28"),
        ("hi", "मंगलवार तक", "2026-12-01"), ("hi", "3 दिन में कर दूँगा", "2026-11-30"),
        ("ar", "أرسل التقرير غدًا", "2026-11-28"), ("ar", "قبل يوم الخميس", "2026-12-03"),
        ("ar", "بعد غد", "2026-11-29"), ("el", "μέχρι 2026-12-24", "2026-12-24"), (nil, "17:00", "2026-11-27T17:00"),
    ])
    func whatIsSaidIsFound(language: String?, text: String, expected: String) throws {
        let language = language.flatMap { LanguageTag(wellFormed: $0) }
        let sentAt = try #require(Self.sentAt)
        #expect(DueDateRules.date(in: text, keeping: [], language: language, sentAt: sentAt)?.text == expected)
    }

    @Test(arguments: [
        ("en", "I sent it on 2026-11-20"), ("en", "see 3/4 of it at 5"), ("en", "2026-02-31"), ("en", "25:00, or 9:75"),
        ("en", "0 days, 13 pm"), ("en", "May I come in?"), ("es", "trabajo por la mañana"),
        ("es", "esta mañana llovió"), ("pt", "a segunda opção é melhor"), ("el", "αύριο"), (nil, "tomorrow"),
        ("en", "99999999999999999999-12-01"), ("en", "2999-01-01"), ("en", ""), ("en", "-:.::--"),
    ])
    func whatIsNotSaidIsNot(language: String?, text: String) throws {
        let language = language.flatMap { LanguageTag(wellFormed: $0) }
        let sentAt = try #require(Self.sentAt)
        #expect(DueDateRules.date(in: text, keeping: [], language: language, sentAt: sentAt) == nil)
    }

    @Test func whatIsKeptIsNoText() throws {
        let sentAt = try #require(Self.sentAt)
        let text = "https://example.org/2026-12-24"
        let found = DueDateRules.date(in: text, keeping: [0..<30], language: nil, sentAt: sentAt)
        #expect(found == nil)
    }

    @Test(arguments: ["2026-12-24", "2026-12-24T17:00", "1970-01-01", "2028-02-29"])
    func textsAreReadAgain(text: String) { #expect(DueDate(text)?.text == text) }

    @Test(arguments: [
        "", "2026-12", "2026-13-01", "2026-02-30", "2026-12-24T25:00", "2026-12-24X", "tomorrow", "２０２６-12-24",
    ])
    func othersAreNone(text: String) { #expect(DueDate(text) == nil) }

    @Test func secondsAndZonesAreLeftOut() { #expect(DueDate("2026-12-24T17:00:30Z")?.text == "2026-12-24T17:00") }
}
