package import Languages

/// What became of trying an engine.
package struct EngineReport: Codable, Hashable, Sendable {
    package var name: String
    package var isHosted: Bool
    /// What it said of itself and did: clauses.
    package var details: [String]
    /// Why it does not work, as a clause; nil if it does.
    package var problem: String?

    package init(name: String, isHosted: Bool, details: [String] = [], problem: String? = nil) {
        self.name = name
        self.isHosted = isHosted
        self.details = details
        self.problem = problem
    }
}

/// An engine that can be tried.
package protocol TriedTranslationEngine: TranslationEngine {
    /// Tries it with words that nobody wrote, which a hosted one may charge for.
    func report(deadline: ContinuousClock.Instant) async -> EngineReport
}

extension TranslationEngine {
    private static var words: String { "Good morning" }

    /// Translates a few words. What comes back does not matter, as long as it is a result: rules that do not know a word
    /// work too.
    ///
    /// - Parameter details: what is known already.
    func report(
        from source: String, into target: String, details: [String] = [], deadline: ContinuousClock.Instant
    ) async -> EngineReport {
        var report = EngineReport(name: name, isHosted: isHosted, details: details)
        guard let from = LanguageTag(wellFormed: source), let into = LanguageTag(wellFormed: target) else {
            report.problem = "it translates nothing"
            return report
        }
        let request = TranslationRequest(texts: [MaskedText(Self.words, keeping: [])], source: from, target: into)
        do throws(TranslationFailure) {
            switch try await translate(request, deadline: deadline).first {
            case .text, .failed(.unknownWords): report.details.append("it translates from \(source) into \(target)")
            case .failed(let failure): report.problem = failure.clause
            case nil: report.problem = "it returned nothing"
            }
        } catch {
            report.problem = error.clause
        }
        return report
    }
}

extension TranslationFailure {
    /// A clause for operators.
    var clause: String {
        switch self {
        case .damaged: "what had to be kept was damaged"
        case .unknownWords: "it does not know the words"
        case .invalidResponse(let detail): "its response cannot be used: \(detail)"
        case .pairNotSupported: "it does not translate between these languages"
        case .textTooLong: "it takes no text as short as this"
        case .unavailable(let detail): "it is not available: \(detail)"
        case .limited: "it accepts no more requests for now"
        case .refused(let detail): "it refuses: \(detail)"
        case .ended: "it ended twice at this text"
        case .cancelled: "it was interrupted"
        }
    }
}
