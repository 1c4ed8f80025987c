import Testing

@testable import Languages

@Suite("Terms that are always translated in the same way")
struct GlossaryTests {
    private static let terms = [
        GlossaryTerm(source: "backup", target: "copia"), GlossaryTerm(source: "backup disk", target: "disco de copia"),
        GlossaryTerm(source: "SIP", target: "SIP"), GlossaryTerm(source: "会議", target: "reunión"),
    ]
    private let glossary = Glossary(Self.terms)

    private func found(_ text: String) -> [String] {
        glossary.terms(in: MaskedText(text, keeping: [])).map(\.source)
    }

    @Test func theyAreWholeWordsInTheirCase() {
        #expect(found("make a backup, now") == ["backup"])
        #expect(found("Backup!") == ["Backup"])
        #expect(found("backups and backup2 and BACKUP and abackup").isEmpty)
        #expect(found("the backup disk") == ["backup disk"])
        #expect(found("sip over sip").isEmpty && found("SIP") == ["SIP"])
        #expect(found("明日の会議は九時") == ["会議"])
        #expect(found("").isEmpty)
    }

    @Test func whatIsKeptHasNone() {
        #expect(glossary.terms(in: MaskedText("see `backup` now", keeping: [4..<12])).isEmpty)
    }

    @Test func engineWithoutGlossariesGetPlaceholders() {
        let text = MaskedText("Backup of @ann: the backup disk", keeping: [10..<14])
        let written = text.replacing(glossary.terms(in: text)).written(as: .square)
        #expect(written.text == "[X1] of [X2]: the [X3]")
        #expect(written.result("[X3] de [X2]: [X1]") == .text("disco de copia de @ann: Copia"))
        #expect(written.result("[X3] de [X2]") == .failed(.damaged))
        // What was written is what was written.
        #expect(text.replacing(Self.terms).original == "Backup of @ann: the backup disk")
        #expect(text.replacing([]) == text)
    }

    @Test func theFirstOfTwoCounts() {
        let twice = Glossary([
            GlossaryTerm(source: "a", target: "first"), GlossaryTerm(source: "a", target: "second"),
        ])
        #expect(twice.terms(in: MaskedText("a", keeping: [])).map(\.target) == ["first"])
    }

    @Test func theyAreOfOneLanguage() throws {
        let entries = [
            GlossaryEntry(source: "a", target: "es", language: try LanguageTag("es")),
            GlossaryEntry(source: "a", target: "pt", language: try LanguageTag("pt")),
        ]
        let text = MaskedText("a", keeping: [])
        #expect(Glossary(entries, into: try LanguageTag("pt-BR")).terms(in: text).map(\.target) == ["pt"])
        #expect(Glossary(entries, into: try LanguageTag("fr")).isEmpty)
    }

    @Test func fingerprintsTellThemApart() {
        let all = [
            [], [GlossaryTerm(source: "a", target: "b")], [GlossaryTerm(source: "ab", target: "")],
            [GlossaryTerm(source: "a", target: "c")],
            [GlossaryTerm(source: "a", target: "b"), GlossaryTerm(source: "c", target: "d")],
        ]
        #expect(Set(all.map(GlossaryTerm.fingerprint)).count == all.count)
        #expect(GlossaryTerm.fingerprint(of: []) == "")
    }

    /// Of those that begin alike the longest that ends with a word counts, and what is written first of the same.
    @Test func theyShareTheirBeginnings() {
        let sources = ["in", "in a", "in a word", "in a wordy", "inn", "in", "界", "界会", "世界"]
        let glossary = Glossary(sources.enumerated().map { GlossaryTerm(source: $1, target: "\($0)") })
        func targets(_ text: String) -> [String] {
            glossary.matches(in: Array(text.unicodeScalars)).map { "\($0.range.lowerBound) \($0.term.target)" }
        }
        #expect(targets("in a word") == ["0 2"])
        #expect(targets("in a words") == ["0 1"])
        #expect(targets("in an inn") == ["0 0", "6 4"])
        #expect(targets("In a wordy") == ["0 3"])
        #expect(targets("世界会界") == ["0 8", "3 6"])
        #expect(
            targets("é in") == ["2 0"] && targets("éin").isEmpty && targets("inè").isEmpty && targets("in9").isEmpty)
    }

    @Test func termsThatRepeatThemselvesAreFoundInTextsThatDo() {
        for letter in ["a", "會", "a "] {
            let many = Glossary(
                (1...100).map { GlossaryTerm(source: String(repeating: letter, count: $0) + "b", target: "x") })
            let text = String(repeating: letter, count: 4_000)
            #expect(many.matches(in: Array(text.unicodeScalars)).isEmpty)
            let ends = many.matches(in: Array((text + "b").unicodeScalars))
            // Letters of one word before it are no beginning of a term.
            #expect(ends.map(\.range.count) == (letter == "a" ? [] : [letter.unicodeScalars.count * 100 + 1]))
        }
    }

    @Test func longTextsAreReadOnce() {
        let many = Glossary((0..<1_200).map { GlossaryTerm(source: "a\($0)", target: "x") })
        let text = MaskedText(String(repeating: "a1199 aaaa ", count: 2_000), keeping: [])
        #expect(many.terms(in: text) == [GlossaryTerm(source: "a1199", target: "x")])
    }
}
