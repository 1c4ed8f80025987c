import HTTPTypes
import Languages
import Messaging
import Model
package import Services

/// Operations that explain messages.
package enum HintOperations {
    package static func all(_ service: HintService) -> [Operation] { [request(service)] }

    static let schemas: [(String, Schema)] = [
        ("Hint", hint), ("Hints", hints), ("HintsResult", .object([.required("hints", .named("Hints"))])),
    ]

    private static let hint = Schema.object([
        .required("start", .integer(0...Int64.max), "Where it stands in the text, in UTF-16 code units."),
        .required("length", .integer(1...Int64.max), "Likewise."),
        .required(
            "kind", .choice(Hint.Kind.allCases.map(\.rawValue)),
            "`idiom`: it means something else than its words; `reference`: to what readers are expected to know; `slang`: "
                + "abbreviations and words of chats; `formality`: how the reader is addressed."),
        .required(
            "meaning", .text(),
            "In the language of the document, or in English where a lexicon says it. It is plain text."),
        .optional("expansion", .text(), "What an abbreviation stands for, in its own language."),
        .optional("equivalent", .text(), "What people say instead in the reader's language."),
        .required(
            "relevance", .choice(Hint.Relevance.allCases.map(\.rawValue)),
            "`high`: the message is misunderstood without it."),
    ])

    private static let hints = Schema.object([
        .required("number", .integer(), "Of the message."),
        .required("of", .integer(), "The `textVersion` that it was made from: it is shown only beside that text."),
        .required("language", .text(), "Of its readers."),
        .required(
            "status", .choice(MessageTranslation.Status.allCases.map(\.rawValue)),
            "`queued`: `items` are what lexicons know, and a language model is asked, whose hints follow on the stream; `done`; "
                + "`failed`: the model was asked, and asking again tries again; `unavailable`: nothing is made of it."),
        .optional(
            "reason", .choice(MessageTranslation.Reason.allCases.map(\.rawValue)),
            "Why there is nothing, or nothing by a language model."),
        .required("items", .list(.named("Hint"), maximum: Hint.maxCount), "In the order of the text."),
        .optional("engine", .text(), "What made them: `lexicon`, or the name of a model."),
        .optional("kind", .choice(MessageHints.Kind.allCases.map(\.rawValue))),
        .required("touched", .integer(), "Of two copies the higher counts; 0 if it is not stored."),
    ])

    private static func request(_ service: HintService) -> Operation {
        Operation(
            name: "hints.request", method: .post, path: "/v1/conversations/{conversation}/messages/{number}/hints",
            summary:
                "What of a message its reader may not understand: idioms, references, slang and forms of address. What "
                + "lexicons know is there at once; a language model, where there is one, is asked once for all who read in a "
                + "language, and its hints follow on the stream `translations:{conversation}`.",
            parameters: [ConversationOperations.conversation, number],
            responses: [.ok(.named("HintsResult"))], problems: [.notFound, .forbidden, .consentRequired],
            limit: .hints
        ) { request in
            let user = try request.requirePrincipal().user
            let id = try request.identifier("conversation", of: ConversationID.self)
            let hints = try await service.request(try request.number("number"), in: id, by: user)
            var writer = JSONWriter(capacity: 1024)
            writer.object { writer in
                writer.name("hints")
                hints.write(to: &writer)
            }
            return OperationResponse(status: 200, body: writer.bytes)
        }
    }

    static let number = Operation.Parameter.path("number", .integer(1...Int64.max), "The message's number.")
}
