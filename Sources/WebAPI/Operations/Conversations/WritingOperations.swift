import HTTPTypes
import Languages
import Messaging
import Model
package import Services

/// Operations that help who writes. What they are given and return is stored nowhere.
package enum WritingOperations {
    package static func all(_ service: WritingService) -> [Operation] {
        [check(service), rewrite(service), replies(service)]
    }

    static let schemas: [(String, Schema)] = [
        (
            "DraftFinding",
            .object([
                .required(
                    "kind", .choice(DraftFinding.Kind.allCases.map(\.rawValue)),
                    "`too_formal`, `too_informal`: compared with what the others write here; `mixed_address`: "
                        + "it addresses its reader in both ways; `shouting`: capitals or exclamation marks; "
                        + "`abbreviation`: somebody here may not know it; `tone`: what the language model says."),
                .required("start", .integer(0...Int64.max), "Its position in the draft, in UTF-16 code units."),
                .required("length", .integer(1...Int64.max), "In UTF-16 code units."),
                .optional(
                    "advice", .text(),
                    "The advice of a model, or the meaning of an abbreviation. It is plain text."),
                .optional("suggestion", .text(), "What the user could write instead."),
            ])
        ),
        (
            "DraftReport",
            .object([
                .required(
                    "tone", .choice(DraftReport.Tone.allCases.map(\.rawValue)), "How the draft addresses its reader."),
                .optional("language", .text(), "The language of the draft; absent if it is not known."),
                .required("findings", .list(.named("DraftFinding"), maximum: DraftFinding.maxCount)),
                .required("engine", .text(), "The engine that checked it: `lexicon`, or the name of a model."),
                .required("kind", .choice(MessageHints.Kind.allCases.map(\.rawValue))),
            ])
        ),
        (
            "Rewriting",
            .object([
                .required("text", .text(), "Links, mentions and code are in it as in the draft."),
                .required("engine", .text(), "The name of the model."),
            ])
        ),
        (
            "SuggestedReplies",
            .object([
                .required(
                    "replies", .list(.text(), minimum: 1, maximum: ReplyPrompt.count),
                    "Plain text, each on one line; nothing is sent."),
                .required("engine", .text(), "The name of the model."),
                .required(
                    "kind", .choice(WritingService.SuggestedReplies.Kind.allCases.map(\.rawValue)),
                    "`template`: they fit all messages of one class, such as requests; the engine has found "
                        + "the class of this message."),
            ])
        ),
    ]

    private static let text = Schema.Member.required(
        "text", .text(minimum: 1, maximum: HintWork.maxLength), "The draft.")
    private static let language = Schema.Member.optional(
        "language", .text(minimum: 2, maximum: LanguageTag.maxLength),
        "The language of the draft; if absent, the server finds it out.")

    private struct Draft: Decodable {
        var text: String
        var language: String?
        var model: Bool?
        var style: DraftStyle?

        func languageTag() throws -> LanguageTag? { try language.map { try LanguageTag($0) } }
    }

    private static func check(_ service: WritingService) -> Operation {
        Operation(
            name: "drafts.check", method: .post, path: "/v1/conversations/{conversation}/drafts/check",
            summary:
                "Check how a draft sounds: whether it fits how the others write here, shouts, or has "
                + "abbreviations that they may not know. The server checks it by rules and, with `model`, by a "
                + "language model too.",
            parameters: [ConversationOperations.conversation],
            body: .object([
                text, language, .optional("model", .boolean, "Whether a language model is asked as well."),
            ]),
            responses: [.ok(.named("DraftReport"))],
            problems: [
                .notFound, .forbidden, .providerNotConfigured, .consentRequired, .budgetExhausted, .providerFailed,
            ], limit: .writing
        ) { request in
            let user = try request.requirePrincipal().user
            let id = try request.identifier("conversation", of: ConversationID.self)
            let body = try request.decode(Draft.self)
            let checked = try await service.check(
                body.text, language: try body.languageTag(), usesModel: body.model ?? false, in: id, by: user)
            var writer = JSONWriter(capacity: 512)
            writer.object { writer in
                writer.member("tone", checked.report.tone.rawValue)
                writer.member("language", checked.language?.string)
                writer.name("findings")
                writer.array(checked.report.findings) { writer, finding in
                    writer.object { writer in
                        writer.member("kind", finding.kind.rawValue)
                        writer.member("start", Int64(finding.start))
                        writer.member("length", Int64(finding.length))
                        writer.member("advice", finding.advice)
                        writer.member("suggestion", finding.suggestion)
                    }
                }
                writer.member("engine", checked.engine)
                writer.member("kind", checked.kind.rawValue)
            }
            return OperationResponse(status: 200, body: writer.bytes)
        }
    }

    private static func rewrite(_ service: WritingService) -> Operation {
        Operation(
            name: "drafts.rewrite", method: .post, path: "/v1/conversations/{conversation}/drafts/rewrite",
            summary: "Have a language model write a draft in another way. The author decides whether to use it.",
            parameters: [ConversationOperations.conversation],
            body: .object([
                text,
                .required(
                    "style", .choice(DraftStyle.allCases.map(\.rawValue)),
                    "`simple`: in words that learners of the language know; `correct`: without "
                        + "mistakes, and otherwise as it is."), language,
            ]),
            responses: [.ok(.named("Rewriting"))],
            problems: [
                .notFound, .forbidden, .providerNotConfigured, .consentRequired, .budgetExhausted, .providerFailed,
            ], limit: .writing
        ) { request in
            let user = try request.requirePrincipal().user
            let id = try request.identifier("conversation", of: ConversationID.self)
            let body = try request.decode(Draft.self)
            guard let style = body.style else { throw Problem.invalid("style", "style is missing.") }
            let (text, engine) = try await service.rewrite(
                body.text, as: style, language: try body.languageTag(), in: id, by: user)
            var writer = JSONWriter(capacity: 512)
            writer.object { writer in
                writer.member("text", text)
                writer.member("engine", engine)
            }
            return OperationResponse(status: 200, body: writer.bytes)
        }
    }

    private static func replies(_ service: WritingService) -> Operation {
        Operation(
            name: "replies.suggest", method: .post, path: "/v1/conversations/{conversation}/messages/{number}/replies",
            summary:
                "Get up to three short replies to a message, in its language: by a language model, or without "
                + "one by templates in \(ReplyTemplates.languages.joined(separator: ", ")). Nothing is sent.",
            parameters: [ConversationOperations.conversation, HintOperations.number],
            responses: [.ok(.named("SuggestedReplies"))],
            problems: [
                .notFound, .forbidden, .conflict, .providerNotConfigured, .consentRequired, .budgetExhausted,
                .providerFailed,
            ], limit: .writing
        ) { request in
            let user = try request.requirePrincipal().user
            let id = try request.identifier("conversation", of: ConversationID.self)
            let suggested = try await service.replies(to: try request.number("number"), in: id, by: user)
            var writer = JSONWriter(capacity: 512)
            writer.object { writer in
                writer.name("replies")
                writer.array(suggested.replies) { $0.write($1) }
                writer.member("engine", suggested.engine)
                writer.member("kind", suggested.kind.rawValue)
            }
            return OperationResponse(status: 200, body: writer.bytes)
        }
    }
}
