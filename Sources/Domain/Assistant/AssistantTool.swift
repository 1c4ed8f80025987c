package import Languages
internal import Model

/// What a model may look up. All of them only read, as the user who asked, within the run's scope.
package enum AssistantTool: String, Hashable, Sendable, CaseIterable {
    case search, around, summarise, actions, decisions, priority, translate, people

    package var model: ModelTool {
        var writer = JSONWriter()
        writer.schema(parameters.map { parameter in (parameter.name, { parameter.write(to: &$0) }) })
        return ModelTool(name: rawValue, description: meaning, schema: writer.text)
    }

    private var meaning: String {
        switch self {
        case .search:
            "Finds messages by words and by meaning, the best first. Use it for anything that somebody wrote or said."
        case .around: "The messages before and after one that you have seen, to understand it."
        case .summarise: "What the newest messages of a conversation are about, in sentences of their authors."
        case .actions: "What somebody promised or was asked to do in a conversation: tasks with who does them."
        case .decisions: "What was decided in a conversation."
        case .priority: "The unread messages that matter most: urgent ones, requests, questions, mentions."
        case .translate: "A message that you have seen, in another language."
        case .people: "The people in the user's conversations, and which of those they share."
        }
    }

    private struct Parameter {
        var name: String
        var meaning: String
        var isOptional = true
        var type = "string"

        func write(to writer: inout JSONWriter) {
            writer.object { writer in
                writer.name("type")
                writer.array(isOptional ? [type, "null"] : [type]) { $0.write($1) }
                writer.member("description", meaning)
            }
        }
    }

    private var parameters: [Parameter] {
        let conversation = Parameter(
            name: "in", meaning: "The id of a conversation, such as c1; null for all that you may see.")
        return switch self {
        case .search:
            [
                Parameter(name: "query", meaning: "Words, or what it is about.", isOptional: false), conversation,
                Parameter(name: "from", meaning: "The id of the author, such as p1; null for everybody."),
                Parameter(name: "after", meaning: "Sent on this day (2026-11-27) or later; null for any."),
                Parameter(name: "before", meaning: "Sent before this day; null for any."),
            ]
        case .around:
            [Parameter(name: "message", meaning: "The id of a message, such as m1.", isOptional: false)]
        case .summarise:
            [conversation, Parameter(name: "unread", meaning: "Only what the user has not read.", type: "boolean")]
        case .actions, .decisions: [conversation]
        case .priority: [Parameter(name: "limit", meaning: "How many; null for 10.", type: "integer")]
        case .translate:
            [
                Parameter(name: "message", meaning: "The id of a message, such as m1.", isOptional: false),
                Parameter(name: "language", meaning: "A BCP 47 tag, such as pt.", isOptional: false),
            ]
        case .people: [Parameter(name: "name", meaning: "A part of a name; null for all.")]
        }
    }
}

/// The arguments of a call, as far as they can be read.
package struct ToolArguments: Hashable, Sendable {
    /// Of the whole, in bytes; a longer one is none.
    package static let maxBytes = 16_384
    /// Of a text, in Unicode scalars; what is beyond is cut.
    package static let maxLength = 500

    package private(set) var texts: [String: String] = [:]
    package private(set) var flags: [String: Bool] = [:]
    package private(set) var numbers: [String: Int64] = [:]

    /// - Throws: what the model is told of it.
    package init(_ call: ModelToolCall) throws(ToolRefusal) {
        guard call.arguments.utf8.count <= Self.maxBytes else { throw ToolRefusal("The arguments are too long.") }
        let bytes = Array(call.arguments.utf8)
        // Some write nothing where there are none.
        guard bytes.contains(where: { $0 > UInt8(ascii: " ") }) else { return }
        do throws(JSONParseError) {
            var reader = JSONReader(bytes)
            try reader.beginObject()
            while let key = try reader.nextKey() {
                switch try reader.nextKind() {
                case .string:
                    let scalars = try reader.readString().unicodeScalars.prefix(Self.maxLength)
                    texts[key] = String(
                        String.UnicodeScalarView(scalars.filter { $0.properties.generalCategory != .control }))
                case .number:
                    // Fractions and what is too large are none.
                    let range = try reader.skip()
                    numbers[key] = Int64(String(decoding: bytes[range], as: UTF8.self))
                case .boolean:
                    let range = try reader.skip()
                    flags[key] = bytes[range.lowerBound] == UInt8(ascii: "t")
                case .object, .array, .null: _ = try reader.skip()
                }
            }
            try reader.finish()
        } catch {
            throw ToolRefusal("The arguments are no JSON object.")
        }
    }

    package func text(_ name: String) -> String? {
        texts[name].flatMap { text in text.allSatisfy(\.isWhitespace) ? nil : text }
    }

    package func requireText(_ name: String) throws(ToolRefusal) -> String {
        guard let text = text(name) else { throw ToolRefusal("\(name) is missing.") }
        return text
    }
}

/// Why a tool returns nothing: the model is told, and may try otherwise.
package struct ToolRefusal: Error, Hashable, Sendable {
    package var reason: String

    package init(_ reason: String) { self.reason = reason }

    package var json: String {
        var writer = JSONWriter()
        writer.object { $0.member("error", reason) }
        return writer.text
    }
}
