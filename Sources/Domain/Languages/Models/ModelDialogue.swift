/// A function that a model may ask for.
package struct ModelTool: Hashable, Sendable {
    /// Letters and underscores.
    package var name: String
    package var description: String
    /// A JSON Schema (draft 2020-12) of the object of its arguments, in what all strict modes understand.
    package var schema: String

    package init(name: String, description: String, schema: String) {
        self.name = name
        self.description = description
        self.schema = schema
    }
}

/// What a model asks for.
package struct ModelToolCall: Hashable, Sendable {
    /// The most that a model may ask for at once; more is cut off.
    package static let maxCount = 16

    /// By which its result is told from others.
    package var id: String
    package var name: String
    /// JSON text, as the model wrote it: of an object, or of nothing that can be read.
    package var arguments: String

    package init(id: String, name: String, arguments: String) {
        self.id = id
        self.name = name
        self.arguments = arguments
    }
}

/// A conversation with a model, which may ask for tools before it answers.
package struct ModelDialogue: Hashable, Sendable {
    package enum Turn: Hashable, Sendable {
        case user(String)
        case model(text: String, calls: [ModelToolCall])
        /// What a tool returned, as JSON text.
        case result(of: ModelToolCall, String)
    }

    package var instruction: String
    package var turns: [Turn]
    package var tools: [ModelTool]
    /// Whether it may use no tool any more.
    package var hasToAnswer = false
    package var maxTokens: Int

    package init(instruction: String, turns: [Turn], tools: [ModelTool], maxTokens: Int) {
        self.instruction = instruction
        self.turns = turns
        self.tools = tools
        self.maxTokens = maxTokens
    }

    /// All that is sent, in Unicode scalars.
    package var length: Int {
        let tools = tools.reduce(0) { $0 + $1.description.count + $1.schema.count }
        return turns.reduce(instruction.unicodeScalars.count + tools) { length, turn in
            switch turn {
            case .user(let text), .result(_, let text): length + text.unicodeScalars.count
            case .model(let text, let calls):
                calls.reduce(length + text.unicodeScalars.count) { $0 + $1.arguments.unicodeScalars.count }
            }
        }
    }
}

/// What a model wrote: an answer, or calls, perhaps with words before them.
package struct ModelReply: Hashable, Sendable {
    package var text: String
    package var calls: [ModelToolCall]

    package init(text: String, calls: [ModelToolCall] = []) {
        self.text = text
        self.calls = calls
    }
}

/// A language model that may use tools, and whose words can be read while it writes them.
package protocol DialogueModel: LanguageModel {
    /// - Parameter write: takes each piece of the text as it comes. A model without that writes one piece.
    /// - Returns: the whole; nothing of what was cut, or is in no form, is returned.
    func reply(
        to dialogue: ModelDialogue, deadline: ContinuousClock.Instant, write: @escaping @Sendable (String) -> Void
    ) async throws(TranslationFailure) -> ModelReply
}
