package import Languages
package import ProviderCodecs

/// Translates by a language model behind a service like OpenAI's.
package struct OpenAITranslator: TriedTranslationEngine {
    package let kind = TranslationKind.model
    private let service: OpenAIModel
    private let pairs: LanguagePairs

    /// - Parameters:
    ///   - url: of the service, up to its version (`https://api.openai.com/v1`), or of the endpoint itself.
    ///   - key: sent as a bearer token.
    package init(url: String, model: String, key: String?, pairs: LanguagePairs = .all, isHosted: Bool = true) {
        service = OpenAIModel(url: url, model: model, key: key, isHosted: isHosted)
        self.pairs = pairs
    }

    package var name: String { service.name }
    package var isHosted: Bool { service.isHosted }

    package func translates(from source: LanguageTag, into target: LanguageTag) -> Bool {
        pairs.contains(source, target)
    }

    package func estimate(of request: TranslationRequest) -> TokenUsage {
        TokenUsage(estimateOf: TranslationPrompt(request).request)
    }

    package func report(deadline: ContinuousClock.Instant) async -> EngineReport {
        let details = await service.details(deadline: deadline)
        return await report(
            from: pairs.example.source, into: pairs.example.target, details: details, deadline: deadline)
    }

    package func translate(
        _ request: TranslationRequest, deadline: ContinuousClock.Instant
    ) async throws(TranslationFailure) -> [TranslationResult] {
        guard translates(from: request.source, into: request.target) else { throw .pairNotSupported }
        return try await request.splitWhenTooLong { request async throws(TranslationFailure) in
            let prompt = TranslationPrompt(request)
            let response = try await service.response(to: prompt.request, deadline: deadline)
            return prompt.results(try ChatCodec.translations(response, count: prompt.texts.count))
        }
    }
}
