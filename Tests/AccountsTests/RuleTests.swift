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

    @Test func photosComeOverHTTPS() throws {
        for good in ["https://a.example/x.png?w=1#f", "HTTPS://a", "https://[::1]:8443/p"] {
            #expect(try AccountRules.photoURL(good) == good)
        }
        for bad in [
            "", "http://a.example/x", "https://", "https:///x", "https://u:p@a.example/", "https://a b/",
            "javascript:1",
            "https://a/\u{e9}", "https://:80/", "https://a/\"x", "https://a/" + String(repeating: "x", count: 2048),
        ] { #expect(throws: Problem.self, "\(bad)") { _ = try AccountRules.photoURL(bad) } }
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
        #expect(NameWords.words(in: "José  Ñandú-Łukasz O'Neil") == ["jose", "nandu", "lukasz", "o", "neil"])
        #expect(NameWords.words(in: "Jose\u{301} JOSÉ") == ["jose"])
        #expect(NameWords.words(in: "山田 太郎") == ["山田", "太郎"])
        #expect(NameWords.words(in: "👋 !") == [])
    }
}
