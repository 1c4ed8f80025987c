extension LanguageTag {
    /// The tag as a language to translate into: with a script or region only where people read them differently, so that
    /// there are not more translations of a text than there are languages. Nil if no such language has a code.
    package var asTarget: LanguageTag? {
        let language = primaryLanguage
        guard Self.languages.contains(language) else { return nil }
        let regions = Self.regions[language] ?? []
        var parts = [language]
        if let script = effectiveScript, Self.scripts[language]?.contains(script) == true { parts.append(script) }
        if let region, regions.contains(region) { parts.append(region) }
        return LanguageTag(wellFormed: parts.joined(separator: "-"))
    }

    /// Scripts other than the usual one that readers choose.
    private static let scripts: [String: Set<String>] = [
        "zh": ["Hans", "Hant"], "sr": ["Latn"], "az": ["Cyrl"], "uz": ["Cyrl"], "kk": ["Latn"], "pa": ["Arab"],
    ]

    /// Regions whose written languages differ, as Unicode CLDR has them.
    private static let regions: [String: Set<String>] = [
        "en": ["US", "GB"], "es": ["ES", "MX", "419"], "fr": ["FR", "CA"], "pt": ["BR", "PT"],
        "de": ["DE", "AT", "CH"],
    ]

    /// ISO 639-1, and those of ISO 639-2 and 639-3 in which much is written today.
    private static let languages = Set(
        """
        aa ab ae af ak am an ar as av ay az ba be bg bi bm bn bo br bs ca ce ch co cr cs cu cv cy da de dv dz ee el en eo \
        es et eu fa ff fi fj fo fr fy ga gd gl gn gu gv ha he hi ho hr ht hu hy hz ia id ie ig ii ik io is it iu ja jv ka \
        kg ki kj kk kl km kn ko kr ks ku kv kw ky la lb lg li ln lo lt lu lv mg mh mi mk ml mn mr ms mt my na nb nd ne ng \
        nl nn no nr nv ny oc oj om or os pa pi pl ps pt qu rm rn ro ru rw sa sc sd se sg si sk sl sm sn so sq sr ss st su \
        sv sw ta te tg th ti tk tn to tr ts tt tw ty ug uk ur uz ve vi vo wa wo xh yi yo za zh zu \
        ast bho ceb ckb doi fil haw hmn ilo kok kri lus mai mni nso szl yue
        """.split { $0 == " " || $0 == "\n" }.map(String.init))
}
