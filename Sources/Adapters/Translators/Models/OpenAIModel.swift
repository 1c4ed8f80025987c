package import Languages
internal import ProviderCodecs
internal import Providers
internal import Synchronization

/// A language model behind any service with OpenAI's `POST …/chat/completions`: hosted, vLLM, llama.cpp, Ollama.
///
/// What the service or the model does not understand of a request is left out from then on, as `ChatDialect` says.
package struct OpenAIModel: TriedLanguageModel {
    private final class State: Sendable {
        let dialect = Mutex(ChatDialect())
    }

    package let name: String
    package let isHosted: Bool
    private let model: String
    private let endpoint: JSONEndpoint
    private let state = State()

    /// - Parameters:
    ///   - url: of the service, up to its version (`https://api.openai.com/v1`), or of the endpoint itself.
    ///   - key: sent as a bearer token.
    package init(url: String, model: String, key: String?, isHosted: Bool = true) {
        let authorization = key.map { [("Authorization", "Bearer \($0)")] } ?? []
        endpoint = JSONEndpoint(
            url: JSONEndpoint.address(url, endpoint: "/chat/completions"), headers: authorization, key: key)
        self.model = model
        self.isHosted = isHosted
        name = String(model.prefix(64))
    }

    package func respond(
        to request: ModelRequest, deadline: ContinuousClock.Instant
    ) async throws(TranslationFailure) -> [UInt8] {
        try ChatCodec.object(try await response(to: request, deadline: deadline))
    }

    package func reply(
        to dialogue: ModelDialogue, deadline: ContinuousClock.Instant, write: @escaping @Sendable (String) -> Void
    ) async throws(TranslationFailure) -> ModelReply {
        var dialect = state.dialect.withLock { $0 }
        while dialect.hasTools {
            let parts = Mutex(DialogueParts())
            let response = try await endpoint.stream(
                ChatDialogue.request(dialogue, model: model, dialect), idle: .seconds(15), deadline: deadline
            ) { event throws(TranslationFailure) in
                let text = try parts.withLock { parts throws(TranslationFailure) in
                    try ChatDialogue.read(event, into: &parts)
                }
                if !text.isEmpty { write(text) }
            }
            if response.status == 200 {
                let learned = dialect
                state.dialect.withLock { $0 = learned }
                return try parts.withLock { parts throws(TranslationFailure) in
                    TokenMeter.current?.add(parts.usage)
                    return try parts.reply(endings: ChatDialogue.endings)
                }
            }
            guard [400, 404, 415, 422, 501].contains(response.status),
                let adapted = dialect.adapted(to: String(decoding: response.body, as: UTF8.self))
            else { throw endpoint.failure(response) }
            dialect = adapted
        }
        state.dialect.withLock { $0.hasTools = false }
        let plain = PlainDialogue(dialogue)
        let reply = try plain.reply(try await respond(to: plain.request, deadline: deadline))
        if !reply.text.isEmpty { write(reply.text) }
        return reply
    }

    /// What the service says of the model, as clauses.
    package func details(deadline: ContinuousClock.Instant) async -> [String] {
        await ModelList.details(of: model, at: models, endpoint, deadline: deadline)
    }

    /// Where the service lists its models.
    private var models: String { String(endpoint.url.dropLast("/chat/completions".count)) + "/models" }

    /// The body of a successful response.
    func response(
        to request: ModelRequest, deadline: ContinuousClock.Instant
    ) async throws(TranslationFailure) -> [UInt8] {
        var dialect = state.dialect.withLock { $0 }
        while true {
            let response = try await endpoint.post(
                ChatCodec.request(request, model: model, dialect), deadline: deadline)
            if response.status == 200 {
                let learned = dialect
                state.dialect.withLock { $0 = learned }
                TokenMeter.current?.add(TokenUsage(inResponse: response.body))
                return response.body
            }
            guard [400, 415, 422].contains(response.status),
                let adapted = dialect.adapted(to: String(decoding: response.body, as: UTF8.self))
            else { throw endpoint.failure(response) }
            // Each time there is less to leave out, so this ends.
            dialect = adapted
        }
    }
}
