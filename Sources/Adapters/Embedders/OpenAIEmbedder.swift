package import Languages
internal import ProviderCodecs
internal import Providers

/// An endpoint like OpenAI's `/v1/embeddings`.
package struct OpenAIEmbedder: EmbeddingEngine {
    private static let maxResponseSize = 4 << 20

    package let model: String
    package let isHosted: Bool
    package let usesTokens = true
    private let name: String
    private let url: String
    private let headers: [(String, String)]
    private let key: String?
    private let client = ProviderClient()

    /// - Parameters:
    ///   - url: of the service up to its version, or of the endpoint itself.
    ///   - model: that the endpoint is asked for.
    package init(url: String, model: String, key: String?, isHosted: Bool = true) {
        let base = url.hasSuffix("/") ? String(url.dropLast()) : url
        self.url = base.hasSuffix("/embeddings") ? base : base + "/embeddings"
        self.model = String(model.prefix(64))
        self.isHosted = isHosted
        name = model
        self.key = key
        headers =
            [("Content-Type", "application/json"), ("Accept", "application/json")]
            + (key.map { [("Authorization", "Bearer \($0)")] } ?? [])
    }

    package func embed(
        _ request: EmbeddingRequest, deadline: ContinuousClock.Instant
    ) async throws(EmbeddingFailure) -> [EmbeddingVector?] {
        let response: ProviderClient.Response
        do throws(ProviderFailure) {
            response = try await client.post(
                OpenAIEmbeddingCodec.request(request, model: name), to: url, headers: headers,
                maxResponseSize: Self.maxResponseSize, deadline: deadline)
        } catch {
            throw EmbeddingFailure(error)
        }
        guard response.status == 200 else { throw failure(response) }
        TokenMeter.current?.add(TokenUsage(inResponse: response.body))
        return try EmbeddingVector.all(try OpenAIEmbeddingCodec.embeddings(response.body), count: request.texts.count)
    }

    private func failure(_ response: ProviderClient.Response) -> EmbeddingFailure {
        var reason = ProviderClient.reason(response.body)
        if let key, !key.isEmpty { reason = reason.replacing(key, with: "…") }
        let text = "status \(response.status)\(reason.isEmpty ? "" : ": \(reason)")"
        switch response.status {
        case 429: return .limited(retryAfter: response.retryAfter)
        case 408, 409, 425, 500...599:
            return response.retryAfter.map { .limited(retryAfter: $0) } ?? .unavailable(text)
        default: return .refused(text)
        }
    }
}
