package import Languages

/// A language model that can be tried.
package protocol TriedLanguageModel: DialogueModel {
    /// What the service says of the model, as clauses.
    func details(deadline: ContinuousClock.Instant) async -> [String]
}

extension TriedLanguageModel {
    /// Asks it to make a sentence that nobody wrote shorter, which a hosted one may charge for.
    package func report(deadline: ContinuousClock.Instant) async -> EngineReport {
        var report = EngineReport(name: name, isHosted: isHosted, details: await details(deadline: deadline))
        let prompt = RewritePrompt(
            MaskedText("Good morning, it is a nice day today", keeping: []), style: .shorter,
            language: LanguageTag(wellFormed: "en"))
        do throws(TranslationFailure) {
            _ = try prompt.text(try await respond(to: prompt.request, deadline: deadline))
            report.details.append("it rewrites a sentence")
        } catch {
            report.problem = error.clause
        }
        return report
    }
}
