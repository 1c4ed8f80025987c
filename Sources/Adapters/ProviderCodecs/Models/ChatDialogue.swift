package import Languages
internal import Model

/// A conversation with tools by `POST …/chat/completions`, streamed.
package enum ChatDialogue {
    package static func request(_ dialogue: ModelDialogue, model: String, _ dialect: ChatDialect) -> [UInt8] {
        var writer = JSONWriter(capacity: 4_096)
        writer.object { writer in
            writer.member("model", model)
            writer.member("stream", true)
            if dialect.streamsUsage {
                writer.name("stream_options")
                writer.object { $0.member("include_usage", true) }
            }
            writer.name("messages")
            writer.array([nil] + dialogue.turns.map { Optional($0) }) { writer, turn in
                guard let turn else {
                    return writer.object { writer in
                        writer.member("role", "system")
                        writer.member("content", dialogue.instruction)
                    }
                }
                write(turn, to: &writer)
            }
            if dialect.sendsTemperature { writer.member("temperature", Int64(0)) }
            let thinking = dialect.tokenLimit == .maxTokens ? 0 : ChatCodec.thinkingTokens
            writer.member(dialect.tokenLimit.rawValue, Int64(dialogue.maxTokens + thinking))
            guard !dialogue.tools.isEmpty else { return }
            writer.name("tools")
            writer.array(dialogue.tools) { writer, tool in
                writer.object { writer in
                    writer.member("type", "function")
                    writer.name("function")
                    writer.object { writer in
                        writer.member("name", tool.name)
                        writer.member("description", tool.description)
                        writer.name("parameters")
                        writer.write(json: tool.schema)
                    }
                }
            }
            if dialogue.hasToAnswer { writer.member("tool_choice", "none") }
        }
        return writer.bytes
    }

    private static func write(_ turn: ModelDialogue.Turn, to writer: inout JSONWriter) {
        writer.object { writer in
            switch turn {
            case .user(let text):
                writer.member("role", "user")
                writer.member("content", text)
            case .result(let call, let text):
                writer.member("role", "tool")
                writer.member("tool_call_id", call.id)
                writer.member("content", text)
            case .model(let text, let calls):
                writer.member("role", "assistant")
                writer.member("content", text)
                guard !calls.isEmpty else { return }
                writer.name("tool_calls")
                writer.array(calls) { writer, call in
                    writer.object { writer in
                        writer.member("id", call.id)
                        writer.member("type", "function")
                        writer.name("function")
                        writer.object { writer in
                            writer.member("name", call.name)
                            writer.member("arguments", call.arguments.isEmpty ? "{}" : call.arguments)
                        }
                    }
                }
            }
        }
    }

    /// Why a model ends that is not cut.
    package static let endings: Set<String> = ["stop", "tool_calls", "function_call"]

    /// One event of the stream.
    ///
    /// - Returns: the text that it adds.
    package static func read(_ event: [UInt8], into parts: inout DialogueParts) throws(TranslationFailure) -> String {
        guard event != Array("[DONE]".utf8) else {
            parts.isFinished = true
            return ""
        }
        do throws(JSONParseError) {
            var reader = JSONReader(event)
            var delta = Delta()
            try reader.beginObject()
            while let key = try reader.nextKey() {
                switch (key, try reader.nextKind()) {
                case ("choices", .array):
                    try reader.beginArray()
                    while try reader.hasElement() { try readChoice(&reader, event, &delta) }
                case ("usage", .object): parts.usage = try TokenUsage.read(&reader, after: parts.usage)
                case ("error", .object), ("error", .string):
                    throw JSONParseError(detail: "It has an error.", offset: reader.position)
                default: _ = try reader.skip()
                }
            }
            try reader.finish()
            return try apply(delta, to: &parts)
        } catch {
            throw .invalidResponse(error.detail)
        }
    }

    private struct Piece {
        var index: Int64?
        var id: String?
        var name: String?
        var arguments = ""
    }

    private struct Delta {
        var text = ""
        var pieces: [Piece] = []
        var endReason: String?
        var isRefused = false
    }

    private static func apply(_ delta: Delta, to parts: inout DialogueParts) throws(JSONParseError) -> String {
        if delta.isRefused { throw JSONParseError(detail: "The model refused.", offset: 0) }
        do throws(TranslationFailure) {
            try parts.add(delta.text)
            for piece in delta.pieces {
                try parts.add(
                    key: piece.index.map { String($0) }, id: piece.id, name: piece.name, arguments: piece.arguments)
            }
        } catch {
            throw JSONParseError(detail: "\(error)", offset: 0)
        }
        if let reason = delta.endReason { parts.endReason = reason }
        return delta.text
    }

    private static func readChoice(
        _ reader: inout JSONReader, _ event: [UInt8], _ delta: inout Delta
    ) throws(JSONParseError) {
        try reader.beginObject()
        while let key = try reader.nextKey() {
            switch (key, try reader.nextKind()) {
            case ("finish_reason", .string): delta.endReason = try reader.readString()
            // Some write the whole message at once.
            case ("delta", .object), ("message", .object): try readDelta(&reader, event, &delta)
            default: _ = try reader.skip()
            }
        }
    }

    private static func readDelta(
        _ reader: inout JSONReader, _ event: [UInt8], _ delta: inout Delta
    ) throws(JSONParseError) {
        try reader.beginObject()
        while let key = try reader.nextKey() {
            switch (key, try reader.nextKind()) {
            case ("content", .string): delta.text += try reader.readString()
            case ("content", .array): delta.text += try ContentParts.text(&reader)
            case ("refusal", .string): delta.isRefused = try !reader.readString().isEmpty || delta.isRefused
            case ("tool_calls", .array):
                try reader.beginArray()
                while try reader.hasElement() { delta.pieces.append(try readPiece(&reader, event)) }
            default: _ = try reader.skip()
            }
        }
    }

    private static func readPiece(_ reader: inout JSONReader, _ event: [UInt8]) throws(JSONParseError) -> Piece {
        var piece = Piece()
        try reader.beginObject()
        while let key = try reader.nextKey() {
            switch (key, try reader.nextKind()) {
            case ("index", .number): piece.index = try reader.readInteger()
            case ("id", .string): piece.id = try reader.readString()
            case ("function", .object):
                try reader.beginObject()
                while let key = try reader.nextKey() {
                    switch (key, try reader.nextKind()) {
                    case ("name", .string): piece.name = try reader.readString()
                    case ("arguments", .string): piece.arguments += try reader.readString()
                    case ("arguments", .object):
                        piece.arguments += String(decoding: event[try reader.skip()], as: UTF8.self)
                    default: _ = try reader.skip()
                    }
                }
            default: _ = try reader.skip()
            }
        }
        return piece
    }
}
