import Languages

extension LanguageTag {
    /// What an engine calls a language; nil for what is none, such as `un` and `und`.
    init?(engineCode code: String) {
        guard code != "un", code != "und", !code.hasPrefix("xx"), let tag = LanguageTag(wellFormed: code) else {
            return nil
        }
        self = tag.replacingRetiredCode()
    }
}
