package import Languages
internal import Model

/// `POST …/chat/completions`, as OpenAI specifies it and many others have it.
package enum ChatCodec {
    /// What a model may think before it writes, where thoughts count.
    static let thinkingTokens = 2_000

    package static func request(_ request: ModelRequest, model: String, _ dialect: ChatDialect) -> [UInt8] {
        var writer = JSONWriter()
        writer.object { writer in
            writer.member("model", model)
            writer.name("messages")
            writer.array([("system", request.instruction), ("user", request.data)]) { writer, message in
                writer.object { writer in
                    writer.member("role", message.0)
                    writer.member("content", message.1)
                }
            }
            if dialect.sendsTemperature { writer.member("temperature", Int64(0)) }
            let thinking = dialect.tokenLimit == .maxTokens ? 0 : thinkingTokens
            writer.member(dialect.tokenLimit.rawValue, Int64(request.maxTokens + thinking))
            writeFormat(dialect.format, of: request, to: &writer)
        }
        return writer.bytes
    }

    private static func writeFormat(
        _ format: ChatDialect.Format, of request: ModelRequest, to writer: inout JSONWriter
    ) {
        guard format != .text else { return }
        writer.name("response_format")
        writer.object { writer in
            guard format == .schema else { return writer.member("type", "json_object") }
            writer.member("type", "json_schema")
            writer.name("json_schema")
            writer.object { writer in
                writer.member("name", request.name)
                writer.member("strict", true)
                writer.name("schema")
                writer.write(json: request.schema)
            }
        }
    }

    /// The translations of a successful response, nil where one is missing.
    package static func translations(_ response: [UInt8], count: Int) throws(TranslationFailure) -> [String?] {
        do throws(JSONParseError) {
            return try KeyedTexts.read(fromText: content(response), count: count)
        } catch {
            throw .invalidResponse(error.detail)
        }
    }

    /// The object that a model wrote in a successful response.
    package static func object(_ response: [UInt8]) throws(TranslationFailure) -> [UInt8] {
        do throws(JSONParseError) {
            return try WrittenObject.bytes(in: content(response))
        } catch {
            throw .invalidResponse(error.detail)
        }
    }

    private static func content(_ response: [UInt8]) throws(JSONParseError) -> String {
        let choice = try choice(response)
        if choice.isRefused { throw JSONParseError(detail: "The model refused.", offset: 0) }
        // `length` means that it is cut.
        guard choice.finishReason == "stop" else {
            throw JSONParseError(detail: "It ended for another reason than its end.", offset: 0)
        }
        return choice.content
    }

    private struct Choice {
        var finishReason: String?
        var content = ""
        var isRefused = false
    }

    private static func choice(_ response: [UInt8]) throws(JSONParseError) -> Choice {
        var reader = JSONReader(response)
        var choices: [Choice] = []
        try reader.beginObject()
        while let key = try reader.nextKey() {
            switch key {
            case "choices":
                try reader.beginArray()
                while try reader.hasElement() { choices.append(try choice(&reader)) }
            case "error":
                guard try reader.nextKind() == .null else {
                    throw JSONParseError(detail: "It has an error.", offset: reader.position)
                }
                _ = try reader.skip()
            default: _ = try reader.skip()
            }
        }
        try reader.finish()
        guard let choice = choices.first, choices.count == 1 else {
            throw JSONParseError(detail: "Expected one choice.", offset: 0)
        }
        return choice
    }

    private static func choice(_ reader: inout JSONReader) throws(JSONParseError) -> Choice {
        var choice = Choice()
        try reader.beginObject()
        while let key = try reader.nextKey() {
            switch (key, try reader.nextKind()) {
            case ("finish_reason", .string): choice.finishReason = try reader.readString()
            case ("message", .object):
                try reader.beginObject()
                while let key = try reader.nextKey() {
                    switch (key, try reader.nextKind()) {
                    case ("content", .string): choice.content += try reader.readString()
                    case ("content", .array): choice.content += try ContentParts.text(&reader)
                    case ("refusal", .string): choice.isRefused = try !reader.readString().isEmpty || choice.isRefused
                    default: _ = try reader.skip()
                    }
                }
            default: _ = try reader.skip()
            }
        }
        return choice
    }
}

/// `[{"type": "text", "text": "…"}, …]`
enum ContentParts {
    static func text(_ reader: inout JSONReader) throws(JSONParseError) -> String {
        var text = ""
        try reader.beginArray()
        while try reader.hasElement() {
            try reader.beginObject()
            while let key = try reader.nextKey() {
                if key == "text", try reader.nextKind() == .string {
                    text += try reader.readString()
                } else {
                    _ = try reader.skip()
                }
            }
        }
        return text
    }
}
