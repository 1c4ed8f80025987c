package import Languages
internal import Model

/// `POST …/v1/messages`, as Anthropic specifies it.
///
/// The form of the response is asked for by a tool whose argument it is; where there are no tools, by the instruction alone.
package enum MessagesCodec {
    package static func request(_ request: ModelRequest, model: String, withTool: Bool) -> [UInt8] {
        let tool = "return_" + request.name
        var writer = JSONWriter()
        writer.object { writer in
            writer.member("model", model)
            writer.member("max_tokens", Int64(request.maxTokens))
            writer.member("system", request.instruction)
            writer.name("messages")
            writer.array([request.data]) { writer, data in
                writer.object { writer in
                    writer.member("role", "user")
                    writer.member("content", data)
                }
            }
            guard withTool else { return }
            writer.name("tools")
            writer.array([tool]) { writer, tool in
                writer.object { writer in
                    writer.member("name", tool)
                    writer.member("description", "Returns the response.")
                    writer.name("input_schema")
                    writer.write(json: request.schema)
                }
            }
            writer.name("tool_choice")
            writer.object { writer in
                writer.member("type", "tool")
                writer.member("name", tool)
            }
        }
        return writer.bytes
    }

    /// The translations of a successful response, nil where one is missing.
    package static func translations(_ response: [UInt8], count: Int) throws(TranslationFailure) -> [String?] {
        do throws(JSONParseError) {
            let object = try written(response)
            var reader = JSONReader(object)
            let texts = try KeyedTexts.read(&reader, count: count)
            try reader.finish()
            return texts
        } catch {
            throw .invalidResponse(error.detail)
        }
    }

    /// The object that a model wrote in a successful response.
    package static func object(_ response: [UInt8]) throws(TranslationFailure) -> [UInt8] {
        do throws(JSONParseError) {
            return try written(response)
        } catch {
            throw .invalidResponse(error.detail)
        }
    }

    private static func written(_ response: [UInt8]) throws(JSONParseError) -> [UInt8] {
        let message = try message(response)
        guard ["end_turn", "tool_use", "stop_sequence"].contains(message.stopReason) else {
            throw JSONParseError(detail: "It ended for another reason than its end.", offset: 0)
        }
        switch message.inputs.count {
        // A model without tools, or one that does as if it had none.
        case 0: return try WrittenObject.bytes(in: message.text)
        case 1: return Array(response[message.inputs[0]])
        default: throw JSONParseError(detail: "It used its tool more than once.", offset: 0)
        }
    }

    private struct Message {
        var stopReason = ""
        var text = ""
        /// Where the arguments of tools are in the response.
        var inputs: [Range<Int>] = []
    }

    private static func message(_ response: [UInt8]) throws(JSONParseError) -> Message {
        var reader = JSONReader(response)
        var message = Message()
        var hasContent = false
        try reader.beginObject()
        while let key = try reader.nextKey() {
            switch (key, try reader.nextKind()) {
            case ("stop_reason", .string): message.stopReason = try reader.readString()
            case ("content", .array):
                guard !hasContent else { throw JSONParseError(detail: "It is there twice.", offset: reader.position) }
                hasContent = true
                try reader.beginArray()
                while try reader.hasElement() { try readBlock(&reader, into: &message) }
            default: _ = try reader.skip()
            }
        }
        try reader.finish()
        return message
    }

    private static func readBlock(_ reader: inout JSONReader, into message: inout Message) throws(JSONParseError) {
        var (type, text) = ("", "")
        var input: Range<Int>?
        try reader.beginObject()
        while let key = try reader.nextKey() {
            switch (key, try reader.nextKind()) {
            case ("type", .string): type = try reader.readString()
            case ("text", .string): text = try reader.readString()
            case ("input", .object): input = try reader.skip()
            default: _ = try reader.skip()
            }
        }
        switch type {
        case "text": message.text += text
        case "tool_use": message.inputs.append(input ?? 0..<0)
        default: break
        }
    }
}
