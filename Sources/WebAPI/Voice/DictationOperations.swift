import HTTPTypes
import Languages
import Model
package import Services

/// What somebody says, as text for themselves. The sound is only transferred over HTTP.
package enum DictationOperations {
    private static let language = Operation.Parameter.query(
        "language", Schemas.language,
        "The language that is spoken, as a BCP 47 tag; without it that of the server's settings, or the provider finds out."
    )
    private static let problems: [Problem.Kind] = [
        .consentRequired, .budgetExhausted, .providerNotConfigured, .providerFailed,
    ]

    package static func all(_ service: DictationService) -> [Operation] { [dictateFile(service)] }

    package static func documents(_ service: DictationService) -> [DocumentOperation] { [dictate(service)] }

    private static func dictate(_ service: DictationService) -> DocumentOperation {
        DocumentOperation(
            name: "voice.dictate", method: .post, path: "/v1/dictation",
            summary:
                "Write down what is said in a file with Opus, of at most \(DictationService.secondsLimit) seconds and "
                + "\(DictationService.byteLimit) bytes, such as for the text of a message. Nothing of it is kept.",
            tag: "voice",
            parameters: [language],
            bodyTypes: ["audio/ogg", "audio/webm"], bodySchema: .bytes, bodyLimit: DictationService.byteLimit,
            outcomes: [
                .init(
                    status: 200, description: "What was said; empty if nobody spoke.", contentType: "application/json",
                    schema: .named("DictationResult"))
            ],
            problems: problems, limit: .voiceMessages
        ) { request in
            let principal = try request.requirePrincipal()
            let language = try request.parameters["language"].map { try LanguageTag($0) }
            let made = try await service.text(by: principal.user, in: language, receiving: request.receive)
            return .init(status: 200, body: .bytes(bytes(of: made)), contentType: "application/json")
        }
    }

    private static func dictateFile(_ service: DictationService) -> Operation {
        Operation(
            name: "voice.dictateFile", method: .post, path: "/v1/voice-files/{file}/dictation",
            summary:
                "Write down what is said in a voice file of one's own that is not sent, such as one that the server has "
                + "recorded. The words are not kept.",
            parameters: [.path("file", .identifier, "The file's id."), language], body: .object([]),
            responses: [.ok(.named("DictationResult"), "What was said; empty if nobody spoke.")],
            problems: problems + [.notFound], limit: .voiceMessages
        ) { request in
            let principal = try request.requirePrincipal()
            let language = try request.parameters["language"].map { try LanguageTag($0) }
            let file = try request.identifier("file", of: FileID.self)
            let made = try await service.text(of: file, by: principal.user, in: language)
            return OperationResponse(status: 200, body: bytes(of: made))
        }
    }

    private static func bytes(of made: DictationService.Text) -> [UInt8] {
        var writer = JSONWriter()
        writer.object { writer in
            writer.member("text", made.text)
            writer.member("language", made.language)
        }
        return writer.bytes
    }
}
