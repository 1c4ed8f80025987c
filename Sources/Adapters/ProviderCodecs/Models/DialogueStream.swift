package import Languages
internal import Model

/// What comes of a reply, put together: text as it comes, and the calls of tools from their pieces.
package struct DialogueParts: Sendable {
    package init() {}

    /// Of a reply, in bytes.
    private static let maxText = 256 << 10

    private struct Call {
        var key: String
        var id = ""
        var name = ""
        var arguments = ""
    }

    package private(set) var text = ""
    private var calls: [Call] = []
    /// Why it ended; nil if it has not.
    var endReason: String?
    /// Nil as long as the service does not say.
    package var usage: TokenUsage?
    /// Whether the service says that nothing follows.
    var isFinished = false

    mutating func add(_ piece: String) throws(TranslationFailure) {
        text += piece
        guard text.utf8.count <= Self.maxText else { throw .invalidResponse("it is too long") }
    }

    /// A piece of a call.
    ///
    /// - Parameters:
    ///   - key: by which pieces belong together: an index, or an id; nil where the service says neither.
    ///   - id: what the result is returned by; only in the first piece.
    mutating func add(key: String?, id: String?, name: String?, arguments: String) throws(TranslationFailure) {
        let id = id.flatMap { $0.isEmpty ? nil : $0 }
        var found: Int?
        if let key {
            found = calls.lastIndex { $0.key == key }
            // Some services give every call the same index.
            if let index = found, let id, !calls[index].id.isEmpty, calls[index].id != id { found = nil }
        } else if let id {
            found = calls.lastIndex { $0.id == id }
        } else if name == nil {
            found = calls.indices.last
        }
        let index: Int
        if let found {
            index = found
        } else {
            guard calls.count < ModelToolCall.maxCount else { throw .invalidResponse("too many calls of tools") }
            index = calls.count
            calls.append(Call(key: key ?? id ?? "at \(index)"))
        }
        if let id { calls[index].id = id }
        if let name, !name.isEmpty { calls[index].name = name }
        calls[index].arguments += arguments
        guard calls[index].arguments.utf8.count <= Self.maxText else { throw .invalidResponse("it is too long") }
    }

    /// - Throws: if anything of it may be cut.
    package func reply(endings: Set<String>) throws(TranslationFailure) -> ModelReply {
        guard let endReason else { throw .invalidResponse("it ended before its end") }
        guard endings.contains(endReason) else { throw .invalidResponse("it ended for another reason than its end") }
        let calls = calls.enumerated().map { index, call in
            ModelToolCall(id: call.id.isEmpty ? "call_\(index)" : call.id, name: call.name, arguments: call.arguments)
        }
        guard calls.allSatisfy({ !$0.name.isEmpty }) else { throw .invalidResponse("a call has no name") }
        return ModelReply(text: text, calls: calls)
    }
}

/// Of models, or services, without tools: the same conversation as one request, whose response is an object.
package struct PlainDialogue {
    private let dialogue: ModelDialogue

    package init(_ dialogue: ModelDialogue) { self.dialogue = dialogue }

    package var request: ModelRequest {
        var instruction = dialogue.instruction
        var schema = JSONWriter()
        if dialogue.hasToAnswer || dialogue.tools.isEmpty {
            instruction += "\nRespond with one JSON object: {\"answer\": your answer}."
            schema.schema([("answer", { $0.textSchema() })])
        } else {
            instruction += """

                Respond with one JSON object: {"tool", "arguments", "answer"}. To use a tool, "tool" is its name, "arguments" \
                its arguments as JSON text, and "answer" is null; you are asked again with its result. To answer, "tool" \
                and "arguments" are null. The tools:
                """
            for tool in dialogue.tools {
                instruction += "\n\(tool.name): \(tool.description) Arguments: \(tool.schema)"
            }
            schema.schema([
                ("tool", { $0.textSchema(isOptional: true) }), ("arguments", { $0.textSchema(isOptional: true) }),
                ("answer", { $0.textSchema(isOptional: true) }),
            ])
        }
        var data = JSONWriter()
        data.object { writer in
            writer.name("conversation")
            writer.array(dialogue.turns) { writer, turn in
                writer.object { writer in
                    switch turn {
                    case .user(let text): writer.member("user", text)
                    case .model(let text, let calls):
                        if !text.isEmpty { writer.member("you", text) }
                        if let call = calls.first { writer.member("used", call.name) }
                    case .result(let call, let text):
                        writer.member("tool", call.name)
                        writer.name("result")
                        writer.write(json: text)
                    }
                }
            }
        }
        return ModelRequest(
            name: "answer", instruction: instruction, data: data.text, schema: schema.text,
            maxTokens: dialogue.maxTokens)
    }

    package func reply(_ response: [UInt8]) throws(TranslationFailure) -> ModelReply {
        var (tool, arguments, answer): (String?, String, String?) = (nil, "", nil)
        do throws(JSONParseError) {
            var reader = JSONReader(response)
            try reader.beginObject()
            while let key = try reader.nextKey() {
                switch (key, try reader.nextKind()) {
                case ("tool", .string): tool = try reader.readString()
                case ("answer", .string): answer = try reader.readString()
                case ("arguments", .string): arguments = try reader.readString()
                // What was asked for as text comes as an object all the same.
                case ("arguments", .object): arguments = String(decoding: response[try reader.skip()], as: UTF8.self)
                default: _ = try reader.skip()
                }
            }
            try reader.finish()
        } catch {
            throw .invalidResponse(error.detail)
        }
        if let tool, !tool.isEmpty, !dialogue.hasToAnswer {
            return ModelReply(text: "", calls: [ModelToolCall(id: "call", name: tool, arguments: arguments)])
        }
        guard let answer else { throw .invalidResponse("neither an answer nor a tool") }
        return ModelReply(text: answer)
    }
}
