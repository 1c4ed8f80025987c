extension LanguageTag {
    /// Whether who knows the language `other` can read this one.
    ///
    /// As in RFC 4647, a tag stands for all that it is a prefix of (section 3.3.1), and a more special one falls back to it
    /// (section 3.4): who knows `en-GB` reads `en` and `en-US`, for regions tell who writes, not who can read. Scripts have
    /// to be the same, where a language has more than one: `zh-TW` is `zh-Hant`, which is not `zh-Hans`.
    package func isReadable(knowing other: LanguageTag) -> Bool {
        guard primaryLanguage == other.primaryLanguage || Self.isNorwegian(self, other) else { return false }
        guard let one = effectiveScript, let two = other.effectiveScript else { return true }
        return one == two
    }

    /// Whether somebody who knows these languages can read this one.
    package func isReadable(knowing languages: some Sequence<LanguageTag>) -> Bool {
        languages.contains { isReadable(knowing: $0) }
    }

    /// `no` is Bokmål or Nynorsk: it matches both, which do not match each other.
    private static func isNorwegian(_ one: LanguageTag, _ other: LanguageTag) -> Bool {
        let languages = [one.primaryLanguage, other.primaryLanguage]
        return languages.contains("no") && (languages.contains("nb") || languages.contains("nn"))
    }

    /// The script that a tag is read for: the one that it names, else that of its region, else the usual one. Nil for `zh`
    /// alone, which says too little.
    package var effectiveScript: String? {
        if let script { return script }
        guard primaryLanguage == "zh" else { return Self.usualScripts[primaryLanguage] }
        // The likely subtags of Unicode CLDR.
        return region.map { ["TW", "HK", "MO"].contains($0) ? "Hant" : "Hans" }
    }

    /// Of languages that some write in another script; the likely subtags of Unicode CLDR.
    private static let usualScripts = [
        "sr": "Cyrl", "az": "Latn", "uz": "Latn", "kk": "Cyrl", "pa": "Guru", "hi": "Deva", "ur": "Arab", "ru": "Cyrl",
        "uk": "Cyrl", "bg": "Cyrl", "el": "Grek", "ar": "Arab", "fa": "Arab", "he": "Hebr", "ja": "Jpan", "ko": "Kore",
        "th": "Thai", "ta": "Taml", "te": "Telu", "bn": "Beng", "mr": "Deva", "ne": "Deva", "ka": "Geor", "hy": "Armn",
    ]
}
