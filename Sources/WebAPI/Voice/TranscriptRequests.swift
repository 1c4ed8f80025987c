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
struct TranscriptRequests<ID: Sendable, Transcript: TranscriptDocument>: Sendable {
    /// The paths and descriptions of the operations.
    struct Texts: Sendable {
        /// The prefix of the operations' names.
        let tag: String
        let path: String
        let parameters: [Operation.Parameter]
        let schema: String
        let reading: String
        let asking: String
        let saving: String
        /// The problems of reading and requesting the transcript.
        let problems: [Problem.Kind]
    }

    let texts: Texts
    /// Which one the parameters of a request name.
    let identify: @Sendable ([String: String]) throws -> ID
    let read: @Sendable (ID, Principal) async throws -> Transcript
    let ask: @Sendable (ID, Principal) async throws -> Committed<Transcript>
    /// Returns the transcript, and a function that formats it as a file.
    let file: @Sendable (ID, Principal) async throws -> (Transcript, @Sendable (TranscriptFormat) -> String)

    private struct ResponseBody: Encodable {
        let transcript: Transcript
    }

    private var responseSchema: Schema {
        .named(texts.schema + "Result")
    }

    var all: [Operation] { [getting, asking] }

    private var getting: Operation {
        Operation(
            name: texts.tag + ".transcript", method: .get, path: texts.path, summary: texts.reading,
            parameters: texts.parameters, responses: [.ok(responseSchema)], problems: texts.problems
        ) { [read, identify] request in
            let principal = try request.requirePrincipal()
            return try .json(ResponseBody(transcript: try await read(try identify(request.parameters), principal)))
        }
    }

    private var asking: Operation {
        Operation(
            name: texts.tag + ".transcribe", method: .post, path: texts.path, summary: texts.asking,
            parameters: texts.parameters, body: .object([]),
            responses: [.ok(responseSchema, "Its current state: pending, or complete if it was transcribed before.")],
            problems: texts.problems + [.providerNotConfigured, .consentRequired], limit: .voiceMessages
        ) { [ask, identify] request in
            let principal = try request.requirePrincipal()
            let committed = try await ask(try identify(request.parameters), principal)
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
            parameters: texts.parameters + [.path("format", formats, "The kind of file.")],
            outcomes: [
                .init(
                    status: 200, description: "The file.", contentType: TranscriptFormat.text.contentType,
                    otherContentTypes: [TranscriptFormat.srt, .vtt].map(\.contentType))
            ], problems: [.notFound, .conflict]
        ) { [file, identify] request in
            let principal = try request.requirePrincipal()
            let id = try identify(request.parameters)
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
