package import Languages
internal import ProviderCodecs
internal import Providers
internal import Synchronization

/// A language model behind Anthropic's `POST …/v1/messages`, or a service that has the same.
package struct AnthropicModel: TriedLanguageModel {
    private final class State: Sendable {
        let hasTools = Mutex(true)
    }

    package let name: String
    package let isHosted: Bool
    private let model: String
    private let endpoint: JSONEndpoint
    private let state = State()

    /// - Parameters:
    ///   - url: of the service (`https://api.anthropic.com`), or of the endpoint itself.
    ///   - key: sent as `x-api-key`.
    package init(url: String, model: String, key: String?, isHosted: Bool = true) {
        let base = url.hasSuffix("/v1") ? String(url.dropLast(3)) : url
        endpoint = JSONEndpoint(
            url: JSONEndpoint.address(base, endpoint: "/v1/messages"),
            headers: [("anthropic-version", "2023-06-01")] + (key.map { [("x-api-key", $0)] } ?? []), key: key)
        self.model = model
        self.isHosted = isHosted
        name = String(model.prefix(64))
    }

    package func respond(
        to request: ModelRequest, deadline: ContinuousClock.Instant
    ) async throws(TranslationFailure) -> [UInt8] {
        try MessagesCodec.object(try await response(to: request, deadline: deadline))
    }

    package func reply(
        to dialogue: ModelDialogue, deadline: ContinuousClock.Instant, write: @escaping @Sendable (String) -> Void
    ) async throws(TranslationFailure) -> ModelReply {
        if state.hasTools.withLock({ $0 }) {
            let parts = Mutex(DialogueParts())
            let response = try await endpoint.stream(
                MessagesDialogue.request(dialogue, model: model), idle: .seconds(15), deadline: deadline
            ) { event throws(TranslationFailure) in
                let text = try parts.withLock { parts throws(TranslationFailure) in
                    try MessagesDialogue.read(event, into: &parts)
                }
                if !text.isEmpty { write(text) }
            }
            if response.status == 200 {
                return try parts.withLock { parts throws(TranslationFailure) in
                    TokenMeter.current?.add(parts.usage)
                    return try parts.reply(endings: MessagesDialogue.endings)
                }
            }
            guard response.status == 400, String(decoding: response.body, as: UTF8.self).contains("tool") else {
                throw endpoint.failure(response)
            }
            state.hasTools.withLock { $0 = false }
        }
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
    private var models: String { String(endpoint.url.dropLast("/messages".count)) + "/models" }

    /// The body of a successful response.
    func response(
        to request: ModelRequest, deadline: ContinuousClock.Instant
    ) async throws(TranslationFailure) -> [UInt8] {
        let hasTools = state.hasTools.withLock { $0 }
        var response = try await send(request, withTool: hasTools, deadline)
        if hasTools, response.status == 400, String(decoding: response.body, as: UTF8.self).contains("tool") {
            response = try await send(request, withTool: false, deadline)
            if response.status == 200 { state.hasTools.withLock { $0 = false } }
        }
        guard response.status == 200 else { throw endpoint.failure(response) }
        TokenMeter.current?.add(TokenUsage(inResponse: response.body))
        return response.body
    }

    private func send(
        _ request: ModelRequest, withTool: Bool, _ deadline: ContinuousClock.Instant
    ) async throws(TranslationFailure) -> ProviderClient.Response {
        try await endpoint.post(MessagesCodec.request(request, model: model, withTool: withTool), deadline: deadline)
    }
}
