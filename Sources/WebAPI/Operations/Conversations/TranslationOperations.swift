import HTTPTypes
import Languages
import Messaging
import Model
package import Services

/// Operations of translations.
package enum TranslationOperations {
    package static func all(_ service: TranslationService) -> [Operation] {
        [request(service), glossary(service), setGlossary(service)]
    }

    static let schemas: [(String, Schema)] = [
        ("Translation", translation), ("TranslationSettings", Schemas.translationSettings),
        ("GlossaryTerm", glossaryTerm),
        (
            "Glossary",
            .object([.required("terms", .list(.named("GlossaryTerm"), maximum: ConversationLimits().glossaryTerms))])
        ),
        ("TranslationsResult", .object([.required("translations", .list(.named("Translation")))])),
    ]

    private static let translation = Schema.object([
        .required("number", .integer(), "Of the message."),
        .required(
            "of", .integer(), "The `textVersion` from which it was made: show it only beside that text."),
        .required("language", .text(), "The language into which it is translated."),
        .optional(
            "tone", .choice(TranslationTone.allCases.map(\.rawValue)),
            "How it addresses its reader; if absent, as the text does."),
        .required(
            "status", .choice(MessageTranslation.Status.allCases.map(\.rawValue)),
            "`queued`: it is being made, and follows on the stream; `done`: it has `text`, `engine` and "
                + "`kind`; `failed`: it could not be made, ask again to try again; `unavailable`: it is not made."),
        .optional(
            "reason", .choice(MessageTranslation.Reason.allCases.map(\.rawValue)),
            "Why there is no translation."),
        .optional("text", .text(), "Links, mentions and code are in it as in the original."),
        .optional("engine", .text(), "The engine that made it."),
        .optional(
            "kind", .choice(TranslationKind.allCases.map(\.rawValue)),
            "`model`: a language model or neural network; `rules`: dictionaries and rules, between close languages."),
        .required(
            "touched", .integer(),
            "Of two copies of a translation, the one with the higher value is newer; 0 if it is not stored."),
    ])

    private static let glossaryTerm = Schema.object([
        .required(
            "source", .text(minimum: 1, maximum: GlossaryEntry.maxLength),
            "The term as it is written in messages, in the same case."
        ),
        .required("target", .text(minimum: 1, maximum: GlossaryEntry.maxLength), "Its translation."),
        .required(
            "language", .text(minimum: 2, maximum: LanguageTag.maxLength),
            "The language of the translation: a tag such as es or pt-BR."),
    ])

    private struct Body: Decodable {
        var numbers: [Int64]
        var language: String?
    }

    private static func request(_ service: TranslationService) -> Operation {
        let most = ConversationLimits().translatedAtOnce
        return Operation(
            name: "translations.request", method: .post, path: "/v1/conversations/{conversation}/translations",
            summary:
                "Get translations of messages. Those that exist come at once, and the others are `queued`. "
                + "They follow on the stream `translations:{conversation}` if they are in the language in which "
                + "the user reads; for other languages, ask again. A translation is made once, for all users who "
                + "ask, and never changes its message.",
            parameters: [ConversationOperations.conversation],
            body: .object([
                .required(
                    "numbers", .list(.integer(1...Int64.max), minimum: 1, maximum: most), "Of the messages."),
                .optional(
                    "language", .text(minimum: 2, maximum: LanguageTag.maxLength),
                    "The language into which to translate; if absent, the one in which the user reads this "
                        + "conversation."),
            ]),
            responses: [.ok(.named("TranslationsResult"))],
            problems: [
                .notFound, .forbidden, .providerNotConfigured, .consentRequired, .pairNotSupported, .budgetExhausted,
            ],
            limit: .translations
        ) { request in
            let user = try request.requirePrincipal().user
            let id = try request.identifier("conversation", of: ConversationID.self)
            let body = try request.decode(Body.self)
            let language = try body.language.map { tag in
                guard let language = try LanguageTag(tag).asTarget else {
                    throw Problem.invalid("language", "This is not the tag of a language, such as en or pt-BR.")
                }
                return language
            }
            let rows = try await service.request(body.numbers, into: language, in: id, by: user)
            var writer = JSONWriter(capacity: 1024)
            writer.object { writer in
                writer.name("translations")
                writer.array(rows) { $1.write(to: &$0) }
            }
            return OperationResponse(status: 200, body: writer.bytes)
        }
    }

    private struct GlossaryBody: Decodable {
        struct Term: Decodable {
            var source: String
            var target: String
            var language: String
        }

        var terms: [Term]
    }

    private static func glossary(_ service: TranslationService) -> Operation {
        Operation(
            name: "glossary.get", method: .get, path: "/v1/conversations/{conversation}/glossary",
            summary: "The terms that are always translated in the same way in this conversation.",
            parameters: [ConversationOperations.conversation], responses: [.ok(.named("Glossary"))],
            problems: [.notFound, .forbidden]
        ) { request in
            let user = try request.requirePrincipal().user
            let id = try request.identifier("conversation", of: ConversationID.self)
            return response(try await service.glossary(of: id, by: user))
        }
    }

    private static func setGlossary(_ service: TranslationService) -> Operation {
        Operation(
            name: "glossary.set", method: .put, path: "/v1/conversations/{conversation}/glossary",
            summary:
                "Replaces the terms that are always translated in the same way in this conversation: the "
                + "administrators of a group may do that, and both of two people. Existing translations stay "
                + "until somebody asks for them again. This counts as three requests for translations.",
            parameters: [ConversationOperations.conversation], body: .named("Glossary"),
            responses: [.ok(.named("Glossary"))], problems: [.notFound, .forbidden], limit: .translations, permits: 3
        ) { request in
            let user = try request.requirePrincipal().user
            let id = try request.identifier("conversation", of: ConversationID.self)
            let body = try request.decode(GlossaryBody.self)
            let entries = try body.terms.enumerated().map { index, term in
                guard let language = try? LanguageTag(term.language).asTarget else {
                    throw Problem.invalid(
                        "terms[\(index)].language", "This is not the tag of a language, such as en or pt-BR.")
                }
                return GlossaryEntry(source: term.source, target: term.target, language: language)
            }
            return response(try await service.setGlossary(entries, of: id, by: user))
        }
    }

    private static func response(_ entries: [GlossaryEntry]) -> OperationResponse {
        var writer = JSONWriter(capacity: 1024)
        writer.object { writer in
            writer.name("terms")
            writer.array(entries) { $1.write(to: &$0) }
        }
        return OperationResponse(status: 200, body: writer.bytes)
    }
}
