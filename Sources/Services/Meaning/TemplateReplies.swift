internal import Languages
internal import Messaging
internal import Model

/// Suggests replies by what a message asks, which its vector says, where there is no language model.
package struct TemplateReplies: Sendable {
    private let intents: IntentSource
    private let calls: EmbeddingCalls

    /// Nil without a provider of embeddings.
    package init?(_ intents: IntentSource?, _ calls: EmbeddingCalls?) {
        guard let intents, let calls else { return nil }
        self.intents = intents
        self.calls = calls
    }

    /// - Throws: `provider_not_configured` for a language without templates: replies in another one are of no use to who
    ///   would get them, and a server with a language model has some.
    func replies(_ context: WritingContext, by user: UserID) async throws -> WritingService.SuggestedReplies {
        let engine = intents.engine
        guard context.level.allowsEmbedding(byHosted: engine.isHosted) else {
            throw Problem(
                .consentRequired,
                engine.isHosted
                    ? "It would be given to the hosted service \(engine.model): the server, the conversation and its author "
                        + "have to allow the level full."
                    : "The server, the conversation and its author have to allow that machines work with it.")
        }
        // Of a text like "ok" nobody knows the language: then it is that of who replies.
        let language = context.language ?? context.reader
        guard ReplyTemplates.languages.contains(language.primaryLanguage) else {
            throw Problem(
                .providerNotConfigured,
                "This server has no language model, and without one replies only in "
                    + ReplyTemplates.languages.joined(separator: ", ") + ": not in \(language.string).")
        }
        let classifier = try await intents.classifier()
        var intent: MessageIntent?
        if let text = context.text.passages(maxCount: 1).first,
            let vector = try await calls.vector(of: text, as: .passage, for: .replies, payer: user)
        {
            intent = classifier.intent(of: vector)
        }
        let replies = ReplyTemplates.replies(
            to: Self.answered(intent, context.text.original), in: language, register: context.register)
        return WritingService.SuggestedReplies(replies: replies ?? [], engine: engine.model, kind: .template)
    }

    /// A question mark is surer than what a vector says of small talk.
    private static func answered(_ intent: MessageIntent?, _ text: String) -> MessageIntent {
        switch intent {
        case .talk, nil: MessageIntent.isQuestion(text) ? .question : .talk
        case .request, .promise, .decision, .question, .urgent: intent ?? .talk
        }
    }
}
