internal import CEldc
package import Languages

/// ELD-C, which knows 60 languages and is right about chat messages more often than CLD2.
package struct EldcEngine: LanguageEngine {
    package struct CannotOpen: Error, CustomStringConvertible {
        package let description: String
    }

    package let name = "eldc"
    private let functions: celdc_functions

    /// Opens the library, which stays open: it has one set of data and one configuration in a process.
    package init(path: String) throws(CannotOpen) {
        var functions = celdc_functions()
        if let problem = celdc_open(path, Int32(LanguageScores.maxScores), &functions) {
            throw CannotOpen(description: String(cString: problem))
        }
        self.functions = functions
    }

    package func scores(of text: IdentifiableText) -> LanguageScores? {
        var result = celdc_result()
        functions.detect(text.text, &result)
        let count = min(max(Int(result.count), 0), Int(CELDC_SCORES))
        let scores = withUnsafeBytes(of: result.scores) { bytes in
            bytes.bindMemory(to: celdc_score.self).prefix(count).compactMap { score -> LanguageScores.Score? in
                guard let code = score.language, let tag = LanguageTag(engineCode: String(cString: code)) else {
                    return nil
                }
                return LanguageScores.Score(code: tag, value: Double(score.score))
            }
        }
        return scores.isEmpty ? nil : LanguageScores(scores, isReliable: result.reliable != 0, text: text)
    }
}
