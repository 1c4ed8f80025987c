import Languages
import Model
import Testing

@Suite struct LanguageTagTests {
    @Test(arguments: [
        ("en-GB", "en-GB"), ("en-IN", "en"), ("es-419", "es-419"), ("zh-TW", "zh-Hant"), ("zh", "zh"),
        ("sr-Latn-RS", "sr-Latn"),
        ("ru-Cyrl", "ru"), ("iw", "he"), ("no", "no"), ("fil", "fil"),
    ])
    func asATarget(tag: String, target: String) throws { #expect(try LanguageTag(tag).asTarget?.string == target) }

    @Test(arguments: ["xx", "qaa", "abcdefgh", "zzz-Latn"])
    func isNoTarget(tag: String) throws { #expect(try LanguageTag(tag).asTarget == nil) }

    @Test(arguments: [
        ("EN", "en"), ("pt-br", "pt-BR"), ("ZH-HANT-tw", "zh-Hant-TW"), ("sl-ROZAJ-biske", "sl-rozaj-biske"),
        ("de-CH-1996", "de-CH-1996"), ("en-A-Myext-B-XY", "en-a-myext-b-xy"), ("es-419", "es-419"),
    ])
    func caseIsThatOfRFC5646(tag: String, normalized: String) throws {
        #expect(try LanguageTag(tag).string == normalized)
    }

    @Test(arguments: [
        "", "e", "englishlanguage", "en_US", "en-", "-en", "e1", "en--US", "日本語", "en-abcdefghi", "en US",
        String(repeating: "a", count: 2) + String(repeating: "-abcdefgh", count: 4),
    ])
    func whatIsNoTagIsRefused(tag: String) {
        #expect(throws: Problem.self) { try LanguageTag(tag) }
    }

    @Test(arguments: [
        ("en", "en-GB"), ("en-US", "en-GB"), ("pt-BR", "pt"), ("zh-TW", "zh-Hant"), ("zh-HK", "zh-Hant-TW"),
        ("zh-CN", "zh-Hans"), ("zh-Hant", "zh"), ("no", "nb"), ("nn", "no"), ("nb-NO", "no"), ("he", "iw"),
        ("id", "in"), ("sr", "sr-Cyrl"), ("hi", "hi-Deva-IN"), ("fil", "tl"), ("ru", "ru-Cyrl"),
    ])
    func whatOneCanRead(tag: String, known: String) throws {
        #expect(try LanguageTag(tag).isReadable(knowing: LanguageTag(known)))
        #expect(try LanguageTag(known).isReadable(knowing: LanguageTag(tag)))
    }

    @Test(arguments: [
        ("en", "de"), ("zh-Hans", "zh-Hant"), ("zh-CN", "zh-TW"), ("nb", "nn"), ("hi", "hi-Latn"), ("no", "da"),
        ("es", "et"), ("sr-Latn", "sr"), ("en", "eng-x-private"),
    ])
    func whatOneCannotRead(tag: String, known: String) throws {
        #expect(try !LanguageTag(tag).isReadable(knowing: LanguageTag(known)))
        #expect(try !LanguageTag(known).isReadable(knowing: LanguageTag(tag)))
    }

    @Test func extensionsAreNotCompared() throws {
        #expect(try LanguageTag("en-u-ca-buddhist").isReadable(knowing: LanguageTag("en-x-whatever")))
        #expect(try LanguageTag("zh-u-hant").effectiveScript == nil)
        #expect(try LanguageTag("en-GB-oed").region == "GB")
    }

    @Test(arguments: [
        ("en-gb-oxendict-x-anything-at-all", "en-GB"), ("zh-hant-tw-u-ca-roc", "zh-Hant-TW"), ("sco", "sco"),
        ("anything", nil), ("word-x-more", nil),
    ])
    func ofATextThereIsNoMoreThanLanguageScriptAndRegion(tag: String, left: String?) throws {
        #expect(try LanguageTag(tag).ofText?.string == left)
    }

    @Test func retiredCodesAreReplaced() throws {
        #expect(try LanguageTag("iw-IL").replacingRetiredCode().string == "he-IL")
        #expect(try LanguageTag("pt-BR").replacingRetiredCode().string == "pt-BR")
    }
}
