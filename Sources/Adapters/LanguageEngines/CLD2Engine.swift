internal import CCLD2
package import Languages

/// Google's Compact Language Detector 2, which is linked in: what is there without `Scripts/setup --engines`.
package struct CLD2Engine: LanguageEngine {
    package let name = "cld2"

    package init() {}

    package func scores(of text: IdentifiableText) -> LanguageScores? {
        var guesses = [ccld2_guess](repeating: ccld2_guess(), count: Int(CCLD2_GUESSES))
        var string = text.text
        let isReliable = string.withUTF8 { bytes in
            // At most `IdentifiableText.maxBytes` and a little.
            bytes.withMemoryRebound(to: CChar.self) {
                ccld2_detect($0.baseAddress, Int32(clamping: $0.count), &guesses) != 0
            }
        }
        let scores = guesses.compactMap { guess -> LanguageScores.Score? in
            guard let code = guess.code, let tag = LanguageTag(engineCode: String(cString: code)) else { return nil }
            return LanguageScores.Score(code: tag, value: Double(guess.percent) / 100)
        }
        return scores.isEmpty ? nil : LanguageScores(scores, isReliable: isReliable, text: text)
    }
}
