import HTTPTypes
import Model
import Services
import Storage

/// A transcript of any kind.
protocol TranscriptDocument: Encodable, Sendable {
    var status: FileTranscript.Status { get }
    var failure: FileTranscript.Failure? { get }
}

/// The operations that read, request and download a transcript, which are the same for every kind of resource.
struct TranscriptRequests<Entity, Transcript: TranscriptDocument>: Sendable {
    /// The paths and descriptions of the operations.
    struct Texts: Sendable {
        /// The prefix of the operations' names.
        let tag: String
        let path: String
        let parameter: String
        let parameterDescription: String
        let schema: String
        let reading: String
        let asking: String
        let saving: String
        /// The problems of reading and requesting the transcript.
        let problems: [Problem.Kind]
    }

    typealias ID = Identifier<Entity>

    let texts: Texts
    let read: @Sendable (ID, Principal) async throws -> Transcript
    let ask: @Sendable (ID, Principal) async throws -> Committed<Transcript>
    /// Returns the transcript, and a function that formats it as a file.
    let file: @Sendable (ID, Principal) async throws -> (Transcript, @Sendable (TranscriptFormat) -> String)

    private struct ResponseBody: Encodable {
        let transcript: Transcript
    }

    private var parameter: Operation.Parameter {
        .path(texts.parameter, .identifier, texts.parameterDescription)
    }

    private var responseSchema: Schema {
        .named(texts.schema + "Result")
    }

    var all: [Operation] { [getting, asking] }

    private var getting: Operation {
        Operation(
            name: texts.tag + ".transcript", method: .get, path: texts.path, summary: texts.reading,
            parameters: [parameter], responses: [.ok(responseSchema)], problems: texts.problems
        ) { [read, name = texts.parameter] request in
            let principal = try request.requirePrincipal()
            return try .json(ResponseBody(transcript: try await read(try request.identifier(name), principal)))
        }
    }

    private var asking: Operation {
        Operation(
            name: texts.tag + ".transcribe", method: .post, path: texts.path, summary: texts.asking,
            parameters: [parameter], body: .object([]),
            responses: [.ok(responseSchema, "Its current state: pending, or complete if it was transcribed before.")],
            problems: texts.problems + [.providerNotConfigured], limit: .voiceMessages
        ) { [ask, name = texts.parameter] request in
            let principal = try request.requirePrincipal()
            let committed = try await ask(try request.identifier(name), principal)
            return try .json(
                ResponseBody(transcript: committed.value),
                positions: committed.positions.filter { $0.key == .user(principal.user) })
        }
    }

    var saving: DocumentOperation {
        let formats = Schema.choice(TranscriptFormat.allCases.map(\.rawValue))
        return DocumentOperation(
            name: texts.tag + ".transcriptFile", method: .get, path: texts.path + "/{format}",
            summary: texts.saving, tag: texts.tag,
            parameters: [parameter, .path("format", formats, "The kind of file.")],
            outcomes: [
                .init(
                    status: 200, description: "The file.", contentType: TranscriptFormat.text.contentType,
                    otherContentTypes: [TranscriptFormat.srt, .vtt].map(\.contentType))
            ], problems: [.notFound, .conflict]
        ) { [file, name = texts.parameter] request in
            let principal = try request.requirePrincipal()
            let id: ID = try request.identifier(name)
            guard let format = request.parameters["format"].flatMap(TranscriptFormat.init) else {
                throw Problem.invalid("format", "The format must be text, srt or vtt.")
            }
            let (transcript, text) = try await file(id, principal)
            guard transcript.status == .complete else {
                throw Problem(.conflict, transcript.failure?.detail ?? "The transcript is not complete yet.")
            }
            return .init(status: 200, body: .bytes(Array(text(format).utf8)), contentType: format.contentType)
        }
    }
}
