package import Languages
internal import Model

/// A conversation with tools by `POST …/v1/messages`, streamed.
package enum MessagesDialogue {
    package static func request(_ dialogue: ModelDialogue, model: String) -> [UInt8] {
        var writer = JSONWriter(capacity: 4_096)
        writer.object { writer in
            writer.member("model", model)
            writer.member("max_tokens", Int64(dialogue.maxTokens))
            writer.member("stream", true)
            writer.member("system", dialogue.instruction)
            writer.name("messages")
            writer.array(messages(dialogue.turns)) { writer, message in
                writer.object { writer in
                    writer.member("role", message.role)
                    writer.name("content")
                    writer.array(message.turns) { write($1, to: &$0) }
                }
            }
            guard !dialogue.tools.isEmpty else { return }
            writer.name("tools")
            writer.array(dialogue.tools) { writer, tool in
                writer.object { writer in
                    writer.member("name", tool.name)
                    writer.member("description", tool.description)
                    writer.name("input_schema")
                    writer.write(json: tool.schema)
                }
            }
            // What was used has to be known, though it may be used no more.
            guard dialogue.hasToAnswer else { return }
            writer.name("tool_choice")
            writer.object { $0.member("type", "none") }
        }
        return writer.bytes
    }

    /// A block of a message.
    private enum Block {
        case text(String)
        case call(ModelToolCall)
        case result(ModelToolCall, String)
    }

    /// The results of calls stand in one message of the user.
    private static func messages(_ turns: [ModelDialogue.Turn]) -> [(role: String, turns: [Block])] {
        var messages: [(role: String, turns: [Block])] = []
        for turn in turns {
            let (role, blocks): (String, [Block]) =
                switch turn {
                case .user(let text): ("user", [.text(text)])
                case .result(let call, let text): ("user", [.result(call, text)])
                case .model(let text, let calls):
                    ("assistant", (text.isEmpty ? [] : [.text(text)]) + calls.map { .call($0) })
                }
            guard !blocks.isEmpty else { continue }
            if messages.last?.role == role {
                messages[messages.count - 1].turns += blocks
            } else {
                messages.append((role, blocks))
            }
        }
        return messages
    }

    private static func write(_ block: Block, to writer: inout JSONWriter) {
        writer.object { writer in
            switch block {
            case .text(let text):
                writer.member("type", "text")
                writer.member("text", text)
            case .call(let call):
                writer.member("type", "tool_use")
                writer.member("id", call.id)
                writer.member("name", call.name)
                writer.name("input")
                writer.write(json: object(call.arguments))
            case .result(let call, let text):
                writer.member("type", "tool_result")
                writer.member("tool_use_id", call.id)
                writer.member("content", text)
            }
        }
    }

    /// What the model wrote, if that is an object.
    private static func object(_ arguments: String) -> String {
        var reader = JSONReader(Array(arguments.utf8))
        guard (try? reader.nextKind()) == .object, (try? reader.skip()) != nil, (try? reader.finish()) != nil else {
            return "{}"
        }
        return arguments
    }

    /// Why a model ends that is not cut.
    package static let endings: Set<String> = ["end_turn", "tool_use", "stop_sequence"]

    /// One event of the stream.
    ///
    /// - Returns: the text that it adds.
    package static func read(_ event: [UInt8], into parts: inout DialogueParts) throws(TranslationFailure) -> String {
        var piece = Piece()
        do throws(JSONParseError) {
            var reader = JSONReader(event)
            try reader.beginObject()
            while let key = try reader.nextKey() {
                switch (key, try reader.nextKind()) {
                case ("type", .string): piece.type = try reader.readString()
                case ("index", .number): piece.index = try reader.readInteger()
                case ("content_block", .object), ("delta", .object): try readBlock(&reader, &piece)
                // At the beginning with what was read, at the end with what was written.
                case ("usage", .object): parts.usage = try TokenUsage.read(&reader, after: parts.usage)
                case ("message", .object):
                    try reader.beginObject()
                    while let key = try reader.nextKey() {
                        if key == "usage", try reader.nextKind() == .object {
                            parts.usage = try TokenUsage.read(&reader, after: parts.usage)
                        } else {
                            _ = try reader.skip()
                        }
                    }
                default: _ = try reader.skip()
                }
            }
            try reader.finish()
        } catch {
            throw .invalidResponse(error.detail)
        }
        switch piece.type {
        case "error": throw .unavailable("it has an error")
        case "message_stop": parts.isFinished = true
        case "message_delta": if let reason = piece.endReason { parts.endReason = reason }
        case "content_block_start", "content_block_delta":
            if piece.block == "tool_use" || !piece.arguments.isEmpty {
                try parts.add(key: String(piece.index), id: piece.id, name: piece.name, arguments: piece.arguments)
            }
            try parts.add(piece.text)
            return piece.text
        default: break
        }
        return ""
    }

    private struct Piece {
        var type = ""
        var index: Int64 = 0
        var block = ""
        var id: String?
        var name: String?
        var text = ""
        var arguments = ""
        var endReason: String?
    }

    private static func readBlock(_ reader: inout JSONReader, _ piece: inout Piece) throws(JSONParseError) {
        try reader.beginObject()
        while let key = try reader.nextKey() {
            switch (key, try reader.nextKind()) {
            case ("type", .string): piece.block = try reader.readString()
            case ("id", .string): piece.id = try reader.readString()
            case ("name", .string): piece.name = try reader.readString()
            case ("text", .string): piece.text += try reader.readString()
            case ("partial_json", .string): piece.arguments += try reader.readString()
            case ("stop_reason", .string): piece.endReason = try reader.readString()
            default: _ = try reader.skip()
            }
        }
    }
}
