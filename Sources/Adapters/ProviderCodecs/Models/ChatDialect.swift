/// What an endpoint like OpenAI's, and the model behind it, understands of a request. It begins with the most and learns
/// from what is refused.
package struct ChatDialect: Hashable, Sendable {
    /// How the form of the response is asked for.
    package enum Format: Hashable, Sendable {
        /// By a schema, strictly.
        case schema
        /// Some object.
        case object
        /// By the instruction alone.
        case text
    }

    package enum TokenLimit: String, Hashable, Sendable {
        case maxTokens = "max_tokens"
        /// Of models that think first, whose thoughts count.
        case maxCompletionTokens = "max_completion_tokens"
    }

    package var format = Format.schema
    package var tokenLimit = TokenLimit.maxTokens
    package var sendsTemperature = true
    package var hasTools = true
    /// Whether streams are asked to end with what they used.
    package var streamsUsage = true

    package init() {}

    /// - Parameter message: why a request was refused with status 400 or 422.
    /// - Returns: how the same request may be accepted; nil if it was refused for another reason.
    package func adapted(to message: String) -> ChatDialect? {
        let message = message.lowercased()
        var adapted = self
        if tokenLimit == .maxTokens, message.contains(TokenLimit.maxCompletionTokens.rawValue) {
            adapted.tokenLimit = .maxCompletionTokens
        } else if sendsTemperature, message.contains("temperature") {
            adapted.sendsTemperature = false
        } else if ["response_format", "json_schema", "json_object", "grammar", "schema"].contains(
            where: message.contains),
            format != .text
        {
            adapted.format = format == .schema ? .object : .text
        } else if streamsUsage, message.contains("stream_options") || message.contains("include_usage") {
            adapted.streamsUsage = false
        } else if hasTools, message.contains("tool") || message.contains("function") {
            adapted.hasTools = false
        }
        return adapted == self ? nil : adapted
    }
}
