import Accounts
import Model
import Testing

@Suite struct RuleTests {
    @Test(arguments: ["a@b.co", " Ann.Lee+x@Example.ORG ", "用户@例え.jp", "x@sub.do-main.example"])
    func addressesThatAre(email: String) throws {
        #expect(try !AccountRules.email(email).contains(" "))
    }

    @Test(arguments: [
        "", "@", "a", "a@", "@b.co", "a@b", "a b@c.de", "a@b..c", "a@-b.co", "a@b.co-", "a@b@c.de", "a\n@b.co",
        String(repeating: "a", count: 65) + "@b.co", "a@" + String(repeating: "b.", count: 130) + "co",
    ])
    func addressesThatAreNot(email: String) {
        let problem = #expect(throws: Problem.self) { _ = try AccountRules.email(email) }
        #expect(problem?.field == "email" && problem?.kind == .invalidRequest)
    }

    @Test func addressesAreFoundInAnyCase() {
        #expect(AccountRules.emailKey(" Ann@Example.ORG\n") == "ann@example.org")
    }

    @Test func passwordsAreMeasuredInCharacters() throws {
        #expect(try AccountRules.password("12345678") == "12345678")
        _ = try AccountRules.password(String(repeating: "é", count: 128))
        for bad in ["1234567", String(repeating: "x", count: 129), String(repeating: "👩‍👩‍👧‍👦", count: 30)] {
            #expect(throws: Problem.self) { _ = try AccountRules.password(bad) }
        }
    }

    @Test func namesAreTrimmedAndShown() throws {
        #expect(try AccountRules.displayName("  Ann Lee ") == "Ann Lee")
        #expect(try AccountRules.displayName(String(repeating: "é", count: 80)).count == 80)
        for bad in ["", "  ", "a\u{0}b", "a\nb", "a\u{202E}b", "a\u{2066}b", String(repeating: "x", count: 81)] {
            let problem = #expect(throws: Problem.self) { _ = try AccountRules.displayName(bad) }
            #expect(problem?.field == "displayName")
        }
    }

    @Test(arguments: [
        // The joiners of Persian, Hindi and Sinhala names.
        "علی\u{200C}رضا", "मीराक्\u{200D}ष", "राजक्\u{200C}षय", "ශ්\u{200D}රී",
        // Emoji made of several: a family, a flag, skin tones, hearts, a keycap, Scotland.
        "Ann 👩\u{200D}👩\u{200D}👧\u{200D}👦", "🏳\u{FE0F}\u{200D}🌈", "👩🏽\u{200D}⚕\u{FE0F}", "Zoë ❤\u{FE0F}",
        "Agent 7\u{FE0F}\u{20E3}",
        "🏴\u{E0067}\u{E0062}\u{E0073}\u{E0063}\u{E0074}\u{E007F}",
        // A variant of an ideograph, marks, spaces of other widths, a high code point.
        "葛\u{E0100}城", "Jose\u{301}", "山田\u{3000}太郎", "Nguyễn Thị Ánh", "אברהם", "𐐔𐐯𐑅𐐨𐑉𐐯𐐻",
    ])
    func namesOfAllScriptsStay(name: String) throws {
        #expect(try AccountRules.displayName(name) == name)
    }

    @Test func charactersOfManyMarksAreRefused() throws {
        let marked = "a" + String(repeating: "\u{301}", count: 65)
        let name = #expect(throws: Problem.self) { _ = try AccountRules.displayName(marked) }
        #expect(name?.field == "displayName" && name?.detail.contains("64 marks") == true)
        let note = #expect(throws: Problem.self) { _ = try AccountRules.text(marked, field: "note", characters: 80) }
        #expect(note?.field == "note")
        #expect(try AccountRules.displayName(String(marked.unicodeScalars.dropLast())) != "")
    }

