package import Languages
package import Logging
package import Messaging
internal import Model
package import Storage
import Synchronization

/// A text that an engine is given.
package struct TranslatableText: Hashable, Sendable {
    package var text: MaskedText
    /// Of glossaries, those that stand in it.
    package var terms: [GlossaryTerm]

    package init(_ text: MaskedText, terms: [GlossaryTerm] = []) {
        self.text = text
        self.terms = terms
    }
}

/// Gives texts to engines: within the budget of who pays, no more often than an engine allows, and without results that
/// can be no translations.
package final class TextTranslator: Sendable {
    package let engines: TranslationEngines
    package let counters: TranslationCounters
    private let accounting: ProviderAccounting
    private let firstDelay: Duration
    private let logger: Logger
    /// Engines that have said to be asked no more before that time, by name.
    private let paused = Mutex<[String: ContinuousClock.Instant]>([:])

    /// - Parameter firstDelay: for which an engine that refused without saying for how long is not asked.
    package init(
        store: Store, commands: ConversationCommands, engines: TranslationEngines,
        counters: TranslationCounters = TranslationCounters(), firstDelay: Duration = .seconds(5), logger: Logger
    ) {
        accounting = ProviderAccounting(store: store, commands: commands)
        self.engines = engines
        self.counters = counters
        self.firstDelay = firstDelay
        self.logger = logger
    }

    /// In seconds; nil if the engine may be asked.
    func pause(of engine: any TranslationEngine) -> Int64? {
        let until = paused.withLock { $0[engine.name] }
        guard let until, until > .now else { return nil }
        return max(1, (until - .now).components.seconds + 1)
    }

    /// A result for each text, which are all by one author in one conversation. What a hosted engine is given is reserved
    /// first.
    ///
    /// - Parameters:
    ///   - timeout: of each request: what comes back damaged is asked for once more alone.
    ///   - end: of all of them; nil for none.
    /// - Returns: nil if the payer's budget, or the server's, does not have so much left.
    func translate(
        _ texts: [TranslatableText], from source: LanguageTag, into target: TranslationTarget,
        by engine: any TranslationEngine, paidBy payer: UserID, purpose: String, timeout: Duration,
        until end: ContinuousClock.Instant? = nil
    ) async throws -> [TranslationResult]? {
        let call = ProviderCall(
            at: .systemClock(), payer: payer, purpose: purpose, engine: engine.name, texts: texts.count,
            characters: texts.reduce(0) { $0 + Int64($1.text.original.count) },
            estimate: engine.estimate(of: Self.request(texts, source, target)))
        guard let open = try await accounting.begin(call, isHosted: engine.isHosted) else { return nil }
        let results = await open.metered { await translate(texts, source, target, engine, timeout, end) }
        try await accounting.end(open, Self.outcome(of: results))
        return results
    }

    private static func outcome(of results: [TranslationResult]) -> ProviderCall.Outcome {
        var isRefused = true
        for result in results {
            switch result {
            case .text: return .done
            case .failed(let failure): isRefused = isRefused && failure.isTemporary
            }
        }
        return isRefused ? .refused : .unusable
    }

    private func translate(
        _ texts: [TranslatableText], _ source: LanguageTag, _ target: TranslationTarget,
        _ engine: any TranslationEngine, _ timeout: Duration, _ end: ContinuousClock.Instant?
    ) async -> [TranslationResult] {
        func deadline() -> ContinuousClock.Instant {
            let own = ContinuousClock.now + timeout
            return end.map { min(own, $0) } ?? own
        }
        var results = await ask(engine, texts, source, target, deadline())
        for (index, result) in results.enumerated() where texts.count > 1 {
            // Alone, nothing else can have got into it.
            guard case .failed(.damaged) = result, !Task.isCancelled, deadline() > .now else { continue }
            results[index] = await ask(engine, [texts[index]], source, target, deadline())[0]
        }
        for result in results { counters.count(result, of: engine.name) }
        return results
    }

    private static func request(
        _ texts: [TranslatableText], _ source: LanguageTag, _ target: TranslationTarget
    ) -> TranslationRequest {
        var known: Set<GlossaryTerm> = []
        return TranslationRequest(
            texts: texts.map(\.text), source: source, target: target.language, tone: target.tone,
            terms: texts.flatMap(\.terms).filter { known.insert($0).inserted })
    }

    private func ask(
        _ engine: any TranslationEngine, _ texts: [TranslatableText], _ source: LanguageTag,
        _ target: TranslationTarget,
        _ deadline: ContinuousClock.Instant
    ) async -> [TranslationResult] {
        let request = Self.request(texts, source, target)
        counters.count(request.texts, to: engine.name)
        do throws(TranslationFailure) {
            let results = try await engine.translate(request, deadline: deadline)
            guard results.count == texts.count else {
                return texts.map { _ in .failed(.invalidResponse("another number of texts")) }
            }
            return zip(request.texts, results).map { text, result in
                guard case .text(let translated) = result, !Self.isPlausible(translated, of: text) else {
                    return result
                }
                return .failed(.invalidResponse("no translation"))
            }
        } catch {
            if case .limited(let after) = error {
                paused.withLock { $0[engine.name] = .now + (after ?? firstDelay) }
            }
            if !Task.isCancelled {
                logger.warning("no translation", metadata: ["engine": "\(engine.name)", "reason": "\(error)"])
            }
            return texts.map { _ in .failed(error) }
        }
    }

    /// Whether it can be a translation at all.
    private static func isPlausible(_ text: String, of original: MaskedText) -> Bool {
        let before = original.original
        return !text.allSatisfy(\.isWhitespace) && text.utf8.count <= 4 * before.utf8.count + 200
            && !RangeFinder.adds(targetsOf: text, to: before)
    }
}
