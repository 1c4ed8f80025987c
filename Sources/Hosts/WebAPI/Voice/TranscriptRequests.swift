import HTTPTypes
import Model
import Storage

/// What a transcript of whatever kind tells of itself.
protocol WrittenDown: Encodable, Sendable {
    var status: FileTranscript.Status { get }
    var failure: FileTranscript.Failure? { get }
}

/// The requests by which a transcript is read, asked for and saved as a file: the same for whatever has one.
struct TranscriptRequests<Entity, Transcript: WrittenDown>: Sendable {
    /// What the documents of the requests say of it.
    struct Words: Sendable {
        /// The first part of the operations' names.
        let tag: String
        let path: String
        let parameter: String
        let parameterMeaning: String
        let schema: String
        let reading: String
        let asking: String
        let saving: String
        /// Why it may be refused to read it or to ask for it.
        let problems: [Problem.Kind]
    }

    typealias ID = Identifier<Entity>

    let words: Words
    let read: @Sendable (ID, Principal) async throws -> Transcript
    let ask: @Sendable (ID, Principal) async throws -> Committed<Transcript>
    /// The transcript, and what makes a file of it.
    let file: @Sendable (ID, Principal) async throws -> (Transcript, @Sendable (TranscriptFormat) -> String)

    private struct Answer: Encodable {
        let transcript: Transcript
    }

    private var parameter: Operation.Parameter {
        .path(words.parameter, .identifier, words.parameterMeaning)
    }

    private var answer: Schema {
        .object([.required("transcript", .named(words.schema)), .optional("positions", Schemas.positions)])
    }

    var all: [Operation] { [getting, asking] }

    private var getting: Operation {
        Operation(
            name: words.tag + ".transcript", method: .get, path: words.path, summary: words.reading,
            parameters: [parameter], answers: [.ok(answer)], problems: words.problems
        ) { [read, name = words.parameter] request in
            let principal = try request.requirePrincipal()
            return try .json(Answer(transcript: try await read(try request.identifier(name), principal)))
        }
    }

    private var asking: Operation {
        Operation(
            name: words.tag + ".transcribe", method: .post, path: words.path, summary: words.asking,
            parameters: [parameter], body: .object([]),
            answers: [.ok(answer, "As it is now: pending, or complete if it was written down before.")],
            problems: words.problems + [.providerNotConfigured], limit: .voiceMessages
        ) { [ask, name = words.parameter] request in
            let principal = try request.requirePrincipal()
            let committed = try await ask(try request.identifier(name), principal)
            return try .json(
                Answer(transcript: committed.value),
                positions: committed.positions.filter { $0.key == .user(principal.user) })
        }
    }

    var saving: DocumentOperation {
        let formats = Schema.choice(TranscriptFormat.allCases.map(\.rawValue))
        return DocumentOperation(
            name: words.tag + ".transcriptFile", method: .get, path: words.path + "/{format}",
            summary: words.saving, tag: words.tag,
            parameters: [parameter, .path("format", formats, "The kind of file.")],
            outcomes: [
                .init(
                    status: 200, meaning: "The file.", contentType: TranscriptFormat.text.contentType,
                    otherContentTypes: [TranscriptFormat.srt, .vtt].map(\.contentType))
            ], problems: [.notFound, .conflict]
        ) { [file, name = words.parameter] request in
            let principal = try request.requirePrincipal()
            let id: ID = try request.identifier(name)
            guard let format = request.parameters["format"].flatMap(TranscriptFormat.init) else {
                throw Problem.invalid("format", "The format must be text, srt or vtt.")
            }
            let (transcript, text) = try await file(id, principal)
            guard transcript.status == .complete else {
                throw Problem(.conflict, transcript.failure?.detail ?? "It is not written down yet.")
            }
            return .init(status: 200, body: .bytes(Array(text(format).utf8)), contentType: format.contentType)
        }
    }
}