    @Test(arguments: [
        // Direction.
        ("a\u{202E}b", "RIGHT-TO-LEFT OVERRIDE (U+202E)"), ("a\u{2066}b", "LEFT-TO-RIGHT ISOLATE (U+2066)"),
        ("\u{200F}Ann", "RIGHT-TO-LEFT MARK (U+200F)"), ("Ann\u{61C}", "ARABIC LETTER MARK (U+061C)"),
        // Nothing to see.
        ("An\u{200B}n", "ZERO WIDTH SPACE (U+200B)"), ("An\u{2060}n", "WORD JOINER (U+2060)"),
        ("\u{FEFF}Ann", "ZERO WIDTH NO-BREAK SPACE (U+FEFF)"), ("An\u{AD}n", "SOFT HYPHEN (U+00AD)"),
        ("An\u{34F}n", "COMBINING GRAPHEME JOINER (U+034F)"), ("\u{3164}", "HANGUL FILLER (U+3164)"),
        ("\u{115F}", "HANGUL CHOSEONG FILLER (U+115F)"), ("\u{FFA0}", "HALFWIDTH HANGUL FILLER (U+FFA0)"),
        ("\u{2800}", "BRAILLE PATTERN BLANK (U+2800)"), ("An\u{180E}n", "MONGOLIAN VOWEL SEPARATOR (U+180E)"),
        ("An\u{206A}n", "INHIBIT SYMMETRIC SWAPPING (U+206A)"),
        ("An\u{FFF9}n", "INTERLINEAR ANNOTATION ANCHOR (U+FFF9)"),
        ("a\u{0}b", "a control character (U+0000)"), ("a\u{2028}b", "LINE SEPARATOR (U+2028)"),
        // What is needed elsewhere does nothing here.
        ("An\u{200D}n", "ZERO WIDTH JOINER (U+200D)"), ("An\u{200C}n", "ZERO WIDTH NON-JOINER (U+200C)"),
        ("Ann\u{200D}", "ZERO WIDTH JOINER (U+200D)"), ("\u{200C}علی", "ZERO WIDTH NON-JOINER (U+200C)"),
        ("دا\u{200C}ن", "ZERO WIDTH NON-JOINER (U+200C)"), ("👩\u{200D}", "ZERO WIDTH JOINER (U+200D)"),
        ("7\u{200D}8", "ZERO WIDTH JOINER (U+200D)"), ("A\u{FE0F}nn", "VARIATION SELECTOR-16 (U+FE0F)"),
        ("Ann7\u{FE0F}", "VARIATION SELECTOR-16 (U+FE0F)"), ("❤\u{FE0F}\u{FE0F}", "VARIATION SELECTOR-16 (U+FE0F)"),
        ("A\u{E0100}nn", "VARIATION SELECTOR-17 (U+E0100)"), ("Ann\u{E0061}", "TAG LATIN SMALL LETTER A (U+E0061)"),
        ("🏴\u{E0067}\u{E0062}", "TAG LATIN SMALL LETTER G (U+E0067)"), ("\u{E0001}Ann", "LANGUAGE TAG (U+E0001)"),
    ])
    func charactersThatAreNotSeenAreRefusedByName(name: String, character: String) {
        let problem = #expect(throws: Problem.self) { _ = try AccountRules.displayName(name) }
        #expect(problem?.field == "displayName")
        #expect(problem?.detail.contains("must not contain \(character):") == true, "\(problem?.detail ?? "")")
    }

    @Test func languagesAreWrittenAsRecommended() throws {
        #expect(
            try AccountRules.languages(["EN", "pt-br", "zh-hANT-tw", "en", "sl-rozaj-biske", "de-CH-x-PHONEBK"])
                == ["en", "pt-BR", "zh-Hant-TW", "sl-rozaj-biske", "de-CH-x-phonebk"])
        for bad in [
            "", "e", "english-", "en_GB", "-en", "en--US", "1en", "toolonglanguage",
            "en-" + String(repeating: "a", count: 9),
        ] {
            let problem = #expect(throws: Problem.self) { _ = try AccountRules.languages(["en", bad]) }
            #expect(problem?.field == "languages[1]")
        }
        #expect(throws: Problem.self) { _ = try AccountRules.languages(Array(repeating: "en", count: 17)) }
    }

    @Test func endpointSecretsAreBounded() throws {
        #expect(try AccountRules.endpointSecret("abcDEF0123456_-9") == "abcDEF0123456_-9")
        for bad in ["short", "has a space in it 123", String(repeating: "x", count: 129)] {
            #expect(throws: Problem.self) { _ = try AccountRules.endpointSecret(bad) }
        }
    }

    @Test func namesAreFoundWithoutAccents() {
        #expect(SearchTerms.terms(in: "José  Ñandú-Łukasz O'Neil") == ["jose", "nandu", "lukasz", "o", "neil"])
        #expect(SearchTerms.terms(in: "Jose\u{301} JOSÉ") == ["jose"])
        #expect(SearchTerms.terms(in: "山田 太郎") == ["山田", "太郎"])
        // The bytes decide in a database.
        for (name, same) in [
            ("мои\u{306}", "мой"), ("\u{1112}\u{1161}\u{11AB}", "한"), ("か\u{3099}き", "がき"), ("ﾃｽﾄ", "テスト"),
            ("Ελένη", "ελενη"),
        ] {
            #expect(SearchTerms.terms(in: name).map { Array($0.utf8) } == [Array(same.utf8)], "\(name)")
        }
        #expect(SearchTerms.terms(in: "👋 !") == [])
    }
}
