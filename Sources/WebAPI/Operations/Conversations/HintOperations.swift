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
        .required("start", .integer(0...Int64.max), "Its position in the text, in UTF-16 code units."),
        .required("length", .integer(1...Int64.max), "In UTF-16 code units."),
        .required(
            "kind", .choice(Hint.Kind.allCases.map(\.rawValue)),
            "`idiom`: it does not mean what its words say; `reference`: to something that readers are expected "
                + "to know; `slang`: abbreviations and words of chats; `formality`: how the reader is addressed."),
        .required(
            "meaning", .text(),
            "In the language of these hints, or in English if it comes from a lexicon. It is plain text."),
        .optional("expansion", .text(), "What an abbreviation stands for, in its own language."),
        .optional("equivalent", .text(), "What people say instead in the reader's language."),
        .required(
            "relevance", .choice(Hint.Relevance.allCases.map(\.rawValue)),
            "`high`: without it, the reader would misunderstand the message."),
    ])

    private static let hints = Schema.object([
        .required("number", .integer(), "The number of the message."),
        .required("of", .integer(), "The `textVersion` from which it was made: show it only beside that text."),
        .required("language", .text(), "The language of its readers."),
        .required(
            "status", .choice(MessageTranslation.Status.allCases.map(\.rawValue)),
            "`queued`: `items` come from lexicons, and a language model was asked, whose hints follow on the "
                + "stream; `done`; `failed`: the model has failed, ask again to try again; `unavailable`: no hints "
                + "can be made."),
        .optional(
            "reason", .choice(MessageTranslation.Reason.allCases.map(\.rawValue)),
            "Why there are no hints, or none by a language model."),
        .required("items", .list(.named("Hint"), maximum: Hint.maxCount), "In the order of the text."),
        .optional("engine", .text(), "The engine that made them: `lexicon`, or the name of a model."),
        .optional("kind", .choice(MessageHints.Kind.allCases.map(\.rawValue))),
        .required(
            "touched", .integer(),
            "Of two copies, the one with the higher value is newer; 0 if it is not stored."),
    ])

    private static func request(_ service: HintService) -> Operation {
        Operation(
            name: "hints.request", method: .post, path: "/v1/conversations/{conversation}/messages/{number}/hints",
            summary:
                "Explains what a reader may not understand in a message: idioms, references, slang and forms "
                + "of address. The response has what lexicons know. If there is a language model, it is asked "
                + "once for all users who read in the same language, and its hints follow on the stream "
                + "`translations:{conversation}`.",
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
